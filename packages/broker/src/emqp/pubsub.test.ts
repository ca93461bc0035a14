/** The facade on the in-memory network: sockets and time are virtual, everything else is what users run. */
import { fromLatin1 } from '@proj/frames';
import { advance, settle, VirtualNetwork } from '@proj/transport/virtual';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { VERSION } from '../../test/emqp/broker-under-test.js';
import { TextPeer } from '../../test/raw-peer.js';
import { RawSubscriber } from '../../test/raw-subscriber.js';
import { EmqpBroker } from './broker.js';
import { EmqpPubSub } from './pubsub.js';
import type { EmqpPubSubOptions } from './options.js';

const PUBLISH = 'tcp://sim:47298';
const SUBSCRIBE = 'tcp://sim:47299';

let network: VirtualNetwork;
let device: EmqpPubSub;
const open: { close(): Promise<void> }[] = [];

beforeEach(() => {
  network = new VirtualNetwork({ seed: 1 });
});

afterEach(async () => {
  await settle(network.clock, Promise.all([device, ...open.splice(0)].map((one) => one.close())));
  expect(network.clock.armed).toBe(0);
});

async function start(options: EmqpPubSubOptions = {}) {
  const endpoints = { publish: PUBLISH, subscribe: SUBSCRIBE };
  device = new EmqpPubSub({ ...endpoints, transport: network.transport('device'), ...options });
  return settle(network.clock, device.start());
}

function publisher(endpoint = PUBLISH): TextPeer {
  const made = TextPeer.connect(network.transport('publisher'), endpoint);
  open.push(made);
  return made;
}

/** A subscriber whose subscriptions the device already knows. */
async function subscriber(...prefixes: string[]): Promise<RawSubscriber> {
  const made = RawSubscriber.connect(network.transport('subscriber'), SUBSCRIBE, ...prefixes);
  open.push(made);
  await advance(network.clock, 100);
  return made;
}

describe('the pub-sub device', () => {
  it('rule 31: sends messages to their subscribers, in two frames', async () => {
    expect(await start()).toEqual({ publish: [PUBLISH], subscribe: [SUBSCRIBE] });
    const [news, all] = [await subscriber('news'), await subscriber('')];
    const from = publisher();
    from.send('', VERSION, 'PUBLISH', 'm1', 'news.sport', 'one');
    from.send('', VERSION, 'PUBLISH', 'm2', 'weather', 'headers', 'two');
    await advance(network.clock, 200);

    expect([news.heard, all.heard]).toEqual([['news.sport|one'], ['news.sport|one', 'weather|two']]);
  });

  it('rule 31: with xpub reports which prefixes have subscribers, and when the last one leaves', async () => {
    await start({ xpub: true });
    const said: string[] = [];
    device.on('subscribed', ({ prefix }) => said.push(`+${Buffer.from(prefix).toString()}`));
    device.on('unsubscribed', ({ prefix }) => said.push(`-${Buffer.from(prefix).toString()}`));
    const [first, second] = [await subscriber('news'), await subscriber('news', '')];
    expect([said, device.stats().subscriptions]).toEqual([['+news', '+'], 2]);
    publisher().send('', VERSION, 'PUBLISH', 'm1', 'news', 'one');
    await advance(network.clock, 200);
    await settle(network.clock, first.close());
    await advance(network.clock, 100);
    expect([first.heard, second.heard]).toEqual([['news|one'], ['news|one']]);
    await settle(network.clock, second.close());
    await advance(network.clock, 100);
    expect(said).toEqual(['+news', '+', '-news', '-']);
    expect(device.stats().subscriptions).toBe(0);
  });

  it('rule 32: publishes messages that reach the frontend or the backend of a broker in its process', async () => {
    await start();
    const all = await subscriber('');
    const [frontend, backend, admin] = ['tcp://sim:1', 'tcp://sim:2', 'tcp://sim:3'];
    const broker = new EmqpBroker({ frontend, backend, admin, pubSub: device, transport: network.transport('broker') });
    open.push(broker);
    await settle(network.clock, broker.start());
    publisher(frontend).send('', VERSION, 'PUBLISH', 'm1', 'a', 'one');
    await advance(network.clock, 200);
    publisher(backend).send('', VERSION, 'PUBLISH', 'm2', 'b', 'two');
    await advance(network.clock, 200);

    expect(all.heard).toEqual(['a|one', 'b|two']);
    expect(device.stats()).toMatchObject({ published: 2, handedOver: 2 });
    expect(broker.stats().counters.handedOver).toBe(2);
  });

  it('publishes for its own program, before any publisher speaks', async () => {
    await start();
    const all = await subscriber('');
    device.publish(fromLatin1('a'), fromLatin1('one'));
    await advance(network.clock, 200);

    expect(all.heard).toEqual(['a|one']);
    expect(() => {
      device.publish(new Uint8Array(0), fromLatin1('one'));
    }).toThrow(/topic is empty/);
  });

  it('reports dropped messages, and continues', async () => {
    await start({ maxMessageFrames: 9 });
    const all = await subscriber('');
    const notes: string[] = [];
    device.on('note', ({ reason }) => notes.push(reason));
    const from = publisher();
    from.send('', VERSION, 'PUBLISH', 'm1', '', 'x');
    from.send(...Array.from({ length: 10 }, () => ''));
    from.send('', VERSION, 'PUBLISH', 'm1', 'a', 'kept');
    await advance(network.clock, 200);

    expect([notes, all.heard]).toEqual([['topic-empty', 'too-many-frames'], ['a|kept']]);
  });

  it('lets only a subscriber that does not read miss messages beyond its limit', async () => {
    await start({ subscriberQueueMax: 5 });
    const [slow, quick] = [await subscriber(''), await subscriber('')];
    slow.port.pause();
    for (let index = 0; index < 3000; index++) {
      device.publish(fromLatin1('a'), fromLatin1(String(index)));
      if (index % 100 === 0) await advance(network.clock, 10);
    }
    await advance(network.clock, 200);
    slow.port.resume();
    await advance(network.clock, 200);

    expect(slow.heard).toHaveLength(1005);
    expect(quick.heard).toHaveLength(3000);
  });

  it('publishes messages that it accepted before it was told to stop', async () => {
    await start();
    const all = await subscriber('');
    for (let index = 0; index < 100; index++) device.publish(fromLatin1('a'), fromLatin1(String(index)));
    await settle(network.clock, device.drain());
    device.publish(fromLatin1('a'), fromLatin1('late'));
    await advance(network.clock, 200);

    expect([all.heard.length, all.heard.at(-1)]).toEqual([100, 'a|99']);
  });

  it('leaves nothing bound if it cannot be started', async () => {
    await start();
    const second = new EmqpPubSub({ publish: 'tcp://sim:1', subscribe: SUBSCRIBE, transport: network.transport('2') });
    await expect(settle(network.clock, second.start())).rejects.toMatchObject({ code: 'ADDRESS_IN_USE' });
    const third = new EmqpPubSub({
      publish: 'tcp://sim:1',
      subscribe: 'tcp://sim:2',
      transport: network.transport('3'),
    });
    open.push(third);

    expect(await settle(network.clock, third.start())).toEqual({
      publish: ['tcp://sim:1'],
      subscribe: ['tcp://sim:2'],
    });
  });

  it('refuses unknown and invalid options', () => {
    device = new EmqpPubSub({ transport: network.transport() });
    expect(() => new EmqpPubSub({ subscriberQueueMax: 0 })).toThrow(/subscriberQueueMax/);
    expect(() => new EmqpBroker({ pubSub: 7 as never })).toThrow(/EmqpPubSub/);
  });
});
