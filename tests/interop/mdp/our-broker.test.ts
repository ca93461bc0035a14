// Heartbeats, expiry and DISCONNECT between our broker and Python workers (sections 4 and 9 of docs/protocols/mdp.md).
import { ownEndpoint } from '@proj/testkit';
import { describe, expect, it } from 'vitest';
import { CONNECTION_LOST, LIFE_MS, LONGER_THAN_LIFE } from '../test-peers.js';
import { brokerEvent, stage, VERSIONS } from './stage.js';

const theater = stage();
const HELLO = [Buffer.from('hello')];

describe.each(VERSIONS)('MDP %s: our broker and a Python worker', (version) => {
  it('rules 11 to 13: heartbeats reach the worker idle and busy, and keep it alive as long as it works', async () => {
    const { broker, endpoint } = await theater.broker();
    const worker = await theater.pythonWorker({ connect: endpoint, version, job: 'hold' });
    await worker.line('heartbeat', { busy: false }, 3);
    const answer = theater.pythonClient({ connect: endpoint, version }).ask('echo', HELLO);
    await worker.line('heartbeat', { busy: true }, LONGER_THAN_LIFE);
    worker.tell({ do: 'finish' });
    expect((await answer).body.map(String)).toEqual(['hello']);
    expect(broker.stats().counters).toMatchObject({ workersLost: 0, resends: 0, dispatches: 1 });
  });

  it('rule 13: a worker that is silent while it works keeps its job beyond the liveness limit', async () => {
    const { broker, endpoint } = await theater.broker();
    const witness = await theater.pythonWorker({ connect: endpoint, version, service: 'other' });
    const worker = await theater.pythonWorker({ connect: endpoint, version, job: 'silent' });
    const answer = theater.pythonClient({ connect: endpoint, version }).ask('echo', HELLO);
    await worker.line('working');
    await witness.next('heartbeat', {}, LONGER_THAN_LIFE);
    worker.tell({ do: 'finish' });
    expect((await answer).body.map(String)).toEqual(['hello']);
    expect(broker.stats().counters).toMatchObject({ workersLost: 0, resends: 0, disconnectsSent: 0 });
  });

  it('rules 13 to 15: after muteExpiryMs the job goes to another worker, and a late reply is answered with DISCONNECT', async () => {
    const { broker, endpoint } = await theater.broker({ muteExpiryMs: LIFE_MS });
    const silent = await theater.pythonWorker({ connect: endpoint, version, job: 'silent' });
    const client = theater.pythonClient({ connect: endpoint, version });
    const answer = client.ask('echo', HELLO);
    const lost = brokerEvent(broker, 'worker-lost');
    await silent.line('working');
    await theater.pythonWorker({ connect: endpoint, version });
    expect((await answer).body.map(String)).toEqual(['hello']);
    expect(await lost).toMatchObject({ reason: 'expired' });
    const back = brokerEvent(broker, 'worker-ready');
    silent.tell({ do: 'finish' });
    await silent.line('disconnected');
    await back;
    expect((await client.ask('mmi.service', [Buffer.from('echo')])).body.map(String)).toEqual(['200']);
    expect(broker.stats().counters).toMatchObject({ replies: 1, resends: 1, workersReady: 3 });
  });

  it('rule 13: a stopped worker is given up, and accepted again when it resumes', async () => {
    const { broker, endpoint } = await theater.broker();
    const worker = await theater.pythonWorker({ connect: endpoint, version });
    await worker.line('heartbeat');
    const lost = brokerEvent(broker, 'worker-lost');
    worker.kill('SIGSTOP');
    expect(await lost).toMatchObject({ reason: 'expired' });
    const back = brokerEvent(broker, 'worker-ready');
    worker.kill('SIGCONT');
    await back;
  });

  it('rule 13: a worker that has sent heartbeats while working is given up during its job, too', async () => {
    const { broker, endpoint } = await theater.broker();
    const worker = await theater.pythonWorker({ connect: endpoint, version, job: 'hold' });
    const answer = theater.pythonClient({ connect: endpoint, version }).ask('echo', HELLO);
    await worker.line('heartbeat', { busy: true }, 10);
    const lost = brokerEvent(broker, 'worker-lost');
    worker.kill('SIGSTOP');
    expect(await lost).toMatchObject({ reason: 'expired' });
    await theater.worker({ endpoints: [endpoint], version });
    expect((await answer).body.map(String)).toEqual(['hello']);
  });

  it('rule 16: a killed mute worker is given up at once, and its job goes to another', async () => {
    const { broker, endpoint } = await theater.broker();
    const silent = await theater.pythonWorker({ connect: endpoint, version, job: 'silent' });
    const answer = theater.pythonClient({ connect: endpoint, version }).ask('echo', HELLO);
    await silent.line('working');
    const lost = brokerEvent(broker, 'worker-lost');
    silent.kill('SIGKILL');
    expect(CONNECTION_LOST).toContain((await lost).reason);
    await theater.worker({ endpoints: [endpoint], version });
    expect((await answer).body.map(String)).toEqual(['hello']);
  });

  it('rule 10: a worker that sends DISCONNECT is forgotten at once, and its job goes to another', async () => {
    // No heartbeat may find the connection closed before the last message is read.
    const heartbeatIntervalMs = 60_000;
    const { broker, endpoint } = await theater.broker({ heartbeatIntervalMs });
    const flags = { connect: endpoint, version, 'heartbeat-ms': heartbeatIntervalMs };
    const leaving = await theater.pythonWorker({ ...flags, job: 'hold' });
    const answer = theater.pythonClient({ connect: endpoint, version }).ask('echo', HELLO);
    await leaving.line('working');
    await theater.pythonWorker(flags);
    const lost = brokerEvent(broker, 'worker-lost');
    leaving.tell({ do: 'leave' });
    expect(await leaving.exit).toMatchObject({ code: 0 });
    expect(await lost).toMatchObject({ reason: 'disconnected' });
    expect((await answer).body.map(String)).toEqual(['hello']);
    expect(broker.stats().counters).toMatchObject({ replies: 1, resends: 1, disconnectsSent: 0 });
  });

  it('rule 7: a second READY is answered with one DISCONNECT, and the worker starts over', async () => {
    const { broker, endpoint } = await theater.broker();
    const worker = await theater.pythonWorker({ connect: endpoint, version });
    await worker.line('heartbeat');
    const lost = brokerEvent(broker, 'worker-lost');
    worker.tell({ do: 'ready' });
    expect(await lost).toMatchObject({ reason: 'unexpected' });
    await worker.line('disconnected');
    const answer = await theater.pythonClient({ connect: endpoint, version }).ask('echo', HELLO);
    expect(answer.body.map(String)).toEqual(['hello']);
    expect(worker.lines('disconnected')).toHaveLength(1);
  });

  it('a restarted broker answers the heartbeat of an unknown worker, which then returns', async () => {
    const first = await theater.broker({ endpoint: await ownEndpoint() });
    // So patient that it never starts over by itself: only the broker's answer makes it do so.
    const worker = await theater.pythonWorker({ connect: first.endpoint, version, liveness: 6000 });
    await worker.line('heartbeat');
    await first.broker.close();
    const second = await theater.broker({ endpoint: first.endpoint });
    await worker.line('disconnected');
    const answer = await theater.pythonClient({ connect: first.endpoint, version }).ask('echo', HELLO);
    expect(answer.body.map(String)).toEqual(['hello']);
    expect(second.broker.stats().counters).toMatchObject({ workersReady: 1 });
  });

  it('rule 24: a draining broker waits for the running job, then sends DISCONNECT', async () => {
    const { broker, endpoint } = await theater.broker({ drainMs: 600_000 });
    const worker = await theater.pythonWorker({ connect: endpoint, version, job: 'hold' });
    const answer = theater.pythonClient({ connect: endpoint, version }).ask('echo', HELLO);
    await worker.line('working');
    const drained = broker.drain();
    worker.tell({ do: 'finish' });
    expect((await answer).body.map(String)).toEqual(['hello']);
    await drained;
    await worker.line('disconnected');
  });
});
