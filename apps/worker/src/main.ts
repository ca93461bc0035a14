/** proj-worker: the sample worker. */
import type { Logger } from '@proj/appkit';
import type { Transport } from '@proj/transport';
import { defineCommand, every, processTransport, runProgram, untilStopped } from '@proj/appkit';
import manifest from '../package.json' with { type: 'json' };
import { workerOptions } from './config.js';
import type { WorkerSettings } from './config.js';
import { observed } from './handlers/implementation.js';
import { findHandler } from './handlers/index.js';
import { EMQP_ENDPOINTS, jobManager } from './protocols/emqp.js';
import { mdp } from './protocols/mdp.js';
import { NFP_ENDPOINTS, nfpWorker } from './protocols/nfp.js';
import { ppp } from './protocols/ppp.js';

const protocols = { mdp, mdp01: mdp, ppp };

const serve = defineCommand({
  name: 'serve',
  summary: 'Offers services to a broker or queue, with built-in handlers or with one of yours.',
  options: workerOptions,
  examples: [
    { what: 'an echo, eight requests at a time', line: '--service echo --concurrency 8' },
    {
      what: 'two services, and a second broker to fall back on',
      line: '--service sha256,text-stats --connect tcp://a:5555,tcp://b:5555',
    },
    { what: 'Paranoid Pirate, where the service only chooses the handler', line: '--protocol ppp --service sha256' },
    {
      what: 'EventMQ: jobs of two queues, by what the modules of a folder export',
      line: "--protocol emqp --queues '10:default,20:email' --directory ./jobs",
    },
    { what: 'NORFAB: tasks whose jobs outlive this process', line: '--protocol nfp --service sample --name sample-1' },
    {
      what: 'a module of yours: export default ({ body }) => body.reverse();',
      line: '--service reverse --handler ./reverse.mjs',
    },
  ],
  async run({ settings, log, stop, onReload }) {
    onReload(() => Promise.resolve([]));
    const transport = processTransport(settings.transport);
    if (settings.protocol === 'emqp') return await serveJobs(settings, transport, log, stop);
    if (settings.protocol === 'nfp') return await serveTasks(settings, transport, log, stop);
    const protocol = protocols[settings.protocol];
    const offers = settings.service.map(async (service) => {
      const child = log.child({ service });
      const implementation = observed(await findHandler(service, settings.handler), () => {
        child.debug('request');
      });
      return { log: child, worker: protocol.worker(service, implementation, settings, { transport, log: child }) };
    });
    const members = await Promise.all(offers);
    await Promise.all(members.map(({ worker }) => worker.start()));
    log.info(
      { endpoints: settings.bind ?? settings.connect ?? protocol.endpoints, services: settings.service },
      'listening',
    );
    const logStats = () => {
      for (const member of members) member.log.debug(member.worker.stats(), 'stats');
    };
    const endStats = every(settings.statsMs, logStats);
    await untilStopped(stop);
    endStats();
    log.info('draining');
    await Promise.all(members.map(({ worker }) => worker.drain()));
    logStats();
    log.info('drained');
    return 0;
  },
});

/** EventMQ: one job manager for all queues, which the broker may end as well. */
async function serveJobs(
  settings: WorkerSettings,
  transport: Transport,
  log: Logger,
  stop: AbortSignal,
): Promise<number> {
  const manager = jobManager(settings, transport, log);
  const ended = new Promise<void>((resolve) => {
    manager.on('ended', () => {
      resolve();
    });
  });
  // Handlers may take for ever to load.
  await Promise.race([manager.start(), untilStopped(stop)]);
  if (!stop.aborted) log.info({ endpoints: settings.connect ?? EMQP_ENDPOINTS, queues: settings.queues }, 'listening');
  const logStats = () => {
    log.debug(manager.stats(), 'stats');
  };
  const endStats = every(settings.statsMs, logStats);
  await Promise.race([untilStopped(stop), ended]);
  endStats();
  log.info('draining');
  await manager.drain();
  logStats();
  log.info('drained');
  return 0;
}

/** NORFAB: one worker, which the broker's operator may end as well. */
async function serveTasks(
  settings: WorkerSettings,
  transport: Transport,
  log: Logger,
  stop: AbortSignal,
): Promise<number> {
  const worker = await nfpWorker(settings, transport, log);
  const ended = new Promise<void>((resolve) => {
    worker.on('management', ({ task }) => {
      if (task === 'shutdown') resolve();
    });
  });
  await worker.start();
  log.info({ endpoints: settings.connect ?? NFP_ENDPOINTS, services: settings.service }, 'listening');
  const logStats = () => {
    log.debug(worker.stats(), 'stats');
  };
  const endStats = every(settings.statsMs, logStats);
  await Promise.race([untilStopped(stop), ended]);
  endStats();
  log.info('draining');
  await worker.drain();
  logStats();
  log.info('drained');
  return 0;
}

await runProgram({
  name: 'proj-worker',
  version: manifest.version,
  summary: serve.summary,
  envPrefix: 'PROJ_WORKER_',
  logging: { fd: 1, level: 'info' },
  commands: [serve],
});
