/** Each checker finds the fault it is for, and passes a correct story. */
import { fromLatin1 } from '@proj/frames';
import { ManualClock } from '@proj/heartbeat';
import { describe, expect, it } from 'vitest';
import { Excuses } from '../kit/excuses.js';
import { CalmChecker } from './calm.js';
import { FormerChecker } from './former.js';
import { JobsChecker } from './jobs.js';
import { KeptChecker } from './kept.js';
import { MannersChecker } from './manners.js';
import { OrderChecker } from './order.js';
import { RepliesChecker } from './replies.js';
import { SchedulesChecker } from './schedules.js';
import { nameInBody } from './sight.js';
import type { BrokerChecker, BrokerSight, SchedulerSight } from './sight.js';

const request = (id: string, headers: string) =>
  ({ kind: 'request', id, queue: 'q', headers: fromLatin1(headers), body: fromLatin1(nameInBody(id)) }) as const;
const WISHES = 'guarantee,reply-requested';

const joined = (peer: string): BrokerSight => ({ kind: 'joined', peer, role: 'worker' });
const left = (peer: string, reason = 'gone'): BrokerSight => ({ kind: 'left', peer, role: 'worker', reason });
const asks = (peer: string, id: string, headers = WISHES): BrokerSight => ({
  kind: 'received',
  peer,
  command: request(id, headers),
});
const accepted = (peer: string, of: string): BrokerSight => ({
  kind: 'sent',
  peer,
  command: { kind: 'accepted', id: 'a', of },
});
const put = (peer: string, id: string, headers = WISHES): BrokerSight => ({
  kind: 'sent',
  peer,
  command: request(id, headers),
});
const result = (kind: 'sent' | 'received', peer: string, of: string, text = 'done'): BrokerSight => ({
  kind,
  peer,
  command: { kind: 'result', id: 'r', of, result: fromLatin1(text) },
});
const beat = (kind: 'sent' | 'received', peer: string): BrokerSight => ({
  kind,
  peer,
  command: { kind: 'heartbeat', id: 'h', time: '' },
});

function check(checker: BrokerChecker, ...sights: readonly BrokerSight[]): string {
  try {
    for (const sight of sights) checker.onSight(sight);
    return 'fine';
  } catch (error) {
    return (error as Error).message;
  }
}

const BEGUN = [joined('w'), asks('c', '1'), accepted('c', '1'), put('w', '1')];
const DONE = [...BEGUN, result('received', 'w', '1'), result('sent', 'c', '1')];

describe('RepliesChecker', () => {
  it.each<[string, readonly BrokerSight[]]>([
    ['fine', DONE],
    ['1 was not accepted', [asks('c', '1'), asks('c', '2')]],
    ['accepted twice', [...DONE, accepted('c', '1')]],
    ['answered twice', [...DONE, result('sent', 'c', '1')]],
    ['went to somebody else', [...BEGUN, result('sent', 'd', '1')]],
    ['nobody asked', [asks('c', '1', 'guarantee'), accepted('c', '1'), result('sent', 'c', '1')]],
    ['by a broker that stops', [{ kind: 'draining' }, asks('c', '1'), accepted('c', '1')]],
  ])('says: %s', (verdict, sights) => {
    expect(check(new RepliesChecker(), ...sights)).toContain(verdict);
  });
});

const GIVEN_UP = '{"value": "guaranteed job lost with its worker"}';

