/** The options of the commands of `proj`. */
import { connectEndpoints, milliseconds, oneOf, onOff, wholeNumber } from '@proj/appkit';
import * as z from 'zod';

/** Options of every command that talks to a broker. */
export const connectionOptions = z.strictObject({
  connect: connectEndpoints().default(['tcp://127.0.0.1:5555']).describe('brokers, in order of preference'),
  protocol: oneOf(['mdp', 'mdp01']).default('mdp').describe('Majordomo 0.2 or 0.1'),
  timeoutMs: milliseconds({ min: 1, max: 86_400_000 }).default(2500).describe('silence after which a try has failed'),
  tries: wholeNumber({ min: 1, max: 1000 }).default(3).describe('sends of one request in all'),
  json: onOff().default(false).describe('print JSON, one value per line'),
});

/** Options of `proj call`. */
export const callOptions = connectionOptions
  .extend({
    connect: connectEndpoints()
      .optional()
      .describe(
        'brokers or queues, in order of preference (default: tcp://127.0.0.1:5555, with ppp tcp://127.0.0.1:5556)',
      ),
    protocol: oneOf(['mdp', 'mdp01', 'ppp'])
      .default('mdp')
      .describe('Majordomo 0.2 or 0.1, or Paranoid Pirate, which has no services: every word is a frame'),
    failFast: onOff()
      .default(false)
      .describe('ask the broker first and fail at once when no worker offers the service'),
    stream: onOff().default(false).describe('print partial replies as they come'),
    raw: onOff().default(false).describe('write the bytes of the reply as they are, frames joined'),
  })
  .superRefine(({ protocol, failFast, stream }, context) => {
    const refuse = (option: string, message: string): void => {
      context.addIssue({ code: 'custom', path: [option], message });
    };
    if (protocol !== 'ppp') return;
    if (failFast) refuse('failFast', 'must be off with --protocol ppp, which has no services to ask about');
    if (stream) refuse('stream', 'must be off with --protocol ppp, which has no partial replies');
  });
