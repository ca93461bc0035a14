/** Each checker finds the faults it is for, and reports nothing else. */
import { ManualClock } from '@proj/heartbeat';
import { describe, expect, it } from 'vitest';
import { Excuses } from '../kit/excuses.js';
import { AnswersChecker } from './answers.js';
import { BroadcastsChecker } from './broadcasts.js';
import { CalmChecker } from './calm.js';
import { DispatchChecker } from './dispatch.js';
import { KeptChecker } from './kept.js';
import {
  ready,
  lost,
  asks,
  tells,
  waits,
  puts,
  works,
  passes,
  late,
  news,
  beats,
  ends,
  stored,
  accepts,
  deletes,
  result,
  begun,
  ended,
  removed,
  restarts,
  crashed,
  check,
} from './made-sights.js';
import { MannersChecker } from './manners.js';
import { RecoveryChecker } from './recovery.js';
import { RunsChecker } from './runs.js';
import { BROKER } from './sight.js';
import type { Sight } from './sight.js';
import { WaitingChecker } from './waiting.js';

const clock = new ManualClock();
const excuses = new Excuses();
const kept = (crashPolicy: 'rerun' | 'fail' = 'rerun') => new KeptChecker({ crashPolicy, maxRuns: 2 });
const runs = () => new RunsChecker(2, () => 1);
const manners = () => new MannersChecker({ keepaliveIntervalMs: 100, keepaliveMultiplier: 3 }, excuses, clock);
const broadcasts = (queueForService: boolean | 'known' = 'known') =>
  new BroadcastsChecker({ queueForService, requestTtlMs: 100, returnMs: 50, settleMs: 20 }, excuses, clock);
const calm = () => {
  const checker = new CalmChecker(() => true, false);
  checker.begin();
  return checker;
};

const AT_BROKER = [ready('w'), ready('v'), asks('1'), tells('1', 202, ['w']), puts('w', '1'), works('w', '1')];
const AT_WORKER = [stored('1', 'STARTED', 1, 1), accepts('1'), begun('1'), ended('1'), stored('1', 'COMPLETED', 1, 1)];

it.each([
  ['KeptChecker', kept],
  ['RunsChecker', runs],
  ['DispatchChecker', () => new DispatchChecker()],
  ['WaitingChecker', () => new WaitingChecker()],
  ['BroadcastsChecker', broadcasts],
  ['RecoveryChecker', () => new RecoveryChecker()],
  ['AnswersChecker', () => new AnswersChecker()],
  ['MannersChecker', manners],
  ['CalmChecker', calm],
])('%s passes what is right', (_name, make) => {
  expect(check(make(), ...AT_BROKER, passes('1'), ...AT_WORKER, result('1', 'completed'))).toBe('fine');
});

describe('KeptChecker finds', () => {
  it.each<[string, readonly Sight[]]>([
    ['was accepted and is not on the disk', [accepts('1')]],
    ['was said to be unknown', [stored('1', 'PENDING'), accepts('1', 'JOB NOT FOUND')]],
    ['nobody has deleted it', [stored('1', 'PENDING'), removed('1')]],
    ['was COMPLETED and is STARTED', [...AT_WORKER, stored('1', 'STARTED')]],
    ['is run 3 times', [stored('1', 'STARTED', 1, 3)]],
    ['has the result of 2', [...AT_WORKER, result('1', 'completed', [], '2')]],
    ['nobody asked for it', [...AT_WORKER, result('1', 'cancelled')]],
    ['no run of it was', [stored('1', 'STARTED'), result('1', 'completed')]],
    ['no run of it did', [...AT_WORKER, result('1', 'failed', ['boom'])]],
    ['was not interrupted', [stored('1', 'PENDING'), result('1', 'failed', ['interrupted'])]],
    ['given up after 1 runs', [stored('1', 'STARTED', 1, 1), crashed('w'), result('1', 'failed', ['interrupted'])]],
  ])('%s', (message, sights) => {
    expect(check(kept(), ...sights)).toContain(message);
  });

  it('nothing wrong with what was deleted, or given up as the policy says', () => {
    expect(check(kept(), stored('1', 'PENDING'), deletes('1'), removed('1'))).toBe('fine');
    const interrupted = [stored('1', 'STARTED', 1, 1), crashed('w'), result('1', 'failed', ['interrupted'])];
    expect(check(kept('fail'), ...interrupted)).toBe('fine');
  });

  it('a job that does not end', () => {
    const checker = kept();
    check(checker, stored('1', 'PENDING'), accepts('1'));
    expect(checker.open).toEqual(['w/1 is PENDING', 'w/1 has no result']);
    check(checker, stored('1', 'CANCELLED'), deletes('1'), result('1', 'cancelled'));
    expect(checker.open).toEqual([]);
  });
});

