import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PROTOCOLS } from '../protocols.js';
import { ruleNumbersOf } from './conformance.js';
import { drawRules, mappedRules, pathOf } from './rule-map.js';
import { PUBLISHED, ROOT, sourceFiles } from './workspace.js';

const TABLE = `/**
 * An engine.
 *
 * | rule | what | file |
 * | --- | --- | --- |
 * | 1, 3 to 4 | who may speak | legality.ts, shared/rights.ts |
 * | 2 | \`limit\` | engine.ts |
 */
/** | 9 | not a rule | other.ts | */
`;

describe('a table at the top of an engine', () => {
  it('names files for each number of its rows', () => {
    const speak = { what: 'who may speak', files: ['legality.ts', 'shared/rights.ts'] };
    expect(mappedRules(TABLE)).toEqual([
      { number: 1, ...speak },
      { number: 3, ...speak },
      { number: 4, ...speak },
      { number: 2, what: '`limit`', files: ['engine.ts'] },
    ]);
    expect(mappedRules('/** An engine without a table. */')).toEqual([]);
  });

  it('names a file as seen from its folder or from one above', () => {
    const files = new Set([
      'packages/a/src/x/engine/legality.ts',
      'packages/a/src/x/options.ts',
      'packages/b/src/y.ts',
    ]);
    const seen = (name: string) => pathOf(name, 'packages/a/src/x/engine/engine.ts', (path) => files.has(path));
    expect(seen('legality.ts')).toBe('packages/a/src/x/engine/legality.ts');
    expect(seen('options.ts')).toBe('packages/a/src/x/options.ts');
    expect(seen('b/src/y.ts')).toBe('packages/b/src/y.ts');
    expect(seen('z.ts')).toBeUndefined();
  });

  it('is drawn by number, with links', () => {
    const section = {
      protocol: 'x',
      heading: '4. Job manager',
      tables: [{ path: 'packages/a/src/engine.ts', text: TABLE }],
    };
    const [, ...lines] = drawRules([section], () => true).split('## ');
    expect(lines.join('')).toBe(`x: job manager

What the rules say: [x.md](protocols/x.md#4-job-manager).

| rule | what | file |
| --- | --- | --- |
| 1 | who may speak | [legality.ts](../packages/a/src/legality.ts), [shared/rights.ts](../packages/a/src/shared/rights.ts) |
| 2 | \`limit\` | [engine.ts](../packages/a/src/engine.ts) |
| 3 | who may speak | [legality.ts](../packages/a/src/legality.ts), [shared/rights.ts](../packages/a/src/shared/rights.ts) |
| 4 | who may speak | [legality.ts](../packages/a/src/legality.ts), [shared/rights.ts](../packages/a/src/shared/rights.ts) |
`);
  });
});

const exists = (path: string): boolean => existsSync(join(ROOT, path));
const tables = PUBLISHED.flatMap(({ dir }) => sourceFiles(dir)).filter(({ text }) => mappedRules(text).length > 0);
const sections = Object.entries(PROTOCOLS).flatMap(([protocol, { roles }]) =>
  roles.map(([, heading, files]) => ({
    protocol,
    heading: heading.replace('## ', ''),
    tables: tables.filter(({ path }) => files.test(path)),
  })),
);

describe('the tables of the engines', () => {
  it.each(sections)('name a file for every rule of $protocol, $heading', ({ protocol, heading, tables: own }) => {
    const document = readFileSync(join(ROOT, 'docs/protocols', `${protocol}.md`), 'utf8');
    const numbers = own.flatMap(({ text }) => mappedRules(text).map(({ number }) => number));
    expect(numbers.sort((one, other) => one - other)).toEqual(ruleNumbersOf(document, `## ${heading}`));
  });

  it('name only files that exist', () => {
    const missing = tables.flatMap(({ path, text }) =>
      mappedRules(text).flatMap(({ number, files }) =>
        files
          .filter((name) => pathOf(name, path, exists) === undefined)
          .map((name) => `${path}, rule ${number}: ${name}`),
      ),
    );
    expect(missing).toEqual([]);
  });

  it('are the tables of docs/RULES.md', () => {
    const page = join(ROOT, 'docs/RULES.md');
    const drawn = drawRules(sections, exists);
    if (process.env['RULES_REWRITE'] === '1') writeFileSync(page, drawn);
    else expect(readFileSync(page, 'utf8')).toBe(drawn);
  });
});
