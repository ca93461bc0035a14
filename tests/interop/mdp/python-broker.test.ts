// Our worker and client at a foreign broker: heartbeats, DISCONNECT, restart (sections 5 and 6 of docs/protocols/mdp.md).
import { ownEndpoint } from '@proj/testkit';
import { describe, expect, it } from 'vitest';
import { HeldHandler, LONGER_THAN_LIFE } from '../test-peers.js';
import { stage, VERSIONS, workerEvent } from './stage.js';

const theater = stage();
const HELLO = [Buffer.from('hello')];

describe.each(VERSIONS)('MDP %s: a Python broker and our worker', (version) => {
  it('rule 2: the worker sends heartbeats while its handler runs, beyond its liveness limit', async () => {
    const { broker, endpoint } = await theater.pythonBroker({ version });
    const held = new HeldHandler();
    await theater.worker({ endpoints: [endpoint], version, handler: held.handler });
    const reply = theater.client({ endpoints: [endpoint], version }).request('echo', HELLO);
    await broker.line('heartbeat', { busy: true }, LONGER_THAN_LIFE);
    held.release('done');
    expect(String(await reply)).toBe('done');
    expect(broker.lines('expired')).toEqual([]);
  });

  it('rule 4: after DISCONNECT it returns at once, on a new socket', async () => {
    const { broker, endpoint } = await theater.pythonBroker({ version });
    const worker = await theater.worker({ endpoints: [endpoint], version });
    const { id } = await broker.line('worker');
    const lost = workerEvent(worker, 'lost');
    broker.tell({ do: 'disconnect' });
    expect(await lost).toMatchObject({ reason: 'disconnected', retryInMs: 0 });
    expect((await broker.line('worker', {}, 2))['id']).not.toBe(id);
    const reply = await theater.client({ endpoints: [endpoint], version }).request('echo', HELLO);
    expect(String(reply)).toBe('hello');
  });

  it('rule 3: when the broker falls silent the worker leaves, and registers again when the broker speaks', async () => {
    const { broker, endpoint } = await theater.pythonBroker({ version });
    const worker = await theater.worker({ endpoints: [endpoint], version });
    await broker.line('heartbeat');
    const lost = workerEvent(worker, 'lost');
    broker.tell({ do: 'mute' });
    expect(await lost).toMatchObject({ reason: 'silent' });
    broker.tell({ do: 'speak' });
    await broker.line('worker', {}, 2);
    // Until then it would send requests to the old connection.
    await broker.line('expired');
    const client = theater.client({ endpoints: [endpoint], version, timeoutMs: 500, tries: 100 });
    expect(String(await client.request('echo', HELLO))).toBe('hello');
  });

  it('rule 10: a draining worker finishes its job, replies, and sends DISCONNECT', async () => {
    const { broker, endpoint } = await theater.pythonBroker({ version });
    const held = new HeldHandler();
    const worker = await theater.worker({ endpoints: [endpoint], version, handler: held.handler, drainMs: 600_000 });
    const reply = theater.client({ endpoints: [endpoint], version }).request('echo', HELLO);
    await held.begun(1);
    const drained = worker.drain();
    held.release('last words');
    expect(String(await reply)).toBe('last words');
    await drained;
    await broker.line('goodbye');
  });

  it('rules 3 and 8: worker and client survive a broker kill', async () => {
    const { broker, endpoint } = await theater.pythonBroker({ version, bind: await ownEndpoint() });
    const worker = await theater.worker({ endpoints: [endpoint], version });
    const client = theater.client({ endpoints: [endpoint], version, timeoutMs: 500, tries: 100 });
    expect(String(await client.request('echo', HELLO))).toBe('hello');
    const lost = workerEvent(worker, 'lost');
    await broker[Symbol.asyncDispose]();
    await lost;
    const reply = client.request('echo', [Buffer.from('again')]);
    await theater.pythonBroker({ version, bind: endpoint });
    expect(String(await reply)).toBe('again');
  });
});
