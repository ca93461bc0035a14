/** The options of `proj publish` and `proj subscribe`. */
import { connectEndpoints, milliseconds, oneOf, onOff, transportOption, wholeNumber } from '@proj/appkit';
import * as z from 'zod';

const DAY_MS = 86_400_000;

/** Options of `proj publish`. */
export const publishOptions = z.strictObject({
  connect: connectEndpoints()
    .default(['tcp://127.0.0.1:47298'])
    .describe('where the pub-sub device of EventMQ takes messages; the first counts'),
  timeoutMs: milliseconds({ min: 1, max: DAY_MS })
    .default(2500)
    .describe('how long the device may take to come and take the message, which it does not confirm'),
  transport: oneOf(['zmtp', 'zmq'])
    .default('zmtp')
    .describe('what the socket is made of: ZMTP in TypeScript, which is there sooner, or libzmq'),
});

/** Options of `proj subscribe`. */
export const subscribeOptions = z.strictObject({
  connect: connectEndpoints()
    .default(['tcp://127.0.0.1:47299'])
    .describe('where the pub-sub device of EventMQ hands messages out; the first counts'),
  count: wholeNumber({ min: 0 }).default(0).describe('messages to wait for; 0 goes on until it is interrupted'),
  timeoutMs: milliseconds({ min: 0, max: DAY_MS })
    .default(0)
    .describe('how long to wait for each message; 0 is for ever'),
  transport: transportOption(),
  json: onOff().default(false).describe('print JSON, one message per line, with topic'),
});
