/** `proj push`: stores messages in a PZQ queue. */
import { createInterface } from 'node:readline';
import { defineCommand, processTransport } from '@proj/appkit';
import { PzqProducer, ProjError } from '@proj/client';
import type * as z from 'zod';
import { readBody, readStandardInput } from './body.js';
import { pushOptions } from './options.js';

/** The original's clients wait this long before they resend a message. */
const ACK_TIMEOUT_MS = 5000;
/** How many lines may be without an outcome before we stop reading more. */
const UNDER_WAY_MAX = 2000;

/** Stores a message, or one per line of standard input, and says how many were stored. */
export const push = defineCommand({
  name: 'push',
  summary: 'Store a message in a queue, or one per line of standard input, and wait until it is stored.',
  options: pushOptions,
  operands: [{ syntax: '[body...]', help: 'one frame each: text, @file, - for standard input; @@x is the text @x' }],
  examples: [
    { what: 'one frame of text', line: 'hello' },
    { what: 'two frames: a word and the bytes of a file', line: 'invoice @invoice.pdf' },
    { what: 'each line of a log as a message', line: '--lines <app.log' },
    { what: 'once, however often it is sent', line: '--id order-17 @order-17.json' },
    { what: 'in an hour, if the queue reads headers', line: '--delay-ms 3600000 reminder' },
  ],
  async run({ settings, operands, stop, print }) {
    const { lines, id, json } = settings;
    if (lines && (operands.length > 0 || id !== undefined))
      throw new ProjError(
        'OPTIONS_INVALID',
        '--lines takes its messages from standard input: no body and no --id then',
      );
    const body = lines ? [] : await readBody(operands, readStandardInput);
    await using producer = producerOf(settings);
    const stored = lines ? await pushLines(producer, settings, stop) : await pushOne(producer, body, settings, stop);
    print(json ? JSON.stringify({ stored }) : `stored ${stored} ${stored === 1 ? 'message' : 'messages'}`);
    return 0;
  },
});

type Settings = z.output<typeof pushOptions>;

function producerOf({ connect, timeoutMs, transport }: Settings): PzqProducer {
  const ackTimeoutMs = Math.min(ACK_TIMEOUT_MS, timeoutMs);
  return new PzqProducer({
    endpoints: connect,
    timeoutMs,
    ackTimeoutMs,
    transport: processTransport(transport),
  });
}

async function pushOne(producer: PzqProducer, body: Buffer[], settings: Settings, stop: AbortSignal): Promise<number> {
  const { id, ...wishes } = wishesOf(settings);
  await producer.send(body, { ...wishes, ...(id === undefined ? {} : { id }), signal: stop });
  return 1;
}

/**
 * Sends lines as they are read. After the first failure it stops reading, and the error says how many lines are stored.
 */
async function pushLines(producer: PzqProducer, settings: Settings, stop: AbortSignal): Promise<number> {
  const { delayMs, ttlMs } = wishesOf(settings);
  const wishes = delayMs === undefined && ttlMs === undefined ? undefined : { delayMs, ttlMs };
  const underWay: Promise<void>[] = [];
  let read = 0;
  let failure: { readonly line: number; readonly error: unknown } | undefined;
  const hurry = (): void => void producer.close();
  stop.addEventListener('abort', hurry, { once: true });
  for await (const text of createInterface({ input: process.stdin })) {
    const line = ++read;
    underWay.push(
      producer.send(text, wishes).catch((error: unknown) => {
        failure ??= { line, error };
      }),
    );
    if (underWay.length >= UNDER_WAY_MAX) await underWay.shift();
    if (failure !== undefined || stop.aborted) break;
  }
  await Promise.all(underWay);
  stop.throwIfAborted();
  const { stored } = producer.stats();
  if (failure === undefined) return stored;
  const { line, error } = failure;
  if (!(error instanceof ProjError)) throw error;
  throw new ProjError(error.code, `line ${line}: ${error.message}; of ${read} lines read ${stored} are stored`);
}

function wishesOf({ id, delayMs, ttlMs }: Settings) {
  return { id, delayMs, ttlMs };
}
