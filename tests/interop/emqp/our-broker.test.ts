// Our broker between clients, workers, schedulers and admins in Python, which check every frame.
import { ownEndpoint } from '@proj/testkit';
import { describe, expect, it } from 'vitest';
import { brokerEvent, jobBody, stage } from './stage.js';

const theater = stage();

describe('jobs', () => {
  it('are accepted, done, and answered to clients whose routing ids are not text', async () => {
    const served = await theater.broker();
    const worker = await theater.worker(served);
    const client = theater.client(served);
    client.request('m1');
    await client.accepted('m1');
    await client.result('m1');
    client.request('m2', { headers: '' });
    await worker.line('finished', { id: 'm2' });
    client.request('m3', { queue: 'nobody-serves', headers: 'reply-requested,timeout:9' });
    await worker.line('request', { id: 'm3', queue: 'nobody-serves', headers: 'reply-requested,timeout:9' });
    await client.result('m3');
    expect(client.replies('m2')).toMatchObject([{ result: null }]);
  });

  it('200 jobs at once are each done by one of two workers, once, and answered once', async () => {
    const served = await theater.broker();
    for (const slots of [1, 4]) await theater.worker(served, { slots });
    const client = theater.client(served);
    const ids = Array.from({ length: 200 }, (_, i) => `job-${i}`);
    for (const id of ids) client.request(id);
    for (const id of ids) await client.result(id);
    for (const id of ids) expect(client.replies(id)).toHaveLength(2);
    expect(served.broker.stats().counters).toMatchObject({ requests: 200, dispatches: 200, results: 200 });
  });

  it('jobs of two clients alternate: one job does not wait behind 300 of another client', async () => {
    const served = await theater.broker();
    const greedy = theater.client(served);
    const ids = Array.from({ length: 300 }, (_, i) => `a${i}`);
    for (const id of ids) greedy.request(id);
    await greedy.accepted('a299');
    const modest = theater.client(served);
    modest.request('b');
    await modest.accepted('b');
    const worker = await theater.worker(served, { slots: 1 });
    await modest.result('b');
    await greedy.result('a299');
    const order = worker.lines('request').map(({ id }) => id);
    expect(order.indexOf('b')).toBe(1);
    expect(order.filter((id) => id !== 'b')).toEqual(ids);
  });

  it('waiting jobs are accepted at once, and done when a worker comes', async () => {
    const served = await theater.broker();
    const client = theater.client(served);
    client.request('m1');
    await client.accepted('m1');
    await theater.worker(served);
    await client.result('m1');
    expect(client.replies('m1')).toHaveLength(2);
  });
});

