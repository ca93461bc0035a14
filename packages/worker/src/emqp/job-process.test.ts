/** What a job's name leads to, and what happens to its result, in a real process. */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DIRECTORY, job, JobLog, PoolRig } from '../../test/emqp/pool-rig.js';

let log: JobLog;
let folder: string;
/** Handlers and a folder. */
let both: PoolRig;
/** A folder with links in it, and nothing else. */
let linked: PoolRig;

beforeAll(async () => {
  log = new JobLog();
  folder = mkdtempSync(join(tmpdir(), 'proj-directory-'));
  const inside = join(folder, 'inside');
  mkdirSync(join(inside, 'node_modules', 'pack'), { recursive: true });
  writeFileSync(join(folder, 'outside.mjs'), 'export const f = () => "out";');
  writeFileSync(join(inside, 'own.mjs'), 'export const f = () => "in";');
  writeFileSync(join(inside, 'broken.mjs'), 'throw new Error("does not load");');
  writeFileSync(join(inside, 'node_modules', 'pack', 'index.mjs'), 'export const f = () => "pack";');
  mkdirSync(join(inside, 'folder.mjs'));
  symlinkSync(join(folder, 'outside.mjs'), join(inside, 'leads_out.mjs'));
  symlinkSync(folder, join(inside, 'up'));
  symlinkSync(join(inside, 'own.mjs'), join(inside, 'leads_in.mjs'));
  both = new PoolRig();
  linked = new PoolRig({ handlers: undefined, directory: inside });
  await Promise.all([both.pool.start(), linked.pool.start()]);
});
afterAll(async () => {
  await Promise.all([both.pool.close(), linked.pool.close()]);
  rmSync(folder, { recursive: true });
  log.remove();
});

const value = (json: string) => ['done', `{"value": ${json}}`];
const refused = (name: string) => ['refused', `{"value": ${JSON.stringify(`no job ${JSON.stringify(name)} here`)}}`];

describe('a job is', () => {
  it('rule 5: a registered handler', async () => {
    expect(await both.call('my', 'add', 2, 3)).toEqual(value('5'));
  });

  it('rule 5: an export of a module in the folder, however deep', async () => {
    expect(await both.call('sums', 'add', 2, 3)).toEqual(value('5'));
    expect(await both.call('nested.deep', 'where')).toEqual(value('"deep"'));
    expect(await both.call('common', 'computed')).toEqual(value('"common"'));
  });

  it('rule 5: a method of a class that is constructed for it', async () => {
    const parts = { callable: 'hi', path: 'sums:Greeter', args: [], kwargs: { greeting: 'yo' } };
    const construction = { class_args: ['Bob'], class_kwargs: { punct: '?' } };
    expect(await both.run(JSON.stringify(['run', { ...parts, ...construction }]))).toEqual(value('"yo Bob?"'));
  });

  it('rule 5: the target of a link inside the folder', async () => {
    expect(await linked.call('leads_in', 'f')).toEqual(value('"in"'));
  });

  it.each([
    ['an unknown module', 'nosuch', 'f'],
    ['an unknown export', 'own', 'g'],
    ['the folder above', '..outside', 'f'],
    ['the folder above, with slashes', '../outside', 'f'],
    ['an absolute path', '/etc/passwd', 'f'],
    ['a link that leads out', 'leads_out', 'f'],
    ['a folder that leads out', 'up.outside', 'f'],
    ['a package', 'pack', 'f'],
    ['a path into node_modules', 'node_modules/pack/index', 'f'],
    ['a module of Node', 'node:fs', 'readFileSync'],
    ['a URL', 'data:text/javascript,export const f = 1', 'f'],
    ['a folder', 'folder', 'f'],
    ['nothing', '', 'f'],
    ['a NUL', 'own\0', 'f'],
  ])('rule 5: never %s', async (_, path, callable) => {
    expect(await linked.call(path, callable)).toEqual(refused(`${path}.${callable}`));
  });

  it.each([
    ['what every object has', 'sums', 'toString'],
    ['what every object has, of CommonJS', 'common', 'toString'],
    ['a prototype', 'sums', '__proto__'],
    ['a constructor', 'sums:Greeter', 'constructor'],
    ['what every instance has', 'sums:Greeter', 'hasOwnProperty'],
    ['a method of another class', 'sums:Greeter', 'inherited'],
    ['a getter', 'sums:Greeter', 'secret'],
    ['a class without new', 'sums:add', 'call'],
    ['a value', 'sums', 'numbers'],
    ['a class of a class', 'sums:Greeter:x', 'hi'],
    ['a property of the table of handlers', 'my.add', 'constructor'],
  ])('rule 5: never %s', async (_, path, callable) => {
    expect(await both.call(path, callable)).toEqual(refused(`${path}.${callable}`));
  });

  it('rule 5: nothing at all if its module does not load', async () => {
    expect(await linked.call('broken', 'f')).toEqual(['failed', '{"value": "does not load"}']);
  });
});

