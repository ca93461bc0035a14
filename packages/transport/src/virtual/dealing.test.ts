/**
 * Dealers that bind and routers that connect: what the compliance cases cannot see, which are exact times and faults.
 */
import { describe, expect, it } from 'vitest';
import type { PortOptions } from '../port.js';
import { VirtualNetwork } from './network.js';
import { advance } from './run.js';
import { answer, ENDPOINT, PortRecorder, say } from './test/pair.js';
import type { VirtualTestPeer } from './test/pair.js';
import type { VirtualTransport } from './transport.js';

class Confirming extends PortRecorder {
  onSent(): void {
    this.lines.push('sent');
  }
}

async function boundDealer(transport: VirtualTransport, options?: PortOptions): Promise<VirtualTestPeer> {
  const port = transport.dealer(options);
  await port.bind(ENDPOINT);
  const recorder = new Confirming();
  port.start(recorder);
  return Object.assign(recorder, { port });
}

function connectedRouter(transport: VirtualTransport, options?: PortOptions, endpoints = [ENDPOINT]): VirtualTestPeer {
  const port = transport.router(options);
  for (const endpoint of endpoints) port.connect(endpoint);
  const recorder = new PortRecorder();
  port.start(recorder);
  return Object.assign(recorder, { port });
}

describe('a bound dealer', () => {
  it('gives an attempt up when its time is over, and not before', async () => {
    const network = new VirtualNetwork();
    const server = await boundDealer(network.transport(), { peerQueueMax: 0, sendWaitMs: 100 });
    say(server, '1');
    await advance(network.clock, 99);
    expect(server.lines).toEqual([]);
    await advance(network.clock, 1);
    expect(server.lines).toEqual(['congested: 1']);
    expect(network.clock.armed).toBe(0);
  });

  it('leaves no timer behind when it is closed while an attempt waits', async () => {
    const network = new VirtualNetwork();
    const process = network.transport();
    const server = await boundDealer(process, { sendWaitMs: 3_600_000 });
    say(server, '1', '2');
    const closed = server.port.close({ lingerMs: 50 });
    await advance(network.clock, 50);
    await closed;
    expect([server.lines, process.openPorts, process.armedTimers]).toEqual([[], 0, 0]);
  });

  it('deals in turn to those that have room, and again to one that was full when it has room', async () => {
    const network = new VirtualNetwork();
    const server = await boundDealer(network.transport('server'), { highWaterMark: 1, peerQueueMax: 0 });
    const [slow, quick] = [network.transport('slow'), network.transport('quick')];
    const one = connectedRouter(slow, { highWaterMark: 1 });
    await advance(network.clock, 100);
    const other = connectedRouter(quick, { highWaterMark: 1 });
    await advance(network.clock, 100);
    network.pause(slow);
    // The slow one has room for two: the mark of the server and its own.
    for (const text of ['1', '2', '3', '4', '5', '6']) {
      say(server, text);
      await advance(network.clock, 10);
    }
    expect(other.lines).toEqual(['2', '4', '5', '6']);
    network.resume(slow);
    await advance(network.clock, 10);
    say(server, '7', '8');
    await advance(network.clock, 10);
    expect([one.lines, other.lines]).toEqual([
      ['1', '3', '8'],
      ['2', '4', '5', '6', '7'],
    ]);
    expect(server.lines).toEqual(Array.from({ length: 8 }, () => 'sent'));
  });

  it('is not notified when a router dies, and deals nothing more to it once that is known', async () => {
    const network = new VirtualNetwork();
    const server = await boundDealer(network.transport('server'), { peerQueueMax: 0 });
    const doomed = network.transport('doomed');
    connectedRouter(doomed);
    await advance(network.clock, 100);
    network.crash(doomed);
    await advance(network.clock, 100);
    say(server, '1');
    expect(server.lines).toEqual(['congested: 1']);
  });
});

describe('a router that connects', () => {
  it('keeps its name for the dealer, and what it sends meanwhile, over a lost connection', async () => {
    const network = new VirtualNetwork();
    const server = await boundDealer(network.transport('server'));
    const client = connectedRouter(network.transport('client'));
    await advance(network.clock, 100);
    say(server, '1');
    await advance(network.clock, 100);
    network.cut('server', 'client');
    await advance(network.clock, 1);
    answer(client, 'while away');
    await advance(network.clock, 1000);
    say(server, '2');
    await advance(network.clock, 100);
    expect([server.lines, client.lines]).toEqual([
      ['sent', 'while away', 'sent'],
      ['1', '2'],
    ]);
    expect(client.peers).toHaveLength(1);
  });

  it('parks what does not fit while its dealer is away, and hands it over in order', async () => {
    const network = new VirtualNetwork();
    const [near, far] = [network.transport('server'), network.transport('client')];
    const first = await boundDealer(near);
    const client = connectedRouter(far, { highWaterMark: 2 });
    await advance(network.clock, 100);
    say(first, 'hi');
    await advance(network.clock, 100);
    network.crash(near);
    await advance(network.clock, 10);
    answer(client, '1', '2', '3', '4');
    expect(client.port.pending).toBe(2);
    const second = await boundDealer(network.transport('server'));
    await advance(network.clock, 1000);
    expect([second.lines, client.port.pending]).toEqual([['1', '2', '3', '4'], 0]);
  });

  it('hands over what waits for its dealer before it closes', async () => {
    const network = new VirtualNetwork();
    const server = await boundDealer(network.transport());
    const process = network.transport();
    const client = connectedRouter(process);
    await advance(network.clock, 100);
    say(server, 'hi');
    await advance(network.clock, 100);
    answer(client, 'bye');
    const closed = client.port.close();
    await advance(network.clock, 100);
    await closed;
    expect(server.lines).toEqual(['sent', 'bye']);
    expect([process.openPorts, process.armedTimers]).toEqual([0, 0]);
  });

  it('ignores a second dealer that announces the name of the first', async () => {
    const network = new VirtualNetwork();
    const routingId = Uint8Array.of(0x71);
    const servers = await Promise.all(
      ['tcp://sim:1', 'tcp://sim:2'].map(async (endpoint) => {
        const port = network.transport().dealer({ routingId });
        await port.bind(endpoint);
        const recorder = new PortRecorder();
        port.start(recorder);
        return Object.assign(recorder, { port });
      }),
    );
    const client = connectedRouter(network.transport(), {}, ['tcp://sim:1', 'tcp://sim:2']);
    await advance(network.clock, 100);
    servers.forEach((server, index) => {
      say(server, String(index));
    });
    await advance(network.clock, 100);
    expect([client.lines, client.peers.map(({ key }) => key)]).toEqual([['0'], ['q']]);
  });
});
