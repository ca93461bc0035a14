/** `proj publish`: a message to subscribers of EventMQ's pub-sub device. */
import { defineCommand } from '@proj/appkit';
import { readBody, readStandardInput } from './body.js';
import { sendUnanswered } from './emqp-jobs.js';
import { publishOptions } from './pubsub-options.js';

/** Publishes one message. */
export const publish = defineCommand({
  name: 'publish',
  summary:
    "Publish a message to all subscribers of a topic at EventMQ's pub-sub device. The protocol does not confirm delivery.",
  options: publishOptions,
  operands: [
    { syntax: '<topic>', help: 'topic that subscriptions are compared with' },
    { syntax: '[body]', help: 'text, @file, - for standard input; @@x is the text @x' },
  ],
  examples: [
    { what: 'a line of text', line: 'news.sport "two to one"' },
    { what: 'the bytes of a file', line: 'pictures @cat.jpg' },
  ],
  async run({ settings, operands, stop }) {
    const { connect, timeoutMs, transport } = settings;
    const [topic = '', ...words] = operands;
    const [body = Buffer.alloc(0)] = await readBody(words, readStandardInput);
    const endpoint = connect[0] as string;
    const recipient = {
      options: { publishEndpoint: endpoint },
      what: 'a pub-sub device',
      endpoint,
      timeoutMs,
      transport,
    };
    await sendUnanswered(recipient, (client) => client.publish(topic, body, { signal: stop }));
    return 0;
  },
});
