/** proj-worker: the sample worker. */
import { defineCommand, every, processTransport, runProgram, untilStopped } from '@proj/appkit';
import manifest from '../package.json' with { type: 'json' };
import { workerOptions } from './config.js';
import { observed } from './handlers/implementation.js';
import { findHandler } from './handlers/index.js';
import { mdp } from './protocols/mdp.js';
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
      what: 'a module of yours: export default ({ body }) => body.reverse();',
      line: '--service reverse --handler ./reverse.mjs',
    },
  ],
  async run({ settings, log, stop }) {
    const transport = processTransport(settings.transport);
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
    log.info({ endpoints: settings.connect ?? protocol.endpoints, services: settings.service }, 'listening');
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

await runProgram({
  name: 'proj-worker',
  version: manifest.version,
  summary: serve.summary,
  envPrefix: 'PROJ_WORKER_',
  logging: { fd: 1, level: 'info' },
  commands: [serve],
});