describe('RunsChecker finds', () => {
  it.each<[string, readonly Sight[]]>([
    ['on the disk is undefined', [begun('1')]],
    ['begins run 2', [stored('1', 'STARTED', 1, 1), begun('1', 2)]],
    ['runs twice at a time', [stored('1', 'STARTED', 1, 1), begun('1'), begun('1')]],
    ['runs 2 tasks', [stored('1', 'STARTED', 1, 1), stored('2', 'STARTED', 2, 1), begun('1'), begun('2')]],
    ['begins before 1', [stored('1', 'PENDING', 1), stored('2', 'STARTED', 2, 1), begun('2')]],
    [
      'has begun 3 times',
      [stored('1', 'STARTED', 1, 1), begun('1'), crashed('w'), begun('1'), crashed('w'), begun('1')],
    ],
  ])('%s', (message, sights) => {
    expect(check(runs(), ...sights)).toContain(message);
  });
});

describe('DispatchChecker finds', () => {
  const two = [ready('w'), ready('v')];
  it.each<[string, readonly Sight[]]>([
    ['was not answered', [...two, asks('1'), asks('2')]],
    ['dispatched to nobody', [...two, asks('1'), tells('1', 202, [])]],
    ['dispatched to v, meant was w', [...two, asks('1'), tells('1', 202, ['v'])]],
    ['meant was v', [...AT_BROKER, asks('2'), tells('2', 202, ['w'])]],
    ['did not get it', [...two, asks('1'), tells('1', 202, ['w']), beats('received', 'w')]],
    ['due was nothing', [...two, asks('1'), tells('1', 202, ['w']), puts('w', '1'), puts('w', '1')]],
    ['not registered', [puts('w', '1')]],
    ['not registered', [...two, crashed(BROKER), puts('w', '1', 'put')]],
    ['meant was w,v', [...two, asks('1', 'all'), tells('1', 202, ['w'], 'all')]],
  ])('%s', (message, sights) => {
    expect(check(new DispatchChecker(), ...sights)).toContain(message);
  });

  it('nothing wrong with a job that goes once more to a worker which was started again', () => {
    expect(check(new DispatchChecker(), ...AT_BROKER, restarts('w'), tells('1', 202, ['w']), puts('w', '1'))).toBe(
      'fine',
    );
  });
});

describe('WaitingChecker finds', () => {
  const two = [asks('1'), waits('1'), asks('2'), waits('2')];
  it.each<[string, readonly Sight[]]>([
    ['1 waits for echo, which has w', [ready('w'), asks('1'), waits('1')]],
    ['2 is served before 1', [...two, ready('w'), tells('2', 202, ['w'])]],
    ['2 is served before 1', [...two, ready('w'), tells('2', 400, null)]],
    ['1 still waits', [...two, ready('w'), beats('received', 'w')]],
    ['2 still waits', [...two, ready('w'), tells('1', 202, ['w']), beats('received', 'w')]],
    ['1 waits, and was sent', [...two, asks('1'), tells('1', 202, ['w'])]],
    ['2 is given up before', [...two, tells('2', 400, null)]],
  ])('%s', (message, sights) => {
    expect(check(new WaitingChecker(), ...sights)).toContain(message);
  });

  it.each<[string, readonly Sight[]]>([
    ['are served in order', [...two, asks('1'), waits('1'), ready('w'), tells('1', 202, ['w']), tells('2', 400, null)]],
    ['are given up in order', [...two, tells('1', 400, null), tells('2', 400, null), ready('w')]],
    [
      'wait again when the worker is gone',
      [ready('w'), lost('w'), ...two, ready('w'), tells('1', 202, ['w']), tells('2', 202, ['w'])],
    ],
    ['were with a broker that died', [...two, crashed(BROKER), ready('w')]],
    ['were with a broker that closes', [...two, { kind: 'closing' }, tells('2', 400, null)]],
  ])('nothing wrong with jobs that %s', (_what, sights) => {
    expect(check(new WaitingChecker(), ...sights, beats('received', 'w'))).toBe('fine');
  });
});

