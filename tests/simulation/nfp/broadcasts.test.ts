/** The checker of broadcasts finds the faults it is for, and reports nothing else. */
import { ManualClock } from '@proj/heartbeat';
import { describe, expect, it } from 'vitest';
import { Excuses } from '../kit/excuses.js';
import { BroadcastsChecker } from './broadcasts.js';
import { ready, lost, asks, tells, puts, works, late, beats, crashed, check } from './made-sights.js';
import { BROKER } from './sight.js';
import type { Sight } from './sight.js';

const clock = new ManualClock();
const excuses = new Excuses();
const broadcasts = (queueForService: boolean | 'known' = 'known') =>
  new BroadcastsChecker({ queueForService, requestTtlMs: 100, returnMs: 50, settleMs: 20 }, excuses, clock);

describe('BroadcastsChecker finds', () => {
  const started: Sight = { kind: 'started' };
  const passed = beats('received', 'x');
  /** Both were connected, and v still is. */
  const one = [ready('w'), ready('v'), lost('w')];
  const none = [...one, lost('v')];
  const both = '["w","v"]';
  const list = '["w","u"]';
  const atV = [asks('1', 'v'), tells('1', 202, ['v'], 'v'), puts('v', '1')];
  const untilBoth = [...one, asks('1', both), tells('1', 202, ['v', 'w'], both), puts('v', '1')];

  it.each<[string, readonly Sight[]]>([
    ['1 goes to those alone', [started, ready('w'), asks('1', 'all'), tells('1', 202, ['w'], 'all')]],
    ['1 for all waits, and goes', [ready('w'), asks('1', 'all'), passed]],
    ['1 for all waits, and is refused', [asks('1', 'all'), passed]],
    ['1 for all is refused, and waits', [started, asks('1', 'all'), tells('1', 400, null, 'all')]],
    ['1 for all waits, and w has come', [...none, asks('1', 'all'), passed, ready('w'), passed]],
    ['1 waits, and for nobody', [...one, asks('1', 'u'), passed]],
    ['1 waits for u, of which nobody', [...one, asks('1', list), passed, tells('1', 202, ['u'], list)]],
    ['1 is refused, and w has it or may come', [...one, asks('1', 'w'), tells('1', 400, null, 'w')]],
    ['w is in errors, and may come', [...one, asks('1', both), tells('1', 202, ['v'], both, ['w: no worker'])]],
    ['the 202 says nothing of w', [...one, asks('1', both), tells('1', 202, ['v'], both)]],
    ['the 202 says nothing of w', [...one, asks('1', 'w'), passed, asks('1', 'v'), tells('1', 202, ['v'], 'v')]],
    ['too, and the 202 says v', [...one, asks('1', 'w'), passed, asks('1', 'v'), tells('1', 202, ['v', 'w'], 'v')]],
    ['was not posted for u', [...one, asks('1', 'v'), tells('1', 202, ['v', 'u'], 'v')]],
    ['1 waits for w, which has come', [...one, asks('1', 'w'), passed, ready('w'), passed]],
    ['1 waits for w, which has come', [...untilBoth, ready('w'), passed]],
    ['given to w, which no 202 has named', [...one, asks('1', 'w'), passed, ready('w'), puts('w', '1')]],
    ['given to w, which no 202 has named', [...one, ...atV, asks('1', 'w'), passed, ready('w'), puts('w', '1')]],
    ['1 has a 202 too many', [...one, ...atV, passed, tells('1', 202, ['v'], 'v')]],
    ['1 is not open', [...one, ...atV, works('v', '1', 'x', 200), tells('1', 202, ['v'], 'v')]],
    ['the 400 says nothing of u', [...one, asks('1', list), passed, tells('1', 400, null, list, ['w did not come'])]],
    ['given up, and a 202 has named v', [...one, ...atV, passed, tells('1', 400, null, 'v', ['v did not come'])]],
    ['408 for v, which is not awaited (sent)', [...one, ...atV, late('1', 'v')]],
    ['408 for w, which is not awaited (over)', [...untilBoth, late('1', 'w'), late('1', 'w')]],
  ])('%s', (message, sights) => {
    expect(check(broadcasts(), ...sights)).toContain(message);
  });

  it.each<[string, readonly Sight[]]>([
    ['goes to whoever comes', [...untilBoth, ready('w'), puts('w', '1'), works('w', '1', 'x', 200)]],
    ['is one for several POSTs', [...one, asks('1', 'w'), passed, asks('1', 'v'), tells('1', 202, ['v', 'w'], both)]],
    ['is refused for a stranger', [...one, asks('1', 'u'), tells('1', 400, null, 'u')]],
    ['is for a stranger, too', [...one, asks('1', '["v","u"]'), tells('1', 202, ['v'], '["v","u"]', ['u: no worker'])]],
    ['is given up with every name', [...one, asks('1', list), passed, tells('1', 400, null, list, ['w did', 'u: no'])]],
    ['is answered for', [...untilBoth, late('1', 'w'), lost('v'), late('1', 'v')]],
    ['is deleted', [...untilBoth, asks('1', 'w', 'delete'), ready('w')]],
    ['was with a broker that closes', [...none, asks('1', 'all'), { kind: 'closing' }, tells('1', 400, null, 'all')]],
    ['was with a broker that died', [...untilBoth, crashed(BROKER), started, ready('w')]],
  ])('nothing wrong with a job that %s', (_what, sights) => {
    expect(check(broadcasts(), ...sights, passed)).toBe('fine');
  });

  it('silence about what or whose worker was lost, for longer than it may be', () => {
    const [waits, named, sent, all] = [broadcasts(), broadcasts(), broadcasts(), broadcasts()];
    check(waits, ...one, asks('1', 'w'), passed);
    check(named, ...untilBoth);
    check(sent, ...one, ...atV, lost('v'));
    check(all, ...none, asks('1', 'all'), passed);
    clock.advance(50);
    expect(check(sent, passed)).toBe('fine');
    clock.advance(50);
    for (const checker of [waits, named, all]) expect(check(checker, passed)).toBe('fine');
    clock.advance(1);
    expect(check(waits, passed)).toContain('nothing was said of w for too long (waits)');
    expect(check(named, passed)).toContain('nothing was said of w for too long (named)');
    expect(check(sent, passed)).toContain('nothing was said of v for too long (sent)');
    expect(check(all, passed)).toContain('1 for all has waited for too long');
  });

  it('what is for all and does not go out when the broker has settled', () => {
    const checker = broadcasts();
    check(checker, started, asks('1', 'all'), ready('w'));
    clock.advance(20);
    expect(check(checker, passed)).toBe('fine');
    clock.advance(1);
    expect(check(checker, passed)).toContain('1 for all waits, and there are workers');
  });

  it('who may come where nobody is waited for, or everybody is', () => {
    const refusal = [...one, asks('1', 'w'), tells('1', 400, null, 'w')];
    expect(check(broadcasts(false), ...refusal)).toBe('fine');
    expect(check(broadcasts(false), ...one, asks('1', 'w'), passed)).toContain('for nobody who may come');
    expect(check(broadcasts(true), asks('1', 'u'), passed)).toBe('fine');
    expect(check(broadcasts(true), asks('1', 'u'), tells('1', 400, null, 'u'))).toContain('u has it or may come');
  });
});
