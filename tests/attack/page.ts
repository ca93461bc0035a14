/** The results as tables: for the terminal, and as docs/ATTACKS.md. */
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

/** Heading of the table, of two lines. */
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

/** The page: rows of this run, and for what was not run those of the page as it was. */
export function page(results: readonly Result[], bounds: Bounds, was: string, about: string): string {
  const tables = (['zmtp', 'zmq'] as const).flatMap((transport) => {
    const kept = sectionOf(was, TITLES[transport]);
    const rows = ATTACKS.flatMap(({ name }) => {
      const result = results.find((one) => one.attack === name && one.transport === transport);
      if (result !== undefined) return [rowOf(result, bounds)];
      return kept.split('\n').filter((text) => text.startsWith(`| ${name} |`));
    });
    const leftOut = transport === 'zmq' ? ['', 'Not run, since libzmq does not hold them:', '', ...LEFT_OUT] : [];
    return [`## ${TITLES[transport]}`, '', ...HEADING, ...rows, ...leftOut, ''];
  });
  return [...INTRODUCTION, about, '', ...tables, '## What they do', '', ...WHAT, ''].join('\n');
}

const INTRODUCTION = [
  '# Attacks',
  '',
  'What peers without a key can do to our programs with default options, measured by `npm run attack -- --write`, which writes this page; `npm run attack -- --help` says more.',
  'Everything is a process of its own on one machine: the program, those who are served by it, and the attacker.',
  '',
  'Bounds: nobody else loses anything; 99 of 100 of their answers come within 3 times the quiet figure, or what a bare echo\ntakes on the same machine meanwhile, and 20 ms; resident memory stays within 1.3 times `--memory-max` beside the idle',
  'program, and is back within 1.5 times of what it was after 30 s; at most a hundred log lines a second; exit code 0 within 3 s of SIGTERM. The last column names those that were missed;',
  '(p99) says that others waited for more than 3 times the quiet figure and 20 ms, and that the machine was as slow for a bare echo.',
  '',
];

const LEFT_OUT = ATTACKS.flatMap(({ name, onZmq }) => (onZmq === undefined ? [] : [`- ${name}: ${onZmq}`]));

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
