/** The options of `proj publish` and `proj subscribe`. */
import { connectEndpoints, oneOf, onOff, transportOption, wholeNumber, withinADay } from '@proj/appkit';
import * as z from 'zod';

/** Options of `proj publish`. */
export const publishOptions = z.strictObject({
  connect: connectEndpoints()
    .default(['tcp://127.0.0.1:47298'])
    .describe("where EventMQ's pub-sub device accepts messages; only the first endpoint is used"),
  timeoutMs: withinADay()
    .default(2500)
    .describe('how long the device may take to connect and take the message, which it does not confirm'),
  transport: oneOf(['zmtp', 'zmq'])
    .default('zmtp')
    .describe('socket implementation: ZMTP in TypeScript, which connects sooner, or libzmq'),
});

/** Options of `proj subscribe`. */
export const subscribeOptions = z.strictObject({
  connect: connectEndpoints()
    .default(['tcp://127.0.0.1:47299'])
    .describe("where EventMQ's pub-sub device sends messages; only the first endpoint is used"),
  count: wholeNumber({ min: 0 }).default(0).describe('messages to wait for; 0 continues until interrupted'),
  timeoutMs: withinADay(0).default(0).describe('how long to wait for each message; 0 is for ever'),
  transport: transportOption(),
  json: onOff().default(false).describe('print JSON, one message per line, with its topic'),
});
