/** EventMQ: a client, a job manager, and a subscriber of the pub-sub device. */
import { rmSync } from 'node:fs';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EmqpClient } from '@proj/client';
import { EmqpJobManager } from '@proj/worker';
import { check, PATIENCE_MS } from './probe.js';
import type { Honest } from './probe.js';

const QUEUE = 'honest';
const TOPIC = 'honest';
const JOBS = 'export const repeat = (text) => text;\n';

/** The clients of an EventMQ broker. */
export function emqp(): Honest {
  let losses = 0;
  let client: EmqpClient;
  const heard = new Map<string, () => void>();
  const job = async (text: string): Promise<void> => {
    const what = { path: 'jobs', callable: 'repeat', args: [text] };
    const { result } = await client.defer(QUEUE, what, { replyRequested: true });
    check(text, String(await result));
  };
  const publish = async (text: string): Promise<void> => {
    const came = new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error('the published message did not arrive')), PATIENCE_MS);
      heard.set(text, () => {
        clearTimeout(timer);
        resolve();
      });
    });
    await client.publish(TOPIC, text);
    await came.finally(() => heard.delete(text));
  };
  return {
    async start(at, transport) {
      const directory = await mkdtemp(join(tmpdir(), 'attack-jobs-'));
      process.once('exit', () => {
        rmSync(directory, { recursive: true, force: true });
      });
      await writeFile(join(directory, 'jobs.mjs'), JOBS);
      const manager = new EmqpJobManager({
        transport,
        endpoints: [at.emqpBackend!],
        directory,
        queues: [[10, QUEUE]],
        pool: 'threads',
        concurrency: 2,
      });
      manager.on('lost', () => losses++);
      const known = new Promise((resolve) => manager.on('registered', resolve));
      await manager.start();
      await known;
      client = new EmqpClient({
        transport,
        endpoints: [at.emqpFrontend!],
        publishEndpoint: at.emqpPublish!,
        subscribeEndpoint: at.emqpSubscribe!,
        timeoutMs: PATIENCE_MS,
        resultTimeoutMs: PATIENCE_MS,
      });
      await job('registered');
      const subscription = client.subscribe(TOPIC);
      void (async () => {
        for await (const { body } of subscription) heard.get(String(body))?.();
      })();
      // Nothing arrives until the subscription is known.
      for (let isKnown = false; !isKnown;) {
        const once = new Promise<boolean>((resolve) => {
          heard.set('known', () => resolve(true));
          setTimeout(() => resolve(false), 50);
        });
        await client.publish(TOPIC, 'known');
        isKnown = await once;
      }
    },
    async ask(text) {
      await Promise.all([job(text), publish(text)]);
    },
    losses: () => losses,
  };
}
