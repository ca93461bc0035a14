/** `proj post`, `proj get`, `proj delete`: NORFAB jobs. */
import { defineCommand } from '@proj/appkit';
import type { Context } from '@proj/appkit';
import type { NfpJob, NfpJobResult } from '@proj/client';
import type * as z from 'zod';
import { askService } from './ask.js';
import { argumentOf, argumentOperand, kwargsOf } from './body.js';
import { jobOptions, postOptions } from './nfp-options.js';
import { exitCodeOf, lineOfEvent, lineOfResult, unlessStopped, withNfpClient } from './protocols/nfp.js';

/** Posts a job and prints what each worker returns. */
export const post = defineCommand({
  name: 'post',
  summary: 'Submit a job to NORFAB workers and print what each of them returns, one line per worker.',
  options: postOptions,
  operands: [
    { syntax: '<service>', help: 'name of the service' },
    { syntax: '<task>', help: 'name of the task' },
    argumentOperand,
  ],
  examples: [
    { what: 'all workers of a service', line: 'sample ping' },
    { what: 'a number and a text, for any one of them', line: 'sample add 3 three --target any' },
    { what: 'named arguments', line: `nornir cli --kwargs '{"commands": ["show clock"]}'` },
    { what: 'two workers, and their events', line: `sample deploy --target '["w1", "w2"]' --events` },
    { what: 'what the broker knows about its clients', line: 'mmi.service.broker show_clients' },
    { what: 'recorded, so that proj jobs resumes it after an interrupt', line: 'sample long-one --store ./jobs' },
    { what: 'without waiting: prints the uuid for proj get and proj delete', line: 'sample long-one --no-wait' },
  ],
  async run({ settings, operands, stop, print, log }) {
    const [service = '', task = '', ...words] = operands;
    const { target, uuid, wait, json, timeoutMs, store } = settings;
    const kwargs = kwargsOf(settings.kwargs);
    const args = words.map(argumentOf);
    return withNfpClient(settings, async (client) => {
      const asked = await askService(client, { service, task, args, kwargs, target, signal: stop }, json);
      if (asked !== undefined) {
        for (const line of asked.lines) print(line);
        return asked.exitCode;
      }
      const named = uuid === undefined ? {} : { uuid };
      // Recorded jobs continue without this process.
      const signal = store === undefined ? { signal: stop } : {};
      const job = await client.post(service, task, { args, kwargs, target, timeoutMs, ...signal, ...named });
      if (store !== undefined)
        stop.addEventListener('abort', () => {
          log.warn({ uuid: job.uuid, store }, 'the job continues: see proj jobs');
        });
      if (wait) return unlessStopped(follow(job, settings, print), stop);
      const workers = await unlessStopped(job.accepted, stop);
      const refused = job.said.filter(({ failed }) => failed);
      if (workers.length > 0) print(json ? JSON.stringify({ uuid: job.uuid, workers }) : job.uuid);
      for (const result of refused) print(lineOfResult(result, json));
      return exitCodeOf(refused);
    });
  },
});

/** Prints what workers report about a job. */
export const get = defineCommand({
  name: 'get',
  summary: 'Print what NORFAB workers report about a job: its result, or its progress.',
  options: jobOptions,
  operands: [{ syntax: '<uuid>', help: 'the id that proj post has printed' }],
  examples: [
    { what: 'from any worker that knows it', line: 'a0f4c1d2e3b44f5a8b6c7d8e9f0a1b2c' },
    { what: 'from one worker, as JSON', line: 'a0f4c1d2e3b44f5a8b6c7d8e9f0a1b2c --target w1 --json' },
  ],
  run: (context) => printResults(context, 'get'),
});

/** Cancels a job. */
export const deleteJob = defineCommand({
  name: 'delete',
  summary: "Make NORFAB workers cancel a job, or forget its result. NORFAB's own workers do not answer.",
  options: jobOptions,
  operands: [{ syntax: '<uuid>', help: 'the id that proj post has printed' }],
  examples: [
    { what: 'at all workers', line: 'a0f4c1d2e3b44f5a8b6c7d8e9f0a1b2c' },
    { what: 'at the workers of one service', line: 'a0f4c1d2e3b44f5a8b6c7d8e9f0a1b2c --service sample' },
  ],
  run: (context) => printResults(context, 'delete'),
});

/** Asks workers about a job and prints their answers. */
function printResults(
  { settings, operands, stop, print }: Context<z.output<typeof jobOptions>>,
  ask: 'get' | 'delete',
): Promise<number> {
  return withNfpClient(settings, async (client) => {
    const { service, target, json } = settings;
    const results = Object.values(await client[ask](operands[0] ?? '', { service, target, signal: stop }));
    for (const result of results) print(lineOfResult(result, json));
    return exitCodeOf(results);
  });
}

type Settings = z.output<typeof postOptions>;

/** Prints results as they arrive, and events if requested. */
async function follow(job: NfpJob, { events, json }: Settings, print: Context<Settings>['print']): Promise<number> {
  const results: NfpJobResult[] = [];
  const showEvents = async (): Promise<void> => {
    for await (const event of job.events()) if (events) print(lineOfEvent(event, json));
  };
  const showResults = async (): Promise<void> => {
    for await (const result of job.results()) {
      results.push(result);
      print(lineOfResult(result, json));
    }
  };
  await Promise.all([showEvents(), showResults()]);
  return exitCodeOf(results);
}
