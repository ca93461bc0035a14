import { setImmediate } from 'node:timers/promises';
import { ManualClock } from '@proj/heartbeat';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { Poller } from './fast/poller.js';
import { isOn } from './fast/switch.js';
import { ZmtpTransport } from './transport.js';
import { TurnShare } from './turn-share.js';
import { CIPHER_BYTES, ReadGroup, Turns } from './turn.js';
import type { CipherBytes, ReadRank } from './turn.js';
import { Watch } from './watch.js';

/** Records its calls. */
class Noted extends Poller {
  readonly heard: unknown[] = [];

  constructor() {
    super(0, { now: () => 0, next: () => undefined });
  }

  override onTurn(): void {
    this.heard.push('turn');
  }

  override onTurnEnd(count: number): void {
    this.heard.push(count);
  }
}

/** A clock without timers. */
function watchAt(now: () => number): Watch {
  return { now, set: () => undefined } as unknown as Watch;
}

const STILL = watchAt(() => 0);

describe('turns', () => {
  it('report each turn with messages to the poller, with their number', async () => {
    const poller = new Noted();
    const turns = new Turns(STILL, poller);
    for (let index = 0; index < 3; index++) turns.isOver(0);
    await setImmediate();
    turns.isOver(0);
    await setImmediate();
    expect(poller.heard).toEqual(['turn', 3, 'turn', 1]);
  });

  it('wake newcomers in the next turn, once', async () => {
    const turns = new Turns(STILL);
    let count = 0;
    turns.wakeNext({ wake: () => count++ });
    await setImmediate();
    expect(count).toBe(0);
    await setImmediate();
    await setImmediate();
    await setImmediate();
    expect(count).toBe(1);
  });

  it('count the writers, since one chunk may hold messages for many', async () => {
    const poller = new Noted();
    const turns = new Turns(STILL, poller);
    turns.isOver(0);
    const writer = { onWrite: () => undefined };
    turns.writeLater(writer);
    turns.writeLater(writer);
    await setImmediate();
    expect(poller.heard).toEqual(['turn', 2]);
  });

  it('resume few readers, but end as many connections as there is time for', async () => {
    let now = 0;
    const turns = new Turns(watchAt(() => now));
    let count = 0;
    const onRead = () => {
      count++;
      now += 0.125;
    };
    for (const isEnded of [true, false]) {
      for (let index = 0; index < 40; index++) turns.readLater({ isEnded, onRead }, 'regular');
      count = 0;
      await setImmediate();
      expect(count).toBe(isEnded ? 8 : 4);
      while (turns.isContended) await setImmediate();
    }
  });

  it.runIf(isOn('polling'))('enable polling once a socket binds', async () => {
    const transport = new ZmtpTransport({ pollUs: 0 });
    const serve = vi.spyOn(Poller.prototype, 'serve');
    const [router, dealer] = [transport.router(), transport.dealer()];
    dealer.connect(await router.bind('tcp://127.0.0.1:*'));
    expect(serve).toHaveBeenCalledTimes(1);
    serve.mockRestore();
    await Promise.all([router.close(), dealer.close({ lingerMs: 0 })]);
  });

  it('do not report turns without messages', async () => {
    const poller = new Noted();
    const turns = new Turns(STILL, poller);
    await turns.written();
    await setImmediate();
    expect(poller.heard).toEqual([]);
  });

  it('resume occasional readers first, but a busy one every fourth time', async () => {
    const turns = new Turns(STILL, new Noted());
    const order: string[] = [];
    const reader = (name: string) => ({ onRead: () => void order.push(name) });
    for (const name of ['b1', 'b2', 'b3']) turns.readLater(reader(name), 'busy');
    for (const name of ['r1', 'r2', 'r3', 'r4']) turns.readLater(reader(name), 'regular');
    expect(turns.isContended).toBe(true);
    while (turns.isContended) await setImmediate();
    expect(order).toEqual(['r1', 'r2', 'r3', 'b1', 'r4', 'b2', 'b3']);
  });

  it('resume every second one of strangers while regulars wait, and a busy one every fourth time', async () => {
    const turns = new Turns(STILL, new Noted());
    const order: string[] = [];
    const reader = (name: string) => ({ onRead: () => void order.push(name) });
    for (const rank of ['busy', 'stranger', 'regular'] as const)
      for (let count = 0; count < 4; count++) turns.readLater(reader(rank), rank);
    while (turns.isContended) await setImmediate();
    const [r, s, b] = ['regular', 'stranger', 'busy'];
    expect(order).toEqual([r, s, r, b, r, s, r, b, s, s, b, b]);
  });

  it('resume a rare one, a stranger, a regular one and a busy one in turn, and rare ones before others that are left', async () => {
    const turns = new Turns(STILL, new Noted());
    const order: string[] = [];
    const reader = (name: string) => ({ onRead: () => void order.push(name) });
    const read = async (counts: Partial<Record<ReadRank, number>>): Promise<string> => {
      order.length = 0;
      for (const [rank, count] of Object.entries(counts))
        for (let index = 0; index < count; index++) turns.readLater(reader(rank), rank as ReadRank);
      while (turns.isContended) await setImmediate();
      return order.join(' ');
    };
    expect(await read({ busy: 2, stranger: 2, regular: 2, rare: 2 })).toBe(
      'rare stranger regular busy rare stranger regular busy',
    );
    expect(await read({ busy: 2, rare: 6 })).toBe('rare rare rare busy rare rare rare busy');
    expect(await read({ wide: 2, rare: 6 })).toBe('rare rare rare wide rare rare rare wide');
  });

  it('write what occasional readers cause before busy readers are heard', async () => {
    const turns = new Turns(STILL, new Noted());
    const order: string[] = [];
    const reader = (name: string) => ({
      onRead: () => {
        order.push(name);
        turns.writeLater({ onWrite: () => void order.push(`${name} answered`) });
      },
    });
    turns.readLater(reader('busy'), 'busy');
    for (const name of ['one', 'two']) turns.readLater(reader(name), 'regular');
    while (order.length < 6) await setImmediate();
    expect(order).toEqual(['one', 'two', 'one answered', 'two answered', 'busy', 'busy answered']);
  });

  it('resume at most four readers each, since one read may be long', async () => {
    const turns = new Turns(STILL, new Noted());
    const numbers: number[] = [];
    const reader = { onRead: () => void numbers.push(turns.number) };
    for (let count = 0; count < 10; count++) turns.readLater(reader, 'busy');
    while (turns.isContended) await setImmediate();
    expect(numbers.map((number) => number - numbers[0]!)).toEqual([0, 0, 0, 0, 1, 1, 1, 1, 2, 2]);
  });

  it('encrypt a bounded number of bytes each, first slices before the rest, but a later one every fourth time', async () => {
    const turns = new Turns(STILL, new Noted());
    const order: string[] = [];
    const perTurn = new Map<number, number>();
    const sealer = (name: string, slices: number, isFirst: boolean) => {
      const one = {
        onSeal: (left: CipherBytes) => {
          order.push(name);
          left.left -= CIPHER_BYTES / 4;
          perTurn.set(turns.number, (perTurn.get(turns.number) ?? 0) + 1);
          if (--slices > 0) turns.sealLater(one, false);
        },
      };
      turns.sealLater(one, isFirst);
    };
    sealer('long', 6, false);
    for (const name of ['s1', 's2', 's3', 's4']) sealer(name, 1, true);
    while (order.length < 10) await setImmediate();
    expect(order.join(' ')).toBe('s1 s2 s3 long s4 long long long long long');
    expect([...perTurn.values()]).toEqual([4, 4, 2]);
  });

  it('are counted, and end for resumed readers as for new messages', async () => {
    let now = 0;
    const turns = new Turns(
      watchAt(() => now),
      new Noted(),
    );
    const ended: number[] = [];
    const reader = {
      onRead: () => {
        ended.push(turns.number);
        now += 0.5;
      },
    };
    for (let count = 0; count < 6; count++) turns.readLater(reader, 'busy');
    while (ended.length < 6) await setImmediate();
    expect(ended.map((number) => number - ended[0]!)).toEqual([0, 0, 1, 1, 2, 2]);
  });
});

