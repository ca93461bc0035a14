// Bootstrap for a fresh clone: checks Node, finds or fetches the pinned pnpm, installs when needed, runs one root script.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { constants } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const [script, ...args] = process.argv.slice(2);

function checkNode() {
  const floor = manifest.engines.node.replace('>=', '');
  const [needMajor, needMinor] = floor.split('.').map(Number);
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major > needMajor || (major === needMajor && minor >= needMinor)) return;
  console.error(`This project needs Node ${floor} or newer; this is Node ${process.versions.node}.`);
  process.exit(1);
}

/** The command that runs the pinned pnpm: the local copy, else one on PATH of the same version, else npx. */
function pickPnpm() {
  const local = join(root, 'node_modules/pnpm/bin/pnpm.cjs');
  if (existsSync(local)) return [process.execPath, local];
  const pin = manifest.packageManager.replace('pnpm@', '');
  const found = spawnSync('pnpm', ['--version'], { cwd: root, encoding: 'utf8' });
  if (found.status === 0 && found.stdout.trim() === pin) return ['pnpm'];
  return ['npx', '--yes', `pnpm@${pin}`];
}

function installIfStale() {
  const stamp = join(root, 'node_modules/.modules.yaml');
  const lock = join(root, 'pnpm-lock.yaml');
  if (existsSync(stamp) && statSync(stamp).mtimeMs > statSync(lock).mtimeMs) return;
  const [command, ...prefix] = pickPnpm();
  const result = spawnSync(command, [...prefix, 'install', '--frozen-lockfile'], { cwd: root, stdio: 'inherit' });
  if (result.status !== 0) process.exit(result.status ?? 1);
}

checkNode();
installIfStale();
const [command, ...prefix] = pickPnpm();
const env = { TURBO_TELEMETRY_DISABLED: '1', ...process.env };
const child = spawn(command, [...prefix, '--silent', 'run', script, ...args], { cwd: root, stdio: 'inherit', env });
process.on('SIGTERM', () => child.kill('SIGTERM'));
// Ctrl-C in a terminal reaches the whole process group; passing it on would tell the child twice.
process.on('SIGINT', () => process.stdin.isTTY || child.kill('SIGINT'));
child.on('exit', (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
