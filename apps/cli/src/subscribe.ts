/** `proj subscribe`: messages published at EventMQ's pub-sub device. */
import { defineCommand, processTransport } from '@proj/appkit';
import { EmqpClient, ProjError } from '@proj/client';
import type { EmqpPublication, EmqpSubscription } from '@proj/client/emqp';
import type * as z from 'zod';
import { subscribeOptions } from './pubsub-options.js';
import { frameForJson, frameForPeople } from './render.js';

/** Prints messages. */
export const subscribe = defineCommand({
  name: 'subscribe',
  summary: "Print the messages published at EventMQ's pub-sub device, one line per message.",
  options: subscribeOptions,
  operands: [{ syntax: '[topic...]', help: 'prefixes of topics; without any, all topics' }],
  examples: [
    { what: 'everything, until interrupted', line: '' },
    { what: 'the next message about sport, as JSON', line: 'news.sport --count 1 --json' },
  ],
  async run({ settings, operands, stop, log, print }) {
    const { connect, count, json } = settings;
    await using client = new EmqpClient({
      subscribeEndpoint: connect[0],
      transport: processTransport(settings.transport),
    });
    const subscription = client.subscribe(operands.length === 0 ? '' : operands, { signal: stop });
    for (let heard = 0; count === 0 || heard < count; heard++) {
      const message = await next(subscription, settings, heard);
      if (message === undefined) break;
      const { topic, body, missed } = message;
      if (missed > 0) log.warn({ missed }, 'messages were dropped: they came faster than they could be printed');
      if (json) print(JSON.stringify({ topic: frameForJson(topic), body: frameForJson(body), missed }));
      else print(`${frameForPeople(topic)} ${frameForPeople(body)}`);
    }
    return 0;
  },
});

type Settings = z.output<typeof subscribeOptions>;

/** The next message; rejects with `TIMEOUT` if none arrives in time. */
async function next(
  subscription: EmqpSubscription,
  { connect, timeoutMs }: Settings,
  heard: number,
): Promise<EmqpPublication | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_resolve, reject) => {
    if (timeoutMs === 0) return;
    timer = setTimeout(() => {
      reject(new ProjError('TIMEOUT', `no message within ${timeoutMs} ms, after ${heard}, at ${connect.join(', ')}`));
    }, timeoutMs);
  });
  try {
    return (await Promise.race([subscription.next(), limit])).value;
  } finally {
    clearTimeout(timer);
  }
}