describe('JobsChecker', () => {
  it.each<[string, readonly BrokerSight[]]>([
    ['fine', DONE],
    ['fine', [...BEGUN, left('w'), result('sent', 'c', '1', GIVEN_UP)]],
    ['given up too early', [...BEGUN, result('sent', 'c', '1', GIVEN_UP)]],
    ['not registered', [asks('c', '1'), accepted('c', '1'), put('w', '1')]],
    ['while the first has it', [...BEGUN, joined('v'), put('v', '1')]],
    ['worker number 2', [...BEGUN, left('w'), joined('v'), put('v', '1')]],
    ['over and went to a worker', [...DONE, put('w', '1')]],
    ['changed on its way', [joined('w'), asks('c', '1'), accepted('c', '1'), put('w', '1', '')]],
    ['what no worker of it has said', [...BEGUN, result('sent', 'c', '1')]],
    ['was not forwarded', [...BEGUN, result('received', 'w', '1'), beat('received', 'w')]],
  ])('says: %s', (verdict, sights) => {
    expect(check(new JobsChecker(1), ...sights)).toContain(verdict);
  });

  it('finds a job without guarantee at a second worker', () => {
    const plain = [joined('w'), joined('v'), asks('c', '1', ''), accepted('c', '1'), put('w', '1', '')];
    expect(check(new JobsChecker(9), ...plain, left('w', 'bye'), put('v', '1', ''))).toContain('not guaranteed');
  });

  it('knows which guaranteed jobs are unfinished', () => {
    const checker = new JobsChecker(9);
    check(checker, ...BEGUN, left('w'));
    expect(checker.unfinished).toEqual(['1']);
    check(checker, joined('v'), put('v', '1'), result('received', 'v', '1'), result('sent', 'c', '1'));
    expect(checker.unfinished).toEqual([]);
  });
});

describe('JobsChecker of a broker with a store', () => {
  it('knows which guaranteed jobs a crash has left unfinished, and reads them from the disk', () => {
    const checker = new JobsChecker(9, true);
    check(checker, ...BEGUN, { kind: 'crashed' });
    expect(checker.unfinished).toEqual(['1']);
    expect(check(checker, joined('v'), put('v', '1'), result('received', 'v', '1'), result('sent', 'd', '1'))).toBe(
      'fine',
    );
    expect(checker.unfinished).toEqual([]);
  });

  it('finds a job without guarantee that came back, and one that went to too many workers', () => {
    const plain = [
      joined('w'),
      asks('c', '1', ''),
      accepted('c', '1'),
      put('w', '1', ''),
      { kind: 'crashed' } as const,
    ];
    expect(check(new JobsChecker(9, true), ...plain, joined('v'), put('v', '1', ''))).toContain('nobody has asked');
    const again = [...BEGUN, { kind: 'crashed' } as const, joined('v'), put('v', '1'), left('v')];
    expect(check(new JobsChecker(1, true), ...again, joined('u'), put('u', '1'))).toContain('worker number 3');
  });
});

describe('RepliesChecker of a broker with a store', () => {
  const crashed = { kind: 'crashed' } as const;

  it('passes a late acceptance, and an answer to any client that asked after a crash', () => {
    const later = [
      asks('c', '1'),
      asks('d', '2', ''),
      accepted('d', '2'),
      { kind: 'draining' } as const,
      accepted('c', '1'),
    ];
    expect(check(new RepliesChecker(true), ...later)).toBe('fine');
    const again = [...BEGUN, asks('d', '1'), accepted('d', '1'), crashed];
    for (const client of ['c', 'd'])
      expect(check(new RepliesChecker(true), ...again, result('sent', client, '1'))).toBe('fine');
  });

  it.each<[string, readonly BrokerSight[]]>([
    ['went to somebody else', [...BEGUN, crashed, result('sent', 'd', '1')]],
    ['went to somebody else', [...BEGUN, asks('d', '1'), accepted('d', '1'), result('sent', 'c', '1')]],
    ['nobody has sent', [asks('c', '1', 'reply-requested'), accepted('c', '1'), crashed, result('sent', 'c', '1')]],
  ])('says: %s', (verdict, sights) => {
    expect(check(new RepliesChecker(true), ...sights)).toContain(verdict);
  });
});

describe('KeptChecker', () => {
  const record = (id: string) => Buffer.from(JSON.stringify({ id }));

  it('finds an acceptance before the disk has the job', () => {
    expect(check(new KeptChecker(true), asks('c', '1'), accepted('c', '1'))).toContain('is not on the disk');
    expect(check(new KeptChecker(false), asks('c', '1'), accepted('c', '1'))).toBe('fine');
    const checker = new KeptChecker(true);
    check(checker, asks('c', '1'), asks('c', '2'), asks('c', '3', ''));
    checker.onPut('emqp/1', record('1'));
    checker.onPut('emqp/2', record('2'));
    checker.onRemoved('emqp/2');
    expect(check(checker, accepted('c', '1'), accepted('c', '3'))).toBe('fine');
    expect(check(checker, accepted('c', '2'))).toContain('2 was accepted and is not on the disk');
  });
});

