import { fromLatin1, latin1 } from '@proj/frames';
import { describe, expect, it } from 'vitest';
import { body, SchedulerRig, SUNDAY } from '../../test/rig.js';

const SECOND = 1000;
const HOUR = 3_600_000;

describe('a connection', () => {
  it('rule 1: sends INFORM with its own identity, and heartbeats once it is acknowledged', () => {
    const rig = new SchedulerRig();
    rig.brokerIsThere = false;
    rig.start();
    expect(rig.said).toEqual(['inform-scheduler']);
    rig.ack();
    rig.pass(6 * SECOND);
    expect(rig.said).toEqual(['inform-scheduler', 'heartbeat', 'heartbeat']);
    rig.lose();
    expect(rig.opened.map(({ endpoint }) => endpoint)).toEqual(['tcp://a:1', 'tcp://b:1']);
    expect(new Set(rig.opened.map(({ identity }) => identity)).size).toBe(2);
  });

  it('rule 1: without an acknowledgement is given up for the next endpoint', () => {
    const rig = new SchedulerRig();
    rig.brokerIsThere = false;
    rig.start();
    rig.pass(5 * SECOND);
    expect(rig.notesOf('lost').map(({ reason }) => reason)).toEqual(['no-ack']);
    rig.pass(SECOND);
    expect(rig.opened.at(-1)!.endpoint).toBe('tcp://b:1');
  });

  it('rule 1: is established by the acknowledgement of our INFORM and nothing else, and only once', () => {
    const rig = new SchedulerRig();
    rig.brokerIsThere = false;
    rig.start();
    rig.hear({ kind: 'ack', id: 'a', of: 'another message' });
    expect([rig.engine.stats.registered, rig.engine.stats.conversations]).toEqual([false, 0]);
    rig.ack();
    rig.ack();
    expect([rig.engine.stats.registered, rig.engine.stats.conversations]).toEqual([true, 1]);
    expect(rig.notesOf('registered')).toHaveLength(1);
  });

  it('rule 1: is given up when the broker is silent or says goodbye', () => {
    const rig = new SchedulerRig().start();
    rig.now += 15 * SECOND;
    rig.do({ kind: 'timer', lateMs: 0 });
    rig.pass(SECOND);
    rig.hear({ kind: 'bye', id: 'b', word: 'KBYE' });
    expect(rig.notesOf('lost').map(({ reason }) => reason)).toEqual(['silent', 'disconnected']);
  });

  it('rule 1: is given up when the broker has forgotten us, even if it answers what we send', () => {
    const rig = new SchedulerRig().start();
    for (let second = 1; second <= 15; second++) {
      rig.now += SECOND;
      rig.hear({ kind: 'accepted', id: 'a', of: 'r' });
      rig.hear({ kind: 'result', id: 'b', of: 'r', result: fromLatin1('{"value": 1}') });
      rig.do({ kind: 'timer', lateMs: 0 });
    }
    expect(rig.notesOf('lost').map(({ reason }) => reason)).toEqual(['silent']);
  });

  it('rule 1: ignores messages of an earlier conversation', () => {
    const rig = new SchedulerRig().start();
    const { socket } = rig;
    rig.lose();
    rig.do({ kind: 'lost', socket, reason: 'silent' });
    expect(rig.notesOf('lost')).toHaveLength(1);
  });
});

