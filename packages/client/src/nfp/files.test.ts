import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Stage } from '../../test/nfp/stage.js';
import type { Asked } from '../../test/nfp/stage.js';
import type { NfpClient } from './client.js';

const FILE = Buffer.from(Array.from({ length: 1000 }, (_, i) => i % 251));
const MD5 = createHash('md5').update(FILE).digest('hex');
const details = { md5hash: MD5, size_bytes: FILE.length, exists: true };

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'nfp-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** The broker's files, or `instead` in their place. */
const files =
  (instead: (task: unknown, offset: number) => unknown = () => undefined) =>
  (asked: Asked): void => {
    const { task, kwargs } = asked.body as { task: string; kwargs: { offset: number; chunk_size: number } };
    const { offset, chunk_size: size } = kwargs;
    const fallback = task === 'file_details' ? details : FILE.subarray(offset, offset + size);
    asked.answer(200, instead(task, offset) ?? fallback);
  };

/** A filesharing worker. */
const sharing = (bytes = FILE) => {
  let post: Asked | undefined;
  let sent = 0;
  return (asked: Asked): void => {
    const { task, offset } = asked.body as { task: string; offset: number };
    if (asked.kind === 'put' || (asked.kind === 'post' && task === 'fetch_file')) {
      if (asked.kind === 'post') {
        post = asked;
        asked.dispatch('fs-1');
        asked.say('fs-1', 201, 'ACCEPTED');
      }
      const size = (post!.body as { kwargs: { chunk_size: number } }).kwargs.chunk_size;
      const from = asked.kind === 'put' ? offset : 0;
      post!.stream(bytes.subarray(from, from + size));
      sent += Math.min(size, bytes.length - from);
      if (sent === bytes.length) post!.event('fs-1', 'completed');
      return;
    }
    asked.dispatch('fs-1');
    if (asked.kind === 'post') asked.say('fs-1', 201, 'ACCEPTED');
    else if (task === 'file_details') asked.result('fs-1', details);
    else if (sent === bytes.length) asked.result('fs-1', true);
    else asked.say('fs-1', 300, 'STARTED');
  };
};

const DAY_MS = 86_400_000;

/** A client whose time does not run out while {@link run} advances the clock behind a slow disk. */
const patient = (stage: Stage): NfpClient => stage.client({ timeoutMs: 30 * DAY_MS, askTimeoutMs: DAY_MS });

/** File calls take real time: the clock advances until they are done. */
async function run<Value>(stage: Stage, promise: Promise<Value>): Promise<Value> {
  const state = { over: false };
  const end = (): void => {
    state.over = true;
  };
  promise.then(end, end);
  while (!state.over) {
    await stage.advance(20);
    await new Promise((resolve) => setImmediate(resolve));
  }
  return promise;
}

describe('a file of the broker', () => {
  it.each([1000, 999, 100, 7])(
    'rule 9: comes in chunks of %i bytes, several on their way, in order',
    async (chunkBytes) => {
      const stage = new Stage();
      await stage.broker(files());
      const progress: number[] = [];
      const options = {
        to: folder,
        chunkBytes,
        onProgress: ({ bytes }: { bytes: number }) => void progress.push(bytes),
      };
      const fetched = await run(stage, patient(stage).fetchFile('nf://a/file.bin', options));
      expect(fetched).toEqual({ path: join(folder, 'file.bin'), bytes: 1000, md5: MD5 });
      expect(readFileSync(fetched.path)).toEqual(FILE);
      expect(readdirSync(folder)).toEqual(['file.bin']);
      expect(progress.length).toBe(Math.ceil(1000 / chunkBytes));
      expect(progress.at(-1)).toBe(1000);
    },
  );

  it('rule 9: at most chunksInTransit are requested at a time', async () => {
    const stage = new Stage();
    const waiting: Asked[] = [];
    let most = 0;
    await stage.broker((asked) => {
      if (asked.body['task'] === 'file_details') {
        files()(asked);
        return;
      }
      waiting.push(asked);
      most = Math.max(most, waiting.length);
      // Answered in the wrong order, once no more arrive.
      stage.network.clock.at(stage.network.clock.now() + 10, () => {
        const last = waiting.pop();
        if (last !== undefined) files()(last);
      });
    });
    await run(stage, patient(stage).fetchFile('nf://a/f', { to: folder, chunkBytes: 10, chunksInTransit: 4 }));
    expect(most).toBe(4);
    expect(readFileSync(join(folder, 'f'))).toEqual(FILE);
  });

  it.each<[string, (task: unknown, offset: number) => unknown, string]>([
    ['does not exist', (task) => (task === 'file_details' ? { ...details, exists: false } : undefined), 'REJECTED'],
    [
      'has other bytes than its hash',
      (_, offset) => (offset === 100 ? Buffer.alloc(100) : undefined),
      'PROTOCOL_REMOTE',
    ],
    ['is truncated', (_, offset) => (offset === 200 ? Buffer.alloc(3) : undefined), 'PROTOCOL_REMOTE'],
    ['has no size', (task) => (task === 'file_details' ? 'what?' : undefined), 'PROTOCOL_REMOTE'],
    [
      'has a size below 0',
      (task) => (task === 'file_details' ? { ...details, size_bytes: -1 } : undefined),
      'PROTOCOL_REMOTE',
    ],
  ])('rule 9: that %s leaves nothing behind', async (_, instead, code) => {
    const stage = new Stage();
    await stage.broker(files(instead));
    const fetching = run(stage, patient(stage).fetchFile('nf://a/f', { to: folder, chunkBytes: 100 }));
    await expect(fetching).rejects.toMatchObject({ code });
    expect(readdirSync(folder)).toEqual([]);
  });

  it('rule 9: replaces an older one only when it is complete', async () => {
    const stage = new Stage();
    writeFileSync(join(folder, 'f'), 'old');
    const broker = await stage.broker(files((task) => (task === 'fetch_file' ? Buffer.alloc(1000) : undefined)));
    const client = patient(stage);
    await expect(run(stage, client.fetchFile('nf://f', { to: folder }))).rejects.toThrow('MD5');
    expect(readFileSync(join(folder, 'f'), 'utf8')).toBe('old');
    broker.answer = files();
    await run(stage, client.fetchFile('nf://f', { to: folder }));
    expect(readFileSync(join(folder, 'f'))).toEqual(FILE);
  });

  it.each(['nf://', 'nf://a/', 'nf://a/..', 'nf://..', 'nf://a/b\\c', 'nf://a/c:x', 'nf://a/b\0', 'http://a/b', 'a'])(
    'rule 9: %j is not a possible file name',
    async (url) => {
      const stage = new Stage();
      const client = stage.client();
      await expect(stage.settle(client.fetchFile(url, { to: folder }))).rejects.toMatchObject({
        code: 'OPTIONS_INVALID',
      });
      expect(client.stats().connections).toBe(0);
    },
  );

  it('an abort ends it, and leaves nothing behind', async () => {
    const stage = new Stage();
    const controller = new AbortController();
    await stage.broker(files());
    const onProgress = () => controller.abort(new Error('enough'));
    const options = { to: folder, chunkBytes: 10, signal: controller.signal, onProgress };
    await expect(run(stage, patient(stage).fetchFile('nf://f', options))).rejects.toThrow('enough');
    expect(readdirSync(folder)).toEqual([]);
  });
});

