import { ManualClock } from '@proj/heartbeat';
import { MemoryBudget } from '@proj/transport';
import { beforeEach, expect, it } from 'vitest';
import { Collector, LOOK_MS } from './collector.js';

const MIB = 2 ** 20;
/** Memory of the idle process. */
const IDLE = 60 * MIB;

/** Memory held for peers, other memory, and how much of that cannot be collected. */
let held: number;
let garbage: number;
let stays: number;
/** In pages that the first collection empties, and what each later one returns of it. */
let emptied: number;
let returned: number;
let empty: number;
let busy: number;
let collections: number;
let rests: number;
let looks: number;
let clock: ManualClock;
let memory: MemoryBudget;

beforeEach(() => {
  held = garbage = stays = emptied = empty = busy = collections = rests = looks = 0;
  returned = Infinity;
  clock = new ManualClock();
  memory = new MemoryBudget(1024 * MIB, clock);
  memory.add({
    get heldBytes() {
      return held;
    },
    onRest: () => {
      rests++;
    },
  });
  new Collector(memory, clock, {
    busyShare: () => busy,
    usedBytes: () => (looks++, IDLE + held + garbage + empty),
    emptyBytes: () => empty,
    collect() {
      collections++;
      garbage = Math.min(garbage, stays);
      empty = collections === 1 ? emptied : Math.max(0, empty - returned);
    },
  });
});

/** What was collected at the next check. */
function look(): number {
  const before = collections;
  clock.advance(LOOK_MS);
  return collections - before;
}

it('collects garbage once there is more of it than peers hold', () => {
  held = 100 * MIB;
  memory.moved(MIB);
  expect(look()).toBe(0);
  held = 40 * MIB;
  garbage = 39 * MIB;
  expect(look()).toBe(0);
  held = 0;
  garbage = 100 * MIB;
  expect(look()).toBe(1);
});

it('does not collect a little, or again what it could not collect before', () => {
  garbage = 32 * MIB - 1;
  memory.moved(1);
  expect(look()).toBe(0);
  garbage = stays = 32 * MIB;
  memory.moved(1);
  expect(look()).toBe(1);
  memory.moved(1);
  expect(look()).toBe(0);
  garbage = 64 * MIB;
  memory.moved(1);
  expect(look()).toBe(1);
});

it.each([
  [16 * MIB, 1],
  [16 * MIB - 1, 0],
])('collects once more if that left many pages empty, as soon as little moves: %i bytes', (bytes, again) => {
  garbage = 100 * MIB;
  emptied = bytes;
  memory.moved(1);
  expect(look()).toBe(1);
  memory.moved(50 * MIB);
  expect(look()).toBe(0);
  expect([look(), look(), look()]).toEqual([again, 0, 0]);
});

it.each([
  [8 * MIB, [1, 1, 1, 0]],
  [8 * MIB - 1, [1, 0, 0, 0]],
])('goes on while many pages are empty and a collection returns 8 MiB of them, and %i bytes', (bytes, expected) => {
  garbage = 100 * MIB;
  [emptied, returned] = [39 * MIB, bytes];
  memory.moved(1);
  expect(look()).toBe(1);
  expect([look(), look(), look(), look()]).toEqual(expected);
});

it('leaves it to V8 while more moves than a collection would free, and checks again after that', () => {
  garbage = 200 * MIB;
  memory.moved(300 * MIB);
  expect(look()).toBe(0);
  expect(look()).toBe(1);
});

it('leaves less than 128 MiB to V8 while the process is busy, and looks again after that', () => {
  busy = 0.51;
  garbage = 128 * MIB - 1;
  emptied = 100 * MIB;
  memory.moved(MIB);
  expect([look(), look()]).toEqual([0, 0]);
  garbage = 128 * MIB;
  expect([look(), look()]).toEqual([1, 0]);
  busy = 0.5;
  expect([look(), look()]).toEqual([1, 0]);
  garbage = 32 * MIB;
  busy = 0.51;
  memory.moved(MIB);
  expect(look()).toBe(0);
  busy = 0.5;
  expect(look()).toBe(1);
});

it('checks nothing while nothing moves, and frees spare memory once little moves', () => {
  memory.moved(100 * MIB);
  look();
  expect([looks > 0, rests]).toEqual([true, 0]);
  memory.moved(MIB);
  look();
  expect(rests).toBe(1);
  looks = 0;
  look();
  expect([looks, rests]).toEqual([0, 1]);
  held = 1;
  look();
  expect(looks).toBeGreaterThan(0);
});

it('collects soon after memory was full, at most once a second', () => {
  const fill = (bytes: number): void => {
    held = bytes;
    memory.look();
  };
  fill(1024 * MIB);
  fill(0);
  fill(1024 * MIB);
  clock.advance(20);
  expect(collections).toBe(1);
  clock.advance(980);
  fill(0);
  fill(1024 * MIB);
  clock.advance(20);
  expect(collections).toBe(2);
});
