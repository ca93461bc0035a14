/** proj-worker: the sample worker. */
import { defineCommand, every, processTransport, runProgram, show, untilStopped } from '@proj/appkit';
import manifest from '../package.json' with { type: 'json' };
import { protocols, workerOptions } from './config.js';
import type { Protocol } from './protocol.js';
import { totalStats } from './shown-workers.js';

const serve = defineCommand({
  name: 'serve',
  summary: 'Offers services to a broker or queue, with built-in handlers or your own.',
  options: workerOptions,
  examples: [
    { what: 'an echo, eight requests at a time', line: '--service echo --concurrency 8' },
    {
      what: 'two services, with a second broker to fall back on',
      line: '--service sha256,text-stats --connect tcp://a:5555,tcp://b:5555',
    },
    {
      what: 'your own module: export default ({ body }) => body.reverse();',
      line: '--service reverse --handler ./reverse.mjs',
    },
    ...Object.values(protocols).flatMap(({ examples = [] }: Protocol) => examples),
  ],
  async run({ settings, log, stop, serving, onReload }) {
    onReload(() => Promise.resolve([]));
    const transport = processTransport(settings.transport);
    const protocol = protocols[settings.protocol];
    const offers = await protocol.offers(settings, { transport, log });
    const workers = offers.map(({ worker }) => worker);
    const ended = new AbortController();
    const shown = await show(settings, {
      name: 'proj-worker',
      version: manifest.version,
      servers: [{ protocol: settings.protocol, facade: { stats: () => totalStats(workers) } }],
      log,
      onDrain: () => {
        ended.abort();
      },
    });
    // Handlers may take for ever to load.
    await Promise.race([Promise.all(workers.map((worker) => worker.start())), untilStopped(stop)]);
    if (!stop.aborted) {
      const endpoints = settings.bind ?? settings.connect ?? protocol.usual.endpoints;
      const work = protocol.work?.(settings) ?? { services: settings.service };
      log.info({ endpoints, ...work, http: shown.url }, 'listening');
      serving();
    }
    const logStats = () => {
      for (const { worker, log: itsLog } of offers) itsLog.debug(worker.stats(), 'stats');
    };
    const endStats = every(settings.statsMs, logStats);
    await Promise.race([
      untilStopped(AbortSignal.any([stop, ended.signal])),
      ...offers.flatMap(({ ended }) => ended ?? []),
    ]);
    endStats();
    log.info('draining');
    shown.draining();
    await Promise.all(workers.map((worker) => worker.drain()));
    await shown.close();
    logStats();
    log.info('drained');
    return 0;
  },
});

await runProgram({
  name: 'proj-worker',
  version: manifest.version,
  summary: serve.summary,
  envPrefix: 'PROJ_WORKER_',
  logging: { fd: 1, level: 'info' },
  commands: [serve],
});
