/** Node client -> server -> Node worker: ours on both transports, NATS, RabbitMQ and BullMQ, in one run. */
import { ratio, reportTable, sideBySide } from '../samples.js';
import type { Samples } from '../samples.js';
import type { Report, Skip } from '../statistics.js';
import { keepAwake } from './awake.js';
import { Chain } from './chain.js';
import type { ChainServer } from './chain.js';
import { natsServer, ourBroker, rabbitServer, redisServer } from './servers.js';
import type { Missing } from './servers.js';

const ROUNDS = 5;
/** Requests of a round, by the number in flight. */
const LOADS = [
  { inFlight: 1, requests: 4000 },
  { inFlight: 100, requests: 20_000 },
] as const;

/** A product in the comparison. Slow products get a share of the other products' requests. */
interface Entrant {
  /** The product that its ends use, if the name differs. */
  readonly product?: string;
  readonly start: () => Promise<ChainServer | Missing>;
  readonly share: number;
}

/** Its broker sleeps until the next message arrives. */
const SLEEPS = 'mdp-zmtp without polling';

const ENTRANTS: Readonly<Record<string, Entrant>> = {
  'mdp-zmtp': { start: () => ourBroker('mdp-broker-zmtp'), share: 1 },
  [SLEEPS]: {
    product: 'mdp-zmtp',
    start: () => ourBroker('mdp-broker-zmtp', { environment: { PROJ_BENCH_TRANSPORT: '{"pollUs":0}' } }),
    share: 1,
  },
  'mdp-zmq': { start: () => ourBroker('mdp-broker'), share: 1 },
  nats: { start: () => natsServer(), share: 1 },
  rabbitmq: { start: rabbitServer, share: 0.1 },
  bullmq: { start: () => redisServer(), share: 0.1 },
};

/** Measures every chain whose server is installed, round by round in turn. `skip` receives the others. */
export async function measureChains(report: Report, skip: Skip): Promise<void> {
  const chains = new Map<string, Chain>();
  for (const [name, { start, product = name }] of Object.entries(ENTRANTS)) {
    const server = await start();
    if ('missing' in server) skip(`chain of ${name}`, server.missing);
    else chains.set(name, await Chain.start(product, server));
  }
  for (const { inFlight, requests } of LOADS) {
    const runs = Array.from(chains, ([name, chain]) => {
      const share = ENTRANTS[name]?.share ?? 1;
      return [name, () => chain.run(requests * share, inFlight)] as const;
    });
    const samples = await sideBySide(ROUNDS, runs);
    reportTable(`chain of Node client, server and Node worker, ${inFlight} in flight`, samples, report);
    compareWithNats(inFlight, samples, report);
    compareWithSleep(inFlight, samples, report);
  }
  await measureAwake(chains, report, skip);
  for (const chain of chains.values()) await chain.stop();
}

/**
 * Measures single requests again while no core sleeps: compared with the other ratio, this shows the machine's share.
 */
async function measureAwake(chains: ReadonlyMap<string, Chain>, report: Report, skip: Skip): Promise<void> {
  const what = 'chain with cores kept awake, 1 in flight';
  const stop = await keepAwake();
  if ('missing' in stop) {
    skip(what, stop.missing);
    return;
  }
  const runs = [...chains]
    .filter(([product]) => product === 'mdp-zmtp' || product === 'nats')
    .map(([product, chain]) => [product, () => chain.run(LOADS[0].requests, 1)] as const);
  const samples = await sideBySide(ROUNDS, runs);
  await stop();
  reportTable(what, samples, report);
  const measured = ratio(samples, 'mdp-zmtp', 'nats', ({ latency }) => latency.p50);
  if (measured !== undefined) report({ what: `${what}, mdp-zmtp over nats: p50`, measured, unit: 'x' });
}

/** What polling before sleeping gains: docs/adr/0014-a-hub-looks-before-it-sleeps.md. */
function compareWithSleep(inFlight: number, samples: Samples, report: Report): void {
  const measured = ratio(samples, 'mdp-zmtp', SLEEPS, ({ latency }) => latency.p50);
  if (measured !== undefined)
    report({ what: `chain mdp-zmtp over ${SLEEPS}, ${inFlight} in flight: p50`, measured, unit: 'x' });
}

/** This project's limits. */
function compareWithNats(inFlight: number, samples: Samples, report: Report): void {
  const what = `chain mdp-zmtp over nats, ${inFlight} in flight`;
  const p50 = ratio(samples, 'mdp-zmtp', 'nats', ({ latency }) => latency.p50);
  const rate = ratio(samples, 'mdp-zmtp', 'nats', ({ perSecond }) => perSecond);
  if (p50 === undefined || rate === undefined) return;
  const alone = inFlight === 1;
  report({ what: `${what}: p50`, measured: p50, unit: 'x', ...(alone && { limit: { atMost: 0.75 } }) });
  report({ what: `${what}: throughput`, measured: rate, unit: 'x', ...(!alone && { limit: { atLeast: 1.3 } }) });
}
