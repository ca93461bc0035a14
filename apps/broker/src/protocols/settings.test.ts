/**
 * Settings whose effect a test cannot see from outside in reasonable time: tested in an in-memory network, with its
 * clock.
 */
import type { Logger } from '@proj/appkit';
import { ROUTER_PEER } from '@proj/transport';
import type { SocketPort } from '@proj/transport';
import { advance, settle, VirtualNetwork } from '@proj/transport/virtual';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { sharedOptions } from '../protocol.js';
import type { Server, Surroundings } from '../protocol.js';
import { emqp } from './emqp.js';
import { mdp } from './mdp.js';
import { nfp } from './nfp.js';

let network: VirtualNetwork;
let servers: Server[];

beforeEach(() => {
  network = new VirtualNetwork({ seed: 1 });
  servers = [];
});

afterEach(async () => {
  await settle(network.clock, Promise.all(servers.map((server) => server.drain())));
});

function surroundings(): Surroundings {
  const log = { info: () => undefined, warn: () => undefined, error: () => undefined } as unknown as Logger;
  return {
    transport: network.transport('broker'),
    log,
    access: undefined,
    onBroken: (error) => {
      throw error;
    },
    onEnded: () => undefined,
    mdpEndpoint: 'tcp://sim:5555',
  };
}

async function serve(serving: Promise<Server>): Promise<Server> {
  const server = await settle(network.clock, serving);
  servers.push(server);
  return server;
}

const withShared = sharedOptions.extend(emqp.options.shape).extend(nfp.options.shape);

describe('settings', () => {
  it("--emqp-subscriber-queue-max is the device's high-water mark, --nfp-subscriber-queue-max that of events", async () => {
    const around = surroundings();
    const publisher = vi.spyOn(around.transport, 'publisher');
    const settings = withShared.parse({
      emqpSubscriberQueueMax: 7,
      nfpSubscriberQueueMax: 9,
      nfpEvents: 'tcp://sim:5556',
    });
    await serve(emqp.serve(settings, around));
    await serve(nfp.serve(settings, around));
    expect(publisher.mock.calls.map(([options]) => options?.highWaterMark)).toEqual([7, 9]);
  });

  it('--emqp-result-route-ttl-ms limits how long a result is awaited', async () => {
    const settings = withShared.parse({ emqpResultRouteTtlMs: 5000 });
    const server = await serve(emqp.serve(settings, surroundings()));
    const awaited = (): unknown => (server.stats() as { awaitedResults: number }).awaitedResults;
    const [worker, client] = [peerAt(settings.emqpBackend), peerAt(settings.emqpFrontend)];
    say(worker, 'INFORM', 'i', '', 'worker');
    say(worker, 'READY', 'r');
    await advance(network.clock, 100);
    say(client, 'REQUEST', 'm1', 'default', 'reply-requested', '["run", {}]');
    await advance(network.clock, 100);
    expect(awaited()).toBe(1);
    await advance(network.clock, 4800);
    expect(awaited()).toBe(1);
    await advance(network.clock, 200);
    expect(awaited()).toBe(0);
    await settle(network.clock, Promise.all([worker.close(), client.close()]));
  });

  it.each([
    ['mdp', mdp, 'mdp', ['', 'MDPW01', '\x01', 'echo'], ['', 'MDPW01', '\x05']],
    ['nfp', nfp, 'nfp', ['', 'NFPW01', '0x01', 'sample'], ['', 'NFPW01', '0x03', 'sample']],
    ['emqp', emqp, 'emqpBackend', ['', 'eMQP/1.0', 'INFORM', 'i', '', 'worker'], ['', 'eMQP/1.0', 'KBYE', 'k']],
  ] as const)('--registrations-per-second-max limits registrations of %s', async (_, protocol, port, ready, bye) => {
    const options = withShared.extend(mdp.options.shape);
    const server = await serve(protocol.serve(options.parse({ registrationsPerSecondMax: 1 }), surroundings()));
    const worker = peerAt(server.endpoints[port] ?? '');
    for (const frames of [ready, bye, ready]) sayFrames(worker, frames);
    await advance(network.clock, 100);
    const { counters } = server.stats() as { counters: { dropped: Record<string, number> } };
    expect(counters.dropped['registrations-limit']).toBe(1);
    await settle(network.clock, worker.close());
  });
});

function peerAt(endpoint: string): SocketPort {
  const port = network.transport('peer').dealer({ lingerMs: 0 });
  port.connect(endpoint);
  port.start({
    onMessage: () => undefined,
    onPeerGone: () => undefined,
    onUndeliverable: () => undefined,
    onRejected: () => undefined,
    onBroken: () => undefined,
  });
  return port;
}

function say(port: SocketPort, ...frames: string[]): void {
  sayFrames(port, ['', 'eMQP/1.0', ...frames]);
}

function sayFrames(port: SocketPort, frames: readonly string[]): void {
  port.send(
    ROUTER_PEER,
    frames.map((frame) => Buffer.from(frame)),
  );
}
