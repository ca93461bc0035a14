// Runs before the tests: each missing prerequisite of the peers is reported in one line, and the run fails.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { postgresFolder } from '@proj/testkit/postgres-folder';

const python = process.env.PROJ_PYTHON ?? '/usr/bin/python3';
const { status } = spawnSync(python, ['-c', 'import zmq'], { stdio: 'ignore' });
if (status !== 0) {
  const remedy = 'apt-get install python3-zmq (or set PROJ_PYTHON to a Python 3 that has pyzmq)';
  console.error(`interop: ${python} with Debian's package python3-zmq is missing: ${remedy}`);
  process.exitCode = 1;
}
if (spawnSync('strace', ['--version'], { stdio: 'ignore' }).status !== 0) {
  console.error('interop: the program strace is missing: apt-get install strace');
  process.exitCode = 1;
}
if (spawnSync('promtool', ['--version'], { stdio: 'ignore' }).status !== 0) {
  console.error('interop: the program promtool is missing: apt-get install prometheus');
  process.exitCode = 1;
}
for (const shell of ['zsh', 'fish']) {
  if (spawnSync(shell, ['--version'], { stdio: 'ignore' }).status === 0) continue;
  console.error(`interop: the program ${shell} is missing: apt-get install ${shell}`);
  process.exitCode = 1;
}
const chromium = process.env.PROJ_CHROMIUM ?? '/usr/bin/chromium';
if (!existsSync(chromium)) {
  const remedy = 'apt-get install chromium (or set PROJ_CHROMIUM to a Chromium)';
  console.error(`interop: ${chromium} of Debian's package chromium is missing: ${remedy}`);
  process.exitCode = 1;
}
if (postgresFolder() === undefined) {
  const remedy = 'apt-get install postgresql (or set PROJ_POSTGRES to a folder with initdb and postgres)';
  console.error(`interop: the programs of PostgreSQL are missing: ${remedy}`);
  process.exitCode = 1;
}
