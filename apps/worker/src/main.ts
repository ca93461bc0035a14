/** proj-worker: the sample worker. */
import { defineCommand, processTransport, runServer, serveUntilEnded, untilStopped } from '@proj/appkit';
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
  async run(context) {
    const { settings, log, stop, onReload } = context;
    onReload(() => Promise.resolve([]));
    const transport = processTransport(settings.transport);
    const protocol = protocols[settings.protocol];
    const offers = await protocol.offers(settings, { transport, log });
    const workers = offers.map(({ worker }) => worker);
    return serveUntilEnded(context, {
      servers: [
        {
          protocol: settings.protocol,
          facade: { stats: () => totalStats(workers) },
          fault: () => offers.map(({ store }) => store?.fault).find((fault) => fault !== undefined),
        },
      ],
      async listening(http) {
        // Handlers may take for ever to load.
        await Promise.race([Promise.all(workers.map((worker) => worker.start())), untilStopped(stop)]);
        if (stop.aborted) return undefined;
        const endpoints = settings.bind ?? settings.connect ?? protocol.usual.endpoints;
        const work = protocol.work?.(settings) ?? { services: settings.service };
        return { endpoints, ...work, http };
      },
      logStats: () => {
        for (const { worker, log: itsLog } of offers) itsLog.debug(worker.stats(), 'stats');
      },
      ends: offers.flatMap(({ ended }) => ended ?? []),
      drain: () => Promise.all(workers.map((worker) => worker.drain())),
    });
  },
});

await runServer('proj-worker', manifest.version, serve);
