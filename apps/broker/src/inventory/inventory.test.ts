/** Inventories as people write them, and invalid ones. */
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { followInventory } from './follow.js';
import { loadInventory } from './load.js';
import type { LoadedInventory, Seen } from './load.js';

let folder: string;
let main: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'inventory-'));
  main = join(folder, 'inventory.yaml');
});

afterEach(() => rm(folder, { recursive: true }));

async function load(
  files: Record<string, string>,
  env: Record<string, string> = {},
  templates = true,
): Promise<LoadedInventory> {
  for (const [name, text] of Object.entries(files)) {
    await mkdir(join(folder, name, '..'), { recursive: true });
    await writeFile(join(folder, name), text);
  }
  return loadInventory(main, env, new Map(), templates);
}

/** The error message, without the folder. */
async function refusal(files: Record<string, string>, env: Record<string, string> = {}): Promise<string> {
  const error: unknown = await load(files, env).catch((reason: unknown) => reason);
  expect(error).toMatchObject({ name: 'ProjError', code: 'CORRUPT' });
  return (error as Error).message.replaceAll(`${folder}/`, '');
}

const inline = (yaml: string) => ({
  'inventory.yaml': `workers:\n  '*':\n    - ${yaml.replaceAll('\n', '\n      ')}\n`,
});

async function valueOf(yaml: string, env: Record<string, string> = {}): Promise<unknown> {
  const { inventory } = await load(inline(`value: ${yaml}`), env);
  return inventory.workers[0]?.data['value'];
}

describe('an inventory', () => {
  it('reads its files relative to its folder, in its order', async () => {
    const { inventory, endpoint, warnings } = await load({
      'inventory.yaml': `
broker:
  endpoint: tcp://127.0.0.1:5555
  shared_key: "do not show"
  zmq_auth: false
workers:
  sample-*:
    - sample/common.yaml
    - inline_key: dflt
  sample-w1:
    - sample/w1.yaml
    - sample/common.yaml
topology:
  broker: true
  workers: [sample-w1]
`,
      'sample/common.yaml': 'service: sample\nlst: [a, b]\n',
      'sample/w1.yaml': '',
    });
    const common = { service: 'sample', lst: ['a', 'b'] };
    expect(inventory).toEqual({
      broker: { endpoint: 'tcp://127.0.0.1:5555', zmq_auth: false },
      topology: { broker: true, workers: ['sample-w1'] },
      workers: [
        { glob: 'sample-*', source: 'sample/common.yaml', data: common },
        { glob: 'sample-*', source: '(inline)', data: { inline_key: 'dflt' } },
        { glob: 'sample-w1', source: 'sample/w1.yaml', data: {} },
        { glob: 'sample-w1', source: 'sample/common.yaml', data: common },
      ],
    });
    expect([endpoint, warnings]).toEqual(['tcp://127.0.0.1:5555', []]);
  });

  it('may be empty', async () => {
    const { inventory } = await load({ 'inventory.yaml': '' });
    expect(inventory).toEqual({ broker: {}, topology: null, workers: [] });
  });

  it('reports its unknown sections', async () => {
    const { warnings } = await load({ 'inventory.yaml': 'logging: {}\nhooks: {}\nworkers: {}\n' });
    expect(warnings).toEqual([`${main}: ignored: logging, hooks`]);
  });

  it('is YAML 1.1, as NORFAB reads it, and becomes JSON', async () => {
    expect(await valueOf('[yes, Off, n, y]')).toEqual([true, false, 'n', 'y']);
    expect(await valueOf('{<<: {a: 1}, b: 2}')).toEqual({ a: 1, b: 2 });
    expect(await valueOf('2026-11-20')).toBe('2026-11-20');
    expect(await valueOf('10:30:00')).toBe('10:30:00');
    expect(await valueOf('0x10')).toBe(16);
  });
});

