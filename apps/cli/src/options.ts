/** The options of the commands of `proj`. */
import {
  connectEndpoints,
  milliseconds,
  oneOf,
  onOff,
  text,
  transportOption,
  usual,
  wholeNumber,
  withinADay,
} from '@proj/appkit';
import * as z from 'zod';
import { callableNames, callables } from './protocols/index.js';
import type { Callable } from './protocols/index.js';

/** Options of every command that talks to a broker. */
export const connectionOptions = z.strictObject({
  connect: connectEndpoints().default(['tcp://127.0.0.1:5555']).describe('brokers, in order of preference'),
  protocol: oneOf(['mdp', 'mdp01']).default('mdp').describe('Majordomo 0.2 or 0.1'),
  timeoutMs: withinADay().default(2500).describe('silence after which an attempt has failed'),
  tries: wholeNumber({ min: 1, max: 1000 }).default(3).describe('attempts to send one request'),
  transport: transportOption(),
  json: onOff().default(false).describe('print JSON, one value per line'),
});

/** Options of `proj services` and `proj workers`. */
export const listingOptions = connectionOptions.extend({
  protocol: oneOf(['mdp', 'mdp01', 'nfp']).default('mdp').describe('Majordomo 0.2 or 0.1, or NORFAB'),
});

const brokers = usual(Object.fromEntries(callableNames.map((name) => [name, callables[name].endpoint])));

/** Options of `proj call`. */
export const callOptions = connectionOptions
  .extend({
    connect: connectEndpoints().optional().describe(`brokers or queues, in order of preference (default: ${brokers})`),
    protocol: oneOf(callableNames)
      .default('mdp')
      .describe(callableNames.map((name) => `${name}: ${callables[name].title}`).join('; ')),
    failFast: onOff().default(false).describe('ask the broker first and fail at once if no worker offers the service'),
    stream: onOff().default(false).describe('print partial replies as they arrive'),
    raw: onOff().default(false).describe('write the raw bytes of the reply, frames joined'),
  })
  .superRefine((settings, context) => {
    const { without = {} }: Callable = callables[settings.protocol];
    for (const option of ['failFast', 'stream'] as const) {
      const message = without[option];
      if (message !== undefined && settings[option]) context.addIssue({ code: 'custom', path: [option], message });
    }
  });

/** Longest delay and lifetime of a message: the longest that fits on the wire. */
const longMilliseconds = () => milliseconds({ min: 0, max: 4_000_000_000_000 });

/** Options of `proj push`. */
export const pushOptions = z.strictObject({
  connect: connectEndpoints()
    .default(['tcp://127.0.0.1:11131'])
    .describe('receive sockets of queues, in order of preference'),
  lines: onOff().default(false).describe('each line of standard input is a message of its own'),
  id: text('TEXT', 'a text of 1 to 255 bytes')
    .optional()
    .describe('the id of the message: a queue with --dedupe-window-ms stores it once (default: a new one each time)'),
  delayMs: longMilliseconds().optional().describe('deliver it only after this time; needs a queue with --headers'),
  ttlMs: longMilliseconds().optional().describe('do not deliver it after this time; needs a queue with --headers'),
  timeoutMs: withinADay()
    .default(10_000)
    .describe('how long the queue may take to confirm that it has stored a message'),
  transport: transportOption(),
  json: onOff().default(false).describe('print JSON'),
});

/** Options of `proj pull`. */
export const pullOptions = z.strictObject({
  connect: connectEndpoints().default(['tcp://127.0.0.1:11132']).describe('send sockets of queues'),
  count: wholeNumber({ min: 0 }).default(1).describe('messages to take; 0 continues until interrupted'),
  verdict: oneOf(['ack', 'nack', 'leave'])
    .default('ack')
    .describe('what to do with a message once it is printed: delete it, return it at once, or let it time out'),
  timeoutMs: withinADay(0).default(5000).describe('how long to wait for each message; 0 is for ever'),
  raw: onOff().default(false).describe('write the raw bytes of the bodies, frames joined'),
  transport: transportOption(),
  json: onOff().default(false).describe('print JSON, one message per line, with key and times'),
});

/** Options of `proj monitor`. */
export const monitorOptions = z.strictObject({
  connect: connectEndpoints()
    .default(['tcp://127.0.0.1:11133'])
    .describe('monitor sockets of queues, in order of preference'),
  timeoutMs: withinADay().default(2500).describe('silence after which an attempt has failed'),
  tries: wholeNumber({ min: 1, max: 1000 }).default(3).describe('attempts to ask'),
  transport: transportOption(),
  json: onOff().default(false).describe('print JSON, with numbers as numbers'),
});
