// Our queue and pool with Python workers: heartbeats, expiry, lost jobs, restart (sections 3 and 5 of docs/protocols/ppp.md).
import type { PppQueue, PppQueueEvents } from '@proj/broker/ppp';
import { nextEvent, ownEndpoint } from '@proj/testkit';
import { describe, expect, it } from 'vitest';
import { CONNECTION_LOST, LIFE_MS, LONGER_THAN_LIFE } from '../test-peers.js';
import { stage } from './stage.js';

const theater = stage();
const HELLO = [Buffer.from('hello')];

/** The next such event of a queue. Call it before causing the event. */
function queueEvent<Name extends keyof PppQueueEvents>(queue: PppQueue, name: Name): Promise<PppQueueEvents[Name]> {
  return nextEvent<PppQueueEvents, Name>(queue, name);
}

describe('PPP: our queue and a Python worker', () => {
  it('rules 7, 10 and 11: heartbeats reach the worker, idle and busy, and keep it alive as long as it works', async () => {
    const { queue, frontend, backend } = await theater.queue();
    const worker = await theater.pythonWorker({ connect: backend, job: 'hold' });
    await worker.line('heartbeat', { busy: false }, 3);
    const reply = theater.pythonClient({ connect: frontend }).ask(HELLO);
    await worker.line('heartbeat', { busy: true }, LONGER_THAN_LIFE);
    worker.tell({ do: 'finish' });
    expect((await reply).map(String)).toEqual(['hello']);
    expect(queue.stats().counters).toMatchObject({ workersLost: 0, resends: 0, dispatches: 1 });
  });

  it('rule 11: a worker that neither reads nor sends heartbeats while working keeps its job beyond the liveness limit', async () => {
    const { queue, frontend, backend } = await theater.queue();
    const worker = await theater.pythonWorker({ connect: backend, job: 'silent' });
    const reply = theater.pythonClient({ connect: frontend }).ask(HELLO);
    await worker.line('working');
    const witness = await theater.pythonWorker({ connect: backend });
    await witness.line('heartbeat', {}, LONGER_THAN_LIFE);
    worker.tell({ do: 'finish' });
    expect((await reply).map(String)).toEqual(['hello']);
    expect(queue.stats().counters).toMatchObject({ workersLost: 0, resends: 0 });
  });

  it('rules 1, 2 and 11 to 13: after muteExpiryMs another one answers, the late reply reaches no client, and the worker returns by itself', async () => {
    const { queue, frontend, backend } = await theater.queue({ muteExpiryMs: LIFE_MS });
    const silent = await theater.pythonWorker({ connect: backend, job: 'silent' });
    const lost = queueEvent(queue, 'worker-lost');
    const reply = theater.pythonClient({ connect: frontend }).ask(HELLO);
    await silent.line('working');
    await theater.pythonWorker({ connect: backend });
    expect((await reply).map(String)).toEqual(['hello']);
    expect(await lost).toMatchObject({ reason: 'expired' });
    const back = queueEvent(queue, 'worker-ready');
    silent.tell({ do: 'finish' });
    await silent.line('queue-lost');
    await back;
    const { counters } = queue.stats();
    expect(counters).toMatchObject({ replies: 1, resends: 1, workersReady: 3 });
    expect(counters.dropped.unregistered).toBeGreaterThan(0);
  });

  it('rule 11: a stopped worker is given up, and accepted again when it resumes', async () => {
    const { queue, backend } = await theater.queue();
    const worker = await theater.pythonWorker({ connect: backend });
    await worker.line('heartbeat');
    const lost = queueEvent(queue, 'worker-lost');
    worker.kill('SIGSTOP');
    expect(await lost).toMatchObject({ reason: 'expired' });
    const back = queueEvent(queue, 'worker-ready');
    worker.kill('SIGCONT');
    await back;
  });

  it('rule 11: a worker that has sent heartbeats while working is given up during its job, too', async () => {
    const { queue, frontend, backend } = await theater.queue();
    const worker = await theater.pythonWorker({ connect: backend, job: 'hold' });
    const reply = theater.pythonClient({ connect: frontend }).ask(HELLO);
    await worker.line('heartbeat', { busy: true }, 10);
    const lost = queueEvent(queue, 'worker-lost');
    worker.kill('SIGSTOP');
    expect(await lost).toMatchObject({ reason: 'expired' });
    await theater.worker({ endpoints: [backend] });
    expect((await reply).map(String)).toEqual(['hello']);
  });

  it('rule 12: a killed mute worker is given up at once, and its job goes to another', async () => {
    const { queue, frontend, backend } = await theater.queue();
    const silent = await theater.pythonWorker({ connect: backend, job: 'silent' });
    const reply = theater.pythonClient({ connect: frontend }).ask(HELLO);
    await silent.line('working');
    const lost = queueEvent(queue, 'worker-lost');
    silent.kill('SIGKILL');
    expect(CONNECTION_LOST).toContain((await lost).reason);
    await theater.worker({ endpoints: [backend] });
    expect((await reply).map(String)).toEqual(['hello']);
  });

  it('rule 12: a killed worker is given up at once, and its job goes to another', async () => {
    const heartbeatIntervalMs = 60_000;
    const { queue, frontend, backend } = await theater.queue({ heartbeatIntervalMs });
    const worker = await theater.pythonWorker({ connect: backend, job: 'hold', 'heartbeat-ms': heartbeatIntervalMs });
    const lost = queueEvent(queue, 'worker-lost');
    const reply = theater.pythonClient({ connect: frontend }).ask(HELLO);
    await worker.line('working');
    await theater.worker({ endpoints: [backend], heartbeatIntervalMs });
    worker.kill('SIGKILL');
    expect(await lost).toMatchObject({ reason: 'gone' });
    expect((await reply).map(String)).toEqual(['hello']);
  });

  it('rule 6: a worker that sends READY while working has forgotten its job, which goes to another', async () => {
    const { queue, frontend, backend } = await theater.queue();
    const worker = await theater.pythonWorker({ connect: backend, job: 'hold' });
    const reply = theater.pythonClient({ connect: frontend }).ask(HELLO);
    await worker.line('working');
    await theater.worker({ endpoints: [backend] });
    worker.tell({ do: 'ready' });
    expect((await reply).map(String)).toEqual(['hello']);
    expect(queue.stats()).toMatchObject({ workers: 2, busy: 0, counters: { replies: 1, resends: 1 } });
  });

  it('rule 16: a worker that only sends heartbeats, as the Guide’s does after four frames, loses its job to another', async () => {
    const { queue, frontend, backend } = await theater.queue({ jobTimeoutMs: 2000 });
    const guide = await theater.pythonWorker({ connect: backend, job: 'guide' });
    const client = theater.pythonClient({ connect: frontend });
    expect((await client.ask(HELLO)).map(String)).toEqual(['hello']);
    const lost = queueEvent(queue, 'worker-lost');
    const reply = client.ask([Buffer.from('two'), Buffer.from('frames')]);
    await guide.line('ignored', { frames: 4 });
    await theater.worker({ endpoints: [backend] });
    expect(await lost).toMatchObject({ reason: 'job-timeout' });
    expect((await reply).map(String)).toEqual(['two', 'frames']);
  });

  it('rules 1 and 2: a restarted queue does not answer an unknown worker until that sends READY by itself', async () => {
    const first = await theater.queue({ frontend: await ownEndpoint(), backend: await ownEndpoint() });
    const worker = await theater.pythonWorker({ connect: first.backend });
    await worker.line('heartbeat');
    await first.queue.close();
    const { queue } = await theater.queue({ frontend: first.frontend, backend: first.backend });
    await worker.line('queue-lost');
    const reply = await theater.pythonClient({ connect: first.frontend }).ask(HELLO);
    expect(reply.map(String)).toEqual(['hello']);
    expect(queue.stats().counters).toMatchObject({ workersReady: 1 });
  });

  it('rule 19: a draining queue waits for the running job and forwards its reply', async () => {
    const { queue, frontend, backend } = await theater.queue({ drainMs: 600_000 });
    const worker = await theater.pythonWorker({ connect: backend, job: 'hold' });
    const reply = theater.pythonClient({ connect: frontend }).ask(HELLO);
    await worker.line('working');
    const drained = queue.drain();
    worker.tell({ do: 'finish' });
    expect((await reply).map(String)).toEqual(['hello']);
    await drained;
  });
});

describe('PPP: our queue and a Lazy Pirate in Python', () => {
  it('gets its reply after a restart, when it asks again', async () => {
    const first = await theater.queue({ frontend: await ownEndpoint(), backend: await ownEndpoint() });
    const pirate = theater.pythonClient({ connect: first.frontend, 'timeout-ms': 300, tries: 200 });
    const reply = pirate.ask(HELLO);
    await pirate.client.line('silence');
    await first.queue.close();
    await theater.queue({ frontend: first.frontend, backend: first.backend });
    await theater.worker({ endpoints: [first.backend] });
    expect((await reply).map(String)).toEqual(['hello']);
  });
});

describe('PPP: our pool and a Python worker', () => {
  it('a killed worker’s request goes to another one', async () => {
    const { pool, endpoint } = await theater.pool();
    const worker = await theater.pythonWorker({ connect: endpoint, job: 'hold' });
    const reply = pool.request('hello');
    await worker.line('working');
    await theater.worker({ endpoints: [endpoint] });
    worker.kill('SIGKILL');
    expect(String(await reply)).toBe('hello');
    expect(pool.stats().counters).toMatchObject({ replies: 1, resends: 1 });
  });
});
