/** `proj schedule`, `proj unschedule`: jobs of EventMQ that run regularly. */
import {
  connectEndpoints,
  defineCommand,
  milliseconds,
  onOff,
  processTransport,
  text,
  transportOption,
  wholeNumber,
} from '@proj/appkit';
import { EmqpClient, ProjError } from '@proj/client';
import type { EmqpJob } from '@proj/client';
import * as z from 'zod';

const DAY_MS = 86_400_000;
const SECONDS_MAX = 2_147_483_647;

const common = {
  connect: connectEndpoints().default(['tcp://127.0.0.1:47291']).describe('frontend of an EventMQ broker'),
  kwargs: text('JSON', 'a JSON object').optional().describe(`named arguments of the job, such as '{"to": "a"}'`),
  timeoutMs: milliseconds({ min: 1, max: DAY_MS })
    .default(2500)
    .describe('how long the broker may take to come and take the message, which it does not confirm'),
  transport: transportOption(),
};

const scheduleOptions = z.strictObject({
  ...common,
  interval: wholeNumber({ min: 1, max: SECONDS_MAX })
    .optional()
    .describe('run it every so many seconds; either this or --cron'),
  cron: text('EXPRESSION', 'five fields such as "0 4 * * *"')
    .optional()
    .describe('run it at these times, in the time zone of the scheduler'),
  haste: onOff().default(true).describe('run it at once, too'),
  runCount: wholeNumber({ min: 1, max: SECONDS_MAX }).optional().describe('end after so many runs (default: never)'),
  guarantee: onOff().default(true).describe('have a run done again when its worker dies'),
  retryCount: wholeNumber({ min: 0, max: 1000 }).default(0).describe('how often a run that failed is tried again'),
  timeoutSeconds: wholeNumber({ min: 0, max: 604_800 })
    .default(0)
    .describe("seconds after which a run is killed; 0 is the worker's own limit"),
});

const operands = [
  { syntax: '<queue>', help: 'queue whose workers run it; unschedule does not look at it' },
  { syntax: '<job>', help: 'path.callable: what follows the last dot is the function' },
  { syntax: '[args...]', help: 'positional arguments: JSON, and text where it is none; \'"3"\' is the text 3' },
] as const;

/** Has schedulers run a job regularly. */
export const schedule = defineCommand({
  name: 'schedule',
  summary: 'Have an EventMQ scheduler run a job at intervals or by cron. A known job gets the new times.',
  options: scheduleOptions,
  operands,
  examples: [
    { what: 'every 30 seconds, beginning now', line: 'default myjobs.poll --interval 30' },
    { what: 'every night, with two arguments', line: 'mail myjobs.report weekly 7 --cron "0 4 * * *" --no-haste' },
    { what: 'three times, a minute apart', line: 'default myjobs.ping --interval 60 --run-count 3' },
  ],
  async run({ settings, operands: words, stop }) {
    const { interval, cron, haste, runCount, guarantee, retryCount, timeoutSeconds } = settings;
    const wishes = { haste, guarantee, retryCount, timeoutSeconds, signal: stop };
    await withClient(settings, (client) =>
      client.schedule(words[0] ?? '', jobOf(words, settings.kwargs), {
        ...wishes,
        ...(interval === undefined ? {} : { intervalSeconds: interval }),
        ...(cron === undefined ? {} : { cron }),
        ...(runCount === undefined ? {} : { runCount }),
      }),
    );
    return 0;
  },
});

/** Has schedulers forget a job. */
export const unschedule = defineCommand({
  name: 'unschedule',
  summary: 'Have EventMQ schedulers forget a job: the same path, callable and arguments.',
  options: z.strictObject(common),
  operands,
  examples: [{ what: 'what was scheduled above', line: 'mail myjobs.report weekly 7' }],
  async run({ settings, operands: words, stop }) {
    await withClient(settings, (client) =>
      client.unschedule(words[0] ?? '', jobOf(words, settings.kwargs), { signal: stop }),
    );
    return 0;
  },
});

async function withClient(
  { connect, timeoutMs, transport }: Pick<z.output<typeof scheduleOptions>, 'connect' | 'timeoutMs' | 'transport'>,
  use: (client: EmqpClient) => Promise<void>,
): Promise<void> {
  // Closing waits until the transport has sent it, or for so long.
  await using client = new EmqpClient({
    endpoints: connect,
    timeoutMs,
    lingerMs: timeoutMs,
    transport: processTransport(transport),
  });
  await use(client);
}

function jobOf([, name = '', ...words]: readonly string[], kwargs: string | undefined): EmqpJob {
  const dot = name.lastIndexOf('.');
  if (dot < 1 || dot === name.length - 1)
    throw new ProjError('OPTIONS_INVALID', `job "${name}": must be path.callable, such as myjobs.add`);
  const job = { path: name.slice(0, dot), callable: name.slice(dot + 1), args: words.map(argumentOf) };
  return kwargs === undefined ? job : { ...job, kwargs: kwargsOf(kwargs) };
}

function argumentOf(word: string): unknown {
  try {
    return JSON.parse(word);
  } catch {
    return word;
  }
}

function kwargsOf(json: string): Record<string, unknown> {
  const value = argumentOf(json);
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw new ProjError('OPTIONS_INVALID', `--kwargs = ${json}: must be a JSON object such as {"a": 1}`);
}
