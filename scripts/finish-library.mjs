// Runs in the folder of a library after tsup, and finishes its `dist`:
// - CommonJS gets a file that requires the ESM one. See docs/adr/0032-one-build-for-import-and-require.md.
// - JavaScript loses its doc comments, which the declarations have.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parseSync } from 'oxc-parser';
import { entriesOf } from './entries.mjs';

/** Comments of licences and of bundlers stay. */
const STAYS = /^\/[/*][!#@*]?\s*[#@!]|^\/\*!/;

/** Without comments on lines of their own. */
function withoutComments(path, text) {
  const { comments, errors } = parseSync(path, text);
  if (errors.length > 0) throw new Error(`${path}: ${errors[0].message}`);
  let slim = text;
  for (const { start, end } of comments.reverse()) {
    const from = text.lastIndexOf('\n', start) + 1;
    if (text.slice(from, start).trim() === '' && text[end] === '\n' && !STAYS.test(text.slice(start, end)))
      slim = slim.slice(0, from) + slim.slice(end + 1);
  }
  return slim;
}

for (const { name } of entriesOf('.'))
  writeFileSync(`dist/${name}.cjs`, `module.exports = require('./${basename(name)}.js');\n`);
for (const name of readdirSync('dist', { recursive: true }).filter((path) => path.endsWith('.js'))) {
  const path = join('dist', name);
  writeFileSync(path, withoutComments(path, readFileSync(path, 'utf8')));
}
