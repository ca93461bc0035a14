// Our broker between a client and workers in Python, which check every frame.
import { ownEndpoint } from '@proj/testkit';
import { describe, expect, it } from 'vitest';
import { brokerEvent, stage } from './stage.js';

const theater = stage();

const MAKES = [
  { dialect: 'current', client: 'ascii', worker: 'ascii', accept: '201' },
  { dialect: 'current', client: 'byte', worker: 'ascii', accept: '201' },
  { dialect: 'current', client: 'ascii', worker: 'byte', accept: '201' },
  { dialect: 'legacy', client: 'ascii', worker: 'ascii', accept: '202' },
] as const;

describe.each(MAKES)('$dialect, client $client, worker $worker', ({ dialect, client, worker, accept }) => {
  it('a job goes to all workers of its service, is accepted, reported, fetched and deleted', async () => {
    const { endpoint } = await theater.broker({ dialect });
    for (const name of ['w1', 'w2']) await theater.worker({ connect: endpoint, name, form: worker, dialect, accept });
    const asker = theater.client({ connect: endpoint, form: client, dialect });
    asker.tell({ do: 'POST', uuid: 'u1', body: 'work' });
    await asker.peer.line('answer', { uuid: 'u1', body: 'accepted' }, 2);
    await asker.peer.line('answer', { uuid: 'u1', command: 'EVENT', body: 'completed' }, 2);
    const [dispatched] = asker.peer.lines('answer', { uuid: 'u1' });
    expect(dispatched).toMatchObject({ status: '202', service: 'sample' });
    expect(JSON.parse(String(dispatched?.['body']))).toMatchObject({ workers: ['w1', 'w2'], status: 'DISPATCHED' });
    asker.tell({ do: 'GET', uuid: 'u1' });
    // Rule 24: in one-byte form GET is answered once, in the words of the text.
    const isText = client === 'byte';
    if (isText) await asker.peer.line('answer', { uuid: 'u1', status: '200', body: '{"w1":"work","w2":"work"}' });
    else await asker.peer.line('answer', { uuid: 'u1', status: '200', body: 'work' }, 2);
    asker.tell({ do: 'DELETE', uuid: 'u1', target: 'w2' });
    await asker.peer.line('answer', { uuid: 'u1', status: '200', body: 'deleted' });
    asker.tell({ do: 'GET', uuid: 'u1', target: 'w2' });
    await asker.answer('u1', isText ? '400' : '404');
  });

  it('MMI callers get two answers in the current dialect, and all workers are listed', async () => {
    const { endpoint } = await theater.broker({ dialect });
    await theater.worker({ connect: endpoint, name: 'w1', form: worker, dialect });
    const asker = theater.client({ connect: endpoint, form: client, dialect });
    const call = { service: 'mmi.service.broker', body: '{"task":"show_workers"}' };
    asker.tell({ do: 'MMI', uuid: 'm1', ...call });
    asker.tell({ do: 'GET', uuid: 'm2', ...call });
    const { body } = await asker.peer.line('answer', { uuid: 'm2', command: 'RESPONSE', status: '200' });
    expect(JSON.parse(String(body))).toMatchObject([{ name: 'w1', service: 'sample', status: 'alive' }]);
    // Anything else about m1 would have arrived before.
    const answers = asker.peer.lines('answer', { uuid: 'm1' }).map(({ command }) => command);
    expect(answers).toEqual(dialect === 'current' ? ['RESPONSE', 'MMI'] : ['RESPONSE']);
  });

  it('100 jobs in flight are all accepted and all fetched', async () => {
    const { broker, endpoint } = await theater.broker({ dialect });
    for (const name of ['w1', 'w2']) await theater.worker({ connect: endpoint, name, form: worker, dialect, accept });
    const asker = theater.client({ connect: endpoint, form: client, dialect });
    const uuids = Array.from({ length: 100 }, (_, i) => `job-${i}`);
    for (const uuid of uuids) asker.tell({ do: 'POST', uuid, target: 'any', body: uuid });
    for (const uuid of uuids) await asker.peer.line('answer', { uuid, body: 'accepted' });
    for (const uuid of uuids) asker.tell({ do: 'GET', uuid });
    for (const uuid of uuids) await asker.peer.line('answer', { uuid, status: '200', body: uuid });
    expect(broker.stats().counters).toMatchObject({ calls: { post: 100, get: 100 }, relays: 300, redispatches: 0 });
  });
});

