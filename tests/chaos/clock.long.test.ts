// The wall clock of a server is set a day forward, then a day back, under load: no peer expires, nothing is lost.
import { MdpClient, NfpClient, PzqConsumer, PzqProducer } from '@proj/client';
import { ownEndpoint } from '@proj/testkit';
import type { PeerProcess, PeerSpec } from '@proj/testkit';
import { expect, it } from 'vitest';
import { transport } from '../transport.js';
import { stage } from './pzq/stage.js';
import { pathOf, program } from './programs.js';

const theater = stage();

/** Work that must be done in each state of the clock. */
const ROUND = 100;

/** Longer than anything here takes: a clock that moved this timer by a day would fire it. */
const BEATS = { 'heartbeat-ms': 1000, liveness: 60 } as const;

/** The same program, with a clock that SIGUSR2 sets. */
function withClock(spec: PeerSpec): PeerSpec {
  return { ...spec, args: ['--import', pathOf('fixtures/clock.mjs'), ...(spec.args ?? [])] };
}

/** Runs the round before, between and after both clock changes. */
async function throughMoves(server: PeerProcess, round: (from: number) => Promise<void>): Promise<void> {
  await round(0);
  for (const move of [1, 2]) {
    server.kill('SIGUSR2');
    await server.line('clock-set', {}, move);
    await round(move * ROUND);
  }
}

it('a broker loses neither workers nor requests', async () => {
  const endpoint = await ownEndpoint();
  const broker = theater.launch(
    withClock(program('broker', { only: 'mdp,nfp', mdp: endpoint, nfp: endpoint, ...BEATS })),
  );
  await broker.line('listening');
  const named = { service: 'sample', connect: endpoint, ...BEATS };
  theater.launch(program('worker', { ...named, service: 'echo' }));
  theater.launch(program('worker', { ...named, protocol: 'nfp', name: 'w1', store: 'memory:' }));
  await broker.line('worker-ready', {}, 2);
  const mdp = theater.keep(new MdpClient({ transport, endpoints: [endpoint], timeoutMs: 60_000, tries: 1 }));
  const nfp = theater.keep(new NfpClient({ transport, endpoints: [endpoint] }));
  await throughMoves(broker, async (from) => {
    const numbers = Array.from({ length: ROUND }, (_, i) => from + i);
    const replies = await Promise.all(numbers.map((n) => mdp.request('echo', `${n}`)));
    expect(replies.map(String)).toEqual(numbers.map(String));
    const results = await Promise.all(numbers.map((n) => nfp.run('sample', 'echo', { args: [n], target: 'any' })));
    expect(results.filter((result) => result['w1']?.failed !== false)).toEqual([]);
  });
  expect(broker.lines('worker-lost')).toEqual([]);
});

it('a queue loses no message, and its consumer does not starve', async () => {
  const endpoints = await theater.endpoints();
  const flags = {
    ...endpoints,
    store: `lmdb:${await theater.folder()}`,
    'ack-timeout-ms': 2000,
    'dedupe-window-ms': 60_000,
  };
  const queue = theater.launch(withClock(program('queue', flags)));
  await queue.line('listening');
  const producer = theater.keep(new PzqProducer({ transport, endpoints: [endpoints.receive] }));
  const consumer = theater.keep(new PzqConsumer({ transport, endpoints: [endpoints.send] }));
  consumer.on('error', () => undefined);
  const seen = new Set<string>();
  let enough = () => {};
  void consumer.run(({ body }) => {
    seen.add(String(body[0]));
    enough();
  });
  await throughMoves(queue, async (from) => {
    const bodies = Array.from({ length: ROUND }, (_, i) => `${from + i}`);
    await Promise.all(bodies.map((body) => producer.send(body)));
    await new Promise<void>((resolve) => {
      enough = () => {
        if (bodies.every((body) => seen.has(body))) resolve();
      };
      enough();
    });
  });
  expect(seen.size).toBe(3 * ROUND);
  queue.kill('SIGTERM');
  expect((await queue.exit).code).toBe(0);
});
