import { EventEmitter } from 'node:events';
import { ManualClock } from '@proj/heartbeat';
import { expect, it } from 'vitest';
import { HttpTurns } from '../src/turns.js';

const BOUNDS = { perSecond: 10, savedMax: 2, spacingMs: 0, waitingMax: 5, waitMs: 60_000 };

class One extends EventEmitter {
  isDestroyed = false;

  destroy(): void {
    this.isDestroyed = true;
    this.emit('close');
  }
}

function start(bounds: Partial<typeof BOUNDS> = {}) {
  const clock = new ManualClock();
  const turns = new HttpTurns({ ...BOUNDS, ...bounds }, clock);
  const went: string[] = [];
  const ask = (name: string, address = 'a') => {
    const one = new One();
    turns.take(address, one, () => went.push(name));
    return one;
  };
  const after = (ms: number) => {
    clock.advance(ms);
    return went.splice(0).join(' ');
  };
  return { turns, ask, after };
}

it('gives those that are saved up at once, and then so many a second', () => {
  const { ask, after } = start();
  for (const name of ['1', '2', '3', '4']) ask(name);
  expect([after(0), after(99), after(1), after(100), after(1000)]).toEqual(['1 2', '', '3', '4', '']);
});

it('gives saved ones apart from each other, so that others are served in between', () => {
  const { ask, after } = start({ savedMax: 3, spacingMs: 5 });
  for (const name of ['1', '2', '3', '4']) ask(name);
  expect([after(0), after(4), after(1), after(5), after(85), after(10)]).toEqual(['1', '', '2', '3', '', '4']);
  after(60_000);
  ask('5');
  after(3);
  ask('6');
  expect([after(1), after(1)]).toEqual(['', '6']);
});

it('saves no more than it may', () => {
  const { ask, after } = start();
  after(60_000);
  for (const name of ['1', '2', '3']) ask(name);
  expect(after(0)).toBe('1 2');
});

it('gives one to each address in turn', () => {
  const { ask, after } = start();
  ask('1');
  ask('2');
  for (const name of ['a1', 'a2', 'a3']) ask(name);
  ask('b1', 'b');
  expect(after(400)).toBe('1 2 a1 b1 a2 a3');
});

it('gives none to who has left', () => {
  const { ask, after } = start();
  ask('1');
  ask('2');
  const gone = ask('gone');
  ask('4');
  gone.emit('close');
  expect(after(100)).toBe('1 2 4');
});

it('destroys one too many, and all who wait when it is closed', () => {
  const { turns, ask, after } = start();
  const all = Array.from({ length: 8 }, (_, index) => ask(String(index)));
  expect(all.map(({ isDestroyed }) => isDestroyed)).toEqual([...Array.from({ length: 7 }, () => false), true]);
  turns.close();
  expect(all.map(({ isDestroyed }) => isDestroyed)).toEqual([false, false, ...Array.from({ length: 6 }, () => true)]);
  expect(after(10_000)).toBe('0 1');
});

it('destroys the newest of the address with most when another one comes', () => {
  const { ask, after } = start();
  const all = Array.from({ length: 7 }, (_, index) => ask(`a${index}`));
  const others = [ask('b0', 'b'), ask('b1', 'b'), ask('b2', 'b')];
  expect(all.map(({ isDestroyed }) => isDestroyed)).toEqual([...Array.from({ length: 5 }, () => false), true, true]);
  expect(others.map(({ isDestroyed }) => isDestroyed)).toEqual([false, false, true]);
  expect(after(500)).toBe('a0 a1 a2 b0 a3 b1 a4');
});

it('destroys what comes after it was closed', () => {
  const { turns, ask, after } = start();
  turns.close();
  expect([ask('late').isDestroyed, after(1000)]).toEqual([true, '']);
});

it('destroys who has waited too long', () => {
  const { ask, after } = start({ perSecond: 1, savedMax: 1, waitMs: 1600 });
  const all = ['1', '2', '3'].map((name) => ask(name));
  expect(after(500)).toBe('1');
  const late = ask('4', 'b');
  expect(after(500)).toBe('2');
  expect(after(1000)).toBe('4');
  expect([...all, late].map(({ isDestroyed }) => isDestroyed)).toEqual([false, false, true, false]);
});

it('destroys a crowd that has waited too long little by little', () => {
  const { ask, after } = start({ perSecond: 1, savedMax: 1, spacingMs: 5, waitingMax: 40, waitMs: 1000 });
  const all = Array.from({ length: 41 }, (_, index) => ask(String(index)));
  const destroyed = () => all.filter(({ isDestroyed }) => isDestroyed).length;
  after(1000);
  const counts = [destroyed()];
  for (let step = 0; step < 3; step++) {
    after(5);
    counts.push(destroyed());
  }
  expect(counts).toEqual([16, 32, 39, 39]);
});

it('has room again when those who waited have left', () => {
  const { ask, after } = start();
  const all = Array.from({ length: 7 }, (_, index) => ask(String(index)));
  for (const one of all) one.emit('close');
  expect([ask('next').isDestroyed, after(100)]).toEqual([false, '0 1 next']);
});

it('gives most of a turn that was not used to the next ones, and saves no more for it', () => {
  const { turns, ask, after } = start();
  for (const name of ['1', '2', '3', '4']) ask(name);
  turns.giveBack();
  expect([after(24), after(1), after(100)]).toEqual(['1 2', '3', '4']);
  after(60_000);
  turns.giveBack();
  for (const name of ['5', '6', '7']) ask(name);
  expect(after(0)).toBe('5 6');
});