describe('targets', () => {
  it('are all, any in turn, a name, an array, and a comma-separated list', async () => {
    const { endpoint } = await theater.broker();
    for (const name of ['w1', 'w2', 'w3']) await theater.worker({ connect: endpoint, name });
    await theater.worker({ connect: endpoint, name: 'x1', service: 'other' });
    const asker = theater.client({ connect: endpoint });
    const targets = ['any', 'any', 'w1', '["w3", "w1"]', 'w2,w3', 'w9', 'x1', 'all'];
    for (const [i, target] of targets.entries()) asker.tell({ do: 'POST', uuid: `u${i}`, target });
    const said = await Promise.all(targets.map((_, i) => asker.peer.line('answer', { uuid: `u${i}` })));
    expect(
      said.map(({ status, body }) => [status, (JSON.parse(String(body)) as { workers: unknown }).workers]),
    ).toEqual([
      ['202', ['w1']],
      ['202', ['w2']],
      ['202', ['w1']],
      ['202', ['w3', 'w1']],
      ['202', ['w2', 'w3']],
      ['400', null],
      ['400', null],
      ['202', expect.arrayContaining(['w1', 'w2', 'w3'])],
    ]);
  });
});

describe('a conversation', () => {
  it('STREAM reaches the client, PUT the worker, and PUT is not answered', async () => {
    const { endpoint } = await theater.broker();
    const worker = await theater.worker({ connect: endpoint, name: 'w1' });
    const asker = theater.client({ connect: endpoint, name: 'c1' });
    asker.tell({ do: 'POST', uuid: 'u1' });
    await worker.line('call', { command: 'POST', uuid: 'u1', client: 'c1' });
    worker.tell({ do: 'stream', client: 'c1', uuid: 'u1', body: 'chunk 1' });
    await asker.peer.line('answer', { command: 'STREAM', uuid: 'u1', body: 'chunk 1' });
    const before = asker.peer.lines('answer').length;
    asker.tell({ do: 'PUT', uuid: 'u1', target: '["w1"]', body: '{"offset":7}' });
    await worker.line('call', { command: 'PUT', uuid: 'u1', body: '{"offset":7}' });
    asker.tell({ do: 'GET', uuid: 'u1' });
    await asker.answer('u1', '202', 2);
    expect(asker.peer.lines('answer')[before]).toMatchObject({ status: '202' });
  });

  it('any client that knows the uuid gets the result', async () => {
    const { endpoint } = await theater.broker();
    await theater.worker({ connect: endpoint, name: 'w1' });
    const poster = theater.client({ connect: endpoint, name: 'c1' });
    poster.tell({ do: 'POST', uuid: 'u1', body: 'work' });
    await poster.peer.line('answer', { uuid: 'u1', body: 'accepted' });
    const other = theater.client({ connect: endpoint, name: 'c2' });
    other.tell({ do: 'GET', uuid: 'u1' });
    await other.peer.line('answer', { uuid: 'u1', status: '200', body: 'work' });
  });

  it('a worker that answers as in the tables is understood', async () => {
    const { endpoint } = await theater.broker();
    await theater.worker({ connect: endpoint, name: 'w1', shape: 'table' });
    const poster = theater.client({ connect: endpoint, name: 'c1' });
    poster.tell({ do: 'POST', uuid: 'u1', body: 'work' });
    await poster.peer.line('answer', { uuid: 'u1', command: 'EVENT', body: 'completed' });
    const other = theater.client({ connect: endpoint, name: 'c2' });
    other.tell({ do: 'GET', uuid: 'u1' });
    await other.peer.line('answer', { uuid: 'u1', status: '200', body: 'work' });
  });

  it('OPEN is answered with the effective settings: a worker gets its wishes, a client ours', async () => {
    const { endpoint } = await theater.broker();
    const worker = await theater.worker({ connect: endpoint, name: 'w1', open: 'yes', 'keepalive-ms': 300 });
    const { body } = await worker.line('opened');
    expect(JSON.parse(String(body))).toMatchObject({ keepalive: { interval: 300, multiplier: 20 } });
    await worker.line('keepalive');
    const asker = theater.client({ connect: endpoint });
    asker.peer.tell({ do: 'OPEN', body: '{}' });
    expect(JSON.parse(String((await asker.peer.line('open'))['body']))).toMatchObject({
      keepalive: { interval: 500, multiplier: 20 },
    });
  });

  it('mmi.service.worker reaches every worker', async () => {
    const { endpoint } = await theater.broker();
    await theater.worker({ connect: endpoint, name: 'w1' });
    await theater.worker({ connect: endpoint, name: 'x1', service: 'other' });
    const asker = theater.client({ connect: endpoint });
    asker.tell({ do: 'MMI', uuid: 'm1', service: 'mmi.service.worker', body: '{"task":"show_workers"}' });
    await asker.peer.line('answer', { uuid: 'm1', command: 'MMI', service: 'mmi.service.worker', body: '[]' }, 2);
    expect(asker.peer.lines('answer', { uuid: 'm1', command: 'RESPONSE' })).toHaveLength(2);
  });
});