describe('variables', () => {
  it.each([
    ['${HOST}', 'h'],
    ['tcp://${HOST}:${PORT:-5555}', 'tcp://h:5555'],
    ['${EMPTY:-d}', 'd'],
    ['${EMPTY}', ''],
    ['${UNSET:-}', ''],
    ['$${HOST}', '${HOST}'],
    ['$$${HOST}', '$${HOST}'],
    ['$HOST ${1x} ${', '$HOST ${1x} ${'],
    ['${UNSET:-a:-b}', 'a:-b'],
  ])('%s is %j', async (text, expected) => {
    expect(await valueOf(JSON.stringify(text), { HOST: 'h', EMPTY: '' })).toBe(expected);
  });

  it('are replaced only in values, stay text, and are not replaced again', async () => {
    expect(await valueOf('{"${A}": ["${A}"]}', { A: '1' })).toEqual({ '${A}': ['1'] });
    expect(await valueOf('"${A}"', { A: '${B}' })).toBe('${B}');
  });

  it('without a value and a default are refused with file, line and key', async () => {
    expect(await refusal(inline('a: 1\nb: {c: [x, "${PASSWORD}"]}'))).toBe(
      'inventory.yaml:4: workers.*.0.b.c.1: variable PASSWORD is not set: set it, or write ${PASSWORD:-default}',
    );
  });
});

describe('Jinja2, if it is turned off', () => {
  it.each([
    ['value: "{{ env.HOST }}"\n', 1],
    ['a: 1\n\nvalue: x {% if y %}\n', 3],
    ['a: |\n  first\n  {{ second }}\n', 3],
    ['a: |\n  # {{ no comment }}\n', 2],
  ])('%j is read as plain YAML, with a warning', async (text, line) => {
    const { warnings } = await load({ 'inventory.yaml': 'workers: {a: [x.yaml]}', 'x.yaml': text }, {}, false);
    expect(warnings).toEqual([`${folder}/x.yaml:${line}: looks like a Jinja2 template; it is read as plain YAML`]);
  });

  it.each(['# {{ comment }}\na: 1\n', 'a: 1 # {% comment %}\n', 'a: {b: {c: 1}}\n'])('%j is none', async (text) => {
    const { warnings } = await load({ 'inventory.yaml': 'workers: {a: [x.yaml]}', 'x.yaml': text }, {}, false);
    expect(warnings).toEqual([]);
  });
});