describe('FormerChecker', () => {
  const bye: BrokerSight = { kind: 'sent', peer: 's', command: { kind: 'bye', id: 'b', word: 'KBAI' } };
  const told = [beat('received', 's'), bye, bye];

  it.each<[string, readonly BrokerSight[]]>([
    ['fine', [...told, beat('received', 's'), asks('s', '1'), joined('s'), accepted('s', '1')]],
    ['fine', [joined('s'), left('s', 'bye'), beat('received', 's'), accepted('s', '1')]],
    ['fine', [{ kind: 'draining' }, beat('received', 's'), accepted('s', '1')]],
    ['was not told so', [beat('received', 's'), beat('received', 'w')]],
    ['accepted to s', [...told, asks('s', '1'), accepted('s', '1')]],
    ['result to s', [...told, result('sent', 's', '1')]],
    ['bye to s', [...told, bye]],
    ['accepted to s', [joined('s'), left('s', 'expired'), ...told, accepted('s', '1')]],
    ['accepted to s', [joined('s'), { kind: 'crashed' }, ...told, accepted('s', '1')]],
  ])('says: %s', (verdict, sights) => {
    expect(check(new FormerChecker(), ...sights)).toContain(verdict);
  });
});

describe('CalmChecker', () => {
  it('finds a loss and a second dispatch, only in the calm', () => {
    const checker = new CalmChecker(() => true);
    expect(check(checker, left('w'), put('w', '1'), put('v', '1'))).toBe('fine');
    checker.begin();
    expect(check(checker, left('w'))).toContain('healthy worker was lost');
    expect(check(checker, put('w', '1'), put('v', '1'))).toContain('second worker');
  });
});

describe('MannersChecker', () => {
  const clock = new ManualClock();
  const manners = () =>
    new MannersChecker({ heartbeatIntervalMs: 100, expiryMs: 300, store: false }, 'broker', new Excuses(), clock);

  it('finds commands to strangers, a missing first heartbeat and an early loss', () => {
    expect(check(manners(), put('w', '1'))).toContain('not registered');
    expect(check(manners(), joined('w'), left('w', 'bye'), beat('sent', 'w'))).toContain('not registered');
    expect(check(manners(), joined('w'), beat('received', 'w'))).toContain('no heartbeat followed');
    expect(check(manners(), joined('w'), left('w', 'expired'))).toContain('after 0 ms of silence');
  });

  it('finds a late heartbeat, and one to a peer that has long been silent', () => {
    const checker = manners();
    check(checker, joined('w'), beat('sent', 'w'));
    clock.advance(101);
    expect(check(checker, beat('sent', 'w'))).toContain('after 101 ms');
    clock.advance(200);
    expect(check(checker, put('w', '1'))).toContain('silent for 301 ms');
  });
});