describe('a job at intervals', () => {
  it('rule 5: runs at once and then every interval', () => {
    const rig = new SchedulerRig().start();
    rig.schedule({ interval: '2' });
    expect(rig.fired()).toEqual(['q:f']);
    rig.pass(2 * SECOND - 1);
    expect(rig.fired()).toEqual([]);
    rig.pass(1);
    expect(rig.fired()).toEqual(['q:f']);
    rig.pass(20 * SECOND);
    expect(rig.fired()).toHaveLength(10);
  });

  it('rule 5: with nohaste waits for the first interval', () => {
    const rig = new SchedulerRig().start();
    rig.schedule({ interval: '2', headers: 'nohaste' });
    expect(rig.fired()).toEqual([]);
    rig.pass(2 * SECOND);
    expect(rig.fired()).toHaveLength(1);
  });

  it.each(['run_count:3', 'nohaste,run_count:3'])('rule 5: with %s runs three times in all', (headers) => {
    const rig = new SchedulerRig().start();
    rig.schedule({ interval: '1', headers });
    rig.pass(10 * SECOND);
    expect(rig.fired()).toHaveLength(3);
    expect(rig.engine.stats).toMatchObject({ jobs: 0, finished: 1, fired: 3 });
    expect(rig.disk.size).toBe(0);
  });

  it('rule 5: with run_count:1 and haste is over at once', () => {
    const rig = new SchedulerRig().start();
    rig.schedule({ interval: '1', headers: 'run_count:1' });
    expect(rig.fired()).toHaveLength(1);
    expect(rig.engine.stats).toMatchObject({ jobs: 0, finished: 1 });
  });

  it('rule 5: does not follow the wall clock', () => {
    const rig = new SchedulerRig().start();
    rig.schedule({ interval: '60', headers: 'nohaste' });
    rig.wallOffsetMs += HOUR;
    rig.pass(59 * SECOND);
    rig.wallOffsetMs -= 2 * HOUR;
    expect(rig.fired()).toEqual([]);
    rig.pass(SECOND);
    expect(rig.fired()).toHaveLength(1);
  });

  it('rule 7: runs once after the process has slept, not once per interval', () => {
    const rig = new SchedulerRig().start();
    rig.schedule({ interval: '1', headers: 'nohaste' });
    rig.sleep(10 * SECOND);
    expect(rig.fired()).toHaveLength(1);
    rig.pass(SECOND);
    expect(rig.fired()).toHaveLength(1);
  });
});

describe('a job by cron', () => {
  it('rule 5: runs at its times, in its own queue, and at once unless nohaste', () => {
    const rig = new SchedulerRig().start();
    rig.schedule({ cron: '30 4 * * *', queue: 'own' });
    rig.schedule({ cron: '0 5 * * *', headers: 'nohaste', body: body('g') });
    expect(rig.fired()).toEqual(['own:f']);
    rig.pass(4.5 * HOUR - 1);
    expect(rig.fired()).toEqual([]);
    rig.pass(1);
    expect(rig.fired()).toEqual(['own:f']);
    rig.pass(24 * HOUR);
    expect(rig.fired()).toEqual(['q:g', 'own:f']);
  });

  it('rule 5: run_count limits its runs too', () => {
    const rig = new SchedulerRig().start();
    rig.schedule({ cron: '* * * * *', headers: 'run_count:2' });
    rig.pass(HOUR);
    expect(rig.fired()).toHaveLength(2);
  });

  it('rule 5: follows its time zone, including a change to summer time', () => {
    const rig = new SchedulerRig({}, 'Europe/Berlin').start();
    // Half past two does not exist on that day: three o'clock takes its place.
    rig.schedule({ cron: '30 2 * * *', headers: 'nohaste' });
    rig.pass(HOUR - 1);
    expect(rig.fired()).toEqual([]);
    rig.pass(1);
    expect(rig.fired()).toHaveLength(1);
    rig.pass(23.5 * HOUR);
    expect(rig.fired()).toHaveLength(1);
  });

  it('rule 5: follows the wall clock forwards, and backwards without running twice', () => {
    const rig = new SchedulerRig().start();
    rig.schedule({ cron: '0 4 * * *', headers: 'nohaste' });
    rig.wallOffsetMs += 3.9 * HOUR;
    rig.pass(0.1 * HOUR);
    expect(rig.fired()).toHaveLength(1);
    rig.wallOffsetMs -= HOUR;
    rig.pass(2 * HOUR);
    expect(rig.fired()).toEqual([]);
    rig.pass(23 * HOUR);
    expect(rig.fired()).toHaveLength(1);
  });

  it('rule 5: trusts a wall clock that is put back by days', () => {
    const rig = new SchedulerRig().start();
    rig.wallOffsetMs += 400 * 24 * HOUR;
    rig.schedule({ cron: '0 4 * * *', headers: 'nohaste' });
    rig.pass(SECOND);
    rig.wallOffsetMs -= 400 * 24 * HOUR;
    rig.pass(5 * HOUR);
    expect(rig.fired()).toHaveLength(1);
  });
});

