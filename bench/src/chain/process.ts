/**
 * One end of a chain, in a separate process. It sends `ready`; a client then answers each `{ requests, inFlight }` with
 * a {@link ClientRun}. Both ends answer `cpu` with their CPU time so far in microseconds, and exit on `exit`.
 */
import { PRODUCTS } from './products.js';
import type { ChainClient, EndPlan } from './product.js';

/** Which end this is. */
export type Role = 'client' | 'worker';

/** What a client measured. */
export interface ClientRun {
  readonly seconds: number;
  /** Time of each request, in microseconds. */
  readonly latencies: Float64Array;
}

const plan = JSON.parse(process.argv[2] ?? '{}') as EndPlan;
const load = PRODUCTS[plan.product];
if (load === undefined) throw new Error(`no product ${plan.product}`);
const product = await load();
const end = await product[plan.role](plan.endpoint);

async function run(client: ChainClient, requests: number, inFlight: number): Promise<ClientRun> {
  const body = Buffer.alloc(plan.bodyBytes, 7);
  const latencies = new Float64Array(requests);
  let sent = 0;
  const startedAt = performance.now();
  const one = async (): Promise<void> => {
    while (sent < requests) {
      const index = sent++;
      const sentAt = performance.now();
      await client.request(body);
      latencies[index] = 1000 * (performance.now() - sentAt);
    }
  };
  await Promise.all(Array.from({ length: inFlight }, one));
  return { seconds: (performance.now() - startedAt) / 1000, latencies };
}

process.once('disconnect', () => process.exit());
process.on('message', (message: { readonly requests: number; readonly inFlight: number } | 'cpu' | 'exit') => {
  if (message === 'cpu') {
    const { user, system } = process.cpuUsage();
    process.send?.(user + system);
  } else if (message === 'exit') {
    void end.close().then(() => {
      process.disconnect();
    });
  } else {
    void run(end as ChainClient, message.requests, message.inFlight).then((result) => process.send?.(result));
  }
});
process.send?.('ready');
