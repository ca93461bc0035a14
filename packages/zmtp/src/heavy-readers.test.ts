import { setImmediate } from 'node:timers/promises';
import { ManualClock } from '@proj/heartbeat';
import { describe, expect, it } from 'vitest';
import { ReadGroup, Turns } from './turn.js';
import type { ReadQueue } from './turn.js';
import { TurnShare } from './turn-share.js';
import { Watch } from './watch.js';

function house() {
  const clock = new ManualClock();
  const watch = new Watch(clock);
  const turns = new Turns(watch);
  const order: string[] = [];
  /** A reader with as many messages as anybody wants, which take this long each; their output takes as long again. */
  const reader = (
    name: string,
    msEach: () => number,
    { queue = turns, work = 1 }: { queue?: ReadQueue; work?: number } = {},
  ) => {
    const read = (): void => {
      while (!share.isResting) {
        order.push(`${name} ${watch.now()}`);
        clock.advance(msEach());
        turns.writeLater({ onWrite: () => clock.advance(msEach()) });
        share.deliver(work);
      }
    };
    const share: TurnShare = new TurnShare(turns, watch, queue, {
      onRead: (now) => {
        share.renew(now);
        read();
      },
    });
    share.begin(watch.now());
    read();
    return share;
  };
  const other = new TurnShare(turns, watch, { readLater: () => undefined }, { onRead: () => undefined });
  /** Turns until this time. Meanwhile others send messages, or the heavy readers are alone, but for commands. */
  const until = async (ms: number, areAlone = false): Promise<void> => {
    while (watch.now() < ms) {
      for (let turn = 0; turn < 4; turn++) {
        other.begin(watch.now());
        if (areAlone) other.spend(1);
        else other.deliver(1);
        await setImmediate();
      }
      clock.advance(1);
    }
  };
  return { clock, watch, turns, order, reader, until };
}

describe('readers with heavy messages', () => {
  it('take turns, and rest four times as long as one of them and its output took', async () => {
    const { order, reader, until } = house();
    reader('a', () => 2);
    reader('b', () => 2);
    await until(190);
    const times = order.slice(8).map((line) => Number(line.split(' ')[1]));
    const names = order.slice(8).map(([name]) => name);
    expect(names).toEqual(names.map((_, index) => (index % 2 === 0 ? 'a' : 'b')));
    expect(times.slice(1).map((time, index) => time - times[index]!)).toEqual(times.slice(1).map(() => 20));
    expect(times.length).toBeGreaterThan(4);
  });

  it('do not rest while nobody else sends a message', async () => {
    const { turns, order, reader, until } = house();
    turns.heard(0);
    reader('a', () => 2);
    await until(300, true);
    const gaps = order.map(
      (line, index) => Number(line.split(' ')[1]) - Number((order[index - 1] ?? line).split(' ')[1]),
    );
    expect(gaps.slice(3, 6)).toEqual([20, 20, 20]);
    expect(Math.max(...gaps.slice(-10))).toBeLessThan(6);
  });

  it('rest a tenth of a second at most', async () => {
    const { order, reader, until } = house();
    reader('a', () => 100);
    await until(2000);
    const times = order.slice(3).map((line) => Number(line.split(' ')[1]));
    expect(times.slice(1).map((time, index) => time - times[index]!)).toEqual([300, 300, 300, 300]);
  });

  it('do not hold up others', async () => {
    const { turns, watch, reader, until } = house();
    reader('a', () => 2);
    await until(20);
    let count = 0;
    const light = {
      onRead: () => {
        if (++count < 5) turns.readLater(light, 'busy');
      },
    };
    const begun = watch.now();
    turns.readLater(light, 'busy');
    while (count < 5) await setImmediate();
    expect(watch.now()).toBe(begun);
  });

  it('are no longer heavy once their messages are short', async () => {
    const { watch, order, reader, until } = house();
    let msEach = 2;
    reader('a', () => msEach);
    await until(40);
    msEach = 1 / 4;
    await until(400);
    order.length = 0;
    await until(watch.now() + 10);
    expect(order.length).toBeGreaterThan(20);
  });

  it('are not known by one long message in a while, as during a collection of garbage', async () => {
    const { order, reader, until } = house();
    let count = 0;
    reader('a', () => (count++ % 1000 === 0 ? 10 : 1 / 8));
    await until(300);
    expect(order.length).toBeGreaterThan(1000);
  });

  it('are not those that pay for their time, as with a handshake', async () => {
    const { order, reader, until } = house();
    reader('a', () => 1, { work: 64 });
    await until(300);
    expect(order.length).toBeGreaterThan(100);
  });

  it('wait for themselves, not for the lanes of their connection', async () => {
    const { turns, watch, reader, until, order } = house();
    const group = new ReadGroup(turns, watch);
    reader('a', () => 2, { queue: group });
    reader('b', () => 1 / 8, { queue: group });
    await until(100);
    const [a, b] = ['a', 'b'].map((name) => order.filter((line) => line.startsWith(name)).length);
    expect(a).toBeLessThan(10);
    expect(b).toBeGreaterThan(100);
  });
});
