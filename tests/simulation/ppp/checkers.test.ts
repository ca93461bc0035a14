/** Each checker finds the faults it is for, and reports nothing else. */
import { fromLatin1 } from '@proj/frames';
import { ManualClock } from '@proj/heartbeat';
import type { Peer } from '@proj/transport';
import { describe, expect, it } from 'vitest';
import { Excuses } from '../kit/excuses.js';
import { CalmChecker } from './calm.js';
import { JobsChecker } from './jobs.js';
import { MannersChecker } from './manners.js';
import { RepliesChecker } from './replies.js';
import type { Checker, Sight } from './sight.js';
import { TableChecker } from './table.js';

const broker = 'b';
const peer = (name: string): Peer => ({ key: name, id: fromLatin1(name) });
const command = (sight: 'sent' | 'received', name: string, value: object) =>
  ({ broker, kind: sight, peer: peer(name), command: value }) as Sight;
const about = (client: string, id: string) => ({ addresses: [fromLatin1(client)], content: [fromLatin1(id)] });

const ready = (w: string): Sight => ({ broker, kind: 'worker-ready', peer: peer(w) });
const says = (w: string): Sight => command('received', w, { kind: 'ready' });
const lost = (w: string, reason = 'expired'): Sight => ({ broker, kind: 'worker-lost', peer: peer(w), reason });
const crashed: Sight = { broker, kind: 'crashed' };
const asks = (c: string, id: string) =>
  command('received', c, { kind: 'client-request', hops: [], content: [fromLatin1(id)] });
const put = (w: string, c: string, id: string) => command('sent', w, { kind: 'request', ...about(c, id) });
const worked = (w: string, c: string, id: string) => command('received', w, { kind: 'reply', ...about(c, id) });
const told = (c: string, id: string) =>
  command('sent', c, { kind: 'client-reply', hops: [], content: [fromLatin1(id)] });
const beats = (kind: 'sent' | 'received', w: string) => command(kind, w, { kind: 'heartbeat' });

function check(checker: Checker, ...sights: readonly Sight[]): string {
  try {
    for (const sight of sights) checker.onSight(sight);
    return 'fine';
  } catch (error) {
    return (error as Error).message;
  }
}

const GOOD = [
  says('w1'),
  ready('w1'),
  says('w2'),
  ready('w2'),
  asks('c', '1'),
  put('w1', 'c', '1'),
  worked('w1', 'c', '1'),
  told('c', '1'),
];

const PATIENCE = { heartbeatIntervalMs: 100, liveness: 3, muteExpiryMs: 1000 };
const manners = (clock = new ManualClock(), excuses = new Excuses()) => new MannersChecker(PATIENCE, excuses, clock);

function calm(handlersThrow = false): CalmChecker {
  const checker = new CalmChecker(() => true, handlersThrow);
  checker.begin();
  return checker;
}

describe.each([
  ['JobsChecker', () => new JobsChecker()],
  ['RepliesChecker', () => new RepliesChecker()],
  ['CalmChecker', () => calm()],
  ['MannersChecker', () => manners()],
])('%s', (_name, make) => {
  it('passes what is right', () => {
    expect(check(make(), ...GOOD)).toBe('fine');
  });

  it('passes a restarted broker', () => {
    expect(check(make(), asks('c', '1'), says('w1'), ready('w1'), crashed, ...GOOD)).toBe('fine');
  });
});

describe('JobsChecker finds', () => {
  it.each<[string, readonly Sight[]]>([
    ['busy with 1', [ready('w'), put('w', 'c', '1'), put('w', 'd', '2')]],
    ['not registered', [put('w', 'c', '1')]],
    ['not registered', [ready('w'), lost('w'), put('w', 'c', '1')]],
    ['not registered', [ready('w'), crashed, put('w', 'c', '1')]],
    ['number 1 of 2', [ready('w1'), ready('w2'), put('w2', 'c', '1')]],
    ['number 1 of 2', [...GOOD, put('w1', 'c', '2')]],
    ['answered 1 with 2', [ready('w'), put('w', 'c', '1'), worked('w', 'c', '2')]],
    // A late reply, one to another client, one from another worker, the same again.
    ['due was nothing', [ready('w'), put('w', 'c', '1'), lost('w'), worked('w', 'c', '1'), told('c', '1')]],
    ['due was nothing', [ready('w'), put('w', 'c', '1'), worked('w', 'd', '1'), told('d', '1')]],
    ['due was nothing', [ready('w'), ready('v'), put('w', 'c', '1'), worked('v', 'c', '1'), told('c', '1')]],
    ['due was nothing', [...GOOD, told('c', '1')]],
  ])('%s', (message, sights) => {
    expect(check(new JobsChecker(), ...sights)).toContain(message);
  });

  it('nothing wrong when the one in front was lost', () => {
    expect(check(new JobsChecker(), ready('w1'), ready('w2'), lost('w1'), put('w2', 'c', '1'))).toBe('fine');
  });

  it('a worker that answers without a job in its old place', () => {
    const sights = [ready('w1'), ready('w2'), worked('w1', 'c', '1'), put('w1', 'c', '2')];
    expect(check(new JobsChecker(), ...sights)).toBe('fine');
  });
});

describe('RepliesChecker finds', () => {
  it('a second reply, and a reply to another client', () => {
    expect(check(new RepliesChecker(), asks('c', '1'), told('c', '1'), told('c', '1'))).toContain('not open');
    expect(check(new RepliesChecker(), asks('c', '1'), told('d', '1'))).toContain('not open');
    expect(check(new RepliesChecker(), asks('c', '1'), crashed, told('c', '1'))).toContain('not open');
  });
});

