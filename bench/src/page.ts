/** Results as a Markdown page: limits first, then every section with its tables and drawings. */
import type { Machine } from './machine.js';
import type { Part, Results } from './results.js';
import { describeLimit, figure, holds } from './statistics.js';
import type { Finding } from './statistics.js';
import { markdownTable, tablesOf } from './tables.js';

const HEAD = `# Results

Written by \`npm run bench -- --plots bench/results\`: do not edit. [How to read this](../README.md). Ratios (\`x\`) are what counts; rates and
times depend on the machine, and on what else it did.`;

/** The whole page. */
export function pageOf(results: Results): string {
  const parts = Object.entries(results).map(([name, part]) => section(name, part));
  return `${[HEAD, limits(results), ...parts].join('\n\n')}\n`;
}

function limits(results: Results): string {
  const rows = Object.entries(results).flatMap(([name, { findings }]) =>
    findings
      .filter(({ limit }) => limit !== undefined)
      .map((finding) => [
        finding.what,
        name,
        `${figure(finding.measured)} ${finding.unit}`,
        describeLimit(finding),
        holds(finding) ? 'holds' : '**missed**',
      ]),
  );
  return `## Limits\n\n${markdownTable(['What', 'Section', 'Measured', 'Limit', ''], rows)}`;
}

function section(name: string, { machine, findings, leftOut, drawings }: Part): string {
  const parts = [`## ${name}`, about(machine)];
  for (const { title, columns, rows } of tablesOf(findings))
    parts.push(`### ${title}`, markdownTable(['', ...columns], rows));
  const others = findings.filter(({ cell }) => cell === undefined).map((finding) => [finding.what, measured(finding)]);
  if (others.length > 0) parts.push(markdownTable(['', 'Measured'], others));
  if (leftOut.length > 0)
    parts.push(leftOut.map(({ what, missing }) => `- Left out: ${what}; missing: ${missing}`).join('\n'));
  parts.push(...drawings.map((file) => `![${file}](${file})`));
  return parts.join('\n\n');
}

function measured(finding: Finding): string {
  return `${figure(finding.measured)} ${finding.unit}`;
}

function about({ date, commit, node, system, cpus, cpu, memoryGiB, load }: Machine): string {
  const wanted = `${load.toFixed(1)} processes wanted a core in the minute before`;
  return `${date.slice(0, 16).replace('T', ' ')} UTC, commit ${commit}, Node ${node}, ${cpus} x ${cpu}, ${memoryGiB} GiB, ${system}; ${wanted}.`;
}
