/**
 * What a bundle is made of: `sbom.cdx.json` (CycloneDX 1.5) and `THIRD-PARTY-NOTICES.txt`. Taken from the bundler's own account, so that
 * both name the code that is really in the tarball and no more; what stays outside the bundle is named by the manifest's dependencies.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const HERE = dirname(fileURLToPath(import.meta.url));

/** Code of others that is in a file of ours, and the package it is from. */
const COPIES = { 'packages/zmtp/src/boxes/sodium-module.ts': 'packages/zmtp/node_modules/libsodium-sumo' };

/** An esbuild plugin that writes both into the output folder. */
export function inventory() {
  return {
    name: 'inventory',
    setup(build) {
      build.initialOptions.metafile = true;
      build.onEnd(({ metafile }) => {
        if (metafile === undefined) return;
        const root = build.initialOptions.absWorkingDir ?? process.cwd();
        const folder = resolve(root, build.initialOptions.outdir);
        mkdirSync(folder, { recursive: true });
        const packages = packagesOf(metafile, root);
        const program = manifestOf(root);
        writeFileSync(join(folder, 'sbom.cdx.json'), `${JSON.stringify(sbom(program, packages), undefined, 2)}\n`);
        writeFileSync(join(folder, 'THIRD-PARTY-NOTICES.txt'), licences(packages.filter(isThirdParty)));
      });
    },
  };
}

/** The packages that gave code to an output, by name. */
function packagesOf(metafile, root) {
  const used = new Set(Object.values(metafile.outputs).flatMap(({ inputs }) => Object.keys(inputs)));
  const folders = new Set(
    [...used].map((input) => folderOf(resolve(root, input))).filter((folder) => folder !== undefined),
  );
  for (const [file, folder] of Object.entries(COPIES))
    if ([...used].some((input) => resolve(root, input) === resolve(HERE, '..', file)))
      folders.add(resolve(HERE, '..', folder));
  folders.delete(root);
  const packages = [...folders].map((folder) => ({ ...manifestOf(folder), folder }));
  return packages.sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** The nearest folder above a file whose manifest has a name and a version. */
function folderOf(file) {
  for (let folder = dirname(file); folder !== dirname(folder); folder = dirname(folder)) {
    const path = join(folder, 'package.json');
    if (existsSync(path) && manifestOf(folder).version !== undefined) return folder;
  }
  return undefined;
}

function manifestOf(folder) {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
}

function isThirdParty({ name }) {
  return !name.startsWith('@proj/');
}

function sbom(program, packages) {
  const external = Object.keys(program.dependencies ?? {}).map((name) => {
    const folder = resolve('node_modules', name);
    return { ...manifestOf(folder), folder };
  });
  const components = [...packages, ...external];
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    version: 1,
    metadata: { component: { ...componentOf(program), type: 'application' } },
    components: components.map((each) => componentOf(each)),
    dependencies: [
      { ref: purlOf(program), dependsOn: components.map(purlOf) },
      ...components.map((each) => ({ ref: purlOf(each) })),
    ],
  };
}

function componentOf(manifest) {
  const { name, version, license } = manifest;
  const purl = purlOf(manifest);
  return {
    type: 'library',
    'bom-ref': purl,
    name,
    version,
    purl,
    ...(license === undefined
      ? {}
      : { licenses: [/ (OR|AND) /.test(license) ? { expression: license } : { license: { id: license } }] }),
  };
}

function purlOf({ name, version }) {
  return `pkg:npm/${name.replace('@', '%40')}@${version}`;
}

function licences(packages) {
  const texts = packages.map(({ name, version, license, folder }) => {
    const file = readdirSync(folder).find((each) => /^(licen[cs]e|copying)/i.test(each));
    const text = file === undefined ? '' : `\n${readFileSync(join(folder, file), 'utf8').trim()}\n`;
    return `${name} ${version} (${license ?? 'no licence named'})\n${text}`;
  });
  return texts.join(`\n${'-'.repeat(80)}\n\n`);
}
