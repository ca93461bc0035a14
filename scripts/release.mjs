// `npm run release -- --dry-run`: packs everything that is published, checks each tarball, publishes to a registry on loopback, installs from there as a stranger
// would, and runs what was installed. Without `--dry-run` the tarballs that passed all this go to the registry, with provenance: only the release workflow may.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, existsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inspect } from './release-checks.mjs';
import { startRegistry } from './release-registry.mjs';
import { hasQueuePorts, Trial } from './release-trial.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const PNPM = join(root, 'node_modules/pnpm/bin/pnpm.cjs');
const isDryRun = process.argv.includes('--dry-run');
let passed = 0;
const failures = [];

/** One check: what is wrong is told at once, and at the end once more. */
async function check(name, action) {
  try {
    const note = await action();
    passed += 1;
    console.log(`ok    ${name}${note === undefined ? '' : `  ${note}`}`);
  } catch (error) {
    failures.push(name);
    console.log(`FAIL  ${name}\n      ${error.message.trim().replaceAll('\n', '\n      ')}`);
  }
}

/** Folders of the packages that go to the registry. */
function published() {
  return ['packages', 'apps']
    .flatMap((kind) => readdirSync(join(root, kind)).map((name) => `${kind}/${name}`))
    .filter((dir) => existsSync(join(root, dir, 'package.json')))
    .filter((dir) => JSON.parse(readFileSync(join(root, dir, 'package.json'), 'utf8')).private !== true);
}

/** Packs a built package; only pnpm replaces ranges of the workspace. */
function pack(dir, folder) {
  const args = [PNPM, 'pack', '--json', '--config.ignore-scripts=true', '--pack-destination', folder];
  const { filename } = JSON.parse(execFileSync(process.execPath, args, { cwd: join(root, dir), encoding: 'utf8' }));
  return filename;
}

const kilobytes = (bytes) => `${(bytes / 1000).toFixed(0)} kB`;

async function packAndCheck(folder) {
  const tarballs = [];
  for (const dir of published())
    await check(`pack ${dir}`, async () => {
      const tarball = pack(dir, folder);
      const { manifest, sizes, faults } = await inspect(root, dir, tarball);
      if (faults.length > 0) throw new Error(faults.join('\n'));
      tarballs.push({ tarball, name: manifest.name, version: manifest.version });
      return `${manifest.version}, ${kilobytes(sizes.packed)} packed, ${kilobytes(sizes.unpacked)} unpacked`;
    });
  return tarballs;
}

/** Publishes the very file that was checked. */
function publish(tarball, settings, env = process.env) {
  const args = ['publish', tarball, '--access', 'public', '--loglevel=error', ...settings];
  execFileSync('npm', args, { cwd: dirname(tarball), env, stdio: ['ignore', 'ignore', 'pipe'] });
}

async function tryOut(folder, tarballs) {
  const registry = await startRegistry(root, folder);
  try {
    await check(`publish ${tarballs.length} packages on loopback`, () => {
      const npmrc = join(folder, 'npmrc');
      // Whoever is there may publish; npm insists on a token.
      writeFileSync(npmrc, `${registry.url.slice('http:'.length)}:_authToken=none\n`);
      for (const { tarball } of tarballs) publish(tarball, ['--registry', registry.url, '--userconfig', npmrc]);
    });
    const trial = new Trial(folder, registry.url);
    await check('must hold: empty folders, an empty HOME, no clone: client, worker, broker and queue', async () => {
      if (!(await hasQueuePorts()))
        throw new Error('something listens at the ports 11131 to 11133, which the README of @proj/pzq uses');
      await trial.run();
    });
    console.log('');
    for (const { what, bytes, ms, note } of trial.rows) {
      const size = bytes === undefined ? '' : `${(bytes / 1e6).toFixed(1)} MB`;
      console.log(
        `${what.padEnd(52)} ${size.padStart(8)} ${ms === undefined ? ''.padStart(9) : `${ms.toFixed(0)} ms`.padStart(9)}  ${note}`.trimEnd(),
      );
    }
  } finally {
    await registry.stop();
  }
}

/** Publishes what the registry does not have. */
async function release(tarballs) {
  for (const { tarball, name, version } of tarballs)
    await check(`release ${name} ${version}`, () => {
      if (isPublished(name, version)) return 'is there already';
      publish(tarball, ['--provenance']);
    });
}

function isPublished(name, version) {
  try {
    return (
      execFileSync('npm', ['view', `${name}@${version}`, 'version'], { encoding: 'utf8', stdio: 'pipe' }).trim() ===
      version
    );
  } catch (error) {
    if (/E404/.test(error.stderr)) return false;
    throw error;
  }
}

if (!isDryRun && process.env.GITHUB_ACTIONS !== 'true') {
  console.error(
    'Releases are made by .github/workflows/release.yml, with provenance. Here: npm run release -- --dry-run (docs/RELEASING.md).',
  );
  process.exit(2);
}
const folder = mkdtempSync(join(tmpdir(), 'proj-release-'));
try {
  const tarballs = await packAndCheck(folder);
  if (failures.length === 0) await tryOut(folder, tarballs);
  if (failures.length === 0 && !isDryRun) await release(tarballs);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
console.log(`\n${passed} passed, ${failures.length} failed`);
process.exitCode = failures.length === 0 ? 0 : 1;
