import { describe, expect, it } from 'vitest';
import type { PortOptions, PublisherPort } from '../port.js';
import type { NetworkEvent } from './events.js';
import { VirtualNetwork } from './network.js';
import { advance } from './run.js';
import { dealer, ENDPOINT, frames } from './test/pair.js';
import type { VirtualTransport } from './transport.js';

async function publisher(transport: VirtualTransport, options?: PortOptions): Promise<PublisherPort> {
  const port = transport.publisher(options);
  await port.bind(ENDPOINT);
  port.start({ onBroken: () => expect.unreachable() });
  return port;
}

function subscriber(transport: VirtualTransport, prefixes: readonly string[], options?: PortOptions) {
  const port = transport.subscriber(options);
  const heard: string[] = [];
  for (const prefix of prefixes) port.subscribe(new TextEncoder().encode(prefix));
  port.connect(ENDPOINT);
  port.start({
    onMessage: (message) => heard.push(message.map((frame) => new TextDecoder().decode(frame)).join('|')),
    onRejected: () => expect.unreachable(),
    onBroken: () => expect.unreachable(),
  });
  return { port, heard };
}

describe('publishers and subscribers on a virtual network', () => {
  it('learn of a subscription one trip over the link after the connection is up', async () => {
    const network = new VirtualNetwork({ timing: { latencyMs: 10 } });
    const { heard } = subscriber(network.transport('sub'), ['a']);
    const port = await publisher(network.transport('pub'));
    await advance(network.clock, 19);
    port.publish(frames('a', 'too early'));
    await advance(network.clock, 1);
    port.publish(frames('a', 'in time'));
    await advance(network.clock, 10);

    expect(heard).toEqual(['a|in time']);
  });

  it('find each other again when the publisher was killed, and all subscriptions are renewed', async () => {
    const network = new VirtualNetwork();
    const first = network.transport('pub');
    const { heard, port } = subscriber(network.transport('sub'), ['a']);
    (await publisher(first)).publish(frames('a', 'unheard'));
    await advance(network.clock, 1000);
    port.subscribe(new TextEncoder().encode('b'));
    network.crash(first);
    const second = await publisher(network.transport('pub'));
    await advance(network.clock, 1000);
    second.publish(frames('a', '1'));
    second.publish(frames('b', '2'));
    second.publish(frames('c', '3'));
    await advance(network.clock, 1000);

    expect(heard).toEqual(['a|1', 'b|2']);
  });

  it('lose what does not fit, record it, and do so identically in each run', async () => {
    const runs = await Promise.all([1, 2].map(() => congested()));

    expect(runs[0]).toEqual(runs[1]);
    expect(runs[0]).toEqual({ heard: ['a|0', 'a|1', 'a|2', 'a|3', 'a|4', 'a|late'], lost: 5 });
  });

  it('forget a subscriber that is gone', async () => {
    const network = new VirtualNetwork();
    const port = await publisher(network.transport('pub'));
    const crashing = network.transport('sub');
    const { heard } = subscriber(crashing, ['a']);
    await advance(network.clock, 500);
    network.crash(crashing);
    await advance(network.clock, 500);
    port.publish(frames('a', '1'));
    await advance(network.clock, 500);

    expect([heard, crashing.openPorts]).toEqual([[], 0]);
  });

  it('do not talk to dealers', async () => {
    const events: NetworkEvent[] = [];
    const network = new VirtualNetwork({ observe: (event) => events.push(event) });
    const port = await publisher(network.transport('pub'));
    dealer(network.transport('stranger'));
    await advance(network.clock, 500);
    port.publish(frames('a'));
    await advance(network.clock, 500);

    expect(events.map(({ kind }) => kind)).toEqual(['sent']);
  });
});

async function congested() {
  let lost = 0;
  const observe = (event: NetworkEvent) => {
    if (event.kind === 'lost') lost += event.messages;
  };
  const network = new VirtualNetwork({ seed: 3, observe });
  const port = await publisher(network.transport('pub'), { highWaterMark: 3 });
  const slow = subscriber(network.transport('sub'), ['a'], { receiveHighWaterMark: 2 });
  await advance(network.clock, 500);
  slow.port.pause();
  for (let index = 0; index < 10; index++) port.publish(frames('a', String(index)));
  await advance(network.clock, 500);
  slow.port.resume();
  await advance(network.clock, 500);
  port.publish(frames('a', 'late'));
  await advance(network.clock, 500);
  return { heard: slow.heard, lost };
}