describe('losses', () => {
  it('rule 13: a job for any goes to another worker if its worker is killed before it accepts', async () => {
    const { endpoint } = await theater.broker();
    const first = await theater.worker({ connect: endpoint, name: 'w1' });
    const second = await theater.worker({ connect: endpoint, name: 'w2' });
    const asker = theater.client({ connect: endpoint });
    asker.tell({ do: 'POST', uuid: 'u1', target: 'any', body: 'hold' });
    await first.line('call', { uuid: 'u1' });
    await first[Symbol.asyncDispose]();
    await second.line('call', { command: 'POST', uuid: 'u1', body: 'hold' });
    const { body } = await asker.answer('u1', '202', 2);
    expect(JSON.parse(String(body))).toMatchObject({ workers: ['w2'] });
  });

  it('rule 8: a restarted broker gets its workers back, with their results', async () => {
    const first = await theater.broker({ endpoint: await ownEndpoint() });
    const worker = await theater.worker({ connect: first.endpoint, name: 'w1' });
    const asker = theater.client({ connect: first.endpoint });
    asker.tell({ do: 'POST', uuid: 'u1', body: 'work' });
    await asker.peer.line('answer', { uuid: 'u1', body: 'accepted' });
    await first.broker.close();
    const second = await theater.broker({ endpoint: first.endpoint });
    await second.ready;
    await Promise.race([worker.line('disconnected'), worker.line('broker-lost')]);
    const later = theater.client({ connect: first.endpoint, name: 'later' });
    later.tell({ do: 'GET', uuid: 'u1' });
    await later.peer.line('answer', { uuid: 'u1', status: '200', body: 'work' });
  });

  it('rule 5: a stopped worker is given up, and told to return when it resumes', async () => {
    const { broker, endpoint } = await theater.broker();
    const worker = await theater.worker({ connect: endpoint, name: 'w1' });
    await worker.line('keepalive');
    const lost = brokerEvent(broker, 'worker-lost');
    worker.kill('SIGSTOP');
    expect(await lost).toMatchObject({ reason: 'expired' });
    const back = brokerEvent(broker, 'worker-ready');
    worker.kill('SIGCONT');
    await back;
  });

  it('rule 7: a worker that sends DISCONNECT is forgotten at once', async () => {
    // No KEEPALIVE may find the connection closed before the last message is read.
    const keepaliveIntervalMs = 60_000;
    const { broker, endpoint } = await theater.broker({ keepaliveIntervalMs });
    const worker = await theater.worker({ connect: endpoint, name: 'w1', 'keepalive-ms': keepaliveIntervalMs });
    const lost = brokerEvent(broker, 'worker-lost');
    worker.tell({ do: 'leave' });
    expect(await lost).toMatchObject({ reason: 'disconnected' });
    expect(await worker.exit).toMatchObject({ code: 0 });
  });

  it('rule 4: READY for another service ends the registration, and the worker starts over', async () => {
    const { broker, endpoint } = await theater.broker();
    const worker = await theater.worker({ connect: endpoint, name: 'w1' });
    const back = brokerEvent(broker, 'worker-ready');
    worker.tell({ do: 'ready', service: 'other' });
    await worker.line('disconnected');
    expect(await back).toMatchObject({ service: 'sample' });
  });

  it('rule 14: a draining broker sends DISCONNECT', async () => {
    const { broker, endpoint } = await theater.broker({ lingerMs: 60_000 });
    const worker = await theater.worker({ connect: endpoint, name: 'w1' });
    await broker.drain();
    await worker.line('disconnected');
  });
});
