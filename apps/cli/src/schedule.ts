/** `proj schedule`, `proj unschedule`: jobs of EventMQ that run regularly. */
import { createHash } from 'node:crypto';
import { defineCommand, milliseconds, onOff, text, wholeNumber } from '@proj/appkit';
import { ProjError } from '@proj/client';
import type { EmqpClient, EmqpJob } from '@proj/client';
import { emqpJobText, encodeEmqpJson } from '@proj/frames/emqp';
import * as z from 'zod';
import { jobOf, jobOperands, jobOptions, runOptions, sendUnanswered } from './emqp-jobs.js';

const DAY_MS = 86_400_000;
const SECONDS_MAX = 2_147_483_647;

const common = {
  ...jobOptions,
  timeoutMs: milliseconds({ min: 1, max: DAY_MS })
    .default(2500)
    .describe('how long each broker may take to come and take the message, which it does not confirm'),
};

const scheduleOptions = z
  .strictObject({
    ...common,
    ...runOptions,
    interval: wholeNumber({ min: 1, max: SECONDS_MAX })
      .optional()
      .describe('run it every so many seconds; either this or --cron'),
    cron: text('EXPRESSION', 'five fields such as "0 4 * * *"')
      .optional()
      .describe('run it at these times, in the time zone of the scheduler'),
    haste: onOff().default(true).describe('run it at once, too'),
    runCount: wholeNumber({ min: 1, max: SECONDS_MAX }).optional().describe('end after so many runs (default: never)'),
    guarantee: onOff().default(true).describe('have a run done again when its worker dies'),
  })
  .refine(({ interval, cron }) => (interval === undefined) !== (cron === undefined), {
    path: ['interval'],
    error: 'exactly one of --interval and --cron is needed',
  });

const operands = [
  { syntax: '<queue>', help: 'queue whose workers run it; unschedule does not look at it' },
  ...jobOperands,
] as const;

/** Has schedulers run a job regularly. */
export const schedule = defineCommand({
  name: 'schedule',
  summary:
    'Have an EventMQ scheduler run a job at intervals or by cron, and print its name. A known job gets the new times.',
  options: scheduleOptions,
  operands,
  examples: [
    { what: 'every 30 seconds, beginning now', line: 'default myjobs.poll --interval 30' },
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

/** Has schedulers forget a job. */
export const unschedule = defineCommand({
  name: 'unschedule',
  summary: 'Have EventMQ schedulers forget a job: the same path, callable and arguments. Prints its name.',
  options: z.strictObject(common),
  operands,
  examples: [{ what: 'what was scheduled above', line: 'mail myjobs.report weekly 7' }],
  async run({ settings, operands: words, stop, print }) {
    const job = jobOf(words, settings.kwargs);
    await send(settings, (client) => client.unschedule(words[0] ?? '', job, { signal: stop }));
    print(lineOf(job, settings.json));
    return 0;
  },
});

/** To the first broker that takes it: a job that is scheduled twice is scheduled once. */
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

/** What schedulers, EventMQ's own included, call the job. */
function lineOf({ path, callable, args = [], kwargs = {} }: EmqpJob, json: boolean): string {
  const body = encodeEmqpJson(['run', { path, callable, args, kwargs }]);
  const name = createHash('sha1')
    .update(emqpJobText(Buffer.from(body)) ?? '')
    .digest('hex');
  return json ? JSON.stringify({ job: name }) : name;
}
