/** proj-broker: serves the protocols of this project. */
import { defineCommand, followAccess, hubTransport, runServer, serveUntilEnded, traced } from '@proj/appkit';
import { growYoungGeneration } from '@proj/appkit/heap';
import { accessOptions } from '@proj/broker';
import { SharedRouters } from '@proj/transport';
import manifest from '../package.json' with { type: 'json' };
import { brokerOptions, names, protocols } from './config.js';
import type { Server } from './protocol.js';

const serve = defineCommand({
  name: 'serve',
  summary: `Brokers requests between clients and workers: ${names.map((each) => protocols[each].title).join(', ')}.`,
  options: brokerOptions,
  examples: [
    { what: 'on this machine only, at the port of the specification', line: '' },
    { what: 'for the network, with faster detection of lost workers', line: '--mdp tcp://*:5555 --heartbeat-ms 500' },
    { what: 'Majordomo alone', line: '--only mdp' },
    {
      what: 'access rules, by key',
      line: '--transport zmtp --curve-secret-key broker.key_secret --access access.json',
    },
    { what: 'options from a file, the endpoint from the environment', line: '--config broker.yaml' },
  ],
  async run(context) {
    const { settings, log, onEndedAtOnce, onReload } = context;
    const served = names.filter((each) => settings.only.includes(each));
    const access = settings.access === undefined ? undefined : await followAccess(settings.access, accessOptions, log);
    const { transport, memory, reload } = hubTransport(settings, log);
    const shared = new SharedRouters(transport);
    const failure = new AbortController();
    const ended = new AbortController();
    const servers = new Map<string, Server>();
    const drain = () => {
      access?.close();
      return Promise.all([...servers.values()].map((server) => server.drain()));
    };
    onEndedAtOnce(() => Object.fromEntries([...servers].map(([name, server]) => [name, figuresOf(server.stats())])));
    onReload(async (next) => {
      const changes = await Promise.all(
        [...servers.values()].flatMap((server) => (server.readAgain === undefined ? [] : [server.readAgain()])),
      );
      await access?.reload();
      for (const change of changes) change();
      return reload(next);
    });
    try {
      for (const name of served) {
        const { claim } = protocols[name];
        const child = log.child({ protocol: name });
        const mdpEndpoint = servers.get('mdp')?.endpoints['mdp'] ?? settings.mdp;
        const onBroken = (error: Error) => {
          failure.abort(error);
        };
        const onEnded = () => {
          ended.abort();
        };
        const server = await protocols[name].serve(settings, {
          transport: traced(claim === undefined ? transport : shared.member(claim), child, name),
          log: child,
          access: access?.rules,
          onBroken,
          onEnded,
          mdpEndpoint,
        });
        servers.set(name, server);
        access?.add(server);
      }
    } catch (error) {
      await drain();
      throw error;
    }
    const endpoints = Object.assign({}, ...[...servers.values()].map((server) => server.endpoints)) as object;
    return serveUntilEnded(context, {
      servers: [...servers].map(([protocol, { endpoints, shown }]) => ({ protocol, endpoints, ...shown })),
      memory,
      listening: (http) => ({ endpoints, memoryMax: memory.maxBytes, http }),
      logStats: () => {
        log.debug(memory.stats(), 'memory');
        for (const [protocol, server] of servers) log.debug({ protocol, ...server.stats() }, 'stats');
      },
      ends: [ended.signal],
      failure: failure.signal,
      drain,
    });
  },
});

/** The numbers in the statistics: what is open now, as opposed to counters, which are objects. */
function figuresOf(stats: object): object {
  return Object.fromEntries(Object.entries(stats).filter(([, value]) => typeof value === 'number'));
}

growYoungGeneration();
await runServer('proj-broker', manifest.version, serve);
