/** The first file of a program, `main.js`: answers --help and --version from texts made when it was built, and loads the program for all else. */
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Asks the program of a folder for its texts, and writes `main.js` beside it. */
export async function writeLauncher(folder) {
  const program = join(folder, 'program.js');
  const answers = {};
  for (const flag of ['--help', '--version']) answers[flag] = (await run(process.execPath, [program, flag])).stdout;
  await writeFile(join(folder, 'main.js'), launcher(answers), { mode: 0o755 });
}

function launcher(answers) {
  return `#!/usr/bin/env node
const answers = ${JSON.stringify(answers)};
const [flag, more] = process.argv.slice(2);
if (more === undefined && Object.hasOwn(answers, flag ?? '')) {
  process.stdout.on('error', (error) => process.exit(error.code === 'EPIPE' ? 0 : 1));
  process.stdout.write(answers[flag]);
} else await import('./program.js');
`;
}
