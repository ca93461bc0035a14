// What a user of the client alone gets: `npm run sizes` installs its tarball into an empty folder and prints sizes, what else is installed, and the time of a first request.
import { spawn, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { fileURLToPath, pathToFileURL } from 'node:url';

/** What must hold: bytes of ours as installed, bytes of a minified bundle with one client as it is loaded, milliseconds from the start of a process to its first reply. */
export const BUDGET = { installedBytes: 1_500_000, bundleBytes: 150_000, firstRequestMs: 300 };

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const PACKAGES = ['client', 'frames', 'heartbeat', 'transport', 'zmtp'];
const ROUNDS = 7;

const filesBelow = (folder) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));

/** Bytes of all files below a folder. */
export function bytesBelow(folder) {
  return filesBelow(folder).reduce((sum, path) => sum + statSync(path).size, 0);
}

/** The add-ons and install scripts below a `node_modules`. */
export function nativeBelow(folder) {
  return filesBelow(folder).filter((path) => {
    if (basename(path) !== 'package.json') return /\.(node|gyp)$/.test(path);
    const { scripts = {} } = JSON.parse(readFileSync(path, 'utf8'));
    return ['preinstall', 'install', 'postinstall'].some((name) => name in scripts);
  });
}

/** Bytes of a bundle that needs only `MdpClient`, minified, made in a folder where the client is installed: what is loaded at once, and with what CURVE loads. */
export async function bundleOf(folder) {
  const { build } = createRequire(join(root, 'tests/package.json'))('esbuild');
  const { metafile } = await build({
    stdin: { contents: "export { MdpClient } from '@proj/client';", resolveDir: folder },
    bundle: true,
    minify: true,
    splitting: true,
    write: false,
    metafile: true,
    outdir: folder,
    format: 'esm',
    platform: 'node',
    logLevel: 'error',
  });
  const outputs = Object.entries(metafile.outputs);
  const atOnce = new Set(outputs.filter(([, { entryPoint }]) => entryPoint === '<stdin>').map(([path]) => path));
  for (const path of atOnce)
    for (const { path: found, kind } of metafile.outputs[path]?.imports ?? [])
      if (kind === 'import-statement') atOnce.add(found);
  const sum = (some) => some.reduce((total, [, { bytes }]) => total + bytes, 0);
  return { atOnce: sum(outputs.filter(([path]) => atOnce.has(path))), all: sum(outputs) };
}

function run(command, args, cwd) {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${stderr}${stdout}`);
  return stdout;
}

/** Installs the client from tarballs, as from a registry; zod is that of the workspace. */
function install(folder) {
  const pnpm = join(root, 'node_modules/pnpm/bin/pnpm.cjs');
  for (const name of PACKAGES)
    run(
      process.execPath,
      [pnpm, 'pack', '--config.ignore-scripts=true', '--pack-destination', folder],
      join(root, 'packages', name),
    );
  const zod = realpathSync(join(root, 'packages/client/node_modules/zod'));
  run(
    'tar',
    ['--hard-dereference', '-czhf', join(folder, 'zod.tgz'), '--exclude=node_modules', '-C', dirname(zod), 'zod'],
    folder,
  );
  const tarballs = readdirSync(folder).filter((name) => name.endsWith('.tgz'));
  writeFileSync(join(folder, 'package.json'), '{ "private": true }');
  run(
    'npm',
    ['install', '--offline', '--no-audit', '--no-fund', '--loglevel=error', ...tarballs.map((name) => `./${name}`)],
    folder,
  );
}

const FIRST_REQUEST = `import { MdpClient } from '@proj/client';
const client = new MdpClient({ endpoints: [process.argv[2]] });
const [reply] = await client.request('echo', 'hello');
console.log(String(reply));
process.exit();
`;

/** Milliseconds from the start of a process until it has printed its first reply, once for each round. */
async function firstRequests(folder) {
  const load = (name) => import(pathToFileURL(join(root, 'packages', name, 'dist/index.js')).href);
  const [{ MdpBroker }, { MdpWorker }] = [await load('broker'), await load('worker')];
  const broker = new MdpBroker({ endpoint: 'tcp://127.0.0.1:*' });
  const endpoints = await broker.start();
  const worker = new MdpWorker({ endpoints, service: 'echo', handler: ({ body }) => body });
  await worker.start();
  writeFileSync(join(folder, 'first.mjs'), FIRST_REQUEST);
  const times = [];
  for (let round = 0; round < ROUNDS; round++) {
    const startedAt = performance.now();
    const child = spawn(process.execPath, ['first.mjs', endpoints[0]], {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await new Promise((resolve) => child.stdout.once('data', resolve));
    times.push(performance.now() - startedAt);
    await new Promise((resolve) => child.once('exit', resolve));
  }
  await worker.drain();
  await broker.close();
  return times.sort((one, other) => one - other);
}

async function main() {
  if (!existsSync(join(root, 'packages/client/dist'))) throw new Error('not built: npm run build');
  const folder = mkdtempSync(join(tmpdir(), 'proj-sizes-'));
  try {
    install(folder);
    const modules = join(folder, 'node_modules');
    const show = (what, value, unit, limit) =>
      console.log(
        `${what.padEnd(46)} ${value.toFixed(0).padStart(9)} ${unit.padEnd(5)}${limit === undefined ? '' : ` of ${limit}${value > limit ? ', TOO MUCH' : ''}`}`,
      );
    for (const name of PACKAGES) show(`@proj/${name}`, bytesBelow(join(modules, '@proj', name)), 'bytes');
    show('ours, installed', bytesBelow(join(modules, '@proj')), 'bytes', BUDGET.installedBytes);
    for (const name of readdirSync(modules).filter((one) => !/^[.@]/.test(one)))
      show(`${name}, of others`, bytesBelow(join(modules, name)), 'bytes');
    show('add-ons and install scripts', nativeBelow(modules).length, '', 0);
    const { atOnce, all } = await bundleOf(folder);
    show('a bundle with MdpClient, minified', atOnce, 'bytes', BUDGET.bundleBytes);
    show('  with what CURVE loads', all, 'bytes');
    const times = await firstRequests(folder);
    show('first reply after the start, median', times[(ROUNDS - 1) / 2], 'ms', BUDGET.firstRequestMs);
    show('  least', times[0], 'ms');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main();
