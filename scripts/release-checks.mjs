// What every tarball must be before it is published. Each check yields the faults that it finds, as sentences.
import { readFileSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** Licences of code that may be in a tarball, or be installed with it. */
export const LICENCES = ['0BSD', 'Apache-2.0', 'BlueOak-1.0.0', 'BSD-2-Clause', 'BSD-3-Clause', 'ISC', 'MIT'];
/** Bytes of a tarball, and of what is in it: of a library and of a program. */
const BUDGET = { packages: { packed: 250_000, unpacked: 1_000_000 }, apps: { packed: 1_200_000, unpacked: 5_000_000 } };
const REQUIRED = ['LICENSE', 'README.md', 'package.json'];
const ALLOWED = /^(dist\/|(LICENSE|README\.md|CHANGELOG\.md|package\.json)$)/;
/** Sources, tests, maps, and what tools leave behind. */
const UNWANTED =
  /\.(map|tsbuildinfo|log|tgz|node)$|\.test\.|(^|\/)(node_modules|src|\.[^/]+)(\/|$)|(?<!\.d)\.[cm]?tsx?$/;
const SCRIPTS = ['preinstall', 'install', 'postinstall', 'prepare'];

/** The tools are those of the tests. */
async function load(root, name) {
  return import(pathToFileURL(createRequire(join(root, 'tests/package.json')).resolve(name)).href);
}

/** What is in a tarball, and what is wrong with it. `root` is the repository, `dir` the folder of the package in it. */
export async function inspect(root, dir, tarball) {
  const { createPackageFromTarballData } = await load(root, '@arethetypeswrong/core');
  const bytes = readFileSync(tarball);
  const contents = createPackageFromTarballData(bytes);
  const prefix = `/node_modules/${contents.packageName}/`;
  const files = contents.listFiles().map((path) => path.slice(prefix.length));
  const read = (path) => contents.readFile(prefix + path);
  const manifest = JSON.parse(read('package.json'));
  const kind = dir.split('/')[0];
  const sizes = {
    packed: statSync(tarball).size,
    unpacked: files.reduce((sum, path) => sum + Buffer.byteLength(read(path)), 0),
  };
  const faults = [
    ...(await lint(root, bytes)),
    ...(kind === 'packages' ? await lintTypes(root, contents) : []),
    ...checkFiles(root, files, read),
    ...checkManifest(manifest, dir),
    ...checkInventory(files, read, manifest),
    ...Object.entries(sizes)
      .filter(([what, size]) => size > BUDGET[kind][what])
      .map(([what, size]) => `${size} bytes ${what}, more than ${BUDGET[kind][what]}`),
  ];
  return { manifest, sizes, faults };
}

async function lint(root, bytes) {
  const [{ publint }, { formatMessage }] = [await load(root, 'publint'), await load(root, 'publint/utils')];
  const { messages, pkg } = await publint({ pack: { tarball: new Uint8Array(bytes).buffer }, strict: true });
  return messages.map((message) => `publint: ${formatMessage(message, pkg, { color: false })}`);
}

async function lintTypes(root, contents) {
  const { checkPackage } = await load(root, '@arethetypeswrong/core');
  const { types, problems = [] } = await checkPackage(contents);
  if (!types) return ['no types'];
  return problems.map((problem) => `types: ${JSON.stringify(problem)}`);
}

function* checkFiles(root, files, read) {
  for (const path of REQUIRED) if (!files.includes(path)) yield `${path} is missing`;
  for (const path of files) {
    if (!ALLOWED.test(path) || UNWANTED.test(path)) yield `${path} should not be there`;
    if (read(path).includes(`${root}/`)) yield `${path} names a folder of this machine`;
  }
}

function* checkManifest(manifest, dir) {
  const text = JSON.stringify(manifest);
  for (const mark of ['workspace:', 'catalog:', '@proj/source', './src/'])
    if (text.includes(mark)) yield `package.json contains ${mark}`;
  for (const name of SCRIPTS) if (name in (manifest.scripts ?? {})) yield `package.json has the script ${name}`;
  if (manifest.private) yield 'package.json is private';
  if (!LICENCES.includes(manifest.license)) yield `licence ${manifest.license}`;
  if (manifest.repository?.directory !== dir)
    yield `package.json says its source is in ${manifest.repository?.directory}`;
}

/** The inventory of a program, or of what a library bundles, names this version and only licences that we may pass on. */
function* checkInventory(files, read, { version, bin }) {
  const path = 'dist/sbom.cdx.json';
  if (!files.includes(path)) {
    if (bin !== undefined) yield `${path} is missing`;
    return;
  }
  const { metadata, components } = JSON.parse(read(path));
  if (metadata.component.version !== version) yield `${path} is of version ${metadata.component.version}: build again`;
  const notices = read('dist/THIRD-PARTY-NOTICES.txt');
  for (const { name, version: of, licenses = [] } of components) {
    for (const { license, expression } of licenses.length === 0 ? [{}] : licenses)
      if (!isAllowed(license?.id ?? expression)) yield `${name} ${of} has the licence ${license?.id ?? expression}`;
    if (!name.startsWith('@proj/') && !notices.includes(`${name} ${of} `) && !isOutside(name))
      yield `the licence of ${name} is not in dist/THIRD-PARTY-NOTICES.txt`;
  }
}

/** Installed beside the program, with its own licence file. */
const isOutside = (name) => ['lmdb', 'pg', 'zeromq'].includes(name);

/** Whether an expression of SPDX asks for no licence but those. */
export function isAllowed(expression = '') {
  const words = expression.replaceAll(/[()]/g, '').split(' OR ');
  return words.some((all) => all.split(' AND ').every((one) => LICENCES.includes(one)));
}