describe('SCHEDULE', () => {
  it.each([
    ['interval 0', { interval: '0' }, 'interval'],
    ['interval -2', { interval: '-2' }, 'interval'],
    ['interval x', { interval: 'x' }, 'interval'],
    ['interval 1.5', { interval: '1.5' }, 'interval'],
    ['an interval of a century', { interval: '2147483648' }, 'interval'],
    ['no cron', { interval: '-1' }, 'cron'],
    ['six fields', { cron: '* * * * * *' }, 'cron'],
    ['four fields', { cron: '* * * *' }, 'cron'],
    ['a nickname', { cron: '@daily' }, 'cron'],
    ['a nickname and four fields', { cron: '@daily * * * *' }, 'cron'],
    ['minute 61', { cron: '61 * * * *' }, 'cron'],
    ['30 February', { cron: '0 0 30 2 *' }, 'cron'],
    ['a body that is not JSON', { interval: '1', body: fromLatin1('{') }, 'body'],
    ['a body without callable', { interval: '1', body: fromLatin1('["run", {"path": "m"}]') }, 'body'],
  ] as const)('rule 5: with %s is refused and counted', (_what, wish, reason) => {
    const rig = new SchedulerRig().start();
    rig.schedule(wish);
    expect(rig.notesOf('schedule-refused')).toMatchObject([{ reason }]);
    expect(rig.engine.stats).toMatchObject({ jobs: 0, refused: { [reason]: 1 } });
    expect(rig.disk.size).toBe(0);
  });

  it('rule 4: replaces a known job, also interval by cron', () => {
    const rig = new SchedulerRig().start();
    rig.schedule({ interval: '1' });
    rig.schedule({ interval: '5', queue: 'other' });
    rig.fired();
    rig.pass(5 * SECOND);
    expect(rig.fired()).toEqual(['other:f']);
    rig.schedule({ cron: '0 4 * * *', headers: 'nohaste' });
    rig.pass(HOUR);
    expect(rig.fired()).toEqual([]);
    expect(rig.engine.stats).toMatchObject({ jobs: 1, replaced: 2 });
    expect([...rig.disk.values()].map(({ every }) => every)).toEqual(['0 4 * * *']);
  });

  it('rule 3: names a job as Python does', () => {
    const rig = new SchedulerRig().start();
    const text =
      '["run", {"kwargs": {"b": true, "a": null}, "path": "m", "callable": "f", "args": [1.0, 1e22, "\\u00e9"]}]';
    rig.schedule({ interval: '1', body: fromLatin1(text) });
    rig.schedule({ interval: '1', body: fromLatin1('["run", {"path": "myjobs", "callable": "add", "args": [5, 5]}]') });
    expect([...rig.disk.keys()]).toEqual([
      'e12029c99f51a203d1378e573828ca8b25a6f54b',
      '1a3aa8fbf8ce963478f04ef0a3df8944e656b801',
    ]);
  });

  it('rule 6: gives each run the headers of the job, and the body unchanged', () => {
    const rig = new SchedulerRig().start();
    const job = fromLatin1('["run",{"callable":"f",  "path":"m"}]');
    rig.schedule({ interval: '1', headers: 'guarantee,retry-count:2,timeout:9,nohaste,run_count:5,x', body: job });
    rig.pass(SECOND);
    const [request] = rig.requests;
    expect(latin1(request!.headers)).toBe('reply-requested,guarantee,retry-count:2,timeout:9');
    expect(request!.body).toBe(job);
  });

  it('beyond jobsMax or jobsMaxBytes is refused, unless it replaces', () => {
    const rig = new SchedulerRig({ jobsMax: 2, jobsMaxBytes: 1000 }).start();
    for (const name of ['a', 'b', 'c', 'a']) rig.schedule({ interval: '1', body: body(name) });
    expect(rig.engine.stats).toMatchObject({ jobs: 2, scheduled: 3, refused: { full: 1 } });
    rig.schedule({ interval: '1', body: body('a', ['x'.repeat(1000)]) });
    expect(rig.engine.stats.refused).toEqual({ full: 2 });
  });

  it('that waits for the disk counts towards jobsMax', () => {
    const rig = new SchedulerRig({ jobsMax: 2 }).start();
    rig.diskIsFast = false;
    for (const name of ['a', 'b', 'c']) rig.schedule({ interval: '1', body: body(name) });
    expect(rig.engine.stats.refused).toEqual({ full: 1 });
  });
});