it.each([
  ['no JSON', 'run add'],
  ['no UTF-8', Uint8Array.of(0x22, 0xff, 0x22)],
  ['an object', '{}'],
  ['a word alone', '["run"]'],
  ['three things', '["run", {}, 1]'],
  ['a number as word', '[1, {}]'],
  ['a list as job', '["run", []]'],
  ['no callable', '["run", {"path": "my"}]'],
  ['no path', '["run", {"callable": "add"}]'],
  ['args that are no list', '["run", {"path": "my", "callable": "add", "args": 5}]'],
  ['kwargs that are a list', '["run", {"path": "my", "callable": "add", "kwargs": []}]'],
  ['class_args that are null', '["run", {"path": "my", "callable": "add", "class_args": null}]'],
  ['nesting without end', `["run", ${'['.repeat(100_000)}`],
])('rule 5: a body that is %s fails that job alone', async (_, body) => {
  expect((await both.run(body))[0]).toBe('refused');
  expect(await both.call('my', 'add', 1, 1)).toEqual(value('2'));
});

describe('the result', () => {
  it.each([
    ['what the job returned', 'given', [1, 'a', null], '[1, "a", null]'],
    ['what it resolved to', 'waits', [{ a: [true] }], '{"a": [true]}'],
    ['true for nothing', 'nothing', [], 'true'],
    ['null for null', 'none', [], 'null'],
    ['in ASCII', 'waits', ['é😀'], '"\\u00e9\\ud83d\\ude00"'],
    ['the reason for what has no JSON', 'unprintable', [], '"Do not know how to serialize a BigInt"'],
    ['the reason for a function', 'noJson', [], '"a result of type function cannot be expressed in JSON"'],
  ])('rule 6: is %s', async (_, callable, args, json) => {
    expect(await both.call('sums', callable, ...args)).toEqual(value(json));
  });

  it('rule 6: is the message of what was thrown, and the job has failed', async () => {
    expect(await both.call('sums', 'fails', 'no é')).toEqual(['failed', '{"value": "no \\u00e9"}']);
    expect(await both.call('sums', 'fails', '')).toEqual(['failed', '{"value": "Error"}']);
    expect(await both.call('sums', 'throwsOdd')).toEqual([
      'failed',
      '{"value": "an error that cannot be converted to text"}',
    ]);
  });

  it('rule 6: kwargs follow as one object', async () => {
    const body = JSON.stringify(['run', { path: 'sums', callable: 'given', args: [1], kwargs: { b: 2 } }]);
    expect(await both.run(body)).toEqual(value('[1, {"b": 2}]'));
  });

  it('rule 6: is the reason for a value that is nested too deeply to print here', async () => {
    const [outcome, json] = await both.call('sums', 'nested', 3700);
    expect([outcome, json]).toEqual([
      'done',
      expect.stringMatching(/^\{"value": "(the result cannot be printed: )?Maximum/),
    ]);
    expect(await both.call('sums', 'add', 1, 1)).toEqual(value('2'));
  });

  it('rule 6: is the reason for a result that is larger than a message, and for such a reason', async () => {
    const reason = '"result of 1000012 bytes or more: the limit is 1000000"';
    expect(await both.call('sums', 'long', 1_000_000)).toEqual(value(reason));
    expect(await both.call('sums', 'failsLong', 1_000_000)).toEqual(['failed', `{"value": ${reason}}`]);
  });

  it('is left out if it was not requested', async () => {
    expect(await both.run(job('my', 'add', 1, 2), 0, false)).toEqual(['done', '']);
  });

  it('is the error of a failed job, requested or not, for the log', async () => {
    expect(await both.run(job('my', 'fail', 'no'), 0, false)).toEqual(['failed', '{"value": "no"}']);
    const [, json] = await both.run(job('sums', 'failsLong', 5000), 0, false);
    expect(json.length).toBeLessThan(1100);
  });
});

it('rule 9: hooks are called at the start of a process, before and after each job, and change no outcome', async () => {
  const hooked = new PoolRig({ directory: DIRECTORY });
  await hooked.pool.start();
  const [pid] = hooked.pool.ids;
  hooked.begin(job('my', 'note', 'job'), 0, true, 'odd');
  expect(await hooked.next('ran')).toBe('ran 0 done {"value": "job"}');
  hooked.begin(job('my', 'fail', 'x'), 0, true, 'f');
  await hooked.next('ran');
  await hooked.pool.close();
  expect(log.lines().filter((line) => /odd|job| f /.test(line) || line === `start ${pid}`)).toEqual([
    `start ${pid}`,
    'entry odd 1',
    'job',
    'exit odd 1 false',
    'entry f 1',
    'exit f 1 true',
  ]);
});
