/** The facade over libzmq: what only real sockets can show. */
import { zmqTransport } from '@proj/transport/zmq';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { TextPeer } from '../../test/raw-peer.js';
import { PppPool } from './pool.js';

// Peers of libzmq, while the facade under test uses the default transport.
beforeAll(() => zmqTransport().load());

const open: { close(): Promise<void> }[] = [];

afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.close()));
});

async function start(): Promise<{ pool: PppPool; endpoint: string }> {
  const pool = new PppPool({ endpoint: 'tcp://127.0.0.1:*', lingerMs: 0 });
  open.push(pool);
  const [endpoint = ''] = await pool.start();
  return { pool, endpoint };
}

function worker(endpoint: string): TextPeer {
  const made = TextPeer.connect(zmqTransport(), endpoint);
  open.push(made);
  made.send('\x01');
  return made;
}

/** Answers as the Guide's workers do, with the frames of the request. */
async function echo(peer: TextPeer, times: number): Promise<void> {
  for (let i = 0; i < times; i++) peer.send(...(await peer.next()));
}

describe('over real sockets', () => {
  it('answers 2000 requests at once with two workers, each call its own', async () => {
    const { pool, endpoint } = await start();
    const workers = [worker(endpoint), worker(endpoint)];
    const calls = Array.from({ length: 2000 }, (_, i) => pool.request(`${i}`, { timeoutMs: 60_000 }));
    for (const each of workers) void echo(each, 2000);
    const answers = await Promise.all(calls);
    expect(answers.map(([frame]) => String(frame))).toEqual(calls.map((_, i) => `${i}`));
    expect(pool.stats().counters).toMatchObject({ requests: 2000, replies: 2000 });
  });

  it('gives a request to another worker when the connection of its worker ends', async () => {
    const { pool, endpoint } = await start();
    const first = worker(endpoint);
    const answer = pool.request('hello', { timeoutMs: 60_000 });
    await first.next();
    void echo(worker(endpoint), 1);
    await first.close();
    expect(String((await answer)[0])).toBe('hello');
  });
});
