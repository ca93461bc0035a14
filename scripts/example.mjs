// `npm run example NAME`: builds what the example needs and runs it. What stands behind NAME goes to the example.
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const folder = join(dirname(fileURLToPath(import.meta.url)), '../examples');
const names = readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
  entry.isDirectory() ? [entry.name] : [],
);
const [name, ...args] = process.argv.slice(2);

function list() {
  const width = Math.max(...names.map((each) => each.length));
  return names.map((each) => {
    const { description } = JSON.parse(readFileSync(join(folder, each, 'package.json'), 'utf8'));
    return `  ${each.padEnd(width)}  ${description}`;
  });
}

if (name === undefined || name === '--help') {
  console.log(['npm run example NAME [-- --python]', '', ...list()].join('\n'));
} else if (!names.includes(name)) {
  console.error([`There is no example "${name}". These there are:`, ...list()].join('\n'));
  process.exitCode = 2;
} else {
  const run = (command, ...rest) => spawnSync(command, rest, { stdio: 'inherit' }).status ?? 1;
  const built = run('turbo', 'run', 'build', `--filter=@proj/example-${name}^...`, '--output-logs=errors-only');
  process.exitCode = built === 0 ? run(process.execPath, join(folder, name, 'main.js'), ...args) : built;
}