describe('an invalid inventory is refused', () => {
  const bomb = `a: &a [1, 2, 3, 4, 5, 6, 7, 8, 9]\n${['b', 'c', 'd', 'e', 'f', 'g', 'h']
    .map(
      (name, index) =>
        `${name}: &${name} [${Array(9)
          .fill(`*${'abcdefg'[index] ?? ''}`)
          .join(', ')}]`,
    )
    .join('\n')}\n`;
  const wide = `a: &a [${Array(2000).fill(1).join(', ')}]\nb: [${Array(60).fill('*a').join(', ')}]\n`;

  it.each<[what: string, text: string, message: RegExp]>([
    ['a list', '- a\n', /^inventory\.yaml:1: : must be a mapping$/],
    ['broken YAML', 'a: 1\nb: [\n', /^inventory\.yaml:3: /],
    ['a key twice', 'workers: {}\nworkers: {}\n', /^inventory\.yaml:2: Map keys must be unique/],
    ['workers that are a list', 'a: 1\nworkers:\n  - x\n', /^inventory\.yaml:3: workers: must be a mapping$/],
    ['a glob without a list', 'workers:\n  a: x.yaml\n', /^inventory\.yaml:2: workers\.a: must be a list/],
    [
      'an entry that is a number',
      'workers:\n  a:\n    - {}\n    - 7\n',
      /^inventory\.yaml:4: workers\.a\.1: must be a mapping$/,
    ],
    [
      'an endpoint that is not text',
      'broker:\n  endpoint: 5555\n',
      /^inventory\.yaml:2: broker\.endpoint: must be text/,
    ],
    ['a missing file', 'workers:\n  a:\n    - none.yaml\n', /^inventory\.yaml:3: workers\.a\.0: none\.yaml: .*ENOENT/],
    ['a folder as a file', 'workers: {a: ["."]}\n', /^inventory\.yaml:1: workers\.a\.0: .*not a file/],
    ['a tag of Python', 'a: !!python/object/apply:os.system ["id"]\n', /^inventory\.yaml:1: Unresolved tag/],
    ['binary', 'a: !!binary aGk=\n', /^inventory\.yaml:1: Unresolved tag/],
    ['a bomb of aliases', bomb, /^inventory\.yaml: more than 100 aliases/],
    ['many values by few aliases', wide, /^inventory\.yaml: more than 100000 values/],
    ['a circle', 'a: &a [*a]\n', /^inventory\.yaml/],
    ['deep lists', `a: ${'['.repeat(100)}${']'.repeat(100)}\n`, /^inventory\.yaml: more than 64 levels/],
    ['very deep lists', `a: ${'['.repeat(100_000)}${']'.repeat(100_000)}\n`, /^inventory\.yaml: more than 64 levels/],
    [
      'a file that is too long',
      `# ${'x'.repeat(1_100_000)}\n`,
      /^inventory\.yaml: must be a readable file of at most 1 MiB/,
    ],
  ])('%s', async (_, text, message) => {
    expect(await refusal({ 'inventory.yaml': text })).toMatch(message);
  });

  it('a fault in another file names that file', async () => {
    const files = { 'inventory.yaml': 'workers: {a: [x.yaml]}', 'x.yaml': 'a: 1\n\nb: ${X}\n' };
    expect(await refusal(files)).toMatch(/^x\.yaml:3: b: variable X is not set/);
  });

  it('a missing inventory', async () => {
    expect(await refusal({})).toMatch(/^inventory\.yaml: must be a readable file.*ENOENT/);
  });
});

describe('following', () => {
  it('follows changes of all its files, ignores one that cannot be read, and continues', async () => {
    const seen: Seen = new Map();
    await load({ 'inventory.yaml': 'workers: {a: [x.yaml]}', 'x.yaml': 'n: 1' });
    await loadInventory(main, {}, seen);
    const news: string[] = [];
    const waiting: (() => void)[] = [];
    const heard = (what: string) => {
      news.push(what);
      waiting.splice(0).forEach((resolve) => {
        resolve();
      });
    };
    const followed = followInventory({
      path: main,
      env: {},
      seen,
      intervalMs: 5,
      onLoaded: ({ inventory }) => heard(JSON.stringify(inventory.workers.map(({ data }) => data))),
      onFailed: (error) => heard((error as Error).message.replaceAll(`${folder}/`, '')),
    });
    const after = async (name: string, text: string) => {
      const told = new Promise<void>((resolve) => waiting.push(resolve));
      const next = join(folder, 'next');
      await writeFile(next, text);
      // Written at once, as editors do; a half-written file must not be reported.
      await rename(next, join(folder, name));
      await told;
      return news.at(-1);
    };
    try {
      expect(await after('x.yaml', 'n: 22')).toBe('[{"n":22}]');
      expect(await after('x.yaml', 'n: [')).toMatch(/^x\.yaml:1: /);
      expect(await after('x.yaml', 'n: 3333')).toBe('[{"n":3333}]');
      expect(await after('inventory.yaml', 'workers: {a: [y.yaml]}')).toMatch(/y\.yaml.*ENOENT/);
      expect(await after('y.yaml', 'y: 1')).toBe('[{"y":1}]');
      expect(news).toHaveLength(5);
      const putInForce = await followed.read();
      expect(news).toHaveLength(5);
      putInForce();
      expect(news[5]).toBe('[{"y":1}]');
    } finally {
      followed.end();
    }
  });
});
