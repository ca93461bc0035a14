/** Packs packages as a release does, and installs them where nothing of this repository is in reach. */
import { execFile } from 'node:child_process';
import { readFileSync, realpathSync } from 'node:fs';
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { Manifest, Package } from './workspace.js';
import { PUBLISHED, ROOT } from './workspace.js';

const run = promisify(execFile);

/** An empty temporary folder, removed on dispose. */
export async function temporaryFolder(): Promise<{ path: string; remove: () => Promise<void> }> {
  const path = await mkdtemp(join(tmpdir(), 'proj-'));
  return { path, remove: () => rm(path, { recursive: true, force: true }) };
}

/** Packs built packages into `folder` and resolves to the paths of the tarballs, by name. */
export async function pack(packages: readonly Package[], folder: string): Promise<Map<string, string>> {
  const pnpm = join(ROOT, 'node_modules/pnpm/bin/pnpm.cjs');
  const filters = packages.map(({ manifest }) => `--filter=${manifest.name}`);
  // Scripts would write into the JSON; the packages are already built.
  const args = [
    pnpm,
    ...filters,
    '--config.ignore-scripts=true',
    '--recursive',
    'pack',
    '--json',
    '--pack-destination',
    folder,
  ];
  const { stdout } = await run(process.execPath, args, { cwd: ROOT, env: plainEnvironment() });
  const packed = JSON.parse(stdout) as readonly { readonly name: string; readonly filename: string }[];
  return new Map(packed.map(({ name, filename }) => [name, filename]));
}

/** The package and those of our packages that it depends on. */
export function closure(name: string): Package[] {
  const found = new Map<string, Package>();
  const add = (wanted: string): void => {
    const one = PUBLISHED.find(({ manifest }) => manifest.name === wanted);
    if (one === undefined || found.has(wanted)) return;
    found.set(wanted, one);
    Object.keys(one.manifest.dependencies ?? {}).forEach(add);
  };
  add(name);
  return [...found.values()];
}

/** A package from outside the project, and what it needs in another version than the rest. */
interface Outside {
  readonly folder: string;
  readonly own: ReadonlyMap<string, string>;
}

/**
 * Tarballs of everything that packages depend on outside the project, by name, made from the workspace's own installation:
 * with them npm needs no network.
 */
export async function packDependencies(packages: readonly Package[], folder: string): Promise<Map<string, string>> {
  const tarballs = new Map<string, string>();
  for (const [name, outside] of outsideDependencies(packages)) {
    const tarball = join(folder, `${name.replaceAll('/', '-')}.tgz`);
    // A copy first: pnpm hard-links equal files, which tar would record as links, which npm skips.
    const copy = join(folder, 'copies', name);
    await cp(outside.folder, copy, { recursive: true });
    // npm takes one version of each from the tarballs, so a package brings others along.
    for (const [own, from] of outside.own) await cp(from, join(copy, 'node_modules', own), { recursive: true });
    if (outside.own.size > 0) {
      const manifest = manifestIn(copy);
      await writeFile(
        join(copy, 'package.json'),
        JSON.stringify({ ...manifest, bundleDependencies: [...outside.own.keys()] }),
      );
    }
    // npm strips one folder, so a scope must not be another one.
    await run('tar', ['-czf', tarball, '-C', dirname(copy), basename(copy)]);
    tarballs.set(name, tarball);
  }
  return tarballs;
}

const manifestIn = (folder: string) => JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;

/** What the packages depend on, by name; pnpm puts the dependencies of a package beside it. */
function outsideDependencies(packages: readonly Package[]): ReadonlyMap<string, Outside> {
  const found = new Map<string, { readonly folder: string; readonly own: Map<string, string> }>();
  const add = (manifest: Manifest, modules: string, own: Map<string, string>): void => {
    for (const name of Object.keys(manifest.dependencies ?? {})) {
      if (name.startsWith('@proj/')) continue;
      const folder = realpathSync(join(modules, name));
      const known = found.get(name);
      if (known !== undefined) {
        if (known.folder !== folder) own.set(name, folder);
        continue;
      }
      const one = { folder, own: new Map<string, string>() };
      found.set(name, one);
      add(manifestIn(folder), folder.slice(0, -name.length - 1), one.own);
    }
  };
  for (const { dir, manifest } of packages) add(manifest, join(ROOT, dir, 'node_modules'), new Map());
  return found;
}

/** Installs these tarballs and nothing else into `folder` with npm; on failure the error contains npm's output. */
export async function install(tarballs: readonly string[], folder: string): Promise<void> {
  const flags = ['--offline', '--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error'];
  await run('npm', ['install', ...flags, ...tarballs], { cwd: folder, env: plainEnvironment() });
}

/** Runs a script inside `folder` and resolves to what it printed. */
export async function runScript(folder: string, name: string, text: string, args: string[] = []): Promise<string> {
  await writeFile(join(folder, name), text);
  const { stdout } = await run(process.execPath, [name, ...args], {
    cwd: folder,
    env: plainEnvironment(),
    timeout: 600_000,
  });
  return stdout.trim();
}

/** Our environment without the variables of package managers and the test runner. */
export function plainEnvironment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^(npm_|pnpm_|vitest|node_(options|env|path)$)/i.test(name),
  );
  return Object.fromEntries(kept);
}
