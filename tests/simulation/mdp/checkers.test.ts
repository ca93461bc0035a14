/** Each checker finds the faults it is for, and reports nothing else. */
import { fromLatin1 } from '@proj/frames';
import { encodeMdp } from '@proj/frames/mdp';
import { ManualClock } from '@proj/heartbeat';
import { ROUTER_PEER } from '@proj/transport';
import type { Peer } from '@proj/transport';
import type { MessageEvent } from '@proj/transport/virtual';
import { describe, expect, it } from 'vitest';
import { Excuses } from '../kit/excuses.js';
import { Simulation } from '../kit/simulation.js';
import { WorkerPatienceChecker } from '../kit/worker-patience.js';
import { CalmChecker } from './calm.js';
import { JobsChecker } from './jobs.js';
import { LruChecker } from './lru.js';
import { MannersChecker } from './manners.js';
import { RepliesChecker } from './replies.js';
import type { Checker, Sight } from './sight.js';
import { TableChecker } from './table.js';
import { isHeartbeat } from './words.js';

const broker = 'b';
const version = '0.2';
const service = 'echo';
const peer = (name: string): Peer => ({ key: name, id: fromLatin1(name) });
const body = (id: string) => [fromLatin1(id)];
const command = (sight: 'sent' | 'received', name: string, value: object) =>
  ({ broker, kind: sight, peer: peer(name), command: { version, ...value } }) as Sight;

const ready = (w: string): Sight => ({ broker, kind: 'worker-ready', peer: peer(w), service, version });
const lost = (w: string): Sight => ({ broker, kind: 'worker-lost', peer: peer(w), reason: 'expired' });
const asks = (c: string, id: string) => command('received', c, { kind: 'client-request', service, body: body(id) });
const put = (w: string, c: string, id: string) =>
  command('sent', w, { kind: 'worker-request', client: peer(c).id, body: body(id) });
const worked = (w: string, c: string, id: string, kind = 'worker-final') =>
  command('received', w, { kind, client: peer(c).id, body: body(id) });
const told = (c: string, id: string, kind = 'client-final') => command('sent', c, { kind, service, body: body(id) });

function check(checker: Checker, ...sights: readonly Sight[]): string {
  try {
    for (const sight of sights) checker.onSight(sight);
    return 'fine';
  } catch (error) {
    return (error as Error).message;
  }
}

const GOOD = [ready('w1'), ready('w2'), asks('c', '1'), put('w1', 'c', '1'), worked('w1', 'c', '1'), told('c', '1')];

describe.each([
  ['JobsChecker', () => new JobsChecker()],
  ['RepliesChecker', () => new RepliesChecker()],
  ['LruChecker', () => new LruChecker()],
  ['CalmChecker', () => calm()],
  ['MannersChecker', () => manners()],
])('%s', (_name, make) => {
  it('passes what is right', () => {
    expect(check(make(), ...GOOD)).toBe('fine');
  });
});

function calm(): CalmChecker {
  const checker = new CalmChecker(() => true);
  checker.begin();
  return checker;
}

describe('JobsChecker finds', () => {
  it.each<[string, readonly Sight[]]>([
    ['busy with 1', [ready('w'), put('w', 'c', '1'), put('w', 'd', '2')]],
    ['not registered', [put('w', 'c', '1')]],
    ['not registered', [ready('w'), lost('w'), put('w', 'c', '1')]],
    // A late reply: the worker was lost meanwhile.
    ['due was nothing', [ready('w'), put('w', 'c', '1'), lost('w'), worked('w', 'c', '1'), told('c', '1')]],
    ['due was nothing', [ready('w'), put('w', 'c', '1'), worked('w', 'd', '1'), told('d', '1')]],
    ['answered 1 with 2', [ready('w'), put('w', 'c', '1'), worked('w', 'c', '2')]],
    [
      'the client got final 1, due was partial 1',
      [ready('w'), put('w', 'c', '1'), worked('w', 'c', '1', 'worker-partial'), worked('w', 'c', '1'), told('c', '1')],
    ],
  ])('%s', (message, sights) => {
    expect(check(new JobsChecker(), ...sights)).toContain(message);
  });

  it('nothing wrong with a broker that starts anew', () => {
    expect(check(new JobsChecker(), ready('w'), put('w', 'c', '1'), { broker, kind: 'crashed' }, ...GOOD)).toBe('fine');
  });
});

