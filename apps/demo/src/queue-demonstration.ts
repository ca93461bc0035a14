/**
 * The second act of the demonstration: messages that are kept while no consumer is connected, and a queue that is
 * killed with them.
 */
import { createHash } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { processTransport } from '@proj/appkit';
import { PzqConsumer, PzqProducer } from '@proj/client';
import type { PzqMessage } from '@proj/client';
import type { SourceFile } from './corpus.js';
import type { QueueProcess } from './queue-process.js';
import { QueueTally } from './queue-tally.js';
import { queueVerdict } from './report.js';

/** Longer than everything takes on a busy machine; messages still missing after this time are lost. */
const PATIENCE_MS = 120_000;

/** What to demonstrate, and where to print it. */
export interface QueueDemonstration {
  readonly folder: string;
  readonly files: readonly SourceFile[];
  /** Whether to kill the queue half-way. */
  readonly crash: boolean;
  readonly signal: AbortSignal;
  readonly say: (line: string) => void;
}

/**
 * Pushes the names of all files with their checksums. One consumer checks half of them, the queue is killed while the others come
 * in, and another consumer, which knows nothing of the first, checks the rest. True if every acknowledged name was delivered and
 * none that was settled before the crash came back.
 */
export async function demonstrateQueue(queue: QueueProcess, demonstration: QueueDemonstration): Promise<boolean> {
  const { folder, files, crash, say } = demonstration;
  const signal = AbortSignal.any([demonstration.signal, AbortSignal.timeout(PATIENCE_MS)]);
  // Every message in flight adds a listener.
  setMaxListeners(0, signal);
  const tally = new QueueTally();
  const transport = processTransport();
  const half = Math.floor(files.length / 2);
  await using producer = new PzqProducer({ endpoints: [queue.endpoints.receive], transport });
  const push = async ({ path }: SourceFile) => {
    await producer.send([path, await digestOf(folder, path)], { signal });
    tally.acknowledged(path);
  };
  const check = async (message: PzqMessage, taker: 'first' | 'second') => {
    const [path = '', digest = ''] = message.body.map(String);
    tally.handled(path, taker, (await digestOf(folder, path)) === digest);
    message.ack();
  };

  await Promise.all(files.slice(0, half).map(push));
  await take(queue, half, signal, (message) => check(message, 'first'));
  // An acknowledgement is not answered: only the queue knows when it is on disk.
  await queue.until(({ counters, messages }) => counters.acked === half && counters.stored - half === messages, signal);
  say(`  ${half} are settled by one consumer. The others come in ...`);

  const others = files.slice(half).map(push);
  if (crash) {
    await Promise.race([Promise.all(others), tally.until(half + Math.floor(others.length / 4))]);
    const pid = queue.pid;
    await queue.crash();
    say(`  ... and with ${tally.acknowledgedCount - half} of them acknowledged the queue (${pid}) is killed.`);
    const found = await queue.restart();
    say(`  It is up again (${queue.pid}) and has found ${found} messages on its disk.`);
  }
  await Promise.all(others);
  await take(queue, files.length - half, signal, (message) => check(message, 'second'));
  await queue
    .until(({ messages }) => messages === 0, signal)
    .catch(() => {
      tally.leftOver();
    });
  demonstration.signal.throwIfAborted();
  for (const line of queueVerdict(tally)) say(line);
  return tally.sound;
}

/**
 * Takes this many messages, or all that come, with its own consumer. Messages that the consumer received early are returned.
 */
async function take(
  queue: QueueProcess,
  count: number,
  signal: AbortSignal,
  handle: (message: PzqMessage) => Promise<void>,
): Promise<void> {
  await using consumer = new PzqConsumer({ endpoints: [queue.endpoints.send], transport: processTransport() });
  for (let taken = 0; taken < count; taken++) {
    const message = await consumer.receive({ signal }).catch(() => undefined);
    if (message === undefined) break;
    await handle(message);
  }
  await consumer.drain();
}

async function digestOf(folder: string, path: string): Promise<string> {
  return createHash('sha256')
    .update(await readFile(join(folder, path)))
    .digest('hex');
}
