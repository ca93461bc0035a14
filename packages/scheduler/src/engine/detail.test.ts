import { fromLatin1 } from '@proj/frames';
import { expect, it } from 'vitest';
import { body, SchedulerRig } from '../../test/rig.js';

const SECOND = 1000;

const detail = (rig: SchedulerRig) => rig.engine.detail(rig.now);

/** The result of the REQUEST sent last. */
function answer(rig: SchedulerRig): void {
  const of = rig.requests.at(-1)?.id;
  rig.hear({ kind: 'result', id: 'r', of, result: fromLatin1('{"value": 1}') });
}

it('shows for each type of job its runs and how long they waited and took, and for each job its next run and last result', () => {
  const rig = new SchedulerRig().start();
  rig.schedule({ interval: '10', body: body('f', [1]) });
  rig.pass(40);
  answer(rig);
  rig.schedule({ interval: '60', headers: 'nohaste', body: body('f', [2]) });
  rig.schedule({ interval: '60', headers: 'nohaste', body: body('g') });
  rig.pass(10 * SECOND); // f [1] runs again
  expect(detail(rig).services).toMatchObject([
    {
      name: 'm.f',
      requests: 2,
      outcomes: { ok: 1 },
      waiting: 0,
      running: 1,
      workers: 1,
      waitMs: { count: 2, sumMs: 0 },
      workMs: { count: 1, sumMs: 40 },
    },
    { name: 'm.g', requests: 0, outcomes: {}, running: 0 },
  ]);
  const id = expect.stringMatching(/^[0-9a-f]{40}$/) as string;
  expect(detail(rig).jobs).toEqual([
    { id, service: 'm.f', schedule: 'every 10 s', nextMs: 9960, fired: 2, result: 'ok', resultMs: 10_000 },
    { id, service: 'm.f', schedule: 'every 60 s', nextMs: 50_000, fired: 0 },
    { id, service: 'm.g', schedule: 'every 60 s', nextMs: 50_000, fired: 0 },
  ]);
  rig.pass(10 * SECOND); // without a result
  expect(detail(rig).services[0]).toMatchObject({ requests: 3, outcomes: { ok: 1, unanswered: 1 }, running: 1 });
});

it.each([
  ['a lone surrogate', body('f\ud800'), 'm.f\ufffd'],
  ['more than 255 characters', body('f'.repeat(254)), 'unknown'],
])('names a type with %s so that any program can take it', (_what, job, service) => {
  const rig = new SchedulerRig().start();
  rig.schedule({ interval: '10', body: job });
  expect(detail(rig).jobs).toMatchObject([{ service }]);
});

it('shows a cron expression and when it is next due', () => {
  const rig = new SchedulerRig().start();
  rig.schedule({ cron: '0 6 * * *', headers: 'nohaste' });
  rig.pass(SECOND);
  expect(detail(rig).jobs).toMatchObject([{ schedule: '0 6 * * *', nextMs: 6 * 3_600_000 - SECOND, fired: 0 }]);
});

it('counts runs that wait for a broker, are skipped, lose their broker, or whose job is gone', () => {
  const rig = new SchedulerRig().start();
  rig.schedule({ interval: '10' });
  const due = rig.now + 10 * SECOND;
  rig.lose();
  rig.pass(25 * SECOND);
  expect(detail(rig).services[0]).toMatchObject({
    requests: 2,
    outcomes: { 'broker-lost': 1, skipped: 1 },
    waiting: 1,
    oldestWaitingMs: 15_000,
    running: 0,
    workers: 0,
  });
  expect(detail(rig).jobs).toMatchObject([{ fired: 1, result: 'broker-lost', resultMs: 25_000 }]);
  expect(detail(rig).workers).toMatchObject([{ state: 'away', running: 0, done: 0 }]);
  rig.brokerIsThere = true;
  while (!rig.engine.isRegistered) rig.pass(1);
  const waited = rig.now - due;
  rig.pass(100);
  answer(rig);
  expect(detail(rig)).toMatchObject({
    services: [{ requests: 2, outcomes: { ok: 1 }, waitMs: { count: 2, sumMs: waited }, workMs: { sumMs: 100 } }],
    workers: [{ state: 'idle', stateMs: 0, running: 0, done: 1 }],
    counters: { fired: 2, skipped: 1, conversations: 2 },
    gauges: { jobs: 1, held: 0 },
  });
});

