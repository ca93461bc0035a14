// Routing ids that are not text, chosen by the peer, and the REQ socket that 7/MDP allows for clients.
import { describe, expect, it } from 'vitest';
import { brokerEvent, stage, VERSIONS } from './stage.js';

const theater = stage();
const HELLO = [Buffer.from('hello')];

/** Routing ids in hex. libzmq reserves ids that begin with a zero byte. */
const IDS = [
  ['that are not UTF-8 and contain a zero byte', 'c328000aff'],
  ['of one byte', '01'],
  ['of 255 bytes', 'fe'.repeat(255)],
] as const;

describe.each(VERSIONS)('MDP %s: routing ids', (version) => {
  it.each(IDS)('ids %s work for client and worker, and are forwarded unchanged', async (_, identity) => {
    const { endpoint } = await theater.broker();
    const worker = await theater.pythonWorker({
      connect: endpoint,
      version,
      job: 'hold',
      identity: `57${identity.slice(2)}`,
    });
    const answer = theater.pythonClient({ connect: endpoint, version, identity }).ask('echo', HELLO);
    expect((await worker.line('working'))['client']).toBe(identity);
    worker.tell({ do: 'finish' });
    expect((await answer).body.map(String)).toEqual(['hello']);
  });

  it('ids that differ only in non-text bytes are different clients', async () => {
    const { broker, endpoint } = await theater.broker();
    const worker = await theater.pythonWorker({ connect: endpoint, version });
    await worker.line('heartbeat');
    const answers = ['ff01', 'ff02', 'fe01'].map((identity) =>
      theater.pythonClient({ connect: endpoint, version, identity }).ask('echo', [Buffer.from(identity)]),
    );
    expect((await Promise.all(answers)).map(({ body }) => String(body))).toEqual(['ff01', 'ff02', 'fe01']);
    expect(broker.stats().counters.replies).toBe(3);
  });

  it('rule 16: a worker killed at work and restarted with its id is a new worker', async () => {
    const { broker, endpoint } = await theater.broker();
    const identity = 'c328000aff';
    const first = await theater.pythonWorker({ connect: endpoint, version, identity, job: 'hold' });
    const answer = theater.pythonClient({ connect: endpoint, version }).ask('echo', HELLO);
    await first.line('working');
    const lost = brokerEvent(broker, 'worker-lost');
    await first[Symbol.asyncDispose]();
    await lost;
    await theater.pythonWorker({ connect: endpoint, version, identity });
    expect((await answer).body.map(String)).toEqual(['hello']);
    expect(broker.stats()).toMatchObject({ workers: 1, counters: { workersReady: 2, workersLost: 1, resends: 1 } });
  });
});

describe('MDP 0.1: a client on a REQ socket', () => {
  it('is served, one request after the other', async () => {
    const { endpoint } = await theater.broker();
    await theater.worker({ endpoints: [endpoint], version: '0.1' });
    const client = theater.pythonClient({ connect: endpoint, version: '0.1', socket: 'req' });
    for (const text of ['first', 'second', ''])
      expect((await client.ask('echo', [Buffer.from(text)])).body.map(String)).toEqual([text]);
    expect((await client.ask('mmi.service', [Buffer.from('echo')])).body.map(String)).toEqual(['200']);
  });
});
