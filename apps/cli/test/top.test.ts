/** The screen of `proj top`, its keys, and its output without a terminal. With a terminal: tests/interop/cli/top.test.ts. */
import { stripVTControlCharacters } from 'node:util';
import { printable } from '@proj/appkit';
import { describe, expect, it } from 'vitest';
import { cutTo, fit, widthOf, wrap } from '../src/http/cells.js';
import { overviewOf } from '../src/http/overview.js';
import { linesOf } from '../src/overview.js';
import type { Overview } from '../src/overview.js';
import { keysOf } from '../src/top/keys.js';
import { extentOf, Screen } from '../src/top/screen.js';
import { press, START } from '../src/top/state.js';
import type { View } from '../src/top/state.js';
import { status } from '../src/status.js';
import { top } from '../src/top.js';
import { run, showQueue } from './in-process.js';
import { smallModel } from './model.js';

const SIZE = { columns: 100, rows: 14 };
const model = smallModel();
const overview = overviewOf(model);

/** The view after these keys. */
function after(typed: string, size = SIZE, shown: Overview = overview): View {
  return keysOf(typed).reduce((view, key) => press(view, key, extentOf(shown, size, view)) ?? view, START);
}

const draw = (view: View, size = SIZE, shown: Overview = overview) =>
  new Screen(true).draw(shown, size, view).map(stripVTControlCharacters);

const RIGHT = '\x1b[C';
const LEFT = '\x1b[D';
const DOWN = '\x1b[B';
const END = '\x1b[F';

