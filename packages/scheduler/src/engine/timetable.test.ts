import { beforeEach, describe, expect, it } from 'vitest';
import { ScheduledJob, Timetable } from './timetable.js';

const SECOND = 1_000_000;
const HOUR = 3600 * SECOND;
/** What the wall clock shows when the monotonic clock shows 0. */
const START = 1_700_000_000 * SECOND;

let now: number;
/** How far the wall clock was set, in microseconds. */
let wallOffset: number;
let table: Timetable;

const wall = () => START + wallOffset + now * 1000;
/** Due at each full ten seconds; with `never` not at all, with `last` once more before this second. */
const nextCron = (expression: string, after: number): number | undefined => {
  if (expression === 'never') return undefined;
  const next = (Math.floor(after / (10 * SECOND)) + 1) * 10 * SECOND;
  return expression === 'last' && next > START + 10 * SECOND ? undefined : next;
};

beforeEach(() => {
  now = 0;
  wallOffset = 0;
  table = new Timetable(nextCron, { wallMicros: wall, uuid: () => '', random: () => 0 });
});

function job(every: number | string, nextMicros = 0): ScheduledJob {
  const record = { queue: 'q', headers: new Uint8Array(0), body: new Uint8Array(0), runsLeft: undefined };
  return new ScheduledJob(String(every), { ...record, every, nextMicros });
}

/** A new job. */
function begun(every: number | string): ScheduledJob {
  const made = job(every, table.first(every));
  table.begin(made, now);
  return made;
}

/** The times at which jobs run up to this one, each at its deadline. */
function runsUntil(end: number): number[] {
  const runs: number[] = [];
  for (let turns = 0; table.deadline <= end; turns++) {
    if (turns > 1000) throw new Error('the deadline stays');
    now = Math.max(now, table.deadline);
    for (let due = table.takeDue(now); due !== undefined; due = table.takeDue(now)) {
      runs.push(now);
      if (table.advance(due, now)) table.resume(due, now);
    }
    table.assertInvariants();
  }
  now = end;
  return runs;
}

describe('intervals', () => {
  it('begin after their first interval, and are written down by the wall clock', () => {
    const made = begun(3);
    expect([made.nextMicros, made.dueAt]).toEqual([START + 3 * SECOND, 3000]);
    expect(runsUntil(10_000)).toEqual([3000, 6000, 9000]);
    expect(made.nextMicros).toBe(START + 12 * SECOND);
  });

  it('do not drift when timers are late', () => {
    begun(3);
    now = 3500;
    const due = table.takeDue(now)!;
    table.advance(due, now);
    table.resume(due, now);
    expect(table.deadline).toBe(6000);
  });

  it('run once after a long sleep, and then one interval later', () => {
    begun(3);
    now = 100_000;
    expect(runsUntil(104_000)).toEqual([100_000, 103_000]);
  });

  it('are due at once when they were overdue, and never later than their interval when the clock was put back', () => {
    const [late, ahead] = [job(3, START - HOUR), job(3, START + HOUR)];
    expect([table.restore(late, false, now), table.restore(ahead, false, now)]).toEqual([true, true]);
    expect([late.dueAt, late.nextMicros]).toEqual([0, START]);
    expect([ahead.dueAt, ahead.nextMicros]).toEqual([3000, START + 3 * SECOND]);
  });

  it('are not affected by setting the wall clock', () => {
    begun(3);
    wallOffset = HOUR;
    expect(runsUntil(7000)).toEqual([3000, 6000]);
    wallOffset = -HOUR;
    expect(runsUntil(10_000)).toEqual([9000]);
  });
});

describe('cron', () => {
  it('is due when the wall clock says so', () => {
    begun('ten');
    expect(runsUntil(35_000)).toEqual([10_000, 20_000, 30_000]);
  });

  it('is due once even if the wall clock is slightly behind', () => {
    const made = begun('ten');
    made.nextMicros = START + 10 * SECOND + 5;
    now = 10_000;
    expect(table.advance(made, now)).toBe(true);
    expect(made.nextMicros).toBe(START + 20 * SECOND);
    made.nextMicros = START + 30 * SECOND;
    expect([table.advance(made, now), made.nextMicros]).toEqual([true, START + 40 * SECOND]);
  });

  it('ends with its last time', () => {
    begun('last');
    expect(runsUntil(60_000)).toEqual([10_000]);
    expect(table.deadline).toBe(Infinity);
    expect(table.first('never')).toBeUndefined();
  });

  it('that is overdue after a restart runs at once with catch-up, and at its next time without it', () => {
    const [caught, left] = [job('ten', START - HOUR), job('ten', START - HOUR)];
    table.restore(caught, true, now);
    table.restore(left, false, now);
    expect([caught.dueAt, left.dueAt]).toEqual([0, 10_000]);
  });

  it('that is still to come after a restart is recomputed; one that never comes again is not restored', () => {
    const ahead = job('ten', START + HOUR);
    table.restore(ahead, true, now);
    expect(ahead.dueAt).toBe(10_000);
    expect(table.restore(job('never', START - 1), false, now)).toBe(false);
    expect(table.deadline).toBe(10_000);
  });

  it('follows a wall clock that is put forward, within ten seconds', () => {
    const made = begun('ten');
    made.nextMicros = START + HOUR;
    made.dueAt = HOUR / 1000;
    table.resume(made, now);
    wallOffset = HOUR - 5 * SECOND;
    expect(runsUntil(9999)).toEqual([]);
    expect(runsUntil(10_001)).toEqual([10_001]);
  });

  it('follows a wall clock that is put back an hour: times that have come do not come again', () => {
    begun('ten');
    expect(runsUntil(15_000)).toEqual([10_000]);
    wallOffset = -HOUR;
    expect(runsUntil(HOUR / 1000)).toEqual([]);
    expect(runsUntil(HOUR / 1000 + 20_000)).toEqual([HOUR / 1000 + 20_000]);
  });

  it('follows a wall clock that is put back a day: it was wrong, and times come again', () => {
    begun('ten');
    runsUntil(15_000);
    wallOffset = -24 * HOUR;
    expect(runsUntil(50_000)).toEqual([30_000, 40_000, 50_000]);
  });

  it('is not moved by a drift of less than half a second, and does not run early', () => {
    begun('ten');
    wallOffset = -300_000;
    expect(runsUntil(10_299)).toEqual([]);
    expect(runsUntil(10_301)).toEqual([10_300]);
  });

  it('is not watched while there are no cron jobs', () => {
    const made = begun('ten');
    table.suspend(made);
    expect(table.deadline).toBe(10_000);
    expect(runsUntil(10_000)).toEqual([]);
    expect(table.deadline).toBe(Infinity);
  });

  it('is compared with the clock as it was when the watch began', () => {
    wallOffset = 2 * HOUR;
    now = 500;
    const made = begun('ten');
    made.dueAt = 12_000;
    made.nextMicros = wall() + 11_500_000;
    table.resume(made, now);
    runsUntil(10_600);
    expect(made.dueAt).toBe(12_000);
  });

  it('is armed a little later when the wall clock has just fallen behind', () => {
    const made = begun('ten');
    now = 10_000;
    wallOffset = -200;
    expect(table.takeDue(now)).toBeUndefined();
    expect(made.dueAt).toBe(10_001);
  });
});

it('a stopped timetable has nothing due and watches nothing', () => {
  begun(3);
  begun('ten');
  table.stop();
  expect([table.deadline, table.takeDue(100_000)]).toEqual([Infinity, undefined]);
});
