/**
 * `npm run bench`: every comparison side by side in one run, or `npm run bench -- pzq-store` for one section. Prints tables, or JSON
 * with `--json`; `--plots FOLDER` also saves both there, with drawings. Exit code 1 if a limit is missed or a section fails.
 */
import { parseArgs } from 'node:util';
import { Archive } from './archive.js';
import { machine } from './machine.js';
import { plots } from './plots.js';
import { encodeResults, merge, rounded } from './results.js';
import type { LeftOut, Results } from './results.js';
import { GROUPS, SECTIONS } from './sections.js';
import type { Section } from './sections.js';
import { describe, holds } from './statistics.js';
import type { Finding } from './statistics.js';
import { markdownTable, tablesOf } from './tables.js';

const order = Object.keys(SECTIONS);
const HELP = `npm run bench -- [--json] [--plots FOLDER] [NAME...]

Measures the named sections side by side, or all of them (half an hour, on an otherwise idle machine).
Exit code 1 if a limit is missed or a section fails.

  --json           prints the results as JSON instead of tables
  --plots FOLDER   also saves results and drawings there, and keeps those of other sections
  NAME             ${order.join(', ')},
                   or a group: ${Object.keys(GROUPS).join(', ')}
`;

/** Ends the program if there is none. */
function readCommandLine() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        help: { type: 'boolean', short: 'h', default: false },
        json: { type: 'boolean', default: false },
        plots: { type: 'string' },
      },
    });
  } catch (error) {
    console.error(`bench: ${error instanceof Error ? error.message : String(error)}\n\n${HELP}`);
    process.exit(2);
  }
}

const { values, positionals } = readCommandLine();
if (values.help) {
  console.log(HELP);
  process.exit();
}
const say = values.json ? () => undefined : console.log;
const archive = values.plots === undefined ? undefined : await Archive.open(values.plots);
let results: Results = {};
const failed: string[] = [];

/** One section: its findings are printed and saved, whatever happens to the rest. */
async function measure(name: string, section: Section): Promise<void> {
  say(`\n## ${name}\n`);
  const about = await machine();
  const findings: Finding[] = [];
  const leftOut: LeftOut[] = [];
  const drawings = new Map<string, string>();
  const skip = (what: string, missing: string): void => {
    leftOut.push({ what, missing });
    console.error(`bench: left out: ${what}; missing: ${missing}`);
  };
  const report = (finding: Finding): void => {
    findings.push(rounded(finding));
    if (finding.cell === undefined) say(describe(finding));
  };
  try {
    await section(report, skip, (file, svg) => drawings.set(file, svg));
  } catch (error) {
    failed.push(name);
    console.error(`bench: ${name} failed:`, error);
    skip(name, 'it failed');
  }
  for (const { title, columns, rows } of tablesOf(findings)) say(`\n${markdownTable([title, ...columns], rows)}`);
  for (const [file, svg] of plots(findings)) drawings.set(`${name}-${file}.svg`, svg);
  const part = { machine: about, findings, leftOut, drawings: [...drawings.keys()] };
  results = merge(results, name, part, order);
  await archive?.keep(name, part, drawings, order);
}

const asked = positionals.flatMap((name) => GROUPS[name] ?? [name]);
const unknown = asked.find((name) => !(name in SECTIONS));
if (unknown === undefined) {
  // Programs outside Node end with this one.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
  for (const [name, section] of Object.entries(SECTIONS))
    if (asked.length === 0 || asked.includes(name)) await measure(name, section);
  if (values.json) process.stdout.write(encodeResults(results));
  const met = Object.values(results).every(({ findings }) => findings.every(holds));
  process.exitCode = met && failed.length === 0 ? 0 : 1;
  // Anything that a failed section has left running would keep this process alive.
  if (failed.length > 0) process.exit();
} else {
  console.error(`bench: ${unknown} is not one of ${[...order, ...Object.keys(GROUPS)].join(', ')}`);
  process.exitCode = 2;
}
