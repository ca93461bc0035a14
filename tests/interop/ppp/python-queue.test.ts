// Our worker and client at a foreign queue: heartbeats, silence, hasty queues, restart (sections 4 and 6 of docs/protocols/ppp.md).
import { nextEvent, ownEndpoint } from '@proj/testkit';
import type { PppWorker, PppWorkerEvents } from '@proj/worker';
import { describe, expect, it } from 'vitest';
import { HeldHandler, LONGER_THAN_LIFE } from '../test-peers.js';
import { stage } from './stage.js';

const theater = stage();

/** The next loss of a worker's conversation. Call it before causing it. */
function loss(worker: PppWorker): Promise<PppWorkerEvents['lost']> {
  return nextEvent<PppWorkerEvents, 'lost'>(worker, 'lost');
}

describe('PPP: a Python queue and our worker', () => {
  it('rule 2: the worker’s heartbeats keep it alive beyond its liveness limit, also while it works', async () => {
    const { queue, frontend, backend } = await theater.pythonQueue();
    const held = new HeldHandler();
    await theater.worker({ endpoints: [backend], handler: held.handler });
    const reply = theater.client({ endpoints: [frontend] }).request('hello');
    await queue.line('heartbeat', { busy: true }, LONGER_THAN_LIFE);
    held.release('done');
    expect(String(await reply)).toBe('done');
    expect(queue.lines('expired')).toEqual([]);
  });

  it('rule 5: when the queue falls silent the worker leaves, and sends READY on a new connection', async () => {
    const { queue, frontend, backend } = await theater.pythonQueue();
    const worker = await theater.worker({ endpoints: [backend] });
    const { id } = await queue.line('worker');
    const lost = loss(worker);
    queue.tell({ do: 'mute' });
    expect(await lost).toMatchObject({ reason: 'silent' });
    queue.tell({ do: 'speak' });
    expect((await queue.line('worker', {}, 2))['id']).not.toBe(id);
    // Until then it would send requests to the old connection.
    await queue.line('expired', { id });
    const client = theater.client({ endpoints: [frontend], timeoutMs: 500, tries: 100 });
    expect(String(await client.request('hello'))).toBe('hello');
  });

  it('rule 8: READY replaces the reply that a handler failed to give, and the worker continues', async () => {
    const { queue, frontend, backend } = await theater.pythonQueue();
    let calls = 0;
    await theater.worker({
      endpoints: [backend],
      handler: ({ body }) => {
        if (calls++ === 0) throw new Error('once');
        return body;
      },
    });
    const { id } = await queue.line('worker');
    const reply = theater.client({ endpoints: [frontend], timeoutMs: 500, tries: 100 }).request('hello');
    await queue.line('worker', { id }, 2);
    expect(String(await reply)).toBe('hello');
  });

  it('rule 9: requests that a hasty queue sends to a busy worker are answered in turn', async () => {
    const { queue, frontend, backend } = await theater.pythonQueue({ hasty: 1 });
    const held = new HeldHandler();
    const worker = await theater.worker({ endpoints: [backend], handler: held.handler });
    const client = theater.client({ endpoints: [frontend] });
    const replies: Promise<Buffer[]>[] = [];
    // One after the other: each has its own socket, and sockets may overtake each other.
    for (const [n, body] of ['a', 'b', 'c'].entries()) {
      replies.push(client.request(body));
      await queue.line('job', { held: n + 1 });
    }
    for (const [n, reply] of replies.entries()) {
      await held.begun(n + 1);
      held.release(`reply ${n}`);
      expect(String(await reply)).toBe(`reply ${n}`);
    }
    expect(worker.stats()).toMatchObject({ requests: 3, replies: 3, dropped: {} });
  });

  it('rule 10: a draining worker answers the request in hand', async () => {
    const { frontend, backend } = await theater.pythonQueue();
    const held = new HeldHandler();
    const worker = await theater.worker({ endpoints: [backend], handler: held.handler, drainMs: 600_000 });
    const reply = theater.client({ endpoints: [frontend] }).request('hello');
    await held.begun(1);
    const drained = worker.drain();
    held.release('last words');
    expect(String(await reply)).toBe('last words');
    await drained;
  });

  it('rule 7: when its queue is killed the worker goes to the next one', async () => {
    const first = await theater.pythonQueue();
    const second = await theater.pythonQueue();
    const worker = await theater.worker({ endpoints: [first.backend, second.backend] });
    await first.queue.line('worker');
    const lost = loss(worker);
    await first.queue[Symbol.asyncDispose]();
    await lost;
    await second.queue.line('worker');
    const client = theater.client({ endpoints: [first.frontend, second.frontend], timeoutMs: 300, tries: 100 });
    expect(String(await client.request('hello'))).toBe('hello');
  });

  it('rules 3 and 5: worker and client survive a queue kill', async () => {
    const ports = { frontend: await ownEndpoint(), backend: await ownEndpoint() };
    const { queue, frontend, backend } = await theater.pythonQueue(ports);
    const worker = await theater.worker({ endpoints: [backend] });
    const client = theater.client({ endpoints: [frontend], timeoutMs: 500, tries: 100 });
    expect(String(await client.request('hello'))).toBe('hello');
    const lost = loss(worker);
    await queue[Symbol.asyncDispose]();
    await lost;
    const reply = client.request('again');
    await theater.pythonQueue({ frontend, backend });
    expect(String(await reply)).toBe('again');
  });
});

describe('PPP: a Python queue and our client', () => {
  it('rule 3: asks a silent queue again on new sockets, and accepts one reply however many come', async () => {
    const { queue, frontend, backend } = await theater.pythonQueue();
    const worker = await theater.pythonWorker({ connect: backend, liveness: 600 });
    const client = theater.client({ endpoints: [frontend], timeoutMs: 300, tries: 100, sockets: 1 });
    expect(String(await client.request('before'))).toBe('before');
    queue.tell({ do: 'mute' });
    await queue.line('muted');
    const resent = nextEvent<{ note: unknown }, 'note'>(client, 'note');
    const reply = client.request('hello');
    await resent;
    queue.tell({ do: 'speak' });
    expect(String(await reply)).toBe('hello');
    expect(String(await client.request('after'))).toBe('after');
    expect(client.stats()).toMatchObject({ calls: 3, finals: 3, dropped: {} });
    expect(client.stats().sends).toBeGreaterThan(3);
    expect(worker.lines('ready')).toHaveLength(1);
  });
});
