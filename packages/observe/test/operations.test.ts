/** docs/operations.md names every metric that is served, and no other. `OPERATIONS_REWRITE=1` writes its table. */
import { readFile, writeFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { SERVER_FAMILIES } from '../src/families.js';
import { processFamilies } from '../src/process-families.js';

const DOCUMENT = new URL('../../../docs/operations.md', import.meta.url);
const TABLE = /(<!-- metrics -->\n)[^]*(<!-- \/metrics -->)/;

it('the table of metrics matches what is served', async () => {
  const { families, close } = processFamilies();
  close();
  const rows = [...SERVER_FAMILIES, ...families].map(({ name, type, labels, help }) => {
    const own = labels.filter((label) => label !== 'le').map((label) => `\`${label}\``);
    return `| \`${name}\` | ${type} | ${own.join(', ')} | ${help} |`;
  });
  const table = `\n| metric | type | labels | meaning |\n| --- | --- | --- | --- |\n${rows.join('\n')}\n\n`;
  const before = await readFile(DOCUMENT, 'utf8');
  const after = before.replace(TABLE, `$1${table}$2`);
  if (process.env['OPERATIONS_REWRITE'] !== undefined) await writeFile(DOCUMENT, after);
  else expect(before).toBe(after);
  expect(rows.length).toBeGreaterThan(20);
});
