import { HeapDeadline } from '@proj/heartbeat';
import { expect, it } from 'vitest';
import { CallTable, type CallLegality } from './calls.js';

type Event = 'part' | 'reply' | 'expired';

const LEGALITY: CallLegality<Event> = {
  open: { part: ['extend'], reply: ['settle', 'over'], expired: ['settle', 'over'] },
  over: { part: ['ignore'], reply: ['ignore'], expired: ['ignore'] },
};

class Call {
  readonly key: number;
  readonly timeoutMs: number;
  readonly expiry = new HeapDeadline<Call>(this);

  constructor(key: number, timeoutMs: number) {
    this.key = key;
    this.timeoutMs = timeoutMs;
  }
}

function tableOf(...calls: Call[]): CallTable<number, Call, Event> {
  const table = new CallTable<number, Call, Event>(LEGALITY);
  for (const call of calls) table.open(call, 0);
  table.assertInvariants();
  return table;
}

it('settles a call once, and ignores what comes after that', () => {
  const call = new Call(1, 100);
  const table = tableOf(call);
  expect(table.tell(1, 'reply', 10)).toBe(call);
  table.assertInvariants();
  expect([table.size, table.deadline, table.tell(1, 'reply', 10), table.tell(1, 'part', 10)]).toEqual([
    0,
    Infinity,
    undefined,
    undefined,
  ]);
});

it('gives a call its full time again if its table says so', () => {
  const call = new Call(1, 100);
  const table = tableOf(call);
  expect(table.tell(1, 'part', 90)).toBe(call);
  expect([table.deadline, table.has(1)]).toEqual([190, true]);
});

it('expires calls that have taken too long, the earliest first, and keeps the rest', () => {
  const calls = [new Call(1, 300), new Call(2, 100), new Call(3, 200)] as const;
  const table = tableOf(...calls);
  expect([table.takeExpired('expired', 200), table.takeExpired('expired', 200)]).toEqual([calls[1], calls[2]]);
  expect([table.takeExpired('expired', 200), table.deadline]).toEqual([undefined, 300]);
  table.assertInvariants();
});

it('expires nothing while our own lateness explains the silence', () => {
  const call = new Call(1, 100);
  const table = tableOf(call);
  table.postponeExpiry(500, 100);
  expect([table.takeExpired('expired', 599), table.deadline]).toEqual([undefined, 600]);
  expect(table.takeExpired('expired', 600)).toBe(call);
});