describe('RecoveryChecker finds', () => {
  const silent = AT_BROKER.slice(0, -1);
  it.each<[string, readonly Sight[]]>([
    ['1 was lost with its worker', [...silent, lost('w'), beats('received', 'v')]],
    ['1 was lost with its worker', [...silent, restarts('w'), beats('received', 'v')]],
    ['1 was lost with its worker', [...AT_BROKER, lost('w'), beats('received', 'v')]],
    ['1 was deleted, and w gets it', [...silent, puts('w', '1', 'delete'), restarts('w'), puts('w', '1')]],
  ])('%s', (message, sights) => {
    expect(check(new RecoveryChecker(), ...sights)).toContain(message);
  });

  it.each<[string, readonly Sight[]]>([
    ['goes to another worker', [...silent, lost('w'), tells('1', 202, ['v']), puts('v', '1')]],
    ['is given up', [...silent, lost('w'), tells('1', 400, null)]],
    ['its worker is waited for', [...AT_BROKER, lost('w'), news('1')]],
    ['its worker still has after READY', [...AT_BROKER, restarts('w')]],
    ['was deleted where it was', [...silent, puts('w', '1', 'delete'), lost('w')]],
    ['was meant for its worker', [ready('w'), asks('1', 'w'), tells('1', 202, ['w'], 'w'), puts('w', '1'), lost('w')]],
    ['was left by a broker that closes', [...silent, lost('w', 'drained')]],
    ['was with a broker that died', [...silent, crashed(BROKER), ready('w'), lost('w')]],
  ])('nothing wrong with a job that %s', (_what, sights) => {
    expect(check(new RecoveryChecker(), ...sights, beats('received', 'v'))).toBe('fine');
  });
});

describe('AnswersChecker finds', () => {
  const atW = [ready('w'), asks('1', 'w'), tells('1', 202, ['w'], 'w'), puts('w', '1')];
  const lostIt = [...atW, works('w', '1'), passes('1'), lost('w'), beats('received', 'v')];
  const heardAgain = [tells('1', 400, null, 'w'), ready('w'), works('w', '1'), passes('1')];
  it.each<[string, readonly Sight[]]>([
    ['was not passed on', [...AT_BROKER, asks('2')]],
    ['which no worker has said', [...AT_BROKER, passes('1', 'y')]],
    ['which no worker has said', [...AT_BROKER, passes('1', 'x', 'd')]],
    ['which no worker has said', [...AT_BROKER, passes('1'), passes('1')]],
    ['which no worker has said', [works('w', '1'), passes('1')]],
    ['w is heard about 1, which was deleted or given up', [...lostIt, ...heardAgain]],
    ['w is heard about 1, which another worker has', [...AT_BROKER, puts('v', '1'), works('w', '1'), passes('1')]],
  ])('%s', (message, sights) => {
    expect(check(new AnswersChecker(), ...sights)).toContain(message);
  });

  it('nothing wrong with a worker that speaks after its last word was said, by itself or for it', () => {
    const refused = [...atW, works('w', '1', 'x', 500), passes('1', 'x', 'c', 500), lost('w'), beats('received', 'v')];
    expect(check(new AnswersChecker(), ...lostIt, late('1', 'w'), ...heardAgain, beats('received', 'v'))).toBe('fine');
    expect(check(new AnswersChecker(), ...refused, ...heardAgain, beats('received', 'v'))).toBe('fine');
  });
});

describe('MannersChecker finds', () => {
  it('a stranger that does not get DISCONNECT, or gets it too often', () => {
    expect(check(manners(), beats('received', 'w'), asks('1'))).toContain('not told DISCONNECT');
    expect(check(manners(), ends('w'))).toContain('not asked');
    const checker = manners();
    expect(check(checker, beats('received', 'w'), ends('w'), beats('received', 'w'), asks('1'))).toBe('fine');
    clock.advance(999);
    expect(check(checker, beats('received', 'w'), ends('w'))).toContain('not asked');
    clock.advance(1);
    expect(check(checker, beats('received', 'w'), ends('w'))).toBe('fine');
  });

  it('a KEEPALIVE to an unknown worker, to one that has long been silent, or too late', () => {
    expect(check(manners(), beats('sent', 'w'))).toContain('not registered');
    const [quiet, late] = [manners(), manners()];
    check(quiet, ready('w'));
    check(late, ready('w'));
    clock.advance(101);
    expect(check(late, beats('sent', 'w'))).toContain('no KEEPALIVE for 101 ms');
    clock.advance(200);
    expect(check(quiet, beats('sent', 'w'))).toContain('silent for 301 ms');
  });

  it('a worker that is given up early', () => {
    const checker = manners();
    check(checker, ready('w'));
    clock.advance(99);
    expect(check(checker, lost('w'))).toContain('after 99 ms of silence');
  });
});

describe('CalmChecker finds', () => {
  it('a loss, a second POST, a second run, a refusal, a DISCONNECT', () => {
    expect(check(calm(), lost('w'))).toContain('healthy worker was lost');
    expect(check(calm(), puts('w', '1'), puts('w', '1'))).toContain('was posted twice');
    expect(check(calm(), begun('1'), begun('1'))).toContain('was run twice');
    expect(check(calm(), tells('1', 400, null))).toContain('answered with 400');
    expect(check(calm(), ends('w'))).toContain('told DISCONNECT');
  });

  it('nothing before the calm', () => {
    expect(check(new CalmChecker(() => true, false), lost('w'))).toBe('fine');
  });
});
