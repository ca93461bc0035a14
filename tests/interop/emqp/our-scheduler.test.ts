// Our scheduler and our client: with our broker and peers in Python, and at a frontend in Python that checks every frame.
import { EmqpClient } from '@proj/client';
import { EmqpScheduler } from '@proj/scheduler';
import type { SchedulerNote } from '@proj/scheduler';
import { memoryRecords } from '@proj/transport';
import { expect, it } from 'vitest';
import { testPeers, PATIENCE_MS } from '../test-peers.js';
import { pythonPeer } from '../python.js';
import { transport } from '../../transport.js';
import { jobBody, stage } from './stage.js';

const { launch, keep } = testPeers();
const theater = stage();

/** Our scheduler, acknowledged, and a function that waits until it has emitted a note this many times. */
async function schedulerAt(endpoint: string) {
  const scheduler = keep(
    new EmqpScheduler({
      transport,
      endpoints: [endpoint],
      store: memoryRecords(),
      heartbeatIntervalMs: 100,
      brokerExpiryMs: PATIENCE_MS,
      ackTimeoutMs: PATIENCE_MS,
    }),
  );
  const notes: SchedulerNote[] = [];
  let wake = (): void => undefined;
  scheduler.on('note', (note) => {
    notes.push(note);
    wake();
  });
  const ended = new Promise((resolve) => scheduler.on('ended', resolve));
  const told = async (code: SchedulerNote['code'], count: number): Promise<void> => {
    while (notes.filter((note) => note.code === code).length < count)
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
  };
  await scheduler.start();
  await told('registered', 1);
  return { scheduler, told, ended };
}

async function frontend() {
  const peer = launch(pythonPeer('emqp', 'frontend', {}));
  return { peer, endpoint: String((await peer.line('listening'))['endpoint']) };
}

it('runs what a client in Python schedules through our broker, as often as it says, at a worker in Python', async () => {
  const served = await theater.broker();
  const worker = await theater.worker(served, { queues: '[[10, "mail"]]' });
  const { scheduler, told } = await schedulerAt(served.at.frontend);
  const client = theater.client(served);
  client.say('SCHEDULE', 'm1', 'mail', 'guarantee,run_count:2', '1', jobBody('every second'), '');
  client.say('SCHEDULE', 'm2', 'mail', 'run_count:1', '-1', jobBody('cron, once'), '0 4 * * *');
  client.say('SCHEDULE', 'm3', 'mail', 'nohaste', '86400', jobBody('tomorrow'), '');
  client.say('SCHEDULE', 'm4', 'mail', '', '-1', jobBody('cron'), '0 4 29 2 *');
  await told('scheduled', 4);
  client.say('UNSCHEDULE', 'm5', 'another', 'guarantee', '-1', jobBody('tomorrow'), '');
  client.say('UNSCHEDULE', 'm6', 'mail', 'guarantee', '-1', jobBody('cron'), '');
  await told('unscheduled', 2);
  await told('finished', 2);
  for (let run = 1; run <= 4; run++) await worker.line('finished', {}, run);
  const runs = worker.lines('request').map(({ argument, headers, queue }) => [argument, headers, queue].join(' | '));
  expect(runs.sort()).toEqual([
    'cron | reply-requested | mail',
    'cron, once | reply-requested | mail',
    'every second | reply-requested,guarantee | mail',
    'every second | reply-requested,guarantee | mail',
  ]);
  expect(scheduler.stats()).toMatchObject({ jobs: 0 });
});

it('sends INFORM, heartbeats, runs and goodbyes as a frontend in Python expects them', async () => {
  const { peer, endpoint } = await frontend();
  const { scheduler, told, ended } = await schedulerAt(endpoint);
  const say = (word: string, ...rest: readonly string[]) => {
    peer.tell({ do: 'say', word, id: 'any id', rest });
  };
  const body = jobBody('grün "\u{1f600}"');
  const wishes = 'guarantee,retry-count:3,timeout:9';
  say('SCHEDULE', 'mail', `${wishes},run_count:2`, '1', body, '');
  await peer.line('request', {}, 2);
  expect(peer.lines('request')).toMatchObject(
    [1, 2].map(() => ({ queue: 'mail', headers: `reply-requested,${wishes}`, body })),
  );
  say('SCHEDULE', 'mail', 'nohaste', '-1', body, '0 4 * * *');
  await told('scheduled', 2);
  expect(scheduler.stats()).toMatchObject({ jobs: 1 });
  say('UNSCHEDULE', '', '', '-1', body, '');
  await told('unscheduled', 1);
  await peer.line('heartbeat', {}, 3);
  say('DISCONNECT');
  await peer.line('bye', { word: 'KBAI' });
  await peer.line('bye', { word: 'KBYE' });
  await ended;
  expect(peer.lines('inform')).toHaveLength(1);
});

it('delivers its goodbyes when it is closed', async () => {
  const { peer, endpoint } = await frontend();
  const { scheduler } = await schedulerAt(endpoint);
  await scheduler.drain();
  await peer.line('bye', {}, 2);
  expect(peer.lines('bye').map(({ word }) => word)).toEqual(['KBAI', 'KBYE']);
});

it('our client: what it schedules and unschedules reaches a scheduler in Python behind our broker in nine frames', async () => {
  const served = await theater.broker();
  const scheduler = await theater.scheduler(served);
  const client = keep(new EmqpClient({ transport, endpoints: [served.at.frontend], timeoutMs: PATIENCE_MS }));
  const job = { path: 'jobs', callable: 'echo', args: ['x'] };
  await client.schedule('mail', job, {
    intervalSeconds: 5,
    haste: false,
    runCount: 3,
    retryCount: 2,
    timeoutSeconds: 9,
  });
  await client.schedule('mail', job, { cron: '0 4 * * *', guarantee: false });
  await client.unschedule('mail', job);
  const order = await scheduler.line('order', { command: 'UNSCHEDULE' });
  const [interval, cron] = scheduler.lines('order', { command: 'SCHEDULE' }).map(({ rest }) => rest as string[]);
  const body = String(cron?.[3]);
  expect(JSON.parse(body)).toEqual(JSON.parse(jobBody('x')));
  expect(interval).toEqual(['mail', 'guarantee,retry-count:2,timeout:9,nohaste,run_count:3', '5', body, '']);
  expect(cron).toEqual(['mail', '', '-1', body, '0 4 * * *']);
  expect(order['rest']).toEqual(['mail', 'guarantee', '-1', body, '']);
});

it('our client: jobs and schedules at a frontend in Python, which accepts and answers', async () => {
  const { peer, endpoint } = await frontend();
  const client = keep(new EmqpClient({ transport, endpoints: [endpoint], timeoutMs: PATIENCE_MS }));
  const job = (argument: string) => ({ path: 'jobs', callable: 'echo', args: [argument] });
  const { result } = await client.defer('mail', job('grün'), { replyRequested: true, retryCount: 1 });
  expect(await result).toBe('grün');
  expect((await client.defer('mail', job('x'))).result).toBeUndefined();
  await client.schedule('mail', job('x'), { intervalSeconds: 5 });
  await client.unschedule('mail', job('x'));
  await peer.line('order', { command: 'UNSCHEDULE' });
  expect(peer.lines('request').map(({ headers }) => headers)).toEqual(['reply-requested,retry-count:1', '']);
  expect(peer.lines('order').map(({ command }) => command)).toEqual(['SCHEDULE', 'UNSCHEDULE']);
});
