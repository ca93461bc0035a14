import { setImmediate } from 'node:timers/promises';
import { ManualClock } from '@proj/heartbeat';
import { describe, expect, it } from 'vitest';
import { ConnectionWriter } from './connection-writer.js';
import type { ConnectionEngine } from './engine/engine.js';
import { Turns } from './turn.js';
import { Watch } from './watch.js';
import type { Wire } from './wire.js';
import { Writers } from './writers.js';

function house() {
  const clock = new ManualClock();
  const watch = new Watch(clock);
  const order: string[] = [];
  /** Writers that take half a millisecond each. */
  const writer = (name: string) => ({
    onWrite: () => {
      order.push(name);
      clock.advance(0.5);
    },
  });
  /** What has run since the last call. */
  const ran = (): string => order.splice(0).join('');
  return { clock, watch, order, writer, ran };
}

describe('writers', () => {
  it('run for 2 ms, and the rest in the next turns', () => {
    const { watch, writer, ran } = house();
    const writers = new Writers(watch);
    for (const name of 'abcdefghij') writers.push(writer(name));
    const turns = Array.from({ length: 4 }, () => [writers.run(), ran(), writers.areLate]);
    expect(turns).toEqual([
      [10, 'abcd', true],
      [0, 'efgh', true],
      [0, 'ij', false],
      [0, '', false],
    ]);
  });

  it('of a turn run before late ones, which run in every turn', () => {
    const { watch, writer, ran } = house();
    const writers = new Writers(watch);
    for (const name of 'abcdefghijklm') writers.push(writer(name));
    writers.run();
    expect(ran()).toBe('abcd');
    for (const name of 'ABCDEF') writers.push(writer(name));
    writers.run();
    expect(ran()).toBe('ABCDefgh');
    writers.push(writer('G'));
    writers.run();
    expect(ran()).toBe('Gijkl');
    writers.run();
    expect(ran()).toBe('mEF');
  });

  it('that one reader adds are late if they are many, and others go before them', () => {
    const { watch, writer, ran } = house();
    const writers = new Writers(watch);
    const add = (name: string, count: number): void => {
      writers.begin();
      for (let left = count; left > 0; left--) writers.push(writer(name));
    };
    add('a', 17);
    add('b', 2);
    add('c', 2);
    const turns = Array.from({ length: 5 }, () => [writers.run(), ran()]);
    expect(turns).toEqual([
      [20, 'aaaaa'],
      [0, 'aaaa'],
      [0, 'aaaa'],
      [0, 'aaaa'],
      [0, 'bbcc'],
    ]);
    add('a', 40);
    writers.run();
    ran();
    add('b', 4);
    writers.run();
    expect(ran()).toMatch(/^bbbb/);
  });

  it('of strangers do not hold up the others, however many they are', () => {
    const { watch, writer, ran } = house();
    const writers = new Writers(watch);
    const addStrangers = (count: number): void => {
      for (let left = count; left > 0; left--) {
        writers.begin();
        writers.push({ ...writer('.'), isStranger: true });
      }
    };
    addStrangers(20);
    expect([writers.run(), ran(), writers.areLate]).toEqual([20, '....', true]);
    addStrangers(20);
    for (const name of 'abcdef') writers.push(writer(name));
    writers.run();
    expect(ran()).toBe('abcd....');
    addStrangers(20);
    writers.push(writer('g'));
    writers.run();
    expect(ran()).toBe('g....');
    // Late ones and strangers take turns.
    writers.run();
    expect(ran()).toBe('ef');
    writers.run();
    expect(ran()).toBe('....');
  });

  it('run a little even if the clock steps back', () => {
    const { writer, ran } = house();
    let now = 1000;
    const writers = new Writers({ now: () => (now -= 100) });
    for (const name of 'abcdef') writers.push(writer(name));
    writers.run();
    expect(ran()).toBe('abcd');
  });

  it('tell once all of a turn and those late by then have run, whatever comes later', () => {
    const { watch, order, writer, ran } = house();
    const writers = new Writers(watch);
    for (const name of 'abcdef') writers.push(writer(name));
    writers.run();
    writers.push(writer('A'));
    writers.onceRun(() => order.push('!'));
    for (let turn = 0; turn < 4; turn++) {
      writers.run();
      for (const name of 'BCDEF') writers.push(writer(name));
    }
    expect(ran()).toBe('abcdAef!BCDEBCDEFBCDEF');
  });

  it('tell once strangers have run, too', () => {
    const { watch, order, writer, ran } = house();
    const writers = new Writers(watch);
    for (const name of 'abcdef') writers.push({ ...writer(name), isStranger: true });
    writers.onceRun(() => order.push('!'));
    writers.run();
    for (const name of 'ABCDEF') writers.push({ ...writer(name), isStranger: true });
    writers.run();
    writers.run();
    expect(ran()).toBe('abcdefAB!CDEF');
  });

  it('tell in the same turn if nothing is late', () => {
    const { watch, order, writer, ran } = house();
    const writers = new Writers(watch);
    writers.onceRun(() => order.push('!'));
    writers.push(writer('a'));
    writers.run();
    expect(ran()).toBe('a!');
  });
});