describe('a turn', () => {
  it('is over when its clock steps back, as after a late timer', async () => {
    let now = 1000;
    const turns = new Turns(watchAt(() => now));
    expect(turns.isOver()).toBe(false);
    now -= 100;
    expect([turns.isOver(), turns.isOver()]).toEqual([true, true]);
    await setImmediate();
    expect(turns.isOver()).toBe(false);
    now += 2;
    expect(turns.isOver()).toBe(true);
  });
});

describe('the share of one connection', () => {
  /** Messages until the share of a turn is over, in each of some turns. */
  async function messages(msEach: number, turnsMax = 4): Promise<number[]> {
    const clock = new ManualClock();
    const watch = new Watch(clock);
    const turns = new Turns(watch, new Noted());
    const counts: number[] = [];
    const share: TurnShare = new TurnShare(turns, watch, turns, {
      onRead: (at) => {
        share.renew(at);
        read();
      },
    });
    const read = (): void => {
      let count = 0;
      for (; !share.isResting && counts.length < turnsMax; count++) {
        clock.advance(msEach);
        share.spend(1);
      }
      counts.push(count);
    };
    read();
    while (counts.length < turnsMax) {
      await setImmediate();
      clock.advance(1);
    }
    return counts;
  }

  it('ends soon where each message takes long, as one that asks for a list', async () => {
    expect(await messages(1 / 8)).toEqual([9, 8, 8, 8]);
  });

  it('is one message where each is heavy, once they took more than 3 ms', async () => {
    expect(await messages(1 / 2, 6)).toEqual([3, 2, 2, 1, 1, 1]);
  });

  it('ends when the turn does, whose time is looked at after 16 messages where they are short', async () => {
    expect(await messages(1 / 64)).toEqual([80, 64, 64, 64]);
  });
});

