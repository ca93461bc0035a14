/** Majordomo: a client and a worker and, now and then, a worker with a new service name. */
import { MdpClient } from '@proj/client';
import { MdpWorker } from '@proj/worker';
import type { Transport } from '@proj/transport';
import type { ClientCurve } from '@proj/transport/curve';
import { check, PATIENCE_MS } from './probe.js';
import type { Honest } from './probe.js';

const SERVICE = 'honest';
/** One in this many requests is for a newcomer. */
const NEWCOMER_EVERY = 100;

/** The clients of a Majordomo broker. */
export function mdp(): Honest {
  let losses = 0;
  let newcomers = 0;
  let asked = 0;
  let endpoints: string[] = [];
  let client: MdpClient;
  let connection: { readonly transport: Transport; readonly curve?: ClientCurve };
  const worker = async (service: string): Promise<MdpWorker> => {
    const one = new MdpWorker({ ...connection, endpoints, service, handler: ({ body }) => body });
    one.on('lost', () => losses++);
    await one.start();
    return one;
  };
  return {
    async start(at, transport, curve) {
      connection = { transport, ...(curve === undefined ? {} : { curve }) };
      endpoints = [at.mdp!];
      client = new MdpClient({ ...connection, endpoints, timeoutMs: PATIENCE_MS, tries: 1, sockets: 100 });
      await worker(SERVICE);
      check('registered', String(await client.request(SERVICE, 'registered')));
    },
    async ask(text) {
      if (++asked % NEWCOMER_EVERY > 0) {
        check(text, String(await client.request(SERVICE, text)));
        return;
      }
      const service = `newcomer-${newcomers++}`;
      const newcomer = await worker(service);
      // It may take a moment until the broker knows it; that is what this test asks for.
      check(text, String(await client.request(service, text)));
      await newcomer.close();
    },
    losses: () => losses,
  };
}
