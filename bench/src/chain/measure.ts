/** Node client -> server -> Node worker: ours on both transports beside NATS, RabbitMQ and BullMQ, in one run. */
import { median, percentile } from '../statistics.js';
import type { Finding } from '../statistics.js';
import { Chain } from './chain.js';
import type { ChainCost, ChainServer } from './chain.js';
import { natsServer, ourBroker, rabbitServer, redisServer } from './servers.js';
import type { Missing } from './servers.js';

const ROUNDS = 5;
/** Requests of a round, by how many of them are in flight. */
const LOADS = [
  { inFlight: 1, requests: 4000 },
  { inFlight: 100, requests: 20_000 },
] as const;

/** A product in the comparison. Slow ones are sent a share of the requests of the others. */
interface Entrant {
  readonly start: () => Promise<ChainServer | Missing>;
  readonly share: number;
}

const ENTRANTS: Readonly<Record<string, Entrant>> = {
  'mdp-zmtp': { start: () => ourBroker('mdp-broker-zmtp'), share: 1 },
  'mdp-zmq': { start: () => ourBroker('mdp-broker'), share: 1 },
  nats: { start: () => natsServer(), share: 1 },
  rabbitmq: { start: rabbitServer, share: 0.1 },
  bullmq: { start: () => redisServer(), share: 0.1 },
};

/** Measures every chain whose server is there, round by round in turn. `skip` is told of the others. */
export async function measureChains(
  report: (finding: Finding) => void,
  skip: (what: string, missing: string) => void,
): Promise<void> {
  const chains = new Map<string, Chain>();
  for (const [product, { start }] of Object.entries(ENTRANTS)) {
    const server = await start();
    if ('missing' in server) skip(`chain of ${product}`, server.missing);
    else chains.set(product, await Chain.start(product, server));
  }
  for (const { inFlight, requests } of LOADS) {
    const costs = new Map(Array.from(chains.keys(), (product): [string, ChainCost[]] => [product, []]));
    for (let round = 0; round <= ROUNDS; round++) {
      for (const [product, chain] of chains) {
        const cost = await chain.run(requests * (ENTRANTS[product]?.share ?? 1), inFlight);
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
  const perSecond = median(costs.map((cost) => cost.perSecond));
  const place = (figure: string) => ({
    place: { plot: `chain of Node client, server and Node worker: ${figure}, ${inFlight} in flight`, series: product },
  });
  report({ what: `${what}: throughput`, measured: perSecond, unit: '/s', ...place('throughput') });
  for (const share of [0.5, 0.99, 0.999]) {
    const measured = median(costs.map(({ latencies }) => percentile(latencies, share)));
    report({ what: `${what}: p${100 * share}`, measured, unit: 'us', ...(share === 0.5 ? place('p50') : {}) });
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
