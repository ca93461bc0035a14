/** The contents of the repository, for the checks: its packages, their manifests, their source files. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Absolute path of the repository. */
export const ROOT = join(dirname(fileURLToPath(import.meta.url)), '../..');

/** The fields of a `package.json` that the checks read. */
export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly private?: boolean;
  readonly exports?: Readonly<Record<string, unknown>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

/** One workspace package. */
export interface Package {
  /** Path from the root with forward slashes, such as `packages/frames`. */
  readonly dir: string;
  readonly manifest: Manifest;
}

/** A source file: path from the root with forward slashes, and its text. */
export interface SourceFile {
  readonly path: string;
  readonly text: string;
}

function children(folder: string): string[] {
  return readdirSync(join(ROOT, folder)).map((name) => `${folder}/${name}`);
}

/** All packages below `packages/` and `apps/`, sorted by path. */
export const PACKAGES: readonly Package[] = [...children('packages'), ...children('apps')]
  .sort()
  .filter((dir) => existsSync(join(ROOT, dir, 'package.json')))
  .map((dir) => ({ dir, manifest: JSON.parse(readFileSync(join(ROOT, dir, 'package.json'), 'utf8')) as Manifest }));

/** The tasks of the turbo.json in a folder, from the root (`.`); none if there is no such file. */
export function turboTasks(dir: string): Readonly<Record<string, { readonly dependsOn?: readonly string[] }>> {
  const path = join(ROOT, dir, 'turbo.json');
  if (!existsSync(path)) return {};
  return (JSON.parse(readFileSync(path, 'utf8')) as { tasks: ReturnType<typeof turboTasks> }).tasks;
}

/** Those that go to the registry. */
export const PUBLISHED: readonly Package[] = PACKAGES.filter(
  ({ dir, manifest }) => dir.startsWith('packages/') && manifest.private !== true,
);

/** The `.ts` files below `<dir>/src`, without tests and their helpers. */
export function sourceFiles(dir: string): SourceFile[] {
  return filesBelow(`${dir}/src`).filter(
    ({ path }) => path.endsWith('.ts') && !path.endsWith('.test.ts') && !path.includes('/test/'),
  );
}

/** All test files and scenarios of the repository. */
export function testFiles(): SourceFile[] {
  const folders = [
    ...PACKAGES.flatMap(({ dir }) => [`${dir}/src`, `${dir}/test`]),
    'tests/simulation',
    'tests/interop',
    'tests/chaos',
  ];
  return folders.flatMap(filesBelow).filter(({ path }) => /\.test\.ts$|\/scenarios\/.+\.txt$/.test(path));
}

/** The test files of the whole workspace. */
export function allTestFiles(): SourceFile[] {
  const inPackages = PACKAGES.flatMap(({ dir }) => [`${dir}/src`, `${dir}/test`]);
  const inTests = children('tests').filter(
    (path) => path !== 'tests/node_modules' && statSync(join(ROOT, path)).isDirectory(),
  );
  return [...inPackages, ...inTests, 'bench/src'].flatMap(filesBelow).filter(({ path }) => path.endsWith('.test.ts'));
}

function filesBelow(folder: string): SourceFile[] {
  if (!existsSync(join(ROOT, folder))) return [];
  return readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)).replaceAll('\\', '/'))
    .sort()
    .map((path) => ({ path, text: readFileSync(join(ROOT, path), 'utf8') }));
}
