// 6/PPP with peers written only from the text: requests and replies, in every combination of makers.
import { describe, expect, it } from 'vitest';
import { BODIES, lengths } from '../test-peers.js';
import type { Body, Maker } from '../test-peers.js';
import { stage } from './stage.js';

const PAIRINGS = (
  [
    ['python', 'ours', 'ours'],
    ['ours', 'ours', 'python'],
    ['python', 'ours', 'python'],
    ['ours', 'python', 'ours'],
    ['python', 'python', 'ours'],
    ['ours', 'python', 'python'],
  ] satisfies [Maker, Maker, Maker][]
).map(([client, queue, worker]) => ({ client, queue, worker }));

/** Frames that a peer might mistake for READY, HEARTBEAT or an envelope. */
const LOOK_ALIKES: readonly Body[] = [
  [Buffer.of(1)],
  [Buffer.of(2)],
  [Buffer.of(1), Buffer.alloc(0), Buffer.of(2)],
  [Buffer.of(1, 0)],
];

const theater = stage();

describe.each(PAIRINGS)('PPP: $client client, $queue queue, $worker worker', (parts) => {
  it('contents come back frame for frame, byte for byte', async () => {
    const { frontend, backend } = await theater.queueBy(parts.queue);
    await theater.workerBy(parts.worker, backend);
    const client = theater.clientBy(parts.client, frontend);
    for (const body of [...BODIES, ...LOOK_ALIKES]) {
      const reply = await client.ask(body);
      expect(lengths(reply)).toEqual(lengths(body));
      expect(Buffer.concat(reply).equals(Buffer.concat(body))).toBe(true);
    }
  });

  it('each of 500 pipelined requests gets its own reply', async () => {
    const { frontend, backend } = await theater.queueBy(parts.queue);
    await theater.workerBy(parts.worker, backend);
    const bodies = Array.from({ length: 500 }, (_, number) => [Buffer.from(`request ${number}`)]);
    const replies = await theater.clientBy(parts.client, frontend).askAll(bodies);
    expect(replies.map(String)).toEqual(bodies.map(String));
  });
});

describe('PPP: our pool, which has no clients, and a Python worker', () => {
  it('contents come back to their calls', async () => {
    const { pool, endpoint } = await theater.pool();
    await theater.pythonWorker({ connect: endpoint });
    for (const body of [...BODIES, ...LOOK_ALIKES]) {
      const reply = await pool.request(body);
      expect(lengths(reply)).toEqual(lengths(body));
      expect(Buffer.concat(reply).equals(Buffer.concat(body))).toBe(true);
    }
  });

  it('500 calls at once share three workers', async () => {
    const { pool, endpoint } = await theater.pool();
    await Promise.all([1, 2, 3].map(() => theater.pythonWorker({ connect: endpoint })));
    const bodies = Array.from({ length: 500 }, (_, number) => `call ${number}`);
    const replies = await Promise.all(bodies.map((body) => pool.request(body)));
    expect(replies.map(String)).toEqual(bodies);
  });
});
