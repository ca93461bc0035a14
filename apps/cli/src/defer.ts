/** `proj defer`: one EventMQ job, now. */
import { defineCommand, onOff, processTransport, withinADay } from '@proj/appkit';
import { EmqpClient } from '@proj/client';
import * as z from 'zod';
import { jobOf, jobOperands, jobOptions, runOptions } from './emqp-jobs.js';

const options = z.strictObject({
  ...jobOptions,
  ...runOptions,
  guarantee: onOff().default(false).describe('run it again if its worker dies; it may then run twice'),
  wait: onOff().default(true).describe('wait for its result; with --no-wait print its id as soon as it is accepted'),
  timeoutMs: withinADay().default(2500).describe('how long the broker may take to accept it'),
  resultTimeoutMs: withinADay()
    .default(3_600_000)
    .describe("how long the job may take; EventMQ's own router returns no results"),
});

/** Makes a worker run a job, and prints the result. */
export const defer = defineCommand({
  name: 'defer',
  summary: 'Submit a job to an EventMQ queue and print its result, or the text of its error.',
  options,
  operands: [{ syntax: '<queue>', help: 'queue whose workers run it' }, ...jobOperands],
  examples: [
    { what: 'add(2, 3) of a module myjobs', line: 'default myjobs.add 2 3' },
    {
      what: 'without waiting, at most three runs, even if workers die',
      line: 'mail myjobs.report weekly --no-wait --guarantee --retry-count 2',
    },
  ],
  async run({ settings, operands: words, stop, print }) {
    const { connect, timeoutMs, resultTimeoutMs, guarantee, wait, retryCount, timeoutSeconds, json } = settings;
    const job = jobOf(words, settings.kwargs);
    const transport = processTransport(settings.transport);
    await using client = new EmqpClient({ endpoints: connect, timeoutMs, resultTimeoutMs, transport });
    const wishes = { replyRequested: wait, guarantee, retryCount, timeoutSeconds, signal: stop };
    const { id, result } = await client.defer(words[0] ?? '', job, wishes);
    if (result === undefined) print(json ? JSON.stringify({ id }) : id);
    else {
      const value = await result;
      print(typeof value === 'string' && !json ? value : JSON.stringify(value));
    }
    return 0;
  },
});