const inside = (id: string): Sight => ({ broker, kind: 'inside', service, id });
const hands = (id: string, last = true): Sight => ({ broker, kind: 'inside-reply', id, last });

describe('of services inside the broker', () => {
  it('JobsChecker passes their replies, each once', () => {
    const story = [asks('c', '1'), inside('1'), hands('1', false), told('c', '1', 'client-partial'), hands('1')];
    const checker = new JobsChecker();
    expect(check(checker, ...story, told('c', '1'))).toBe('fine');
    expect(check(checker, told('c', '1'))).toContain('due was nothing');
  });

  it('JobsChecker finds replies that no handler gave, or one of another broker', () => {
    expect(check(new JobsChecker(), asks('c', '1'), inside('1'), told('c', '1'))).toContain('due was nothing');
    const elsewhere: Sight = { broker: 'other', kind: 'inside-reply', id: '1', last: true };
    expect(check(new JobsChecker(), elsewhere, told('c', '1'))).toContain('due was nothing');
    expect(check(new JobsChecker(), hands('1'), { broker, kind: 'crashed' }, told('c', '1'))).toContain(
      'due was nothing',
    );
  });

  it('LruChecker finds a request that a worker was idle for', () => {
    expect(check(new LruChecker(), ready('w'), inside('1'))).toContain('while 1 workers are idle');
    expect(check(new LruChecker(), ready('w'), put('w', 'c', '1'), inside('2'))).toBe('fine');
  });

  it('CalmChecker finds a second dispatch', () => {
    expect(check(calm(), put('w', 'c', '1'), inside('1'))).toContain('second worker');
  });

  it('TableChecker counts them by broker', () => {
    const entry = { id: '', service, version, busy: false, lastSeenMs: 0 } as const;
    const expected = [{ host: broker, service, version, count: 2 }];
    const found = (...entries: (typeof entry)[]) =>
      new TableChecker().differences(new Map([[broker, entries]]), expected);
    expect(found(entry, entry)).toEqual([]);
    expect(found(entry)).toEqual([`${broker} for ${service} (${version}): 1 registered, 2 alive`]);
  });
});

describe('RepliesChecker finds', () => {
  it('a second final reply', () => {
    expect(check(new RepliesChecker(), asks('c', '1'), told('c', '1'), told('c', '1'))).toContain('not open');
  });

  it('a reply to somebody else, and a partial one after the last', () => {
    expect(check(new RepliesChecker(), asks('c', '1'), told('d', '1'))).toContain('not open');
    const late = told('c', '1', 'client-partial');
    expect(check(new RepliesChecker(), asks('c', '1'), told('c', '1'), late)).toContain('client-partial for 1');
  });
});

describe('LruChecker finds', () => {
  it('the most recently used worker chosen', () => {
    expect(check(new LruChecker(), ready('w1'), ready('w2'), put('w2', 'c', '1'))).toContain('number 1 of 2');
    expect(check(new LruChecker(), ...GOOD, put('w1', 'c', '2'))).toContain('number 1 of 2');
  });

  it('nothing wrong when the one in front was lost', () => {
    expect(check(new LruChecker(), ready('w1'), ready('w2'), lost('w1'), put('w2', 'c', '1'))).toBe('fine');
  });
});

describe('CalmChecker finds', () => {
  it('a loss, a second dispatch, a DISCONNECT', () => {
    expect(check(calm(), lost('w'))).toContain('healthy worker was lost');
    expect(check(calm(), put('v', 'c', '1'), put('w', 'c', '1'))).toContain('second worker');
    expect(check(calm(), command('sent', 'w', { kind: 'disconnect' }))).toContain('told DISCONNECT');
  });

  it('nothing before the calm', () => {
    expect(check(new CalmChecker(() => true), lost('w'))).toBe('fine');
  });
});

const clock = new ManualClock();
const excuses = new Excuses();
const manners = () => new MannersChecker({ heartbeatIntervalMs: 100, liveness: 3, muteExpiryMs: 1000 }, excuses, clock);
const beats = (kind: 'sent' | 'received', w: string) => command(kind, w, { kind: 'heartbeat' });
const ends = (w: string) => command('sent', w, { kind: 'disconnect' });