/** A reader, the ranks in which it has waited, and a clock. */
function ranked() {
  let now = 0;
  const watch = watchAt(() => now);
  const turns = new Turns(watch);
  const ranks: string[] = [];
  const queue = { readLater: (_: unknown, rank: string) => void ranks.push(rank) };
  const share = new TurnShare(turns, watch, queue, { onRead: () => undefined });
  return { turns, watch, share, ranks, pass: (ms: number) => (now += ms) };
}

describe('a reader is heavy', () => {
  /** Not heavy, but long enough that the next message is measured on its own. Milliseconds. */
  const MEASURED = 3 / 8;

  it('after two messages that cost much, and after four times as much if many before them did not', async () => {
    const { turns, watch, share, ranks, pass } = ranked();
    // The turn is over.
    turns.isOver(-10);
    /** True if it waits with heavy ones after messages that take this long. */
    const read = (...messagesMs: readonly number[]): boolean[] =>
      messagesMs.map((ms) => {
        share.renew(watch.now());
        pass(ms);
        share.deliver(1);
        share.rest();
        return ranks.at(-1) === 'heavy';
      });
    const calm = async (): Promise<void> => {
      for (let count = 0; count < 3; count++) {
        pass(150);
        await turns.written();
        share.begin(watch.now());
        read(MEASURED);
      }
      turns.isOver(-10);
    };
    expect(read(2, 2, 2)).toEqual([false, true, true]);
    // What it did last counts, not what it did before.
    expect(read(MEASURED, 2)).toEqual([false, true]);
    read(...Array.from({ length: 256 }, () => MEASURED));
    await calm();
    expect(read(2, 2, 2, 2, 2, 2, 2, 2)).toEqual([...Array.from({ length: 6 }, () => false), true, true]);
    await calm();
    expect(read(2, 2)).toEqual([false, true]);
    read(...Array.from({ length: 256 }, () => MEASURED));
    await calm();
    expect(read(...Array.from({ length: 13 }, () => 1))).toEqual([...Array.from({ length: 12 }, () => false), true]);
  });

  /** Known to be light. */
  function light() {
    const one = ranked();
    one.turns.isOver(-10);
    one.share.renew(0);
    one.share.spend(256);
    return one;
  }

  it('however seldom it is heard, if it always has something to say', async () => {
    const { turns, watch, share, ranks, pass } = light();
    const hear = async (isIdle: boolean): Promise<string | undefined> => {
      pass(150);
      if (isIdle) await turns.written();
      share.begin(watch.now());
      pass(3);
      share.deliver(1);
      share.look();
      share.rest();
      share.renew(watch.now());
      return ranks.at(-1);
    };
    const heard = async (isIdle: boolean): Promise<boolean[]> => {
      const heavy: boolean[] = [];
      for (let count = 0; count < 6; count++) heavy.push((await hear(isIdle)) === 'heavy');
      return heavy;
    };
    expect(await heard(true)).toEqual([false, false, false, false, false, false]);
    // The last of the others still counts.
    expect(await heard(false)).toEqual([false, false, false, true, true, true]);
  });

  it('although only one message comes in a turn, among others that are measured together', () => {
    const { watch, share, ranks, pass } = light();
    const heavy: boolean[] = [];
    for (let count = 0; count < 5; count++) {
      share.renew(watch.now());
      pass(3);
      share.deliver(1);
      share.look();
      share.rest();
      heavy.push(ranks.at(-1) === 'heavy');
      // The beginning of the next message comes, which takes no time.
      share.renew(watch.now());
      share.begin(watch.now());
      share.spendBytes(16);
    }
    expect(heavy).toEqual([false, false, false, false, true]);
  });

  it('although only one message comes in a chunk, if that is long', () => {
    const heavy = (work: number): boolean => {
      const { watch, share, ranks, pass } = light();
      for (let count = 0; count < 5; count++) {
        share.renew(watch.now());
        share.begin(watch.now());
        pass(3);
        share.deliver(1);
        share.spendBytes(work);
      }
      return ranks.includes('heavy');
    };
    expect([heavy(1), heavy(0)]).toEqual([true, false]);
  });

  it('although only one message in sixteen is, each of which comes on its own', () => {
    const { watch, share, ranks, pass } = light();
    const say = (ms: number): void => {
      share.renew(watch.now());
      share.begin(watch.now());
      pass(ms);
      share.deliver(1);
    };
    for (let round = 0; round < 5; round++) {
      for (let count = 0; count < 15; count++) say(0);
      expect(ranks).not.toContain('heavy');
      say(3);
    }
    expect(ranks.at(-1)).toBe('heavy');
  });

  it('until enough other work makes up for it', () => {
    const isHeavyAfter = (work: number): boolean => {
      const { watch, share, ranks, pass } = light();
      for (let count = 0; count < 5; count++) {
        if (count === 4) {
          share.renew(watch.now());
          share.spend(work);
        }
        share.renew(watch.now());
        pass(3);
        share.deliver(1);
        share.look();
      }
      share.rest();
      return ranks.includes('heavy');
    };
    expect([isHeavyAfter(16), isHeavyAfter(128)]).toEqual([true, false]);
  });

  it('and stays so while the beginning of its next message is read', () => {
    const { watch, share, ranks, pass } = ranked();
    for (let count = 0; count < 2; count++) {
      share.renew(watch.now());
      pass(3);
      share.deliver(1);
    }
    share.renew(watch.now());
    share.begin(watch.now());
    share.spendBytes(16);
    share.rest();
    expect(ranks.at(-1)).toBe('heavy');
  });

  it('but not for what its bytes take', () => {
    const heavy = (bytesWork: number): boolean => {
      const { watch, share, ranks, pass } = ranked();
      for (let count = 0; count < 12; count++) {
        share.renew(watch.now());
        share.begin(watch.now(), bytesWork);
        pass(1);
        share.deliver(1);
      }
      return ranks.includes('heavy');
    };
    expect([heavy(0), heavy(64)]).toEqual([true, false]);
  });

  it('although its messages have many frames', () => {
    const { watch, share, ranks, pass } = ranked();
    for (let count = 0; count < 2; count++) {
      share.renew(watch.now());
      pass(3);
      share.deliver(2);
    }
    expect(ranks.at(-1)).toBe('heavy');
  });
});

