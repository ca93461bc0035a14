/** NORFAB: a client and a worker whose jobs are in memory. */
import { NfpClient } from '@proj/client';
import { NfpWorker } from '@proj/worker';
import type { NfpTaskCall } from '@proj/worker';
import { check, PATIENCE_MS } from './probe.js';
import type { Honest } from './probe.js';

const SERVICE = 'honest';
/** As often as allowed. */
const POLL_MS = 10;

/** The clients of a NORFAB broker. */
export function nfp(): Honest {
  let losses = 0;
  let client: NfpClient;
  const run = async (text: string): Promise<void> => {
    const results = await client.run(SERVICE, 'repeat', { args: [text], timeoutMs: PATIENCE_MS });
    const [said] = Object.values(results);
    check(text, typeof said?.result === 'string' ? said.result : said?.errors.join());
  };
  return {
    async start(at, transport) {
      const endpoints = [at.nfp!];
      const tasks = { repeat: ({ args }: NfpTaskCall) => args[0] };
      const worker = new NfpWorker({ transport, endpoints, service: SERVICE, name: 'honest-1', tasks });
      worker.on('lost', () => losses++);
      await worker.start();
      client = new NfpClient({ transport, endpoints, name: 'honest-client', pollIntervalMs: POLL_MS });
      await run('registered');
    },
    ask: run,
    losses: () => losses,
  };
}
