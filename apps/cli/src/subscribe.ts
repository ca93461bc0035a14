/** `proj subscribe`: messages published at EventMQ's pub-sub device. */
import { defineCommand, processTransport } from '@proj/appkit';
import { EmqpClient } from '@proj/client';
import { publications } from './publications.js';
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
    const { connect, json } = settings;
    await using client = new EmqpClient({
      subscribeEndpoint: connect[0],
      transport: processTransport(settings.transport),
    });
    const subscription = client.subscribe(operands.length === 0 ? '' : operands, { signal: stop });
    for await (const { topic, body, missed } of publications(subscription, 'message', settings)) {
      if (missed > 0) log.warn({ missed }, 'messages were dropped: they came faster than they could be printed');
      if (json) print(JSON.stringify({ topic: frameForJson(topic), body: frameForJson(body), missed }));
      else print(`${frameForPeople(topic)} ${frameForPeople(body)}`);
    }
    return 0;
  },
});