describe('UNSCHEDULE', () => {
  it('rule 4: ends either kind, whatever the queue, also on disk', () => {
    const rig = new SchedulerRig().start();
    rig.schedule({ interval: '1' });
    rig.schedule({ cron: '* * * * *', body: body('g') });
    rig.fired();
    rig.unschedule();
    rig.unschedule(body('g'));
    rig.pass(HOUR);
    expect(rig.fired()).toEqual([]);
    expect(rig.disk.size).toBe(0);
    expect(rig.engine.stats).toMatchObject({ jobs: 0, unscheduled: 2 });
  });

  it('rule 4: of an unknown job is ignored and counted', () => {
    const rig = new SchedulerRig().start();
    rig.unschedule();
    rig.unschedule(fromLatin1('nonsense'));
    expect(rig.engine.stats).toMatchObject({ unknown: 2, unscheduled: 0 });
  });

  it('rule 4: ends a job that is still being written', () => {
    const rig = new SchedulerRig().start();
    rig.diskIsFast = false;
    rig.schedule({ interval: '1' });
    rig.unschedule();
    while (rig.writing.length > 0) rig.finishWrite();
    rig.pass(HOUR);
    expect(rig.fired()).toEqual([]);
    expect(rig.disk.size).toBe(0);
  });
});