describe('the screen', () => {
  it('has the program, its figures, its faults, tabs, a table and keys', () => {
    expect(draw(START)).toEqual([
      'proj-broker 1.2.3, process 42, up 3 min',
      '12.0 requests/s, 1.0 failed/s, p50 1.5 ms, p99 25 ms, 7 waiting, 3 running, 900 ready, 32 in flight\u2026',
      '! service-without-workers: Service billing has no workers; 7 requests wait, the oldest for 65.0 s:',
      'start a worker.',
      '[Services 2]  Queues 2   Workers 3   Clients 2   Schedules 2 ',
      'SERVICE  PROTOCOL  PER S\u25bc  FAILED  WAITING  OLDEST  RUNNING     P50    P99  WORKERS',
      'echo     mdp         12.5       4        0       -        3  1.2 ms  20 ms        1',
      'billing  mdp            0       0        7    65 s        0       -      -        0',
      '',
      '',
      '',
      '',
      '',
      '1 to 2 of 2   q quit  s sort  r reverse  / filter  arrows  ? help                                   ',
    ]);
  });

  it('shows a queue that reports only its sizes', () => {
    expect(draw(after(RIGHT)).slice(5, 8)).toEqual([
      'QUEUE  PROTOCOL  PER S  READY\u25bc  OLDEST  IN FLIGHT  DELAYED  DEAD  WORKERS  STATE',
      'pzq    pzq           0     900       -         32        5     2        0',
      'mail   emqp          0       1       -          2        0     0        1  paused',
    ]);
  });

  it('lists workers, those longest in their state first', () => {
    expect(draw(after(RIGHT + RIGHT)).slice(6, 9)).toEqual([
      'w1      mdp       echo      busy         70 s  1 s ago        1     3        0        0',
      'w2      mdp       echo      idle        5.0 s  1 s ago        0     3        0        0',
      'w3      mdp       echo      away        1.0 s  1 s ago        0     3        0        0',
    ]);
  });

  it('lists clients, those with most refusals first', () => {
    expect(draw(after(LEFT + LEFT)).slice(6, 8)).toEqual([
      'c2      mdp          0        42  no-service 40 envelope 2',
      'c1      mdp          2         0',
    ]);
  });

  it('lists schedules, the next one first', () => {
    expect(draw(after(LEFT)).slice(5, 8)).toEqual([
      'SCHEDULE  JOB    WHEN        NEXT IN\u25b2  RUNS  LAST',
      'j1        mail   every 10 s     4.0 s     3  ok',
      'j2        clean  0 4 * * *      never     1',
    ]);
  });

  it.each([
    [20, 5],
    [40, 10],
    [79, 24],
    [300, 3],
  ])('fits into %i columns and %i rows', (columns, rows) => {
    for (const typed of ['', RIGHT, LEFT, '?', '/x']) {
      const lines = draw(after(typed), { columns, rows });
      expect(lines).toHaveLength(rows);
      expect(Math.max(...lines.map(widthOf))).toBeLessThanOrEqual(columns);
    }
  });

  it('shows the last rows of 10,000, and scrolls no further', () => {
    const services = Object.fromEntries(
      Array.from({ length: 10_000 }, (_, index) => {
        const name = `s${String(index).padStart(4, '0')}`;
        return [`mdp/${name}`, { ...model.services['mdp/echo']!, name, rate: 10_000 - index }];
      }),
    );
    const many = overviewOf({ ...model, services, faults: {} });
    const view = after(END + DOWN, SIZE, many);
    const lines = draw(view, SIZE, many);
    expect(lines.at(-2)).toMatch(/^s9999 /);
    expect(lines.at(-1)).toMatch(/^9992 to 10000 of 10000 /);
    expect(draw(after(`${END}\x1b[5~`, SIZE, many), SIZE, many).at(-1)).toMatch(/^9983 to 9991 of /);
  });

  it('uses a third of the screen for faults', () => {
    const [fault] = Object.values(model.faults);
    const faults = Object.fromEntries(Array.from({ length: 9 }, (_, index) => [`f${index}`, fault!]));
    const lines = draw(START, SIZE, overviewOf({ ...model, faults }));
    expect(lines.filter((line) => line.startsWith('!'))).toHaveLength(3);
    expect(lines[5]).toBe('! 9 faults in all');
  });

  it('keeps the figures and says why there are no new ones', () => {
    const lines = draw({ ...START, lost: 'the program\x1b[2J ended' });
    expect(lines[1]).toBe('no connection, trying again: the program\u00b7[2J ended');
    expect(lines[6]).toMatch(/^echo /);
  });

  it('prints nothing that controls the terminal', () => {
    const name = 'evil\x1b[2J\r\n\u202ename';
    const services = { 'mdp/evil': { ...model.services['mdp/echo']!, name } };
    const lines = new Screen(false).draw(overviewOf({ ...model, services }), SIZE, START);
    expect(lines[6]).toMatch(/^evil\u00b7\[2J\u00b7\u00b7\u00b7name +mdp/);
  });

  it('has no colours if they are not wanted', () => {
    const lines = new Screen(false).draw(overview, SIZE, START);
    expect(lines[2]).toMatch(/^! service/);
    expect(new Screen(true).draw(overview, SIZE, START)[2]).toMatch(/^\x1b\[31;1m! service/); // eslint-disable-line no-control-regex
  });
});

describe('keys', () => {
  it('s sorts by the next column, with the largest figures first', () => {
    expect(
      draw(after('ss'))
        .slice(5, 8)
        .map((line) => line.slice(0, 60)),
    ).toEqual([
      'SERVICE  PROTOCOL  PER S  FAILED  WAITING\u25bc  OLDEST  RUNNING ',
      'billing  mdp           0       0         7    65 s        0 ',
      'echo     mdp        12.5       4         0       -        3 ',
    ]);
    expect(draw(after('ssssssss'))[5]).toMatch(/^SERVICE\u25b2/);
  });

  it('r reverses the order', () => {
    expect(draw(after('r'))[6]).toMatch(/^billing /);
  });

  it('/ keeps rows that contain all words, Enter keeps the filter, Escape clears it', () => {
    expect(draw(after('/ECH mdp')).at(-1)).toBe('/ECH mdp_');
    expect(draw(after('/ECH mdp\r'))[4]).toBe('[Services 1]  Queues 2   Workers 3   Clients 2   Schedules 2 ');
    expect(draw(after('/q\x7fbill\rs')).at(-1)).toMatch(/^1 to 1 of 1 with "bill" {3}q quit/);
    expect(draw(after('/bill\r\x1b'))[4]).toMatch(/^\[Services 2\]/);
    expect(draw(after('/no such\r')).at(-1)).toMatch(/^no rows with "no such"/);
  });

  it('? explains the keys, and any key returns', () => {
    expect(draw(after('?'))).toContain('q: quit');
    expect(draw(after('?q'))).toEqual(draw(START));
  });

  it.each(['q', '\x03'])('%j ends the program', (typed) => {
    expect(press(START, keysOf(typed)[0]!, { tables: [], total: 0, page: 1 })).toBeUndefined();
  });

  it('that mean nothing change nothing', () => {
    expect(after('\x1b[1;5C\x1b[24~zZ\x00\x1f')).toEqual(START);
  });
});

describe('cells', () => {
  it.each([
    ['plain', 5],
    ['\u540d\u524d', 4],
    ['e\u0301', 1],
    ['\u{1f600}!', 3],
  ])('%s takes %i columns', (text, width) => {
    expect(widthOf(text)).toBe(width);
  });

  it('are cut and padded by columns', () => {
    expect(fit('\u540d\u524d', 4)).toBe('\u540d\u524d');
    expect(fit('\u540d\u524d\u540d', 4)).toBe('\u540d\u2026 ');
    expect(fit('7', 3, true)).toBe('  7');
    expect(cutTo('abc', 0)).toBe('');
    expect(wrap('one two three', 7)).toEqual(['one two', 'three']);
    expect(printable('a\tb\u200bc\u{e0001}')).toBe('a\u00b7b\u00b7c\u00b7');
  });
});

describe('without a terminal', () => {
  it.each([
    [top, ['ppp', 'nfp', 'emqp', 'pzq']],
    [status, ['ppp']],
  ])('takes any protocol over HTTP, and elsewhere only those it speaks', async (command, others) => {
    await using queue = await showQueue();
    queue.tick();
    for (const protocol of others) {
      expect(await run(command, [], { http: queue.url, protocol })).toMatchObject({ code: 0 });
      const refused = run(command, [], { connect: ['tcp://127.0.0.1:9'], protocol });
      await expect(refused).rejects.toThrow(`--protocol = "${protocol}": must be one of mdp, mdp01`);
    }
  });

  it('everything is printed once', async () => {
    await using queue = await showQueue();
    const { code, lines } = await run(top, [], { http: queue.url });
    expect(code).toBe(0);
    expect(lines[0]).toMatch(/^proj-queue 1\.2\.3, process \d+, up /);
    expect(lines.join('\n')).toMatch(/\n\nQUEUE +PROTOCOL/);
  });

  it('it contains faults and all tables', () => {
    const lines = linesOf(overview);
    expect(lines[2]).toMatch(/^FAULT service-without-workers: Service billing has no workers/);
    expect(lines.flatMap((line, index) => (line === '' ? [lines[index + 1]?.split(' ')[0]] : []))).toEqual([
      'SERVICE',
      'QUEUE',
      'WORKER',
      'CLIENT',
      'SCHEDULE',
    ]);
  });
});
