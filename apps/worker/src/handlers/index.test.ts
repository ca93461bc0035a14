import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BUILT_IN, findHandler } from './index.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'handlers-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

function file(source: string): string {
  const path = join(folder, 'handler.mjs');
  writeFileSync(path, source);
  return path;
}

describe('findHandler', () => {
  it.each(BUILT_IN)('finds the built-in %s by its name, for any service', async (name) => {
    expect(await findHandler('whatever', name)).toBe(await findHandler(name, undefined));
  });

  it('accepts a file whose default export is a function, also by a relative path', async () => {
    const path = file('export default () => "mine";');
    const found = await findHandler('echo', relative(process.cwd(), path));
    if (found.kind !== 'frames') throw new Error('expected a handler of frames');
    expect(found.handle({ body: [] }, undefined as never)).toBe('mine');
  });

  it.each([
    [
      'without a handler for your own service',
      undefined,
      /^--handler missing: no built-in one is called "mine", it must be/,
    ],
    ['an unknown name', 'ecko', /^--handler = "ecko": must be one of echo, sha256, .*, or a file that exists$/],
    ['a missing file', '/no/such.mjs', /^--handler = "\/no\/such.mjs": must be one of .* or a file that exists$/],
  ])('refuses %s', async (_, handler, line) => {
    await expect(findHandler('mine', handler)).rejects.toThrow(line);
    await expect(findHandler('mine', handler)).rejects.toMatchObject({ code: 'OPTIONS_INVALID' });
  });

  it.each([
    ['does not load', 'throw new Error("broken")', /handler.mjs": must be a module that loads \(Error: broken\)$/],
    [
      'has no default export',
      'export const a = 1',
      /handler.mjs": its default export must be a function, it has none$/,
    ],
    ['exports no function', 'export default 7', /its default export must be a function, it is of type number$/],
  ])('refuses a file that %s', async (_, source, line) => {
    await expect(findHandler('mine', file(source))).rejects.toThrow(line);
  });
});
