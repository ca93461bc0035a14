import assert from 'node:assert/strict';
import { decodeEmqpAtScheduler, encodeEmqp } from '@proj/frames/emqp';
import { arbitraries } from '@proj/testkit';
import fc from 'fast-check';
import { it } from 'vitest';
import { body, SchedulerRig } from '../../test/rig.js';

const NAMES = ['f', 'g', 'h'];
const SECOND = 1000;

type Act =
  | { readonly act: 'schedule'; readonly name: string; readonly seconds: number; readonly nohaste: boolean }
  | { readonly act: 'unschedule'; readonly name: string }
  | { readonly act: 'pass'; readonly ms: number }
  | { readonly act: 'write' }
  | { readonly act: 'disk'; readonly fast: boolean }
  | { readonly act: 'away' | 'back' | 'crash' };

const name = fc.constantFrom(...NAMES);
const act: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      act: fc.constant('schedule' as const),
      name,
      seconds: fc.integer({ min: 1, max: 20 }),
      nohaste: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ act: fc.constant('unschedule' as const), name }) },
  { weight: 8, arbitrary: fc.record({ act: fc.constant('pass' as const), ms: fc.integer({ min: 1, max: 30_000 }) }) },
  { weight: 4, arbitrary: fc.record({ act: fc.constant('write' as const) }) },
  { weight: 2, arbitrary: fc.record({ act: fc.constant('disk' as const), fast: fc.boolean() }) },
  { weight: 3, arbitrary: fc.record({ act: fc.constantFrom('away' as const, 'back' as const, 'crash' as const) }) },
);

/** What an observer knows about one schedule: when it was confirmed, and when it was seen to run. */
interface Story {
  readonly everyMs: number;
  readonly since: number;
  readonly runs: number[];
  /** Times at which a run may be lost or postponed: the process died, the broker was away, the disk was slow. */
  readonly troubles: number[];
}

/** Plays a story and returns what each schedule did while it was in force. */
function play(acts: readonly Act[]): Story[] {
  const rig = new SchedulerRig().start();
  const open = new Map<string, Story>();
  const closed: Story[] = [];
  const end = (of: string): void => {
    const story = open.get(of);
    if (story !== undefined) closed.push(story);
    open.delete(of);
  };
  const look = (): void => {
    for (const fired of rig.fired()) open.get(fired.slice(2))?.runs.push(rig.now);
  };
  const trouble = (): void => {
    for (const { troubles } of open.values()) troubles.push(rig.now);
  };
  const flush = (): void => {
    while (rig.writing.length > 0) rig.finishWrite();
  };
  for (const one of acts) {
    switch (one.act) {
      case 'schedule':
        // A broker that is down says nothing.
        if (!rig.engine.isRegistered) break;
        // The boundary between the two must be known: nothing is in flight.
        flush();
        rig.diskIsFast = true;
        look();
        end(one.name);
        open.set(one.name, { everyMs: one.seconds * SECOND, since: rig.now, runs: [], troubles: [] });
        rig.schedule({ interval: String(one.seconds), headers: one.nohaste ? 'nohaste' : '', body: body(one.name) });
        break;
      case 'unschedule':
        flush();
        rig.diskIsFast = true;
        look();
        rig.unschedule(body(one.name));
        end(one.name);
        break;
      case 'pass':
        for (let left = one.ms; left > 0; left -= 100) {
          rig.pass(Math.min(left, 100));
          if (!rig.diskIsFast || !rig.engine.isRegistered) trouble();
          look();
        }
        break;
      case 'write':
        rig.finishWrite();
        break;
      case 'disk':
        if (one.fast) flush();
        rig.diskIsFast = one.fast;
        break;
      case 'away':
        if (rig.engine.isRegistered) rig.lose();
        break;
      case 'back':
        rig.brokerIsThere = true;
        break;
      case 'crash':
        look();
        trouble();
        rig.crash();
        rig.start();
        break;
    }
    look();
  }
  look();
  for (const of of [...open.keys()]) end(of);
  return closed;
}

/** Two runs are one interval apart, unless one was postponed by trouble: then the next one is not. */
function check({ everyMs, runs, since, troubles }: Story): void {
  const isTroubled = (from: number, to: number): boolean =>
    troubles.some((at) => at >= from - everyMs - 200 && at <= to + 200);
  for (const [index, at] of runs.entries()) {
    const before = index === 0 ? since : runs[index - 1]!;
    const gap = at - before;
    if (isTroubled(before, at)) continue;
    // Tests look every 100 ms.
    if (index > 0) assert.ok(gap >= everyMs - 100, `two runs ${gap} ms apart, every ${everyMs} ms`);
    assert.ok(gap <= everyMs + 200, `nothing for ${gap} ms, every ${everyMs} ms`);
  }
  // Whatever the troubles: never more runs than intervals have begun.
  for (const [first, from] of runs.entries())
    for (let last = first + 1; last < runs.length; last++) {
      const intervals = Math.floor((runs[last]! - from + 100) / everyMs);
      // A postponed run may come right before the next.
      assert.ok(
        last - first <= intervals + 1,
        `${last - first} runs after one in ${runs[last]! - from} ms, every ${everyMs} ms`,
      );
    }
}

it('never runs a job twice in an interval, and never misses a run without trouble, whatever is scheduled, killed or away', () => {
  fc.assert(
    fc.property(fc.array(act, { maxLength: 60 }), (acts) => {
      for (const story of play(acts)) check(story);
    }),
    { numRuns: 300 },
  );
});

it('a crash loses at most one run of a job', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 20 }),
      fc.integer({ min: 0, max: 60_000 }),
      fc.boolean(),
      (seconds, ms, held) => {
        const rig = new SchedulerRig().start();
        rig.schedule({ interval: String(seconds), headers: 'nohaste' });
        rig.pass(ms);
        // Killed between the write and the run, or at any other time.
        rig.diskIsFast = held;
        rig.pass(500);
        if (!held) rig.diskIsFast = true;
        rig.crash();
        rig.start();
        rig.pass(60_000);
        const due = Math.floor((ms + 500 + 60_000) / (seconds * SECOND));
        const ran = rig.requests.length;
        assert.ok(ran >= due - 1 && ran <= due, `${ran} of ${due} runs`);
      },
    ),
    { numRuns: 200 },
  );
});

it('survives any frames from its broker', () => {
  fc.assert(
    fc.property(
      fc.array(fc.oneof(arbitraries.message(), arbitraries.mutated(arbitraries.emqpToScheduler.map(encodeEmqp))), {
        maxLength: 40,
      }),
      (messages) => {
        const rig = new SchedulerRig().start();
        for (const frames of messages) {
          if (rig.ended) return;
          rig.hear(decodeEmqpAtScheduler(frames));
          rig.pass(500);
        }
      },
    ),
    { numRuns: 300 },
  );
});
