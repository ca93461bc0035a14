/** Paranoid Pirate: a client and a worker. */
import { LazyPirateClient } from '@proj/client';
import { PppWorker } from '@proj/worker';
import { check, PATIENCE_MS } from './probe.js';
import type { Honest } from './probe.js';

/** The clients of a Paranoid Pirate queue. */
export function ppp(): Honest {
  let losses = 0;
  let client: LazyPirateClient;
  return {
    async start(at, transport) {
      const worker = new PppWorker({ transport, endpoints: [at.pppBackend!], handler: ({ body }) => body });
      worker.on('lost', () => losses++);
      await worker.start();
      client = new LazyPirateClient({
        transport,
        endpoints: [at.pppFrontend!],
        timeoutMs: PATIENCE_MS,
        tries: 1,
        sockets: 100,
      });
      check('registered', String(await client.request('registered')));
    },
    ask: async (text) => check(text, String(await client.request(text))),
    losses: () => losses,
  };
}
