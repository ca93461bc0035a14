/** `proj schedule`, `proj unschedule`: EventMQ jobs that run regularly. */
import { createHash } from 'node:crypto';
import { defineCommand, onOff, text, wholeNumber, withinADay } from '@proj/appkit';
import { ProjError } from '@proj/client';
import type { EmqpClient, EmqpJob } from '@proj/client';
import { emqpJobText, encodeEmqpJson } from '@proj/frames/emqp';
import * as z from 'zod';
import { jobOf, jobOperands, jobOptions, runOptions, sendUnanswered } from './emqp-jobs.js';

const SECONDS_MAX = 2_147_483_647;

const common = {
  ...jobOptions,
  timeoutMs: withinADay()
    .default(2500)
    .describe('how long each broker may take to connect and take the message, which it does not confirm'),
};

const scheduleOptions = z
  .strictObject({
    ...common,
    ...runOptions,
    interval: wholeNumber({ min: 1, max: SECONDS_MAX })
      .optional()
      .describe('interval in seconds; use either this or --cron'),
    cron: text('EXPRESSION', 'five fields such as "0 4 * * *"')
      .optional()
      .describe("when to run it, in the scheduler's time zone"),
    haste: onOff().default(true).describe('also run it at once'),
    runCount: wholeNumber({ min: 1, max: SECONDS_MAX })
      .optional()
      .describe('end after this many runs (default: never)'),
    guarantee: onOff().default(true).describe('repeat a run if its worker dies'),
  })
  .refine(({ interval, cron }) => (interval === undefined) !== (cron === undefined), {
    path: ['interval'],
    error: 'exactly one of --interval and --cron is needed',
  });

const operands = [
  { syntax: '<queue>', help: 'queue whose workers run it; unschedule ignores it' },
  ...jobOperands,
] as const;

/** Makes schedulers run a job regularly. */
export const schedule = defineCommand({
  name: 'schedule',
  summary:
    'Make an EventMQ scheduler run a job at intervals or by cron, and print its name. A known job gets the new times.',
  options: scheduleOptions,
  operands,
  examples: [
    { what: 'every 30 seconds, starting now', line: 'default myjobs.poll --interval 30' },
    { what: 'every night, with two arguments', line: 'mail myjobs.report weekly 7 --cron "0 4 * * *" --no-haste' },
    { what: 'three times, a minute apart', line: 'default myjobs.ping --interval 60 --run-count 3' },
  ],
  async run({ settings, operands: words, stop, print }) {
    const { interval, cron, haste, runCount, guarantee, retryCount, timeoutSeconds } = settings;
    const wishes = {
      ...{ haste, guarantee, retryCount, timeoutSeconds, signal: stop },
      ...(interval === undefined ? {} : { intervalSeconds: interval }),
      ...(cron === undefined ? {} : { cron }),
      ...(runCount === undefined ? {} : { runCount }),
    };
    const job = jobOf(words, settings.kwargs);
    await send(settings, (client) => client.schedule(words[0] ?? '', job, wishes));
    print(lineOf(job, settings.json));
    return 0;
  },
});

/** Makes schedulers forget a job. */
export const unschedule = defineCommand({
  name: 'unschedule',
  summary: 'Make EventMQ schedulers forget a job with the same path, callable and arguments. Prints its name.',
  options: z.strictObject(common),
  operands,
  examples: [{ what: 'the job scheduled above', line: 'mail myjobs.report weekly 7' }],
  async run({ settings, operands: words, stop, print }) {
    const job = jobOf(words, settings.kwargs);
    await send(settings, (client) => client.unschedule(words[0] ?? '', job, { signal: stop }));
    print(lineOf(job, settings.json));
    return 0;
  },
});

/** Sent to the first broker that takes it: scheduling a job twice schedules it once. */
async function send(
  { connect, timeoutMs, transport }: Pick<z.output<typeof scheduleOptions>, 'connect' | 'timeoutMs' | 'transport'>,
  ask: (client: EmqpClient) => Promise<void>,
): Promise<void> {
  for (const [place, endpoint] of connect.entries()) {
    const options = { endpoints: [endpoint] };
    try {
      await sendUnanswered({ options, what: 'an EventMQ broker', endpoint, timeoutMs, transport }, ask);
      return;
    } catch (error) {
      const isLast = place === connect.length - 1;
      if (isLast || !(error instanceof ProjError) || error.code !== 'TIMEOUT') throw error;
    }
  }
}

/** The name that schedulers, including EventMQ's own, give the job. */
function lineOf({ path, callable, args = [], kwargs = {} }: EmqpJob, json: boolean): string {
  const body = encodeEmqpJson(['run', { path, callable, args, kwargs }]);
  const name = createHash('sha1')
    .update(emqpJobText(Buffer.from(body)) ?? '')
    .digest('hex');
  return json ? JSON.stringify({ job: name }) : name;
}
