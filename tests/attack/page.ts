/** The results as tables: for the terminal, and as docs/ATTACKS.md. */
import type { Attack } from './attack.js';
import { ATTACKS } from './attacks.js';
import { isUnproven, missed } from './judge.js';
import type { Bounds, Result } from './judge.js';

const MIB = 2 ** 20;
const COLUMNS = [
  'attack',
  'RSS MB: before / peak / after',
  'p99 ms: quiet / under attack / bare echo meanwhile',
  'asked',
  'lost',
  'log lines',
  'exit, ms',
  'missed',
];

const TITLES = { zmtp: 'On zmtp, the default', zmq: 'On libzmq (`--transport zmq`)' } as const;

/** Heading of the table, two lines. */
export const HEADING: readonly string[] = [line(COLUMNS), line(COLUMNS.map(() => '---'))];

/** A row of the table. */
export function rowOf(result: Result, bounds: Bounds): string {
  const { attack, rss, quietP99Ms, p99Ms, machineP99Ms, asked, lost, logLines, exit, exitMs } = result;
  const mib = (bytes: number): string => (Number.isNaN(bytes) ? '-' : (bytes / MIB).toFixed(0));
  return line([
    attack,
    [rss.before, rss.peak, rss.after].map(mib).join(' / '),
    [quietP99Ms, p99Ms, machineP99Ms].map((ms) => ms.toFixed(1)).join(' / '),
    asked.toString(),
    lost.toString(),
    logLines.toString(),
    `${String(exit)}, ${exitMs.toFixed(0)}`,
    [...missed(result, bounds), ...(isUnproven(result) ? ['(p99)'] : [])].join(', ') || '-',
  ]);
}

/** The page: rows of this run, and the previous rows for attacks that were not run. */
export function page(results: readonly Result[], bounds: Bounds, was: string, about: string): string {
  const tables = (['zmtp', 'zmq'] as const).flatMap((transport) => {
    const kept = sectionOf(was, TITLES[transport]);
    const rows = ATTACKS.flatMap(({ name }) => {
      const result = results.find((one) => one.attack === name && one.transport === transport);
      if (result !== undefined) return [rowOf(result, bounds)];
      return kept.split('\n').filter((text) => text.startsWith(`| ${name} |`));
    });
    const leftOut =
      transport === 'zmq'
        ? [
            '',
            'Bounds that libzmq misses:',
            '',
            ...listed(({ missesOnZmq }) => missesOnZmq),
            '',
            'Not run, because libzmq does not withstand them:',
            '',
            ...listed(({ onZmq }) => onZmq),
          ]
        : [];
    return [`## ${TITLES[transport]}`, '', ...HEADING, ...rows, ...leftOut, ''];
  });
  return [...INTRODUCTION, about, '', ...tables, '## What the attacks do', '', ...WHAT, ''].join('\n');
}

const INTRODUCTION = [
  '# Attacks',
  '',
  'What peers without a key can do to our programs with default options. `npm run attack -- --write` measures it and writes this page; `npm run attack -- --help` says more.',
  'The program, its honest clients and the attacker are separate processes on one machine.',
  '',
  'Bounds: the honest clients lose nothing; 99 of 100 of their answers come within 3 times the quiet figure, or the time of a\nbare echo on the same machine meanwhile, plus 20 ms; resident memory stays within 1.3 times `--memory-max` plus the idle',
  "program, and within 30 s returns to 1.5 times its earlier size (without pages of files that came since, such as those of the queue's store: a copy of",
  'what is on disk, which the system takes away when it needs room); at most a hundred log lines a second; exit code 0 within 3 s of SIGTERM. The last column names missed bounds;',
  '(p99) means that answers took more than 3 times the quiet figure and 20 ms, but a bare echo was as slow.',
  '',
];

/** A line for each attack about which there is something to say. */
function listed(say: (attack: Attack) => string | undefined): string[] {
  return ATTACKS.flatMap((attack) => {
    const said = say(attack);
    return said === undefined ? [] : [`- ${attack.name}: ${said}`];
  });
}

const WHAT = [
  line(['attack', 'what it does']),
  line(['---', '---']),
  ...ATTACKS.map(({ name, does }) => line([name, does])),
];

function line(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`;
}

function sectionOf(text: string, title: string): string {
  return text.split(/^## /m).find((section) => section.startsWith(title)) ?? '';
}
