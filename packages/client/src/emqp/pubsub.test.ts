/** Publishing and subscribing on the in-memory network: the test plays the device, a dealer in and a publisher out. */
import { getEventListeners } from 'node:events';
import { fromLatin1, latin1 } from '@proj/frames';
import { decodeEmqpAtPubSub } from '@proj/frames/emqp';
import type { PublisherPort } from '@proj/transport';
import { describe, expect, it } from 'vitest';
import { ClientWorld } from '../../test/world.js';
import { EmqpClient } from './client.js';
import type { EmqpClientOptions } from './options.js';
import type { EmqpPublication, EmqpSubscription } from './client.js';

const PUBLISH = 'tcp://device:47298';
const SUBSCRIBE = 'tcp://device:47299';

class Stage extends ClientWorld {
  readonly device = this.network.transport('device');
  /** What was published, frames joined by `|`. */
  readonly published: string[] = [];

  client(options: EmqpClientOptions = {}): EmqpClient {
    const endpoints = { publishEndpoint: PUBLISH, subscribeEndpoint: SUBSCRIBE };
    return new EmqpClient({ ...endpoints, transport: this.transport, ...options });
  }

  /** The device's port for publishers. */
  async router(): Promise<void> {
    const port = this.device.router();
    await port.bind(PUBLISH);
    port.start({
      onMessage: (peer, frames) => {
        expect(decodeEmqpAtPubSub(frames).kind).toBe('publish');
        expect(peer.key).toMatch(/^[0-9a-f-]{36}$/);
        this.published.push(frames.map(latin1).join('|'));
      },
      onPeerGone: () => {},
      onUndeliverable: () => {},
      onRejected: () => {},
      onBroken: () => {},
    });
  }

  /** The device's port for subscribers. */
  async publisher(): Promise<PublisherPort> {
    const port = this.device.publisher();
    await port.bind(SUBSCRIBE);
    port.start({ onBroken: () => {} });
    return port;
  }

  /** The next messages, as text. */
  async read(subscription: EmqpSubscription, count: number): Promise<string[]> {
    const messages: EmqpPublication[] = [];
    while (messages.length < count) {
      const { value } = await this.settle(subscription.next());
      if (value === undefined) break;
      messages.push(value);
    }
    return messages.map(({ topic, body, missed }) => `${latin1(topic)}|${latin1(body)} ${missed}`);
  }
}

describe('publishing', () => {
  it('sends PUBLISH of six frames under a routing id in ASCII, in order', async () => {
    const stage = new Stage();
    await stage.router();
    const client = stage.client();
    await stage.settle(Promise.all([client.publish('news', 'one'), client.publish('é', Buffer.from([0, 255]))]));
    await stage.advance(100);

    const behindId = stage.published.map((text) => text.split('|').toSpliced(3, 1));
    expect(behindId).toEqual([
      ['', 'eMQP/1.0', 'PUBLISH', 'news', 'one'],
      ['', 'eMQP/1.0', 'PUBLISH', '\xc3\xa9', '\0\xff'],
    ]);
    expect(client.stats().published).toBe(2);
    await stage.settle(client.close());
    expect(stage.transport.openPorts).toBe(0);
  });

  it.each([
    ['an empty topic', () => ['', 'x'], /topic is empty/],
    ['more than maxMessageBytes', () => ['t', 'x'.repeat(1024)], /the limit is/],
    ['a body that is neither text nor bytes', () => ['t', 7], /number/],
  ] as const)('refuses %s before it opens a socket', async (_case, make, message) => {
    const stage = new Stage();
    const client = stage.client({ maxMessageBytes: 2000 });
    const [topic, body] = make() as readonly unknown[] as readonly [string, string];
    await expect(client.publish(topic, body)).rejects.toThrow(message);
    await expect(client.publish(topic, body)).rejects.toMatchObject({ code: 'PROTOCOL_LOCAL' });
    expect(stage.transport.openPorts).toBe(0);
  });

  it('waits for room no longer than timeoutMs, and accepts at most openMax', async () => {
    const stage = new Stage();
    const client = stage.client({ openMax: 1, timeoutMs: 50 });
    // There is no subscriber: the transport keeps 1000 for the first connection.
    for (let index = 0; index < 1000; index++) await stage.settle(client.publish('t', 'x'));
    const waiting = client.publish('t', 'x');
    const code = (promise: Promise<void>) => promise.catch((error: unknown) => (error as { code?: string }).code);
    const outcomes = await stage.settle(Promise.all([code(waiting), code(client.publish('t', 'x'))]));
    expect(outcomes).toEqual(['TIMEOUT', 'QUEUE_FULL']);
    await stage.settle(client.close());
  });

  it('ends with the signal and with the client, even for unsent messages', async () => {
    const stage = new Stage();
    const client = stage.client();
    for (let index = 0; index < 1000; index++) await stage.settle(client.publish('t', 'x'));
    const caller = new AbortController();
    const aborted = client.publish('t', 'x', { signal: caller.signal });
    const closed = client.publish('t', 'x');
    const reasons = Promise.allSettled([aborted, closed]);
    await stage.advance(1);
    caller.abort(new Error('enough'));
    await stage.settle(client.close());
    const [first, second] = await reasons;

    expect(first).toMatchObject({ reason: { message: 'enough' } });
    expect(second).toMatchObject({ reason: { code: 'CLOSED' } });
    expect(getEventListeners(caller.signal, 'abort')).toEqual([]);
    await expect(client.publish('t', 'x')).rejects.toMatchObject({ code: 'CLOSED' });
  });
});