describe('OrderChecker', () => {
  const informs = (peer: string, ...queues: readonly string[]): readonly BrokerSight[] => [
    {
      kind: 'received',
      peer,
      command: {
        kind: 'inform-worker',
        id: 'i',
        queues: queues.map((each) => {
          const [name = '', weight] = each.split(':');
          return { name, weight: Number(weight) };
        }),
      },
    },
    joined(peer),
  ];
  const ready = (peer: string): BrokerSight => ({ kind: 'received', peer, command: { kind: 'ready', id: 'r' } });
  const job = (id: string, queue: string) => ({ ...request(id, ''), queue });
  const wants = (id: string, queue: string): readonly BrokerSight[] => [
    { kind: 'received', peer: 'c', command: job(id, queue) },
    accepted('c', id),
  ];
  const gets = (peer: string, id: string, queue: string): BrokerSight => ({
    kind: 'sent',
    peer,
    command: job(id, queue),
  });
  const back = (peer: string, id: string, queue: string): BrokerSight => ({
    kind: 'returned',
    peer,
    command: job(id, queue),
  });
  const next = beat('received', 'c');

  const TWO = [...informs('w', 'a:2', 'b:1'), ...informs('v', 'a:1', 'b:1')];
  const FREE = [...TWO, ready('w'), ready('v')];
  const ONE = informs('w', 'a:1', 'b:1', 'c:2');
  const WAITING = [...ONE, ...wants('1', 'a'), ...wants('2', 'a'), ...wants('3', 'b'), ...wants('4', 'c'), ready('w')];
  const LATER = [...WAITING, gets('w', '4', 'c'), ready('w'), gets('w', '1', 'a'), ready('w')];

  it.each<[string, readonly (BrokerSight | number)[]]>([
    ['fine', [...FREE, ...wants('1', 'a'), gets('w', '1', 'a'), ...wants('2', 'a'), gets('v', '2', 'a'), next]],
    ['weight 1 although 2 had a slot', [...FREE, ...wants('1', 'a'), gets('v', '1', 'a')]],
    ['used more recently', [...FREE, ...wants('1', 'b'), gets('v', '1', 'b')]],
    ['beside a free slot', [...FREE, ...wants('1', 'b'), next]],
    ['without a slot', [...TWO, ready('w'), ...wants('1', 'a'), gets('v', '1', 'a')]],
    ['not registered', [...FREE, left('w', 'bye'), ...wants('1', 'a'), gets('w', '1', 'a')]],
    [
      'does not take a',
      [...informs('w', 'b:1'), ...informs('v', 'a:1'), ready('w'), ...wants('1', 'a'), gets('w', '1', 'a')],
    ],
    ['fine', [...LATER, gets('w', '3', 'b'), ready('w'), gets('w', '2', 'a'), ready('w'), next]],
    ['before 4 of weight 2', [...WAITING, gets('w', '1', 'a')]],
    ['b was served less recently than a', [...LATER, gets('w', '2', 'a')]],
    ['overtook 1 in a', [...WAITING, gets('w', '4', 'c'), ready('w'), gets('w', '2', 'a')]],
    ['1 waits in a beside a free slot', [...WAITING, next]],
  ])('says: %s', (verdict, story) => {
    expect(order('default', ...story)).toContain(verdict);
  });

  it('puts jobs that come back before jobs that were never dispatched', () => {
    const returned = [
      ...informs('v', 'a:1'),
      ...informs('w', 'a:1'),
      ready('w'),
      ...wants('1', 'a'),
      gets('w', '1', 'a'),
      ...wants('2', 'a'),
      back('w', '1', 'a'),
      left('w', 'unreachable'),
      ready('v'),
    ];
    expect(order('default', ...returned, gets('v', '1', 'a'))).toBe('fine');
    expect(order('default', ...returned, gets('v', '2', 'a'))).toContain('overtook 1 in a');
  });

  it('knows whose turn it is only among clients with few jobs, and among those with many', () => {
    const asks = (client: string, id: string): readonly BrokerSight[] => [
      { kind: 'received', peer: client, command: job(id, 'a') },
      accepted(client, id),
    ];
    const many = (client: string): readonly BrokerSight[] =>
      ['1', '2', '3', '4', '5'].flatMap((number) => asks(client, client + number));
    const told = (id: string, ...waiting: readonly BrokerSight[]) =>
      order('default', ...informs('w', 'a:1'), ...waiting, ready('w'), gets('w', id, 'a'));
    expect(told('d1', ...asks('c', 'c1'), ...asks('d', 'd1'))).toContain('overtook c1 in a');
    expect(told('d1', ...many('c'), ...asks('d', 'd1'))).toBe('fine');
    expect(told('c1', ...asks('d', 'd1'), ...many('c'))).toBe('fine');
    expect(told('d1', ...many('c'), ...many('d'))).toContain('overtook c1 in a');
    expect(told('c1', ...many('c'), ...many('d'))).toBe('fine');
    // The jobs of both began to wait in turn, so that the fifth of the other may come first.
    const late = [
      ...asks('c', 'c1'),
      ...many('d'),
      ...['2', '3', '4', '5'].flatMap((number) => asks('c', `c${number}`)),
    ];
    expect(told('d1', ...late)).toBe('fine');
  });

  it('lets the guaranteed job of a dead worker continue at once, or before all others', () => {
    const asked = (kind: 'received' | 'sent', peer: string): BrokerSight => ({
      kind,
      peer,
      command: { ...job('1', 'a'), headers: fromLatin1(WISHES) },
    });
    const dead = [
      ...informs('v', 'a:1'),
      ...informs('w', 'a:1'),
      ready('w'),
      asked('received', 'c'),
      accepted('c', '1'),
      asked('sent', 'w'),
      ...wants('2', 'a'),
      left('w', 'expired'),
    ];
    expect(order('default', ...dead, ready('v'), asked('sent', 'v'))).toBe('fine');
    expect(order('default', ...dead, ready('v'), gets('v', '2', 'a'))).toContain('overtook 1 in a');
    expect(order('default', ...dead, result('sent', 'c', '1', GIVEN_UP), ready('v'), gets('v', '2', 'a'))).toBe('fine');
  });

  it('lets a job for an unknown queue wait its time, and then go to queue default', () => {
    const unknown = [...informs('w', 'default:1'), ready('w'), ...wants('1', 'x')];
    expect(order('default', ...unknown, gets('w', '1', 'x'), next)).toBe('fine');
    expect(order('default', ...unknown, next)).toContain('waits in default beside a free slot');
    expect(order('wait', ...unknown, next, 999, gets('w', '1', 'x'))).toContain('does not take x');
    expect(order('wait', ...unknown, next, 1000, gets('w', '1', 'x'), next)).toBe('fine');
    expect(order('wait', ...unknown, next, 1020, next)).toBe('fine');
    expect(order('wait', ...unknown, next, 1019, next, next)).toBe('fine');
    expect(order('wait', ...unknown, next, 1020, next, next)).toContain('waits in default beside a free slot');
  });

  function order(unknownQueue: 'default' | 'wait', ...story: readonly (BrokerSight | number)[]): string {
    const clock = new ManualClock();
    const checker = new OrderChecker({ unknownQueue, requestTtlMs: 1000, store: false }, clock);
    for (const each of story) {
      if (typeof each === 'number') clock.advance(each);
      else {
        const verdict = check(checker, each);
        if (verdict !== 'fine') return verdict;
      }
    }
    return 'fine';
  }
});