describe('a reader is rare', () => {
  it.each([
    ['with less than the work of 32 messages, and less than 1 ms, within 100 ms', 31, 0, 'rare'],
    ['not with more work', 32, 0, 'regular'],
    ['not if its messages took longer', 31, 1, 'regular'],
    ['even if one took long, since the process may have had to wait for a core', 1, 4, 'rare'],
    ['not before it is known', 31, 0, 'stranger'],
  ])('%s', async (_, work, ms, expected) => {
    const { watch, turns, share, ranks, pass } = ranked();
    const read = async (units: number, tookMs: number): Promise<void> => {
      share.renew(watch.now());
      pass(tookMs);
      share.spend(units);
      share.rest();
      await turns.written();
    };
    for (let turn = 0; turn < (expected === 'stranger' ? 8 : 16); turn++) await read(0, 0);
    pass(150);
    await read(work, ms);
    await read(0, 0);
    expect(ranks.at(-1)).toBe(expected);
  });
});

describe('a reader is wide', () => {
  function house() {
    const { turns, watch, share, ranks, pass } = ranked();
    const write = (writes: number): void => {
      for (let count = 0; count < writes; count++) turns.writeLater({ onWrite: () => undefined });
    };
    const read = (writes: number): void => {
      share.renew(watch.now());
      write(writes);
      share.spend(200);
      share.rest();
    };
    return { share, ranks, write, read, pass };
  }

  it('while it makes many others write', () => {
    const { ranks, read, pass } = house();
    for (const writes of [64, 65, 1]) read(writes);
    for (let count = 0; count < 3; count++) {
      pass(150);
      read(1);
    }
    expect(ranks).toEqual(['busy', 'wide', 'wide', 'wide', 'busy', 'busy']);
  });

  it('and heavy if each of its messages makes many others write, in however little time', () => {
    const ranksOf = (writes: number): string[] => {
      const { share, ranks, write } = house();
      share.renew(0);
      for (let messages = 0; messages < 2; messages++) {
        write(writes);
        share.deliver(1);
      }
      return ranks;
    };
    expect([ranksOf(100), ranksOf(20)]).toEqual([['heavy'], []]);
  });

  it('but not for what others write while it reads nothing', () => {
    const { share, ranks, write, read } = house();
    read(1);
    share.renew(0);
    write(65);
    // Something comes when the turn is over.
    share.rest();
    read(1);
    expect(ranks).toEqual(['busy', 'busy', 'busy']);
  });
});