describe('a subscription', () => {
  it('yields messages on topics with one of its prefixes, as bytes', async () => {
    const stage = new Stage();
    const device = await stage.publisher();
    const client = stage.client();
    const subscription = client.subscribe(['news.', Buffer.from([0, 255])]);
    await stage.advance(100);
    for (const [topic, body] of [
      ['news.a', '1'],
      ['news', '2'],
      ['\0\xff\0', '\xfe'],
    ] as const)
      device.publish([fromLatin1(topic), fromLatin1(body)]);

    expect(await stage.read(subscription, 2)).toEqual(['news.a|1 0', '\0\xff\0|\xfe 0']);
    await stage.settle(client.close());
    expect(await subscription.next()).toEqual({ done: true, value: undefined });
    expect(stage.transport.openPorts).toBe(0);
  });

  it('yields everything for the empty prefix, and drops invalid messages', async () => {
    const stage = new Stage();
    const device = await stage.publisher();
    const client = stage.client();
    const subscription = client.subscribe('');
    await stage.advance(100);
    for (const frames of [['a'], ['', 'x'], ['a', 'b', 'c'], ['a', '']]) device.publish(frames.map(fromLatin1));

    expect(await stage.read(subscription, 1)).toEqual(['a| 0']);
    expect(client.stats()).toMatchObject({ received: 1, unreadable: 3 });
    await stage.settle(client.close());
  });

  it.each([
    ['messages', { bufferMax: 3 }],
    ['bytes', { bufferMaxBytes: 6 }],
  ])('drops the oldest of too many waiting %s, counts them and says so', async (_case, limits) => {
    const stage = new Stage();
    const device = await stage.publisher();
    const client = stage.client();
    const told: unknown[] = [];
    client.on('missed', (late) => told.push(late));
    const subscription = client.subscribe('', limits);
    await stage.advance(100);
    for (let index = 0; index < 10; index++) device.publish(['a', String(index)].map(fromLatin1));
    await stage.advance(100);

    expect(await stage.read(subscription, 3)).toEqual(['a|7 7', 'a|8 0', 'a|9 0']);
    expect(told).toEqual([subscription]);
    expect(client.stats()).toMatchObject({ received: 10, missed: 7 });
    await stage.settle(client.close());
  });

  it('accepts a message over bufferMaxBytes if it is the only one', async () => {
    const stage = new Stage();
    const device = await stage.publisher();
    const client = stage.client();
    const subscription = client.subscribe('', { bufferMaxBytes: 1 });
    await stage.advance(100);
    device.publish(['large', 'larger'].map(fromLatin1));
    await stage.advance(100);

    expect(await stage.read(subscription, 1)).toEqual(['large|larger 0']);
    await stage.settle(client.close());
  });

  it('closes its socket when its reader leaves the loop', async () => {
    const stage = new Stage();
    const device = await stage.publisher();
    const client = stage.client();
    const subscription = client.subscribe('');
    await stage.advance(100);
    device.publish(['a', '1'].map(fromLatin1));
    const loop = (async () => {
      for await (const { body } of subscription) return String(body);
      return undefined;
    })();

    expect(await stage.settle(loop)).toBe('1');
    await stage.advance(1);
    expect(stage.transport.openPorts).toBe(0);
    await stage.settle(client.close());
  });

  it('ends with the reason of its signal for the waiting reader, and is over for the next', async () => {
    const stage = new Stage();
    const client = stage.client();
    const caller = new AbortController();
    const subscription = client.subscribe('', { signal: caller.signal });
    const [first, second] = [subscription.next(), subscription.next()];
    const outcomes = Promise.allSettled([first, second]);
    caller.abort(new Error('enough'));

    expect(await outcomes).toMatchObject([{ reason: { message: 'enough' } }, { value: { done: true } }]);
    expect(getEventListeners(caller.signal, 'abort')).toEqual([]);
    const late = client.subscribe('', { signal: caller.signal });
    await expect(late.next()).rejects.toThrow('enough');
    expect(await late.next()).toMatchObject({ done: true });
    await stage.settle(client.close());
    expect(stage.transport.openPorts).toBe(0);
  });

  it('subscribes again after the device was restarted', async () => {
    const stage = new Stage();
    await stage.publisher();
    const client = stage.client();
    const subscription = client.subscribe('a');
    await stage.advance(100);
    stage.network.crash(stage.device);
    const next = stage.network.transport('device').publisher();
    await next.bind(SUBSCRIBE);
    next.start({ onBroken: () => {} });
    await stage.advance(1000);
    next.publish(['a', 'again'].map(fromLatin1));

    expect(await stage.read(subscription, 1)).toEqual(['a|again 0']);
    await stage.settle(client.close());
  });

  it('is refused without a topic, with invalid options and when the client is closed', async () => {
    const stage = new Stage();
    const client = stage.client();
    expect(() => client.subscribe([])).toThrow(/no topic/);
    expect(() => client.subscribe('', { bufferMax: 0 })).toThrow(/bufferMax/);
    expect(() => stage.client({ subscribeEndpoint: 'nonsense' })).toThrow(/subscribeEndpoint/);
    await client.close();
    expect(() => client.subscribe('')).toThrow(/closed/);
  });

  it('says why its socket cannot be opened', async () => {
    const stage = new Stage();
    const client = stage.client({ subscribeEndpoint: 'tcp://device:99999' });
    const subscription = client.subscribe('');
    await expect(stage.settle(subscription.next())).rejects.toMatchObject({ code: 'OPTIONS_INVALID' });
    await stage.settle(client.close());
    expect(stage.transport.openPorts).toBe(0);
  });
});
