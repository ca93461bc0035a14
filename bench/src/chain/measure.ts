/** Node client -> server -> Node worker: ours on both transports beside NATS, in one run. */
import { median, percentile } from '../statistics.js';
import type { Finding } from '../statistics.js';
import { Chain } from './chain.js';
import type { ChainCost, ChainServer } from './chain.js';
import { natsServer, ourBroker } from './servers.js';
import type { Missing } from './servers.js';

const ROUNDS = 5;
/** Requests of a round, by how many of them are in flight. */
const LOADS = [
  { inFlight: 1, requests: 4000 },
  { inFlight: 100, requests: 20_000 },
] as const;

const SERVERS: Readonly<Record<string, () => Promise<ChainServer | Missing>>> = {
  'mdp-zmtp': () => ourBroker('mdp-broker-zmtp'),
  'mdp-zmq': () => ourBroker('mdp-broker'),
  nats: natsServer,
};

/** Measures every chain whose server is there, round by round in turn. `skip` is told of the others. */
export async function measureChains(
  report: (finding: Finding) => void,
  skip: (what: string, missing: string) => void,
): Promise<void> {
  const chains = new Map<string, Chain>();
  for (const [product, start] of Object.entries(SERVERS)) {
    const server = await start();
    if ('missing' in server) skip(`chain of ${product}`, server.missing);
    else chains.set(product, await Chain.start(product, server));
  }
  for (const { inFlight, requests } of LOADS) {
    const costs = new Map(Array.from(chains.keys(), (product): [string, ChainCost[]] => [product, []]));
    for (let round = 0; round <= ROUNDS; round++) {
      for (const [product, chain] of chains) {
        const cost = await chain.run(requests, inFlight);
        // The first round warms up.
        if (round > 0) costs.get(product)?.push(cost);
      }
    }
    for (const [product, all] of costs) describeChain(product, inFlight, all, report);
    compareWithNats(inFlight, costs, report);
  }
  for (const chain of chains.values()) await chain.stop();
}

function describeChain(
  product: string,
  inFlight: number,
  costs: readonly ChainCost[],
  report: (finding: Finding) => void,
): void {
  const what = `chain ${product}, ${inFlight} in flight`;
  report({ what: `${what}: throughput`, measured: median(costs.map(({ perSecond }) => perSecond)), unit: '/s' });
  for (const share of [0.5, 0.99, 0.999]) {
    const measured = median(costs.map(({ latencies }) => percentile(latencies, share)));
    report({ what: `${what}: p${100 * share}`, measured, unit: 'us' });
  }
  for (const end of ['client', 'server', 'worker'] as const) {
    const measured = median(costs.map(({ cpuMicros }) => cpuMicros[end]));
    report({ what: `${what}: CPU of the ${end}`, measured, unit: 'us/request' });
  }
}

/** The limits of this project: round by round, so that both saw the same machine. */
function compareWithNats(
  inFlight: number,
  costs: ReadonlyMap<string, readonly ChainCost[]>,
  report: (finding: Finding) => void,
): void {
  const [ours, nats] = [costs.get('mdp-zmtp') ?? [], costs.get('nats') ?? []];
  if (nats.length === 0) return;
  const ratio = (figure: (cost: ChainCost) => number): number =>
    median(ours.map((cost, round) => figure(cost) / figure(nats[round] as ChainCost)));
  const what = `chain mdp-zmtp over nats, ${inFlight} in flight`;
  if (inFlight === 1) {
    const measured = ratio(({ latencies }) => percentile(latencies, 0.5));
    report({ what: `${what}: p50`, measured, unit: 'x', limit: { atMost: 0.75 } });
  } else {
    const measured = ratio(({ perSecond }) => perSecond);
    report({ what: `${what}: throughput`, measured, unit: 'x', limit: { atLeast: 1.3 } });
  }
}