describe('the store', () => {
  it('rule 2: has a job stored before it counts', () => {
    const rig = new SchedulerRig().start();
    rig.diskIsFast = false;
    rig.schedule({ interval: '1' });
    rig.pass(10 * SECOND);
    expect(rig.fired()).toEqual([]);
    expect(rig.engine.stats).toMatchObject({ jobs: 0, writing: 1 });
    rig.finishWrite();
    expect(rig.engine.stats.jobs).toBe(1);
    expect(rig.fired()).toHaveLength(1);
  });

  it('rule 2: has the next time stored before a run is sent, so that a crash does not repeat it', () => {
    const rig = new SchedulerRig().start();
    rig.schedule({ interval: '10', headers: 'nohaste' });
    rig.diskIsFast = false;
    rig.pass(10 * SECOND);
    expect(rig.fired()).toEqual([]);
    rig.finishWrite();
    expect(rig.fired()).toHaveLength(1);
    rig.crash();
    rig.diskIsFast = true;
    rig.start();
    rig.pass(9 * SECOND);
    expect(rig.fired()).toEqual([]);
    rig.pass(SECOND);
    expect(rig.fired()).toHaveLength(1);
  });

  it('rule 2: is read after a restart: queue, headers, body, remaining runs', () => {
    const rig = new SchedulerRig().start();
    rig.schedule({ interval: '10', queue: 'own', headers: 'guarantee,run_count:3' });
    rig.fired();
    rig.crash();
    rig.start();
    rig.pass(10 * SECOND);
    expect(latin1(rig.requests[0]!.headers)).toBe('reply-requested,guarantee');
    rig.pass(HOUR);
    expect(rig.fired()).toEqual(['own:f', 'own:f']);
  });

  it.each([5, 10, 25, 1000])(
    'rule 7: an interval job that was away for %s seconds runs once when it is due',
    (seconds) => {
      const rig = new SchedulerRig().start();
      rig.schedule({ interval: '10', headers: 'nohaste' });
      rig.crash();
      rig.now += seconds * SECOND;
      rig.start();
      expect(rig.fired()).toHaveLength(seconds < 10 ? 0 : 1);
      rig.pass(10 * SECOND);
      expect(rig.fired()).toHaveLength(1);
    },
  );

  it.each([
    [false, 0],
    [true, 1],
  ])('rule 7: a cron job whose time has passed, with catchUp %s, runs %i times at once', (catchUp, runs) => {
    const rig = new SchedulerRig({ catchUp }).start();
    rig.schedule({ cron: '0 4 * * *', headers: 'nohaste' });
    rig.crash();
    rig.now += 30 * HOUR;
    rig.start();
    expect(rig.fired()).toHaveLength(runs);
    rig.pass(22 * HOUR);
    expect(rig.fired()).toHaveLength(1);
  });

  it('rule 7: a wall clock put back while no scheduler ran delays a job by one interval at most', () => {
    const rig = new SchedulerRig().start();
    rig.schedule({ interval: '10', headers: 'nohaste' });
    rig.crash();
    rig.wallOffsetMs -= 24 * HOUR;
    rig.start();
    rig.pass(10 * SECOND);
    expect(rig.fired()).toHaveLength(1);
  });

  it('a cron expression that is no longer understood stays there, does not run, and can be unscheduled', () => {
    const rig = new SchedulerRig();
    const record = { queue: 'q', headers: fromLatin1(''), body: body('f'), every: 'never', runsLeft: undefined };
    rig.disk.set('id', { ...record, nextMicros: SUNDAY });
    rig.start();
    expect(rig.notesOf('cron-unknown')).toMatchObject([{ job: 'id', cron: 'never' }]);
    rig.pass(HOUR);
    expect(rig.fired()).toEqual([]);
  });

  it('that is full refuses new jobs; the others keep running and are written when there is room', () => {
    const rig = new SchedulerRig().start();
    rig.schedule({ interval: '10', headers: 'nohaste' });
    const before = [...rig.disk.values()][0]!.nextMicros;
    rig.diskIsFull = true;
    rig.schedule({ interval: '10', body: body('g') });
    rig.schedule({ interval: '20', headers: 'nohaste' });
    expect(rig.engine.stats).toMatchObject({ jobs: 1, refused: { store: 2 }, storeHealthy: false });
    rig.pass(11 * SECOND);
    expect(rig.fired()).toEqual(['q:f']);
    expect([...rig.disk.values()][0]!.nextMicros).toBe(before);
    rig.diskIsFull = false;
    rig.pass(5 * SECOND);
    expect(rig.notes.map(({ code }) => code).filter((code) => code.startsWith('store-'))).toEqual([
      'store-failed',
      'store-recovered',
    ]);
    expect([...rig.disk.values()].map(({ nextMicros }) => nextMicros - before)).toEqual([10_000_000]);
    expect(rig.engine.stats.storeHealthy).toBe(true);
  });

  it('that fills up repeatedly says so once a minute, and never says that all is well when it is not', () => {
    const rig = new SchedulerRig().start();
    const said = () => rig.notes.map(({ code }) => code).filter((code) => code.startsWith('store-'));
    for (let round = 0; round < 3; round++) {
      rig.diskIsFull = true;
      rig.schedule({ interval: '3600', headers: 'nohaste', body: body(`g${round}`) });
      rig.diskIsFull = round === 2;
      rig.schedule({ interval: '3600', headers: 'nohaste', body: body(`h${round}`) });
      rig.pass(5 * SECOND);
    }
    expect(said()).toEqual(['store-failed', 'store-recovered']);
    rig.pass(60 * SECOND);
    rig.schedule({ interval: '3600', headers: 'nohaste', body: body('i') });
    expect(said()).toEqual(['store-failed', 'store-recovered', 'store-failed']);
  });

  it('that could not forget a job forgets it later', () => {
    const rig = new SchedulerRig().start();
    rig.schedule({ interval: '10' });
    rig.diskIsFull = true;
    rig.unschedule();
    expect(rig.disk.size).toBe(1);
    rig.diskIsFull = false;
    rig.pass(5 * SECOND);
    expect(rig.disk.size).toBe(0);
  });
});