describe('a file of a worker', () => {
  it.each(['fs-1', 'any'])(
    'rule 9: of worker %s is streamed, with a PUT to request each further chunk',
    async (worker) => {
      const stage = new Stage();
      const broker = await stage.broker(sharing());
      const fetched = await run(stage, patient(stage).fetchFile('nf://a/f', { to: folder, worker, chunkBytes: 300 }));
      expect(readFileSync(fetched.path)).toEqual(FILE);
      const puts = broker.asked.filter(({ kind }) => kind === 'put');
      expect(puts.map(({ body }) => body['offset'])).toEqual([300, 600, 900]);
      expect(puts.every(({ call }) => call.target === '["fs-1"]')).toBe(true);
    },
  );

  it('rule 9: is requested further only after its first chunk has come, since NORFAB workers drop what comes before the job runs', async () => {
    const stage = new Stage();
    const worker = sharing();
    let post: Asked | undefined;
    let runs = false;
    const broker = await stage.broker((asked) => {
      if (runs || asked.body['task'] !== 'fetch_file') worker(asked);
      else {
        asked.dispatch('fs-1');
        asked.say('fs-1', asked.kind === 'post' ? 201 : 300, asked.kind === 'post' ? 'ACCEPTED' : 'PENDING');
        if (asked.kind === 'post') post = asked;
      }
    });
    const fetching = run(stage, patient(stage).fetchFile('nf://a/f', { to: folder, worker: 'fs-1', chunkBytes: 100 }));
    while (post === undefined) await new Promise((resolve) => setImmediate(resolve));
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
    expect(broker.asked.filter(({ kind }) => kind === 'put')).toEqual([]);
    runs = true;
    worker(post);
    expect(readFileSync((await fetching).path)).toEqual(FILE);
    expect(broker.asked.filter(({ kind }) => kind === 'put')).toHaveLength(9);
  });

  it('rule 9: bytes that differ from the announced hash are refused', async () => {
    const stage = new Stage();
    await stage.broker(sharing(Buffer.alloc(1000)));
    const fetching = run(stage, patient(stage).fetchFile('nf://a/f', { to: folder, worker: 'fs-1' }));
    await expect(fetching).rejects.toMatchObject({ code: 'PROTOCOL_REMOTE' });
    expect(readdirSync(folder)).toEqual([]);
  });

  it('rule 9: that ends too early is not awaited', async () => {
    const stage = new Stage();
    await stage.broker((asked) => {
      const { task } = asked.body;
      asked.dispatch('fs-1');
      if (asked.kind === 'get')
        asked.result('fs-1', task === 'file_details' ? details : null, { failed: task !== 'file_details' });
    });
    const fetching = run(stage, patient(stage).fetchFile('nf://a/f', { to: folder, worker: 'fs-1' }));
    await expect(fetching).rejects.toMatchObject({ code: 'REJECTED' });
  });
});

describe('a folder', () => {
  it('is listed; NORFAB writes three slashes, we write two', async () => {
    const stage = new Stage();
    const broker = await stage.broker(files((task) => (task === 'walk' ? ['nf:///a/b', 'nf://c'] : ['b', 'c'])));
    const client = stage.client();
    expect(await stage.settle(client.listFiles('nf://a'))).toEqual(['b', 'c']);
    expect(await stage.settle(client.listFiles('nf://a', { recursive: true }))).toEqual(['nf://a/b', 'nf://c']);
    broker.answer = files(() => ['Directory Not Found']);
    await expect(stage.settle(client.listFiles('nf://x'))).rejects.toMatchObject({ code: 'REJECTED' });
  });
});
