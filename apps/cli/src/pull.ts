/** `proj pull`: takes messages out of a PZQ queue. */
import { defineCommand, processTransport } from '@proj/appkit';
import { ProjError, PzqConsumer } from '@proj/client';
import type { PzqMessage } from '@proj/client';
import type * as z from 'zod';
import { pullOptions } from './options.js';
import { frameForJson, frameForPeople } from './render.js';

/** Messages to take in ahead of the one being printed, if there is no other limit. */
const PREFETCH = 32;
const PREFETCH_MAX = 100_000;

/** Prints messages and acknowledges them. */
export const pull = defineCommand({
  name: 'pull',
  summary: 'Take messages out of a queue and print them, one line per frame; acknowledge each once it is printed.',
  options: pullOptions,
  examples: [
    { what: 'the next message', line: '' },
    { what: 'the next message, which stays in the queue', line: '--verdict nack' },
    { what: 'a hundred messages, as JSON', line: '--count 100 --json' },
    { what: 'all messages, until interrupted', line: '--count 0 --timeout-ms 0' },
    { what: 'the bytes of a body', line: '--raw >body.bin' },
  ],
  async run({ settings, stop, print }) {
    const { connect, count, verdict } = settings;
    // Returned messages stay in hand until the end: otherwise they would come back to us at once.
    const most = verdict === 'nack' ? PREFETCH_MAX : PREFETCH;
    const prefetch = count === 0 ? most : Math.min(count, most);
    const held: PzqMessage[] = [];
    await using consumer = new PzqConsumer({
      endpoints: connect,
      prefetch,
      transport: processTransport(settings.transport),
    });
    const show = presenter(settings, print);
    try {
      for (let taken = 0; count === 0 || taken < count; taken++) {
        const message = await next(consumer, settings, stop, taken);
        if (message === undefined) break;
        show(message);
        if (verdict === 'nack') held.push(message);
        else message[verdict]();
      }
    } finally {
      for (const message of held) message.nack();
      await consumer.drain();
    }
    return 0;
  },
});

type Settings = z.output<typeof pullOptions>;

async function next(
  consumer: PzqConsumer,
  { connect, timeoutMs }: Settings,
  stop: AbortSignal,
  taken: number,
): Promise<PzqMessage | undefined> {
  const limit = timeoutMs === 0 ? undefined : AbortSignal.timeout(timeoutMs);
  try {
    return await consumer.receive({ signal: limit === undefined ? stop : AbortSignal.any([stop, limit]) });
  } catch (error) {
    if (limit?.aborted !== true || stop.aborted) throw error;
    const where = `the queue at ${connect.join(', ')} is empty, or there is no queue`;
    throw new ProjError('TIMEOUT', `no message within ${timeoutMs} ms, after ${taken}: ${where}`);
  }
}

function presenter({ raw, json }: Settings, print: (line: string) => void): (message: PzqMessage) => void {
  if (json)
    return ({ key, sentMicros, ackTimeoutMs, body }) => {
      print(JSON.stringify({ key, sentMicros, ackTimeoutMs, body: body.map(frameForJson) }));
    };
  if (raw) return ({ body }) => void process.stdout.write(Buffer.concat(body));
  return ({ body }) => {
    for (const frame of body) print(frameForPeople(frame));
  };
}
