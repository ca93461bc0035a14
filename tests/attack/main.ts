/** `npm run attack`: the command line. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import type { Attack } from './attack.js';
import { ATTACKS } from './attacks.js';
import type { TransportName } from './cast.js';
import { missed } from './judge.js';
import type { Bounds, Result } from './judge.js';
import { HEADING, page, rowOf } from './page.js';
import { siege } from './siege.js';

const HELP = `npm run attack -- [options] [NAME...]

Attacks the built programs like peers without a key, in full size, and prints the effects on memory, on honest clients
and on the program. Exit code 1 if a bound is missed. Linux only; about half a minute for each attack.

  NAME               an attack, or the beginning of its name, such as mdp; default: all
  --transport NAME   zmtp or zmq; default: both. An attack that libzmq does not withstand runs on it only if named in full
  --seconds N        how long an attack lasts; default 10
  --after N          seconds that memory has to shrink again; default 30
  --memory-max N     bytes: passed to the programs, and the bound of their memory
  --list             only prints the names, and what each attack does
  --json             prints the results as JSON instead of a table
  --write            also writes docs/ATTACKS.md; rows that were not run stay as they are
`;

/** The parsed command line, or what is wrong with it. */
function parse(args: readonly string[]) {
  return parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      help: { type: 'boolean', short: 'h', default: false },
      list: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      write: { type: 'boolean', default: false },
      transport: { type: 'string' },
      seconds: { type: 'string', default: '10' },
      after: { type: 'string', default: '30' },
      'memory-max': { type: 'string' },
    },
  });
}

function numberOf(name: string, text: string): number {
  const value = Number(text);
  if (!(value > 0)) throw new Error(`--${name} ${text} is no number above 0`);
  return value;
}

/** Attacks by name prefix, on one transport. */
function chosen(names: readonly string[], transport: TransportName): Attack[] {
  return ATTACKS.filter(
    ({ name, onZmq }) =>
      names.includes(name) ||
      ((names.length === 0 || names.some((word) => name.startsWith(word))) &&
        (transport === 'zmtp' || onZmq === undefined)),
  );
}

/** Runs the command line; resolves with the exit code. `programs` is the folder of this bundle. */
export async function main(args: readonly string[], programs: string): Promise<number> {
  const root = join(dirname(programs), '../..');
  try {
    const { values, positionals: names } = parse(args);
    if (values.help) return (console.log(HELP), 0);
    if (values.list) return (ATTACKS.forEach(({ name, does }) => console.log(`${name}: ${does}`)), 0);
    const unknown = names.find((word) => !ATTACKS.some(({ name }) => name.startsWith(word)));
    if (unknown !== undefined) throw new Error(`no attack begins with ${unknown}; --list prints the names`);
    const memoryMax = values['memory-max'] === undefined ? undefined : numberOf('memory-max', values['memory-max']);
    const plan = {
      apps: pathToFileURL(`${root}/apps/`),
      programs,
      quietMs: 4000,
      attackMs: 1000 * numberOf('seconds', values.seconds),
      afterMs: 1000 * numberOf('after', values.after),
      flags: memoryMax === undefined ? {} : { 'memory-max': memoryMax },
    };
    if (!existsSync('/proc/self/status'))
      throw new Error('resident memory is read from /proc, which does not exist here');
    const path = join(root, 'docs/ATTACKS.md');
    // Row by row, because a full run is long and may be interrupted.
    const keep = (done: readonly Result[]): void => {
      const was = existsSync(path) ? readFileSync(path, 'utf8') : '';
      if (values.write) writeFileSync(path, page(done, { memoryMax }, was, about(plan)));
    };
    const results = await attackAll(transportsOf(values.transport), names, plan, { memoryMax }, values.json, keep);
    if (values.json) console.log(JSON.stringify(results, undefined, 2));
    return results.every((result) => missed(result, { memoryMax }).length === 0) ? 0 : 1;
  } catch (error) {
    console.error(`attack: ${error instanceof Error ? error.message : String(error)}`);
    return 2;
  }
}

function transportsOf(name: string | undefined): readonly TransportName[] {
  if (name === undefined) return ['zmtp', 'zmq'];
  if (name !== 'zmtp' && name !== 'zmq') throw new Error(`--transport ${name}: must be zmtp or zmq`);
  return [name];
}

async function attackAll(
  transports: readonly TransportName[],
  names: readonly string[],
  plan: Omit<Parameters<typeof siege>[1], 'transport'>,
  bounds: Bounds,
  quiet: boolean,
  keep: (done: readonly Result[]) => void,
): Promise<Result[]> {
  const results: Result[] = [];
  const say = (text: string): void => (quiet ? console.error(text) : console.log(text));
  for (const transport of transports) {
    say([`\n${transport}\n`, ...HEADING].join('\n'));
    for (const attack of chosen(names, transport)) {
      const result = await siege(attack, { ...plan, transport });
      results.push(result);
      say(rowOf(result, bounds));
      keep(results);
      for (const why of result.why.slice(0, 3)) console.error(`  ${attack.name}: ${why}`);
    }
  }
  return results;
}

function about({ attackMs, afterMs }: { readonly attackMs: number; readonly afterMs: number }): string {
  const load = loadavg()[0]?.toFixed(1) ?? '?';
  return `Measured on ${cpus().length} cores of ${cpus()[0]?.model ?? 'unknown'}, Node ${process.version}, at a load of ${load} (if the machine has other work, times mean little; everything else counts); attacks of ${attackMs / 1000} s, memory checked for up to ${afterMs / 1000} s afterwards.`;
}
