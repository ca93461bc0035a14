import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { hasHeader, publicEntries, undocumentedExports, undocumentedOptions } from './docs.js';
import { PACKAGES, PUBLISHED, ROOT, sourceFiles } from './workspace.js';

describe('documentation', () => {
  it('an export without a doc comment is named with the file that declares it', () => {
    const dir = mkdtempSync(join(tmpdir(), 'docs-'));
    onTestFinished(() => {
      rmSync(dir, { recursive: true });
    });
    const [index, inner] = [join(dir, 'index.ts'), join(dir, 'inner.ts')];
    writeFileSync(index, "export { a, b } from './inner.js';\nexport type { C } from './inner.js';\n");
    writeFileSync(
      inner,
      '/** Said. */\nexport const a = 1;\nexport const b = 2; // no\nexport interface C { readonly c: 1 }\n',
    );
    const path = relative(ROOT, inner);
    expect(undocumentedExports([index])).toEqual([`${path}: b`, `${path}: C`]);
  });

  it('an option without a doc comment is named', () => {
    const fields = '{\n/** Milliseconds. */\na: z.number(),\nb: z.number(),\n...others }';
    expect(undocumentedOptions({ path: 'options.ts', text: `z.strictObject(${fields});` })).toEqual(['options.ts: b']);
    expect(undocumentedOptions({ path: 'options.ts', text: `const ownFields = ${fields};` })).toEqual([
      'options.ts: b',
    ]);
    expect(undocumentedOptions({ path: 'options.ts', text: `other(${fields});` })).toEqual([]);
  });

  it.each([
    ['/** What. */\nexport {};', true],
    ['// What.\nexport {};', true],
    ['#!/usr/bin/env node\n/** What. */', true],
    ["import x from 'x';\n/** Late. */", false],
    ['', false],
  ])('%j has a header: %s', (text, expected) => {
    expect(hasHeader({ path: 'x.ts', text })).toBe(expected);
  });

  it('every public entry of every published package is known', () => {
    for (const one of PUBLISHED) expect(publicEntries(one), one.manifest.name).not.toEqual([]);
  });

  it('every public export says what it promises', () => {
    expect(undocumentedExports(PUBLISHED.flatMap(publicEntries))).toEqual([]);
  });

  it.each(PUBLISHED.map(({ dir }) => dir))('%s documents every option', (dir) => {
    expect(sourceFiles(dir).flatMap(undocumentedOptions)).toEqual([]);
  });

  it.each(PACKAGES.map(({ dir }) => dir))('%s opens every file with what it implements', (dir) => {
    const headless = sourceFiles(dir).filter((file) => !hasHeader(file));
    expect(headless.map(({ path }) => path)).toEqual([]);
  });
});