describe('a reader with cheap messages is busy', () => {
  it('after 128 of them, however slowly they are heard, until it is no longer behind', async () => {
    const { turns, watch, share, ranks, pass } = ranked();
    /** It hears 16 messages in a turn that is over. */
    const hear = async (begin: () => void): Promise<void> => {
      await setImmediate();
      pass(60);
      turns.isOver();
      pass(2);
      begin();
      share.spend(16);
    };
    for (let turn = 0; turn < 30; turn++) await hear(() => share.renew(watch.now()));
    expect(ranks.map((rank) => rank === 'busy')).toEqual(ranks.map((_, turn) => turn >= 7));
    share.renew(watch.now());
    pass(100);
    await hear(() => share.begin(watch.now()));
    expect(ranks.slice(30)).toEqual(['rare']);
  });
});

describe('which readers go first', () => {
  /** A clock, and readers that note when they resume. */
  function house() {
    let now = 0;
    const watch = watchAt(() => now);
    const turns = new Turns(watch, new Noted());
    const order: string[] = [];
    const reader = (name: string, then: (share: TurnShare) => void = () => undefined): TurnShare => {
      const share: TurnShare = new TurnShare(turns, watch, turns, {
        onRead: (at) => {
          order.push(name);
          share.renew(at);
          then(share);
        },
      });
      return share;
    };
    /** A chunk with messages arrives when the turn is over. */
    const arrive = (share: TurnShare, messages: number): void => {
      share.begin(now);
      share.spend(messages);
      share.rest();
    };
    /** The turn is over while it reads, and busy ones wait. Is it among the first half to resume? */
    const isEarly = async (name: string, share: TurnShare, busy: number): Promise<boolean> => {
      order.length = 0;
      for (let left = busy; left > 0; left--)
        turns.readLater({ onRead: () => void order.push('busy') }, left % 2 ? 'busy' : 'wide');
      turns.isOver();
      now += 2;
      share.begin(now);
      share.spend(16);
      while (turns.isContended) await setImmediate();
      return order.indexOf(name) < busy / 2;
    };
    return { turns, order, watch, reader, arrive, isEarly, pass: (ms: number) => (now += ms) };
  }

  it('are those with a message at a time, however often it comes', async () => {
    const { turns, order, reader, arrive, pass } = house();
    const [flooder, worker] = [reader('flooder'), reader('worker')];
    for (let turn = 0; turn < 100; turn++) {
      arrive(flooder, 64);
      arrive(worker, 1);
      await setImmediate();
      while (turns.isContended) await setImmediate();
      pass(1);
    }
    expect(order.slice(-20)).toEqual(new Array(10).fill(['worker', 'flooder']).flat());
  });

  it.each([
    ['are those with many messages that take less than 1 ms together', 54 / 64, 150, true],
    ['are not those with many messages that take more, beside many busy ones', 54 / 48, 150, false],
    ['are those with many messages that take less than an equal share, as 4.5 ms beside 20 busy ones', 4.5, 20, true],
    ['are not those with many messages that take more, as 4.5 ms beside 22 busy ones', 4.5, 22, false],
    ['are not those with many messages that take more than 20 ms', 20.5, 3, false],
  ])('%s', async (_, tookMs, count, isFirst) => {
    const { turns, watch, reader, isEarly, pass } = house();
    const polls = reader('polls');
    for (let message = 0; message < 54; message++) {
      polls.begin(watch.now());
      pass(tookMs / 54);
      polls.spend(1);
      polls.look();
      await turns.written();
    }
    expect(await isEarly('polls', polls, count)).toBe(isFirst);
  });

  it.each([
    ['are those with one message that takes long', 1, true],
    ['are not those with some, even if they are known for small ones', 3, false],
  ])('%s', async (_, count, isFirst) => {
    const { turns, watch, reader, isEarly, pass } = house();
    const guest = reader('guest');
    const read = async (work: number, ms: number): Promise<void> => {
      guest.begin(watch.now());
      pass(ms);
      guest.spend(work);
      guest.look();
      await turns.written();
    };
    for (let left = 256; left > 0; left -= 16) await read(16, 0);
    pass(1000);
    for (let left = count; left > 0; left--) await read(1, 3);
    expect(await isEarly('guest', guest, 20)).toBe(isFirst);
  });

  it('are not those with messages that take long, however few these are', async () => {
    const { turns, order, reader, arrive, pass } = house();
    let isDone = false;
    const slow = reader('slow', (share) => {
      while (!share.isResting && !isDone) {
        pass(1);
        share.spend(1);
      }
    });
    const guest = reader('guest');
    arrive(slow, 0);
    for (let turn = 0; turn < 12; turn++) await turns.written();
    for (let round = 0; round < 4; round++) {
      await turns.written();
      pass(1000);
      arrive(guest, 1);
      order.length = 0;
      await turns.written();
      pass(100);
      await turns.written();
      expect(order.slice(0, 2)).toEqual(['guest', 'slow']);
    }
    isDone = true;
  });

  it.each([
    ['connects', 0],
    ['leaves', 16],
  ])('are regulars: of a crowd that %s, every second one goes before them', async (_, turnsBefore) => {
    const { turns, order, watch, reader, arrive, pass } = house();
    const regular = reader('regular');
    const crowd = Array.from({ length: 100 }, () => {
      const one = {
        isEnded: false,
        onRead: (at: number) => {
          order.push('one of the crowd');
          share.renew(at);
        },
      };
      const share = new TurnShare(turns, watch, turns, one);
      return { one, share };
    });
    for (let turn = 0; turn < 16; turn++) {
      arrive(regular, 1);
      if (turn < turnsBefore) for (const { share } of crowd) arrive(share, 1);
      while (turns.isContended) await setImmediate();
      pass(1000);
    }
    order.length = 0;
    for (const { one, share } of crowd) {
      one.isEnded = turnsBefore > 0;
      arrive(share, 1);
    }
    arrive(regular, 1);
    while (turns.isContended) await setImmediate();
    expect(order.indexOf('regular')).toBeLessThan(2);
    expect(order).toHaveLength(101);
  });

  it.each([
    ['a while', 1000],
    ['the clock stepped back', -1000],
  ])('are those that did much, but not since %s', async (_, ms) => {
    const { turns, order, watch, reader, pass } = house();
    const guest = reader('guest');
    guest.begin(watch.now());
    pass(5);
    guest.spend(16);
    await turns.written();
    pass(ms);
    turns.isOver();
    pass(2);
    // The turn is over, so that it waits whatever it does.
    turns.readLater({ onRead: () => void order.push('busy') }, 'busy');
    guest.begin(watch.now());
    guest.spend(1);
    while (turns.isContended) await setImmediate();
    expect(order).toEqual(['guest', 'busy']);
  });

  it('have a small share while others wait, and are busy after 128 messages, however little time these take', async () => {
    const { turns, reader, arrive } = house();
    const counts: number[] = [];
    const flooder = reader('flooder', (share) => {
      let count = 0;
      for (; count < 1000 && !share.isResting; count++) share.spend(1);
      counts.push(count);
      if (counts.length < 9) turns.readLater(other, 'busy');
    });
    const other = { onRead: () => undefined };
    arrive(flooder, 0);
    turns.readLater(other, 'busy');
    while (counts.length < 9) await setImmediate();
    expect(counts).toEqual([...new Array<number>(8).fill(16), 64]);
  });

  it('are those whose messages take little time, even when they come all at once', async () => {
    const { turns, order, reader, arrive } = house();
    let left = 40;
    const polls = reader('polls', (share) => {
      for (; left > 0 && !share.isResting; left--) share.spend(1);
    });
    arrive(polls, 0);
    const flooder = { onRead: () => void order.push('flooder') };
    for (let count = 0; count < 3; count++) turns.readLater(flooder, 'busy');
    while (turns.isContended) await setImmediate();
    expect(order).toEqual(['polls', 'polls', 'polls', 'flooder', 'flooder', 'flooder']);
  });
});

