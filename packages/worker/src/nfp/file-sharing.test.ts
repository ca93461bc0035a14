/** The tasks and their contract: a hand-made context, a real folder, a clock advanced by hand. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ManualClock } from '@proj/heartbeat';
import { ProjError } from '@proj/transport';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { fileSharingTasks } from './file-sharing.js';
import { PutQueue } from './put-queue.js';

let folder: string;
let clock: ManualClock;
let escapes: string[];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sharing-'));
  await writeFile(join(folder, 'hello.txt'), 'hello norfab\n');
  await writeFile(join(folder, 'empty'), '');
  clock = new ManualClock();
  escapes = [];
});

afterEach(() => rm(folder, { recursive: true }));

/** One job, from its client's side. */
class Run {
  readonly puts = new PutQueue(64);
  readonly result: Promise<unknown>;
  readonly #abort = new AbortController();
  readonly #chunks: string[] = [];
  #heard: () => void = () => undefined;

  constructor(task: string, kwargs: object, args: unknown[] = []) {
    const tasks = fileSharingTasks(folder, {
      clock,
      chunkTimeoutMs: 1000,
      onEscape: ({ url, client, uuid }) => escapes.push([client, uuid, url].join(' ')),
    });
    const unused = () => {
      throw new Error('not part of this');
    };
    const stream = (chunk: string | Uint8Array) => {
      this.#chunks.push(Buffer.from(chunk as Uint8Array).toString());
      this.#heard();
      return Promise.resolve();
    };
    const { signal } = this.#abort;
    const puts = this.puts;
    const context = {
      signal,
      puts,
      stream,
      progress: unused,
      event: unused,
      requestInput: unused,
      inventory: unused,
      fetch: unused,
    };
    const names = { uuid: 'u1', client: 'c1', service: 'filesharing', timeoutMs: 1000, run: 1 };
    const call = { task, args, kwargs: { ...kwargs }, ...names };
    this.result = Promise.resolve().then(() => tasks[task]?.handler(call, context));
    this.result.catch(() => undefined);
  }

