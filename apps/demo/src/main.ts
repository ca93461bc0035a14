/** proj-demo: what `npm start` runs. A broker, workers, a queue, the files of this repository, and a crash of each half-way. */
import { setMaxListeners } from 'node:events';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineCommand, onOff, runProgram, text, untilStopped, wholeNumber } from '@proj/appkit';
import { ProjError } from '@proj/client';
import * as z from 'zod';
import manifest from '../package.json' with { type: 'json' };
import { listTextFiles } from './corpus.js';
import { demonstrate } from './demonstration.js';
import { Fleet, SERVICES } from './fleet.js';
import { Guard, programPath } from './launch.js';
import { demonstrateQueue } from './queue-demonstration.js';
import { QueueProcess } from './queue-process.js';
import { whereToLook } from './report.js';

const repository = fileURLToPath(new URL('../../..', import.meta.url));

const options = z.strictObject({
  once: onOff().default(false).describe('end after the workload instead of continuing to run'),
  workers: wholeNumber({ min: 2, max: 64 }).default(3).describe('worker processes, each of which offers both services'),
  concurrency: wholeNumber({ min: 1, max: 64 })
    .default(2)
    .describe('requests a worker handles at the same time, per service'),
  inFlight: wholeNumber({ min: 1, max: 1000 })
    .default(32)
    .describe('requests that the client has open at the same time'),
  crash: onOff().default(true).describe('kill a worker half-way, then the queue'),
  folder: text('DIR', 'a folder').default(repository).describe('where to take text files from'),
});

const run = defineCommand({
  name: 'demonstrate',
  summary:
    'Sends the text files of this repository through a broker and its workers, their names through a queue, and kills a worker and the queue half-way.',
  options,
  examples: [
    { what: 'run, then keep running for you to look at', line: '' },
    { what: 'run and end: exit code 0 if every answer was right', line: '--once' },
  ],
  async run({ settings, stop, print }) {
    const files = await listTextFiles(settings.folder).catch(() => []);
    if (files.length === 0)
      throw new ProjError(
        'OPTIONS_INVALID',
        `--folder = "${settings.folder}": must be a folder with readable text files`,
      );
    const guard = new Guard();
    await using fleet = await Fleet.start(settings, guard);
    print(
      `Broker (process ${fleet.brokerPid}) at ${fleet.endpoint}, ${fleet.workers.length} workers for ${SERVICES.join(' and ')}.`,
    );
    print(`Watch them at ${fleet.url}`);
    const signal = AbortSignal.any([stop, guard.failure]);
    // Every open request adds a listener.
    setMaxListeners(settings.inFlight + 10, signal);
    const requestsWell = await demonstrate(fleet, { ...settings, files, signal, output: process.stdout });
    await using queue = await QueueProcess.start(guard);
    print('');
    print(`Queue at ${queue.endpoints.receive} (process ${queue.pid}), its store in ${queue.folder}.`);
    print(`Watch it at ${queue.url}`);
    print(`Pushing the names and checksums of ${files.length} files.`);
    const queueWell = await demonstrateQueue(queue, { ...settings, files, signal, say: print });
    if (settings.once) return requestsWell && queueWell ? 0 : 1;
    for (const line of whereToLook(fleet.endpoint, queue.endpoints, commandOf)) print(line);
    print(`In a browser: ${fleet.url} shows the broker with its workers, ${queue.url} the queue.`);
    await untilStopped(signal);
    guard.failure.throwIfAborted();
    print('Stopping: workers, broker and queue finish their work.');
    return 0;
  },
});

function commandOf(app: string): string {
  return `node ${relative(process.cwd(), programPath(app))}`;
}

await runProgram({
  name: 'proj-demo',
  version: manifest.version,
  summary: run.summary,
  envPrefix: 'PROJ_DEMO_',
  logging: { fd: 2, level: 'warn' },
  commands: [run],
});