describe('a group that shares its places in the queue', () => {
  /** Records who resumes, and takes so long for each; `again` makes each ask again, like a reader with endless messages. */
  function crowd(size: number, again: boolean, msEach = 0) {
    let now = 0;
    let isOver = false;
    onTestFinished(() => void (isOver = true));
    const watch = watchAt(() => now);
    const turns = new Turns(watch, new Noted());
    const group = new ReadGroup(turns, watch);
    const order: string[] = [];
    const pass = (ms: number) => (now += ms);
    const member = (name: string) => {
      const one = {
        onRead: () => {
          order.push(name);
          pass(msEach);
          if (again && !isOver) group.readLater(one, 'regular');
        },
      };
      return one;
    };
    for (let number = 0; number < size; number++) group.readLater(member(`m${number}`), 'regular');
    return { turns, group, order, member, pass };
  }

  it('resumes all of its members, in order', async () => {
    const { turns, order } = crowd(40, false);
    while (turns.isContended) await setImmediate();
    expect(order).toEqual(Array.from({ length: 40 }, (_, number) => `m${number}`));
  });

  it('holds up others no longer than one reader would, however many members it has', async () => {
    const { turns, order } = crowd(1000, true);
    for (let turn = 0; turn < 10; turn++) await setImmediate();
    const before = order.length;
    turns.readLater({ onRead: () => void order.push('other') }, 'regular');
    while (!order.includes('other')) await setImmediate();
    expect(order.indexOf('other') - before).toBeLessThanOrEqual(4 * 16);
  });

  it('has one for each rank, so that a rare member does not wait for busy ones', async () => {
    const { turns, group, order, member } = crowd(0, false);
    for (const name of ['b1', 'b2']) group.readLater(member(name), 'busy');
    for (const name of ['r1', 'r2']) group.readLater(member(name), 'rare');
    while (turns.isContended) await setImmediate();
    expect(order).toEqual(['r1', 'r2', 'b1', 'b2']);
  });

  it.each([
    ['after a while', 1000],
    ['once its clock has stepped back', -1000],
  ])('is busy once its members took a tenth of a short time, and no longer %s', async (_, ms) => {
    const { turns, order, group, member, pass } = crowd(80, false, 1 / 8);
    const first = async (): Promise<string | undefined> => {
      order.length = 0;
      turns.readLater({ onRead: () => void order.push('busy') }, 'busy');
      group.readLater(member('member'), 'regular');
      while (turns.isContended) await setImmediate();
      return order[0];
    };
    while (turns.isContended) await setImmediate();
    expect(await first()).toBe('busy');
    pass(ms);
    expect(await first()).toBe('busy');
    expect(await first()).toBe('member');
  });

  it('is not busy if many members took little time, as the sockets of one process', async () => {
    const { turns, order, group, member } = crowd(79, false, 1 / 8);
    while (turns.isContended) await setImmediate();
    order.length = 0;
    turns.readLater({ onRead: () => void order.push('busy') }, 'busy');
    group.readLater(member('member'), 'regular');
    while (order.length < 2) await setImmediate();
    expect(order).toEqual(['member', 'busy']);
  });
});
