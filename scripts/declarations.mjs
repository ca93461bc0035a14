// Writes the declarations (.d.ts, .d.cts) of all libraries into their `dist`, in one go: the compiler in Go writes a file for each source, rollup makes one of those that
// an entry needs, and option-types.mjs shows the options in them. Reads sources only, so it waits for no build.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { rollup } from 'rollup';
import { dts } from 'rollup-plugin-dts';
import { entriesOf } from './entries.mjs';
import { declarationsBelow, showOptions } from './option-types.mjs';

const PACKAGES = resolve(import.meta.dirname, '../packages');
const COMPILER = resolve(import.meta.dirname, '../node_modules/typescript-native/bin/tsc');

/** Packages with a build to be published. */
const LIBRARIES = readdirSync(PACKAGES).filter((name) => existsSync(join(PACKAGES, name, 'tsup.config.ts')));
const ENTRIES = LIBRARIES.flatMap((library) =>
  entriesOf(join(PACKAGES, library)).map((entry) => ({ library, ...entry })),
);

/** Compiles what the entries need, into a folder. Types are checked by the task `types`. */
function compile(folder) {
  const config = {
    extends: resolve(PACKAGES, '../tsconfig.base.json'),
    compilerOptions: {
      noEmit: false,
      emitDeclarationOnly: true,
      noCheck: true,
      rootDir: PACKAGES,
      outDir: folder,
      typeRoots: [resolve(PACKAGES, '../node_modules/@types')],
      // Found through node_modules, they would count as somebody else's, and get no declarations.
      paths: Object.fromEntries(
        ENTRIES.map(({ library, specifier, source }) => [specifier, [join(PACKAGES, library, source)]]),
      ),
    },
    files: ENTRIES.map(({ library, source }) => join(PACKAGES, library, source)),
  };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config));
  execFileSync(process.execPath, [COMPILER, '-p', folder], { stdio: 'inherit' });
}

/** Of an import in a file of declarations: the file; other packages stay imports. */
const ownFiles = {
  name: 'own files',
  resolveId: (id, from) =>
    from === undefined || !id.startsWith('.') ? undefined : resolve(from, '..', id.replace(/\.js$/, '.d.ts')),
};

/** Makes one file of each entry; what entries of a library share becomes a file beside them. */
async function bundle(folder) {
  const input = ENTRIES.map(({ library, name, source }) => [
    `${library}/dist/${name}`,
    join(folder, library, source.replace(/\.ts$/, '.d.ts')),
  ]);
  const bundled = await rollup({
    input: Object.fromEntries(input),
    external: /^[^./]/,
    plugins: [
      ownFiles,
      dts({ compilerOptions: { module: 'NodeNext', moduleResolution: 'NodeNext', noLib: true, types: [] } }),
    ],
    onLog: () => {},
  });
  await bundled.write({
    dir: PACKAGES,
    entryFileNames: '[name].d.ts',
    chunkFileNames: ({ name, moduleIds: [first] }) =>
      `${first.slice(folder.length + 1).split('/', 1)[0]}/dist/${name.replace(/\.d$/, '')}-[hash].d.ts`,
  });
}

/** Files that `require` finds, for those that `import` finds. */
const required = (text) => text.replaceAll(/(?<=['"]\.{1,2}\/[^'"\n]+)\.js(?=['"])/g, '.cjs');

const folders = LIBRARIES.map((library) => join(PACKAGES, library));
for (const folder of folders)
  for (const path of existsSync(join(folder, 'dist')) ? declarationsBelow(join(folder, 'dist')) : []) {
    rmSync(path);
    rmSync(path.replace(/\.ts$/, '.cts'), { force: true });
  }
const compiled = mkdtempSync(join(tmpdir(), 'proj-declarations-'));
try {
  compile(compiled);
  await bundle(compiled);
} finally {
  rmSync(compiled, { recursive: true, force: true });
}
for (const [path, text] of showOptions(folders)) {
  writeFileSync(path, text);
  writeFileSync(path.replace(/\.ts$/, '.cts'), required(text));
}
