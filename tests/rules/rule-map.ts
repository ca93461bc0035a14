/** Reads the tables `| rule | what | file |` at the top of the engines, and draws docs/RULES.md from them. */
import { dirname } from 'node:path';
import type { SourceFile } from './workspace.js';

/** A numbered rule in such a table. */
export interface MappedRule {
  readonly number: number;
  readonly what: string;
  /** As the table names them, the first place to look first. */
  readonly files: readonly string[];
}

/** The rules that a file's table names: one for each number of a row. */
export function mappedRules(text: string): MappedRule[] {
  const [, table = ''] = text.split(' * | rule | what | file |\n');
  const [rows = ''] = table.split(' */');
  return [...rows.matchAll(/^ \* \| (\d[^|]*) \| (.+) \| ([^|]+) \|$/gm)].flatMap(
    ([, numbers = '', what = '', files = '']) =>
      numbersOf(numbers).map((number) => ({ number, what, files: files.split(', ') })),
  );
}

/** `1, 3 to 5` is 1, 3, 4 and 5. */
function numbersOf(text: string): number[] {
  return text.split(', ').flatMap((part) => {
    const [from = 0, to = from] = part.split(' to ').map(Number);
    return Array.from({ length: to - from + 1 }, (_, index) => from + index);
  });
}

/** The path of a file that a table names: seen from the table's folder, or from the nearest folder above it in which it exists. */
export function pathOf(name: string, table: string, exists: (path: string) => boolean): string | undefined {
  for (let folder = dirname(table); folder !== '.'; folder = dirname(folder))
    if (exists(`${folder}/${name}`)) return `${folder}/${name}`;
  return undefined;
}

/** A section of numbered rules, and the files with its tables. */
export interface RuleSection {
  readonly protocol: string;
  /** Its heading in the protocol's document, without marks. */
  readonly heading: string;
  readonly tables: readonly SourceFile[];
}

/** The page: a table for each section. */
export function drawRules(sections: readonly RuleSection[], exists: (path: string) => boolean): string {
  return `${INTRODUCTION}\n${sections.map((section) => drawSection(section, exists)).join('\n')}`;
}

const INTRODUCTION = `# Where is rule N?

Each numbered rule of a protocol, and the files that follow it, the first place to look first. Drawn from the tables at the top of the engines by
\`cd tests && RULES_REWRITE=1 npx vitest run rules/rule-map\`.
`;

function drawSection({ protocol, heading, tables }: RuleSection, exists: (path: string) => boolean): string {
  const rules = tables.flatMap(({ path, text }) => mappedRules(text).map((rule) => ({ ...rule, table: path })));
  const rows = rules
    .sort((one, other) => one.number - other.number)
    .map(({ number, what, files, table }) => {
      const links = files.map((name) => `[${name}](../${pathOf(name, table, exists) ?? 'missing'})`);
      return `| ${number} | ${what} | ${links.join(', ')} |`;
    });
  const anchor = heading
    .toLowerCase()
    .replace(/[^\w -]/g, '')
    .replaceAll(' ', '-');
  const [, title = heading] = /^\d+\. (.+)$/.exec(heading) ?? [];
  return [
    `## ${protocol}: ${title.toLowerCase()}`,
    '',
    `What the rules say: [${protocol}.md](protocols/${protocol}.md#${anchor}).`,
    '',
    '| rule | what | file |',
    '| --- | --- | --- |',
    ...rows,
    '',
  ].join('\n');
}