describe('CalmChecker finds', () => {
  it('a loss, and a second dispatch', () => {
    expect(check(calm(), lost('w'))).toContain('healthy worker was lost');
    expect(check(calm(), put('v', 'c', '1'), put('w', 'c', '1'))).toContain('second worker');
  });

  it('a loss, except for READY instead of a reply, if handlers throw', () => {
    expect(check(calm(true), lost('w', 'restarted'), put('v', 'c', '1'), put('w', 'c', '1'))).toBe('fine');
    expect(check(calm(true), lost('w', 'expired'))).toContain('healthy worker was lost');
    expect(check(calm(), lost('w', 'restarted'))).toContain('healthy worker was lost');
  });

  it('nothing before the calm', () => {
    expect(check(new CalmChecker(() => true, false), lost('w'))).toBe('fine');
  });
});

describe('MannersChecker finds', () => {
  it('a worker registered without READY', () => {
    expect(check(manners(), ready('w'))).toContain('did not say READY');
    expect(check(manners(), says('w'), beats('received', 'v'), ready('w'))).toContain('did not say READY');
  });

  it('anything sent to a stranger', () => {
    expect(check(manners(), beats('received', 'w'), beats('sent', 'w'))).toContain('not registered');
    expect(check(manners(), says('w'), ready('w'), lost('w', 'gone'), beats('sent', 'w'))).toContain('not registered');
  });

  it('two heartbeats in an interval', () => {
    const clock = new ManualClock();
    const checker = manners(clock);
    expect(check(checker, says('w'), ready('w'))).toBe('fine');
    clock.advance(100);
    expect(check(checker, beats('sent', 'w'))).toBe('fine');
    clock.advance(96);
    expect(check(checker, beats('sent', 'w'))).toContain('within 96 ms');
  });

  it('a heartbeat or job for a worker that has long been silent, unless the broker could not know', () => {
    const [clock, excuses] = [new ManualClock(), new Excuses()];
    const checker = manners(clock, excuses);
    check(checker, says('w'), ready('w'));
    clock.advance(301);
    expect(check(checker, beats('sent', 'w'))).toContain('silent for 301 ms');
    expect(check(checker, put('w', 'c', '1'))).toContain('silent for 301 ms');
    excuses.onEvent({ kind: 'paused', process: broker }, clock.now());
    expect(check(checker, beats('sent', 'w'))).toBe('fine');
  });

  it.each([
    ['no beat', [], 999, 'after 999 ms of silence'],
    ['no beat', [], 1000, 'fine'],
    ['a beat that may have crossed with it', [49], 951, 'fine'],
    ['a beat that may have crossed with it', [49], 300, 'after 349 ms of silence'],
    ['a beat', [50], 299, 'after 299 ms of silence'],
    ['a beat', [50], 300, 'fine'],
    ['a second beat', [49, 100], 300, 'fine'],
  ])(
    'a worker given up over its job too early, with %s: %j and %i ms later: %s',
    (_, beatsAfter, silentMs, verdict) => {
      const clock = new ManualClock();
      const checker = manners(clock);
      check(checker, says('w'), ready('w'), put('w', 'c', '1'));
      for (const ms of beatsAfter) {
        clock.advance(ms);
        check(checker, beats('received', 'w'));
      }
      clock.advance(silentMs);
      expect(check(checker, lost('w'))).toContain(verdict);
    },
  );

  it.each([
    [0, 299, 'after 299 ms of silence'],
    [0, 300, 'fine'],
    [500, 500, '0 ms after the broker woke up'],
    [500, 900, 'fine'],
  ])('a worker given up too early: after a pause of %i ms and %i ms of silence: %s', (asleepMs, silentMs, verdict) => {
    const [clock, excuses] = [new ManualClock(), new Excuses()];
    const checker = manners(clock, excuses);
    check(checker, says('w'), ready('w'));
    excuses.onEvent({ kind: 'paused', process: broker }, clock.now());
    clock.advance(asleepMs);
    excuses.onEvent({ kind: 'resumed', process: broker }, clock.now());
    clock.advance(silentMs - asleepMs);
    expect(check(checker, lost('w'))).toContain(verdict);
  });
});

describe('TableChecker finds', () => {
  const expected = [{ host: 'w', count: 1 }];
  const connected = (name: string): Sight => ({ broker, kind: 'connected', peer: peer(name), client: 'w' });
  const disconnected = (name: string): Sight => ({ broker, kind: 'disconnected', peer: peer(name), client: 'w' });
  const found = (count: number, ...sights: readonly Sight[]): string[] => {
    const checker = new TableChecker();
    check(checker, ...sights);
    return checker.differences(expected, new Map([[broker, count]]));
  };

  it('nothing wrong with a right table', () => {
    expect(found(1, connected('A'), ready('A'))).toEqual([]);
  });

  it('a worker that is missing, one twice, one that is gone, one that was never started, a wrong count', () => {
    expect(found(0, connected('A'))).toEqual(['w: 0 registered, 1 alive']);
    expect(found(2, connected('A'), connected('B'), ready('A'), ready('B'))).toEqual(['w: 2 registered, 1 alive']);
    expect(found(1, connected('A'), ready('A'), disconnected('A'))[0]).toBe(
      'b/A is registered, but its connection is gone',
    );
    expect(found(2, connected('A'), ready('A'))).toEqual(['b: 1 announced, 2 in its table']);
    const checker = new TableChecker();
    check(checker, connected('A'), ready('A'));
    expect(checker.differences([], new Map())).toEqual(['w: registered, but no worker lives there']);
  });
});