  async chunk(): Promise<string> {
    while (this.#chunks.length === 0) await new Promise<void>((resolve) => (this.#heard = resolve));
    return this.#chunks.shift() ?? '';
  }

  put(value: unknown): void {
    this.puts.push({ value, body: [] });
  }

  /** As the worker does it. */
  abort(reason: Error): void {
    this.#abort.abort(reason);
    this.puts.end();
  }
}

const run = (task: string, kwargs: object = {}, args: unknown[] = []) => new Run(task, kwargs, args).result;

describe('the contents of a folder', () => {
  it('rule 16: are listed as the broker lists them', async () => {
    expect(await run('list_files', { url: 'nf://' })).toEqual(['empty', 'hello.txt']);
    expect(await run('walk', {}, ['nf://'])).toEqual(['nf://empty', 'nf://hello.txt']);
    expect(await run('file_details', { url: 'nf://empty' })).toEqual({
      md5hash: 'd41d8cd98f00b204e9800998ecf8427e',
      size_bytes: 0,
      exists: true,
    });
  });

  it('rule 16: missing and outside files look alike', async () => {
    for (const url of ['nf://none', 'nf://../x']) {
      expect(await run('list_files', { url })).toEqual(['Directory Not Found']);
      expect(await run('walk', { url })).toEqual([]);
      await expect(run('file_details', { url })).rejects.toMatchObject({
        message: `'${url}' file not found`,
        result: { md5hash: null, size_bytes: null, exists: false },
      });
      await expect(run('fetch_file', { url })).rejects.toMatchObject({ message: `Not Found '${url.slice(5)}'` });
    }
    expect(escapes).toEqual(Array(4).fill('c1 u1 nf://../x'));
  });

  it.each<[task: string, kwargs: object, message: string]>([
    ['list_files', {}, 'No file URL provided'],
    ['walk', { url: '' }, 'No file URL provided'],
    ['file_details', { url: 'http://x' }, 'Unsupported URL "http://x": must begin with nf://'],
    ['fetch_file', { url: 7 }, 'Unsupported URL 7: must begin with nf://'],
    ['fetch_file', { url: 'nf://a', offset: -1 }, 'fetch_file: offset must be an integer, at least 0'],
    ['fetch_file', { url: 'nf://a', offset: '1' }, 'fetch_file: offset must be an integer, at least 0'],
    ['fetch_file', { url: 'nf://a', chunk_size: 0 }, 'fetch_file: chunk_size must be an integer, at least 1'],
  ])('rule 16: %s with %j fails', async (task, kwargs, message) => {
    await expect(run(task, kwargs)).rejects.toMatchObject({ message });
  });
});

describe('fetch_file', () => {
  const kwargs = { url: 'nf://hello.txt', chunk_size: 5 };

  it('rule 16: sends the first chunk at once, one for each PUT, and ends with the one that has the last byte', async () => {
    const job = new Run('fetch_file', kwargs);
    expect(await job.chunk()).toBe('hello');
    job.put({ offset: 5 });
    expect(await job.chunk()).toBe(' norf');
    job.put({ offset: 10 });
    expect(await job.chunk()).toBe('ab\n');
    expect(await job.result).toBe(true);
    expect(clock.armed).toBe(0);
  });

  it('rule 16: answers PUTs that came together, in order, even a repeated one', async () => {
    const job = new Run('fetch_file', kwargs);
    for (const offset of [5, 0, 5, 10]) job.put({ offset });
    const chunks = [];
    for (let i = 0; i < 5; i++) chunks.push(await job.chunk());
    expect(chunks).toEqual(['hello', ' norf', 'hello', ' norf', 'ab\n']);
    expect(await job.result).toBe(true);
  });

  it('rule 16: is one chunk for a small file, an empty one for an empty file or an offset beyond the end', async () => {
    for (const [start, expected] of [
      [{ url: 'nf://hello.txt' }, 'hello norfab\n'],
      [{ url: 'nf://hello.txt', offset: 6 }, 'norfab\n'],
      [{ url: 'nf://hello.txt', offset: 99 }, ''],
      [{ url: 'nf://empty' }, ''],
    ] as const) {
      const job = new Run('fetch_file', start);
      expect(await job.chunk()).toBe(expected);
      expect(await job.result).toBe(true);
    }
  });

  it('rule 16: fails if no PUT comes in time; each PUT restarts the time', async () => {
    const job = new Run('fetch_file', kwargs);
    await job.chunk();
    await armed();
    clock.advance(999);
    job.put({ offset: 5 });
    await job.chunk();
    await armed();
    clock.advance(999);
    expect(clock.armed).toBe(1);
    clock.advance(1);
    await expect(job.result).rejects.toMatchObject({
      code: 'TIMEOUT',
      message: 'fetch_file: no PUT for the next chunk within 1000 ms',
    });
  });

  it.each([undefined, {}, { offset: '5' }, { offset: -1 }, 5])('rule 16: fails by a PUT of %j', async (value) => {
    const job = new Run('fetch_file', kwargs);
    job.put(value);
    await expect(job.result).rejects.toMatchObject({ code: 'REJECTED' });
  });

  it('rule 16: fails if the file is gone meanwhile', async () => {
    const job = new Run('fetch_file', kwargs);
    await job.chunk();
    await rm(join(folder, 'hello.txt'));
    job.put({ offset: 5 });
    await expect(job.result).rejects.toMatchObject({ message: "Not Found 'hello.txt'" });
  });

  it('stops when it is told to', async () => {
    const job = new Run('fetch_file', kwargs);
    await job.chunk();
    job.abort(new ProjError('REJECTED', 'deleted'));
    await expect(job.result).rejects.toBeInstanceOf(ProjError);
    expect(clock.armed).toBe(0);
  });
});

it.each([
  ['', {}],
  ['/srv', { chunkTimeoutMs: 0 }],
  ['/srv', { chunkTimeoutMs: NaN }],
])('refuses folder %j with %j', (name, options) => {
  expect(() => fileSharingTasks(name, options)).toThrow(expect.objectContaining({ code: 'OPTIONS_INVALID' }));
});

/** Until the task waits for a PUT. */
async function armed(): Promise<void> {
  while (clock.armed === 0) await new Promise((resolve) => setImmediate(resolve));
}
