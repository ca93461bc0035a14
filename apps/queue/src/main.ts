/** proj-queue: a durable queue on disk, PZQ. */
import { defineCommand, followAccess, hubTransport, runServer, serveUntilEnded, traced } from '@proj/appkit';
import { pzqAccessOptions, PzqServer } from '@proj/pzq';
import type { PzqServerEndpoints } from '@proj/pzq';
import manifest from '../package.json' with { type: 'json' };
import { queueOptions, serverOptions } from './config.js';
import { logEvents } from './log-events.js';
import { shownQueue } from './shown-queue.js';

const serve = defineCommand({
  name: 'serve',
  summary: 'Keeps messages on disk until a consumer has acknowledged them: PZQ.',
  options: queueOptions,
  examples: [
    { what: 'on this machine only, at the ports of the original', line: '' },
    {
      what: 'for the network, with its own folder',
      line: '--receive tcp://*:11131 --send tcp://*:11132 --store lmdb:/var/lib/orders',
    },
    { what: 'give up a message after five deliveries', line: '--max-deliveries 5' },
    {
      what: 'which key may push and which may consume',
      line: '--transport zmtp --curve-secret-key queue.key_secret --access access.json',
    },
    { what: 'options from a file', line: '--config queue.yaml' },
  ],
  async run(context) {
    const { settings, log, onEndedAtOnce, onReload } = context;
    const failure = new AbortController();
    const access =
      settings.access === undefined ? undefined : await followAccess(settings.access, pzqAccessOptions, log);
    const { transport: sockets, memory, reload } = hubTransport(settings, log);
    const transport = traced(sockets, log.child({ protocol: 'pzq' }), 'pzq');
    const queue = new PzqServer({ ...serverOptions(settings), access: access?.rules, transport });
    queue.on('broken', (error) => {
      failure.abort(error);
    });
    logEvents(queue, log);
    onEndedAtOnce(() => {
      const { messages: kept, inFlight } = queue.stats();
      return { messages: kept, inFlight, durable: queue.durable };
    });
    onReload(async (next) => {
      await access?.reload();
      return reload(next);
    });
    const endpoints = firstOf(await queue.start());
    access?.add(queue);
    const { durable } = queue;
    const { store, messages, bytes, dead } = queue.stats();
    const warning = 'messages are lost when this process ends: choose --store lmdb:FOLDER to keep them';
    return serveUntilEnded(context, {
      servers: [shownQueue(queue, settings.name, endpoints)],
      memory,
      listening: (http) => ({
        ...{ endpoints, store, durable, messages, bytes, dead },
        ...{ memoryMax: memory.maxBytes, http },
      }),
      warning: durable ? undefined : [{ store }, warning],
      logStats: () => {
        log.debug(memory.stats(), 'memory');
        log.debug(queue.stats(), 'stats');
      },
      failure: failure.signal,
      drain: () => {
        access?.close();
        return queue.drain();
      },
      drained: () => ({ messages: queue.stats().messages }),
    });
  },
});

/** One endpoint per option; those without an endpoint are left out. */
function firstOf(endpoints: PzqServerEndpoints): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(endpoints).flatMap(([name, [endpoint]]: [string, string[]]) =>
      endpoint === undefined ? [] : [[name, endpoint]],
    ),
  );
}

await runServer('proj-queue', manifest.version, serve);