describe('MannersChecker finds', () => {
  it('a stranger that does not get DISCONNECT', () => {
    expect(check(manners(), beats('received', 'w'), beats('received', 'v'))).toContain('not told DISCONNECT');
    expect(check(manners(), beats('received', 'w'), ends('w'), beats('received', 'w'), asks('c', '1'))).toBe('fine');
  });

  it('an unnecessary DISCONNECT', () => {
    expect(check(manners(), ends('w'))).toContain('not asked');
    expect(check(manners(), beats('received', 'w'), ends('w'), ends('w'))).toContain('not asked');
    expect(check(manners(), beats('received', 'w'), ends('w'), beats('received', 'w'), ends('w'))).toContain(
      'not asked',
    );
  });

  it('a heartbeat to an unknown peer, or to one that has long been silent', () => {
    expect(check(manners(), beats('sent', 'w'))).toContain('not registered');
    const checker = manners();
    expect(check(checker, ready('w'))).toBe('fine');
    clock.advance(301);
    expect(check(checker, beats('sent', 'w'))).toContain('silent for 301 ms');
    excuses.onEvent({ kind: 'paused', process: broker }, clock.now());
    expect(check(checker, beats('sent', 'w'))).toBe('fine');
  });
});

describe('MannersChecker finds a worker given up', () => {
  const given = (asleepMs: number, silentMs: number): string => {
    const [time, pauses] = [new ManualClock(), new Excuses()];
    const checker = new MannersChecker({ heartbeatIntervalMs: 100, liveness: 3, muteExpiryMs: 1000 }, pauses, time);
    checker.onSight(ready('w'));
    pauses.onEvent({ kind: 'paused', process: broker }, time.now());
    time.advance(asleepMs);
    pauses.onEvent({ kind: 'resumed', process: broker }, time.now());
    time.advance(silentMs - asleepMs);
    return check(checker, lost('w'));
  };

  it.each([
    [0, 299, 'after 299 ms of silence'],
    [0, 300, 'fine'],
    [500, 500, '0 ms after the broker woke up'],
    [500, 900, 'fine'],
  ])('after a pause of %i ms and %i ms of silence: %s', (asleepMs, silentMs, verdict) => {
    expect(given(asleepMs, silentMs)).toContain(verdict);
  });
});

describe('WorkerPatienceChecker finds', () => {
  it('a worker that sends heartbeats to a dead broker', async () => {
    const simulation = new Simulation({ seed: 1 });
    const checker = simulation.watch(
      new WorkerPatienceChecker(simulation, { heartbeatIntervalMs: 100, liveness: 3 }, excuses, isHeartbeat),
    );
    const frames = encodeMdp({ kind: 'heartbeat', version });
    const event = (kind: 'sent' | 'delivered'): MessageEvent => ({
      kind,
      process: 'w',
      socket: 'dealer',
      socketNumber: 1,
      peer: ROUTER_PEER,
      frames,
    });
    checker.onEvent(event('sent'), 0);
    checker.onEvent(event('delivered'), 1000);
    checker.onEvent(event('sent'), 1300);
    simulation.throwIfFailed();
    excuses.onEvent({ kind: 'slowed', process: 'w', maxMs: 50 }, 1300);
    checker.onEvent(event('sent'), 1400);
    excuses.onEvent({ kind: 'slowed', process: 'w', maxMs: 0 }, 1400);
    checker.onEvent(event('sent'), 1800);
    simulation.throwIfFailed();
    checker.onEvent(event('sent'), 1801);
    await expect(simulation.run(1)).rejects.toThrow('silent for 801 ms');
  });
});

describe('TableChecker finds', () => {
  const entry = (id: string) => ({ id, service, version, busy: false, lastSeenMs: 0 }) as const;
  const expected = [{ host: 'w', service, version, count: 1 }];
  const table = () => {
    const checker = new TableChecker();
    check(checker, { broker, kind: 'connected', peer: peer('A'), client: 'w' });
    return checker;
  };
  const found = (...ids: readonly string[]) => table().differences(new Map([[broker, ids.map(entry)]]), expected);

  it('nothing wrong with a right table', () => {
    expect(found('41')).toEqual([]);
  });

  it('a worker that is missing, one twice, one that is gone, one that was never started', () => {
    expect(found()).toEqual(['w for echo (0.2): 0 registered, 1 alive']);
    expect(found('41', '41')).toEqual(['w for echo (0.2): 2 registered, 1 alive']);
    expect(found('41', '42')[0]).toBe('b lists 0x42, whose connection is gone');
    expect(table().differences(new Map([[broker, [entry('41')]]]), [])).toEqual([
      'w for echo (0.2): registered, but nobody lives there',
    ]);
  });
});
