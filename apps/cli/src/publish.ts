/** `proj publish`: a message for whoever subscribed at the pub-sub device of EventMQ. */
import { defineCommand } from '@proj/appkit';
import { readBody, readStandardInput } from './body.js';
import { sendUnanswered } from './emqp-jobs.js';
import { publishOptions } from './pubsub-options.js';

/** Publishes one message. */
export const publish = defineCommand({
  name: 'publish',
  summary:
    'Hand a message to whoever listens to a topic at the pub-sub device of EventMQ. Nobody says whether it arrived.',
  options: publishOptions,
  operands: [
    { syntax: '<topic>', help: 'what subscriptions are compared with' },
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