describe('while the broker is away', () => {
  it('rule 8: one run of each job is held and sent after the next ACK', () => {
    const rig = new SchedulerRig().start();
    rig.schedule({ interval: '10', headers: 'nohaste' });
    rig.schedule({ interval: '100', headers: 'nohaste', body: body('g') });
    rig.lose();
    rig.pass(45 * SECOND);
    expect(rig.fired()).toEqual([]);
    expect(rig.engine.stats).toMatchObject({ held: 1, skipped: 3 });
    rig.brokerIsThere = true;
    rig.pass(30 * SECOND);
    expect(rig.fired()[0]).toBe('q:f');
    expect(rig.engine.stats.held).toBe(0);
  });

  it('rule 8: a skipped run does not count towards run_count', () => {
    const rig = new SchedulerRig().start();
    rig.schedule({ interval: '10', headers: 'nohaste,run_count:2' });
    rig.lose();
    rig.pass(100 * SECOND);
    rig.brokerIsThere = true;
    rig.pass(100 * SECOND);
    expect(rig.fired()).toHaveLength(2);
    expect(rig.engine.stats.finished).toBe(1);
  });

  it('rule 8: a run that was not sent is held, and dropped when its job is unscheduled', () => {
    const rig = new SchedulerRig().start();
    rig.schedule({ interval: '10' });
    rig.schedule({ interval: '10', body: body('g') });
    expect(rig.fired()).toEqual(['q:f', 'q:g']);
    rig.lose();
    rig.pass(10 * SECOND);
    expect(rig.engine.stats.held).toBe(2);
    rig.crash();
    rig.brokerIsThere = true;
    rig.start();
    rig.pass(10 * SECOND);
    expect(rig.fired().sort()).toEqual(['q:f', 'q:g']);
  });
});

describe('the end', () => {
  it.each(['drain', 'close'] as const)('rule 8: %s sends both goodbyes and ends', (kind) => {
    const rig = new SchedulerRig().start();
    rig.said.length = 0;
    rig.do({ kind });
    expect(rig.said).toEqual(['KBAI', 'KBYE', 'close']);
    expect([rig.ended, rig.engine.deadline]).toEqual([true, Infinity]);
  });

  it('rule 8: DISCONNECT works like drain', () => {
    const rig = new SchedulerRig().start();
    rig.hear({ kind: 'disconnect', id: 'd' });
    expect(rig.ended).toBe(true);
    expect(rig.notesOf('left')).toMatchObject([{ reason: 'told' }]);
  });

  it('rule 8: drain sends a run that is being written, and accepts no more jobs', () => {
    const rig = new SchedulerRig().start();
    rig.schedule({ interval: '10', headers: 'nohaste' });
    rig.diskIsFast = false;
    rig.pass(10 * SECOND);
    rig.do({ kind: 'drain' });
    rig.schedule({ interval: '1', body: body('g') });
    expect([rig.ended, rig.engine.stats.refused]).toEqual([false, { leaving: 1 }]);
    rig.finishWrite();
    expect(rig.fired()).toEqual(['q:f']);
    expect(rig.ended).toBe(true);
  });

  it('rule 8: a second drain changes neither the time limit nor the reason', () => {
    const rig = new SchedulerRig({ drainMs: 2000 }).start();
    rig.diskIsFast = false;
    rig.schedule({ interval: '10' });
    rig.do({ kind: 'drain' });
    rig.now += 1500;
    rig.do({ kind: 'drain' });
    rig.hear({ kind: 'disconnect', id: 'd' });
    rig.now += 500;
    rig.do({ kind: 'timer', lateMs: 0 });
    expect([rig.ended, rig.notesOf('left').map(({ reason }) => reason)]).toEqual([true, ['drained']]);
  });

  it('rule 8: a disk that hangs does not delay it', () => {
    const rig = new SchedulerRig({ drainMs: 2000 }).start();
    rig.diskIsFast = false;
    rig.schedule({ interval: '10' });
    rig.do({ kind: 'drain' });
    rig.now += 2000;
    rig.do({ kind: 'timer', lateMs: 0 });
    expect(rig.ended).toBe(true);
  });
});

it('thousands of waiting jobs cost no steps and no writes beyond those of the few that are due', () => {
  /** What a minute and 40 seconds cost, at the end of which 20 jobs are due and this many are not. */
  const costs = (waiting: number) => {
    const rig = new SchedulerRig({ jobsMax: 10_000, jobsMaxBytes: 10_000_000 }).start();
    rig.checks = false;
    for (let n = 0; n < 20 + waiting; n++)
      rig.schedule({ interval: n < 20 ? '100' : '200', headers: 'nohaste', body: body('f', [n]) });
    expect(rig.engine.stats.jobs).toBe(20 + waiting);
    rig.steps = rig.changes = 0;
    rig.pass(100 * SECOND);
    rig.engine.assertInvariants();
    return { runs: rig.fired().length, steps: rig.steps, changes: rig.changes };
  };
  const alone = costs(0);
  expect(alone).toMatchObject({ runs: 20, changes: 20 });
  expect(costs(5000)).toEqual(alone);
});