it('counts a run as waiting while it is written down', () => {
  const rig = new SchedulerRig().start();
  rig.schedule({ interval: '10', headers: 'nohaste' });
  rig.diskIsFast = false;
  rig.pass(13 * SECOND);
  expect(detail(rig).services[0]).toMatchObject({ requests: 1, waiting: 1, oldestWaitingMs: 3000 });
  rig.finishWrite();
  expect(detail(rig).services[0]).toMatchObject({ waiting: 0, running: 1, waitMs: { count: 1, sumMs: 3000 } });
});

it('expects no result for a job that is unscheduled or replaced', () => {
  const rig = new SchedulerRig().start();
  rig.schedule({ interval: '10' });
  rig.schedule({ interval: '20', headers: 'nohaste' });
  expect(detail(rig)).toMatchObject({
    services: [{ running: 0, outcomes: { unanswered: 1 } }],
    workers: [{ running: 0, state: 'idle' }],
  });
  rig.pass(20 * SECOND);
  rig.unschedule();
  answer(rig);
  expect(detail(rig).services).toMatchObject([{ requests: 2, running: 0, outcomes: { unanswered: 2 } }]);
  expect(detail(rig).services[0]?.outcomes).not.toHaveProperty('ok');
});

it('waits for at most 10,000 results: beyond that the oldest gets none', () => {
  const rig = new SchedulerRig({ jobsMax: 20_000, jobsMaxBytes: 10_000_000 });
  rig.checks = false;
  rig.start();
  for (let arg = 0; arg <= 10_000; arg++) rig.schedule({ interval: '86400', body: body('f', [arg]) });
  expect(detail(rig).services).toMatchObject([{ requests: 10_001, running: 10_000, outcomes: { unanswered: 1 } }]);
  rig.hear({ kind: 'result', id: 'r', of: rig.requests[0]?.id, result: fromLatin1('{}') });
  expect(detail(rig).services).toMatchObject([{ running: 10_000, outcomes: { unanswered: 1 } }]);
});

it('keeps waiting for the last run of a job when the REQUEST of an earlier one comes back', () => {
  const rig = new SchedulerRig().start();
  rig.transportIsFast = false;
  rig.schedule({ interval: '10' });
  rig.pass(10 * SECOND);
  const [first, last] = rig.requests.map(({ id }) => id);
  rig.do({ kind: 'sent', id: last ?? '' });
  rig.brokerIsThere = false;
  rig.do({ kind: 'unsent', id: first ?? '' });
  // The first run waits again; the last one went out and has lost its broker.
  expect(detail(rig).services).toMatchObject([
    { requests: 3, resends: 0, waiting: 1, running: 0, outcomes: { unanswered: 1, 'broker-lost': 1 } },
  ]);
});

it('lists 1000 jobs, those that run next, and counts all', () => {
  const rig = new SchedulerRig({ jobsMax: 2000 });
  rig.checks = false;
  rig.start();
  for (let arg = 1500; arg > 0; arg--)
    rig.schedule({ interval: String(1000 + arg), headers: 'nohaste', body: body('f', [arg]) });
  const { jobs = [], gauges } = detail(rig);
  expect(jobs.map(({ nextMs }) => nextMs)).toEqual(Array.from({ length: 1000 }, (_, index) => (1001 + index) * SECOND));
  expect(gauges['jobs']).toBe(1500);
});

it('lists 1000 types of jobs and groups the others, and makes room when a type has no jobs left', () => {
  const rig = new SchedulerRig({ jobsMax: 2000 });
  rig.checks = false;
  rig.start();
  for (let type = 0; type < 1100; type++) rig.schedule({ interval: '86400', body: body(`f${type}`) });
  const { services, jobs = [] } = detail(rig);
  expect(services).toHaveLength(1001);
  expect(services.at(-1)).toMatchObject({ name: 'other', requests: 100, running: 100 });
  expect(services.map(({ name }) => name)).toEqual(expect.arrayContaining(jobs.map(({ service }) => service)));
  rig.unschedule(body('f0'));
  rig.schedule({ interval: '86400', body: body('new') });
  const names = detail(rig).services.map(({ name }) => name);
  expect(names).toHaveLength(1001);
  expect(names).toContain('m.new');
  expect(names).not.toContain('m.f0');
});

it('counts what it drops and refuses, by reason', () => {
  const rig = new SchedulerRig().start();
  rig.schedule({ interval: '10', headers: 'nohaste' });
  rig.unschedule(body('unknown'));
  rig.hear({ kind: 'malformed', reason: 'unknown-command' });
  rig.schedule({ interval: 'x' });
  expect(detail(rig).dropped).toEqual({ 'unknown-command': 1, interval: 1 });
  expect(detail(rig).counters).toMatchObject({ scheduled: 1, unknown: 1 });
});