describe('losses', () => {
  it('a guaranteed job of a killed worker is done by another, and answered once', async () => {
    const served = await theater.broker();
    const first = await theater.worker(served, { slots: 1 });
    const client = theater.client(served);
    client.request('m1', { headers: 'guarantee,reply-requested', callable: 'hold' });
    await first.line('request', { id: 'm1' });
    const second = await theater.worker(served, { slots: 1 });
    await first[Symbol.asyncDispose]();
    await second.line('request', { id: 'm1' });
    second.tell({ do: 'finish', id: 'm1' });
    await client.result('m1');
    expect(client.replies('m1')).toHaveLength(2);
  });

  it("a killed worker's job with retry-count is done by another, one without is lost, and each client is told once", async () => {
    const served = await theater.broker();
    const first = await theater.worker(served, { slots: 2 });
    const client = theater.client(served);
    client.request('m1', { headers: 'reply-requested,retry-count:1', callable: 'hold' });
    client.request('m2', { headers: 'reply-requested', callable: 'hold' });
    await first.line('request', { id: 'm2' });
    const second = await theater.worker(served, { slots: 1 });
    await first[Symbol.asyncDispose]();
    await client.peer.line('reply', { of: 'm2', result: '{"value": "job lost with its worker"}' });
    await second.line('request', { id: 'm1' });
    second.tell({ do: 'finish', id: 'm1' });
    await client.result('m1');
    for (const id of ['m1', 'm2']) expect(client.replies(id)).toHaveLength(2);
  });

  it('a silent worker is given up, and its guaranteed job continues', async () => {
    const served = await theater.broker({ expiryMs: 5000 });
    const client = theater.client(served);
    client.request('m1', { headers: 'guarantee,reply-requested', callable: 'hold' });
    await client.accepted('m1');
    const left = brokerEvent(served.broker, 'peer-left');
    const first = await theater.worker(served, { slots: 1, 'heartbeat-ms': 600_000 });
    await first.line('request', { id: 'm1' });
    expect(await left).toMatchObject({ reason: 'expired' });
    const second = await theater.worker(served, { slots: 1 });
    await second.line('request', { id: 'm1' });
    second.tell({ do: 'finish', id: 'm1' });
    await client.result('m1');
    expect(client.replies('m1')).toHaveLength(2);
  });

  it('a worker that leaves finishes its job and gets no more', async () => {
    const served = await theater.broker();
    const worker = await theater.worker(served, { slots: 1 });
    const client = theater.client(served);
    client.request('m1', { headers: 'guarantee,reply-requested', callable: 'hold' });
    await worker.line('request', { id: 'm1' });
    const left = brokerEvent(served.broker, 'peer-left');
    worker.tell({ do: 'leave' });
    expect(await left).toMatchObject({ reason: 'bye' });
    worker.tell({ do: 'finish', id: 'm1' });
    await client.result('m1');
    expect(await worker.exit).toMatchObject({ code: 0 });
  });

  it('a restarted broker gets its workers back', async () => {
    const endpoints = { frontend: await ownEndpoint(), backend: await ownEndpoint() };
    const first = await theater.broker(endpoints);
    const worker = await theater.worker(first, { liveness: 40 });
    await first.broker.close();
    const second = await theater.broker(endpoints);
    await second.joined;
    const client = theater.client(second);
    client.request('m1');
    await client.result('m1');
    await worker.line('broker-lost');
  });
});

it('a scheduler that a new broker does not know returns, even with a job every 100 ms', async () => {
  const endpoints = { frontend: await ownEndpoint(), backend: await ownEndpoint() };
  const first = await theater.broker(endpoints);
  const scheduler = await theater.scheduler(first, { liveness: 10, body: jobBody('tick') });
  await scheduler.line('reply');
  await first.broker.close();
  const second = await theater.broker(endpoints);
  expect(await second.joined).toMatchObject({ role: 'scheduler' });
  expect(scheduler.lines('broker-lost')).toHaveLength(1);
});

it('a client gets the goodbye of a broker that an admin stops, after all its answers', async () => {
  const served = await theater.broker({ drainMs: 0 });
  const client = theater.client(served);
  client.request('m1');
  await client.accepted('m1');
  theater.admin(served).say('DISCONNECT', 'd');
  await client.peer.line('reply', { of: 'm1', result: '{"value": "job lost: the broker has stopped"}' });
  await client.peer.line('bye', { word: 'KBAI' });
});

it('a client that sends KBAI gets nothing more', async () => {
  const served = await theater.broker();
  const worker = await theater.worker(served);
  const client = theater.client(served);
  client.request('m1', { callable: 'hold' });
  await worker.line('request', { id: 'm1' });
  client.say('KBAI', 'b');
  client.say('STATUS', 'still there?');
  const dropped = brokerEvent(served.broker, 'note');
  expect(await dropped).toMatchObject({ reason: 'wrong-direction' });
  worker.tell({ do: 'finish', id: 'm1' });
  await worker.line('finished');
  theater.client(served).request('m2');
  await worker.line('finished', { id: 'm2' });
  expect(client.replies('m1')).toHaveLength(1);
  expect(served.broker.stats().counters.dropped['reply-undeliverable']).toBe(1);
});