it('a connection is a stranger for its first 16 writes', async () => {
  const { watch } = house();
  const owner = { pipe: undefined, mayWrite: true, onWritten: () => undefined };
  const engine = { sealed: false, take: () => [] } as unknown as ConnectionEngine;
  const wire = {} as Wire;
  const writer = new ConnectionWriter(new Turns(watch), watch, wire, engine, owner);
  for (let count = 0; count < 16; count++) {
    expect(writer.isStranger).toBe(true);
    writer.wake();
    await setImmediate();
  }
  expect(writer.isStranger).toBe(false);
});

describe('while output is late', () => {
  it('others resume, and wide readers once what they caused is written', async () => {
    const { watch, order, writer, ran } = house();
    const turns = new Turns(watch);
    const reader = (name: string, writes = 0) => ({
      onRead: () => {
        order.push(name);
        for (let count = 0; count < writes; count++) turns.writeLater(writer('.'));
      },
    });
    for (let count = 0; count < 6; count++) turns.readLater(reader('w', 12), 'wide');
    await setImmediate();
    expect(ran()).toBe('wwww');
    for (let count = 0; count < 6; count++) turns.readLater(reader('r'), count % 2 === 0 ? 'regular' : 'busy');
    let after = '';
    while (turns.isContended) {
      await setImmediate();
      after += ran();
    }
    expect(after).toMatch(/^rr[r.]+ww$/);
    expect(after.lastIndexOf('r')).toBeLessThan(20);
    expect(after.match(/[.]/g)).toHaveLength(48);
  });

  it('others that go on writing do not hold up wide readers for long', async () => {
    const { watch, order, writer } = house();
    const turns = new Turns(watch);
    const wide = {
      onRead: () => {
        order.push('b');
        turns.readLater(wide, 'wide');
      },
    };
    turns.readLater(wide, 'wide');
    for (let turn = 0; turn < 40; turn++) {
      for (let count = 0; count < 8; count++) turns.writeLater(writer('.'));
      await setImmediate();
    }
    expect(order.filter((name) => name === 'b').length).toBeGreaterThan(5);
  });

  it('close waits for what was sent before, not for what is sent later', async () => {
    const { watch, order, writer, ran } = house();
    const turns = new Turns(watch);
    for (let count = 0; count < 6; count++) turns.writeLater(writer('.'));
    const state = { isWritten: false };
    const written = turns.written().then(() => (state.isWritten = true));
    await setImmediate();
    while (!state.isWritten) {
      for (let count = 0; count < 8; count++) turns.writeLater(writer('+'));
      await setImmediate();
    }
    await written;
    expect(order.filter((name) => name === '.')).toHaveLength(6);
    expect(ran().length).toBeLessThan(40);
  });

  it('a reader with heavy messages rests', async () => {
    const { watch, clock, order, writer } = house();
    const turns = new Turns(watch);
    const heavy = {
      onRead: () => {
        order.push('heavy');
        for (let count = 0; count < 20; count++) turns.writeLater(writer('.'));
      },
    };
    turns.heard(watch.now());
    turns.readLater(heavy, 'heavy');
    turns.readLater(heavy, 'heavy');
    while (order.length < 21) await setImmediate();
    const after = watch.now();
    expect(order.filter((name) => name === 'heavy')).toHaveLength(1);
    while (order.length === 21) {
      for (let turn = 0; turn < 3; turn++) await setImmediate();
      clock.advance(1);
    }
    // Four times the 10 ms that its output took.
    expect(watch.now() - after).toBeGreaterThanOrEqual(40);
  });
});