describe('SchedulesChecker', () => {
  const tick = 't';
  const told: SchedulerSight = { kind: 'told', tick, word: 'schedule', everyMs: 1000 };
  const ended: SchedulerSight = { kind: 'told', tick, word: 'unschedule', everyMs: -1000 };
  const written: SchedulerSight = { kind: 'written', tick };
  const erased: SchedulerSight = { kind: 'erased', tick };
  const ran: SchedulerSight = { kind: 'ran', tick };
  const restarted: SchedulerSight = { kind: 'restarted' };
  const online: SchedulerSight = { kind: 'online' };

  function watch(...story: readonly (SchedulerSight | number)[]): string {
    const clock = new ManualClock();
    const checker = new SchedulesChecker(clock, true);
    try {
      for (const each of story)
        if (typeof each === 'number') clock.advance(each);
        else checker.onRun(each);
      return 'fine';
    } catch (error) {
      return (error as Error).message;
    }
  }

  it.each<[string, readonly (SchedulerSight | number)[]]>([
    ['fine', [online, told, written, ran, 1000, written, ran]],
    ['fine', [online, told, written, restarted, online, 2000, written, ran]],
    ['before that was on the disk', [online, told, ran]],
    ['before that was on the disk', [online, told, written, restarted, online, 1000, ran]],
    ['is not scheduled', [online, told, written, ended, ran]],
    ['is not scheduled', [online, told, written, ended, erased, restarted, written, erased, restarted, ran]],
    ['three times in 500 ms', [online, told, written, ran, written, ran, 250, written, ran, 250, written, ran]],
    ['has not run for 2500 ms', [online, told, written, ran, 2500, written, ran]],
  ])('says: %s', (verdict, story) => {
    expect(watch(...story)).toContain(verdict);
  });

  it('checks the disk at the end: unscheduled jobs are not there', () => {
    const checker = new SchedulesChecker(new ManualClock(), true);
    for (const sight of [online, told, written, ran, ended]) checker.onRun(sight);
    expect(() => {
      checker.requireRuns();
    }).toThrow('t was unscheduled and is still on the disk');
    checker.onRun(erased);
    checker.requireRuns();
  });
});
