/** Subscribing to a broker's PUB on the in-memory network: the test plays the publisher. */
import { getEventListeners } from 'node:events';
import { encodeNfpPublishedEvent } from '@proj/frames/nfp';
import type { PublisherPort } from '@proj/transport';
import { describe, expect, it } from 'vitest';
import { ClientWorld } from '../../test/world.js';
import { NfpSubscriber } from './subscriber.js';
import type { NfpSubscription } from './subscriber.js';
import type { NfpSubscriberOptions } from './options.js';

const EVENTS = 'tcp://broker:5556';

class Stage extends ClientWorld {
  subscriber(options: NfpSubscriberOptions = {}): NfpSubscriber {
    return new NfpSubscriber({ endpoints: [EVENTS], transport: this.transport, ...options });
  }

  async publisher(): Promise<PublisherPort> {
    const port = this.network.transport('broker').publisher();
    await port.bind(EVENTS);
    port.start({ onBroken: () => {} });
    return port;
  }

  /** The next events, as `service worker uuid message missed`. */
  async read(subscription: NfpSubscription, count: number): Promise<string[]> {
    const lines: string[] = [];
    while (lines.length < count) {
      const { value } = await this.settle(subscription.next());
      if (value === undefined) break;
      const { service, worker, uuid, message, missed } = value;
      lines.push([service, worker, uuid, message, missed].join(' '));
    }
    return lines;
  }
}

function event(service: string, uuid: string, message: string): Uint8Array[] {
  const body = [Buffer.from(JSON.stringify({ worker: 'who knows', message, status: 'running', severity: 'INFO' }))];
  return encodeNfpPublishedEvent({ service, worker: Buffer.from('w1'), uuid, status: 200, body });
}

describe('an NfpSubscriber', () => {
  it.each([
    [{}, ['a w1 u1 one 0', 'a w1 u12 two 0', 'a/b w1 u1 three 0', 'b w1 u1 four 0']],
    [{ service: 'a' }, ['a w1 u1 one 0', 'a w1 u12 two 0']],
    [{ service: 'a', uuid: 'u1' }, ['a w1 u1 one 0']],
  ])('rule 22: receives what %j requests, but not services with the same prefix', async (wanted, lines) => {
    const stage = new Stage();
    const publisher = await stage.publisher();
    await using subscriber = stage.subscriber();
    const subscription = subscriber.subscribe(wanted);
    await stage.advance(100);
    for (const [service, uuid, message] of [
      ['a', 'u1', 'one'],
      ['a', 'u12', 'two'],
      ['a/b', 'u1', 'three'],
      ['b', 'u1', 'four'],
    ] as const)
      publisher.publish(event(service, uuid, message));
    expect(await stage.read(subscription, lines.length)).toEqual(lines);
    expect(subscriber.stats()).toEqual({ received: lines.length, missed: 0, unreadable: 0 });
    await publisher.close();
  });

  it('rule 22: drops the oldest if nobody reads, and says how many', async () => {
    const stage = new Stage();
    const publisher = await stage.publisher();
    await using subscriber = stage.subscriber();
    const slow: NfpSubscription[] = [];
    subscriber.on('missed', (subscription) => slow.push(subscription));
    const subscription = subscriber.subscribe({ service: 'a', bufferMax: 2 });
    await stage.advance(100);
    for (let n = 0; n < 5; n++) publisher.publish(event('a', 'u1', String(n)));
    await stage.advance(100);
    expect(await stage.read(subscription, 2)).toEqual(['a w1 u1 3 3', 'a w1 u1 4 0']);
    expect(slow).toEqual([subscription]);
    await publisher.close();
  });

  it('rule 22: counts invalid events, and continues', async () => {
    const stage = new Stage();
    const publisher = await stage.publisher();
    await using subscriber = stage.subscriber();
    const subscription = subscriber.subscribe();
    await stage.advance(100);
    publisher.publish([Buffer.from('a/u1'), Buffer.from('what?')]);
    publisher.publish(event('a', 'u1', 'one'));
    expect(await stage.read(subscription, 1)).toEqual(['a w1 u1 one 0']);
    expect(subscriber.stats()).toEqual({ received: 1, missed: 0, unreadable: 1 });
    await publisher.close();
  });

  it('ends by its signal, by leaving the loop, and by close, and then listens to nothing', async () => {
    const stage = new Stage();
    const subscriber = stage.subscriber();
    const controller = new AbortController();
    const aborted = subscriber.subscribe({ signal: controller.signal });
    const reading = stage.settle(aborted.next());
    controller.abort(new Error('enough'));
    await expect(reading).rejects.toThrow('enough');
    expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
    const left = subscriber.subscribe();
    await left.return();
    expect(await left.next()).toEqual({ done: true, value: undefined });
    const open = subscriber.subscribe();
    await stage.settle(subscriber.close());
    expect(await open.next()).toEqual({ done: true, value: undefined });
    expect(() => subscriber.subscribe()).toThrow(expect.objectContaining({ code: 'CLOSED' }));
  });

  it.each([{ uuid: 'u1' }, { service: '' }, { bufferMax: 0 }, { topic: 'a' }])('refuses %j', (options) => {
    const subscriber = new Stage().subscriber();
    expect(() => subscriber.subscribe(options)).toThrow(expect.objectContaining({ code: 'OPTIONS_INVALID' }));
  });
});