describe('schedules', () => {
  it('reach the scheduler in nine frames, whatever the client sends, and its runs are answered', async () => {
    const served = await theater.broker();
    await theater.worker(served);
    const scheduler = await theater.scheduler(served);
    const client = theater.client(served);
    const body = jobBody('m9');
    client.say('SCHEDULE', 'm1', 'mail', 'guarantee', '2', body, '');
    client.say('SCHEDULE', 'm2', 'mail', 'nohaste,interval:3', body);
    client.say('UNSCHEDULE', 'm3', 'mail', 'guarantee', '-1', body, '');
    await scheduler.line('order', { command: 'UNSCHEDULE', id: 'm3' });
    expect(scheduler.lines('order').map(({ command, rest }) => [command, rest])).toEqual([
      ['SCHEDULE', ['mail', 'guarantee', '2', body, '']],
      ['SCHEDULE', ['mail', 'nohaste', '3', body, '']],
      ['UNSCHEDULE', ['mail', 'guarantee', '-1', body, '']],
    ]);
    scheduler.tell({ do: 'fire', id: 'm9', body });
    await scheduler.line('reply', { of: 'm9', result: null });
    await scheduler.line('reply', { of: 'm9', result: '{"value": "m9"}' });
  });
});

describe('administration', () => {
  it('reports its state and stops the broker, which says goodbye', async () => {
    const served = await theater.broker();
    const worker = await theater.worker(served);
    const scheduler = await theater.scheduler(served);
    const admin = theater.admin(served);
    admin.say('HELLO', 'admin:0');
    for (const [i, word] of ['STATUS', 'ROUTER_SHOW_WORKERS', 'ROUTER_SHOW_SCHEDULERS'].entries()) {
      admin.say(word, `admin:${i + 1}`, '');
      await admin.peer.line('answer', {}, i + 1);
    }
    const answers = admin.peer.lines('answer').map(({ text }) => Object.keys(JSON.parse(String(text)) as object));
    expect(answers).toEqual([
      [
        'inflight_messages_by_queue',
        'latency_messages_by_queue',
        'max_latency_messages_by_queue',
        'waiting_messages_by_queue',
        'processed_messages_by_queue',
        'processed_messages_by_worker',
      ],
      ['connected_workers', 'connected_queues'],
      ['connected_schedulers'],
    ]);
    admin.say('DISCONNECT', 'admin:9');
    await admin.peer.line('ack', { of: 'admin:9' });
    for (const peer of [worker, scheduler]) {
      await peer.line('bye', { word: 'KBYE' });
      expect(peer.lines('bye').map(({ word }) => word)).toEqual(['KBAI', 'KBYE']);
    }
    await served.broker.drain();
  });
});

describe('input that crashes EventMQ’s own router', () => {
  it('does not crash ours', async () => {
    const served = await theater.broker();
    await theater.worker(served);
    const client = theater.client(served);
    client.say('DISCONNECT', 'x1');
    client.say('INFORM', 'x2', '[[10, "default"]]');
    client.say('INFORM', 'x3', '{"a": 1}', 'worker');
    client.say('REPLY', 'x4', '{"value": 5}');
    client.peer.tell({ do: 'send', frames: ['', 'ff', 'ff', 'ff'] });
    client.peer.tell({ do: 'send', frames: ['', '654d51502f312e30', '52455155455354', 'ff', 'ff', 'ff', 'ff'] });
    client.peer.tell({ do: 'send', frames: ['00'] });
    client.request('m1');
    await client.result('m1');
    const { dropped } = served.broker.stats().counters;
    expect(Object.entries(dropped).filter(([, count]) => count > 0)).toEqual([
      ['too-few-frames', 1],
      ['version', 1],
      ['frame-count', 1],
      ['queues-invalid', 1],
      ['queue-invalid', 1],
      ['unknown-peer', 1],
      ['disconnect-refused', 1],
    ]);
  });
});
