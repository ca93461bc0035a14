// With a full disk, the queue refuses messages but does nothing else wrong: it delivers stored messages, and continues once there is
// room. A read-only disk is reported at the start.
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { PzqConsumer, PzqProducer } from '@proj/client';
import { isProjError } from '@proj/transport';
import { expect, it } from 'vitest';
import { transport } from '../../transport.js';
import { smallDisk } from './small-disk.js';
import { program } from '../programs.js';
import { stage, stop } from './stage.js';

const BODY = Buffer.alloc(10_000, 7);
const WINDOW = 64;
/** Printed, since reporters do not show why a test was skipped. */
const NO_DISK = 'a small disk needs its own tmpfs, which only root may mount, and not in every container';
const PATIENCE_MS = 600_000;
/** A consumer that leaves may have had messages on their way to it: they soon come again. */
const FLAGS = { 'probe-interval-ms': 100, 'ack-timeout-ms': 5000, 'drain-ms': 30_000 };

const theater = stage();

/** Sends numbered messages until one is refused; returns the stored ones and the reason. */
async function fill(producer: PzqProducer, name: string): Promise<{ stored: string[]; reason: string }> {
  const stored: string[] = [];
  let reason = '';
  let next = 0;
  await Promise.all(
    Array.from({ length: WINDOW }, async () => {
      while (reason === '') {
        const text = `${name}-${next++}`;
        try {
          await producer.send([text, BODY]);
          stored.push(text);
        } catch (error) {
          if (!isProjError(error, 'REJECTED')) throw error;
          reason = (error.details as { readonly reason: string }).reason;
        }
      }
    }),
  );
  return { stored, reason };
}

/** Sends a message until it is stored, since the queue reports only once a minute that it resumes. */
async function store(producer: PzqProducer, text: string): Promise<void> {
  for (;;) {
    try {
      await producer.send([text, BODY]);
      return;
    } catch (error) {
      if (!isProjError(error, 'REJECTED')) throw error;
    }
  }
}

/** Handles messages until all of these have arrived; returns the missing ones, which are none. */
async function missing(send: string, texts: readonly string[]): Promise<string[]> {
  const waiting = new Set(texts);
  const consumer = theater.keep(new PzqConsumer({ transport, endpoints: [send] }));
  for await (const message of consumer) {
    waiting.delete(String(message.body[0]));
    message.ack();
    if (waiting.size === 0) break;
  }
  await consumer.drain();
  return [...waiting];
}

it('rule 9: a full disk refuses with the reason; stored messages are delivered, and the queue continues once there is room', async ({
  skip,
}) => {
  const disk = smallDisk();
  // The compliance suite of the store covers its part everywhere.
  if (disk === undefined) {
    console.warn(`skipped: ${NO_DISK}`);
    return skip(NO_DISK);
  }
  theater.keep(disk);
  const folder = join(disk.folder, 'queue');
  const endpoints = await theater.endpoints();
  const queue = await theater.queue(endpoints, `lmdb:${folder}`, FLAGS);
  // Nothing is sent twice, so that nothing is left when all have arrived.
  const patient = { window: WINDOW, ackTimeoutMs: PATIENCE_MS };
  const producer = theater.keep(new PzqProducer({ transport, endpoints: [endpoints.receive], ...patient }));
  const first = await fill(producer, 'first');
  expect(first.reason).toBe('Store is unavailable: ENOSPC');
  expect(first.stored.length).toBeGreaterThan(1000);
  await queue.line('refusing', { code: 'ENOSPC' });
  expect(await missing(endpoints.send, first.stored)).toEqual([]);

  // The disk is as full as before; acknowledged messages leave room inside the store.
  await queue.line('resumed');
  const second = await fill(producer, 'second');
  expect(second.reason).toBe('Store is unavailable: ENOSPC');
  expect(second.stored.length).toBeGreaterThan(500);

  await disk.grow();
  const third = Array.from({ length: 100 }, (_, number) => `third-${number}`);
  await Promise.all(third.map((text) => store(producer, text)));
  expect(await missing(endpoints.send, [...second.stored, ...third])).toEqual([]);
  expect(await stop(queue)).toBe(0);
});

it('rule 21: a folder on a read-only disk is reported in one line', async ({ skip }) => {
  const disk = smallDisk();
  if (disk === undefined) {
    console.warn(`skipped: ${NO_DISK}`);
    return skip(NO_DISK);
  }
  theater.keep(disk);
  const folder = join(disk.folder, 'queue');
  await mkdir(folder);
  await disk.seal();
  for (const store of [folder, join(disk.folder, 'new')]) {
    const queue = theater.launch(program('queue', { ...(await theater.endpoints()), store: `lmdb:${store}` }));
    const { code, stderr } = await queue.exit;
    expect([code, stderr]).toEqual([
      2,
      `proj-queue: the store in ${store} cannot be opened (EROFS): choose a folder that can be created, read and written`,
    ]);
  }
});
