import { expect, it } from 'vitest';
import { Errands } from './errands.js';

const SLICE = 64;

/** Work of this many pieces, which records its name at each. */
function* work(name: string, pieces: number, done: string[]): Generator<void, void, void> {
  for (let left = pieces; left > 0; left--) {
    done.push(name);
    yield;
  }
}

it('does a little work at once, and then has no deadline', () => {
  const errands = new Errands();
  const done: string[] = [];
  errands.begin({}, work('a', SLICE - 1, done), 0);
  expect([done.length, errands.deadline]).toEqual([SLICE - 1, Infinity]);
});

it('does a lot of work in slices, when they are due', () => {
  const errands = new Errands();
  const done: string[] = [];
  errands.begin({}, work('a', 3 * SLICE - 1, done), 0);
  const sizes = [done.length];
  for (let now = errands.deadline; now < Infinity; now = errands.deadline) {
    errands.goOn(now - 0.5);
    expect(done.length).toBe(sizes.at(-1));
    errands.goOn(now);
    sizes.push(done.length);
  }
  expect(sizes).toEqual([SLICE, 2 * SLICE, 3 * SLICE - 1]);
});

it('leaves others as much time as a slice took, but no more than 20 ms', () => {
  const errands = new Errands();
  const done: string[] = [];
  errands.begin({}, work('a', 9 * SLICE, done), 0);
  const steps = [1.5, 3, 4, 5, 1000, 1020].map((now) => {
    errands.goOn(now);
    return [now, done.length / SLICE, errands.deadline];
  });
  expect(steps).toEqual([
    [1.5, 1, 3],
    [3, 2, 4],
    [4, 3, 5],
    [5, 4, 6],
    [1000, 4, 1020],
    [1020, 5, 1021],
  ]);
});

it('does as much in a slice as it was told, and knows what is in progress', () => {
  const errands = new Errands(3);
  const about = {};
  const done: string[] = [];
  errands.begin(about, work('a', 5, done), 0);
  expect([done.length, errands.has(about), errands.has({})]).toEqual([3, true, false]);
  errands.goOn(1);
  expect([done.length, errands.has(about)]).toEqual([5, false]);
});

it('counts a piece that says so as many', () => {
  const errands = new Errands();
  const sizes = [3 * SLICE, 1, SLICE - 2, 1, 1, 1];
  let done = 0;
  const pieces = function* (): Generator<number, void, void> {
    for (const size of sizes) {
      done++;
      yield size;
    }
  };
  errands.begin({}, pieces(), 0);
  const steps = [done];
  for (let now = errands.deadline; now < Infinity; now = errands.deadline) {
    errands.goOn(now);
    steps.push(done);
  }
  expect(steps).toEqual([1, 4, 6]);
});

it('takes turns', () => {
  const errands = new Errands();
  const done: string[] = [];
  errands.begin({}, work('a', 3 * SLICE, done), 0);
  errands.begin({}, work('b', 3 * SLICE, done), 0.5);
  for (let now = 1; errands.deadline < Infinity; now++) errands.goOn(now);
  const turns = done.filter((_, index) => index % SLICE === 0);
  expect(turns).toEqual(['a', 'b', 'a', 'b', 'a', 'b']);
});

it('does one slice at a time, however many errands there are', () => {
  const errands = new Errands();
  const done: string[] = [];
  for (let count = 0; count < SLICE; count++) errands.begin({}, work(`${count}`, 3, done), 0);
  const sizes = [done.length];
  for (let now = 1; errands.deadline < Infinity; now++) {
    errands.goOn(now);
    sizes.push(done.length);
  }
  // The end of an errand is a piece, too: it may have had nothing else to do.
  const each = (SLICE * 3) / 4;
  expect(sizes).toEqual([each, 2 * each, 3 * each, 4 * each]);
});

it('does an eighth of a slice at once while other work is in progress', () => {
  const errands = new Errands();
  const done: string[] = [];
  errands.begin({}, work('a', 2 * SLICE, done), 0);
  for (const [index, name] of ['b', 'c'].entries()) errands.begin({}, work(name, SLICE, done), 1 + index);
  const counts = (): number[] => ['a', 'b', 'c'].map((name) => done.filter((other) => other === name).length);
  expect(counts()).toEqual([SLICE, SLICE / 8, SLICE / 8]);
  errands.begin({}, work('d', SLICE / 8 - 1, done), 4);
  expect(done.filter((name) => name === 'd')).toHaveLength(SLICE / 8 - 1);
  errands.goOn(10);
  errands.goOn(20);
  expect(counts()).toEqual([2 * SLICE, SLICE / 8, SLICE / 8]);
});

it('replaces earlier work about the same thing', () => {
  const errands = new Errands();
  const about = {};
  const done: string[] = [];
  errands.begin(about, work('a', 2 * SLICE, done), 0);
  errands.begin(about, work('b', 2 * SLICE - 1, done), 0);
  for (let now = 1; errands.deadline < Infinity; now++) errands.goOn(now);
  expect([done.filter((name) => name === 'a').length, done.filter((name) => name === 'b').length]).toEqual([
    SLICE,
    2 * SLICE - 1,
  ]);
});

it('lets work start other work', () => {
  const errands = new Errands();
  const done: string[] = [];
  errands.begin(
    {},
    (function* () {
      yield;
      errands.begin({}, work('inner', 2 * SLICE, done), 0);
      yield* work('outer', 2 * SLICE, done);
    })(),
    0,
  );
  for (let now = 1; errands.deadline < Infinity; now++) errands.goOn(now);
  expect(done.length).toBe(4 * SLICE);
});

it('does nothing more once cleared', () => {
  const errands = new Errands();
  const done: string[] = [];
  errands.begin({}, work('a', 2 * SLICE, done), 0);
  errands.clear();
  errands.goOn(1);
  expect([done.length, errands.deadline]).toEqual([SLICE, Infinity]);
});
