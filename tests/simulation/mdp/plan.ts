/** The cluster that a seed stands for. */
import type { MdpVersion } from '@proj/frames/mdp';
import type { SeededRandom } from '@proj/transport/virtual';

/** One service and its workers. */
export interface ServicePlan {
  readonly name: string;
  readonly version: MdpVersion;
  /** Hosts with a worker each. */
  readonly hosts: number;
  readonly concurrency: number;
}

/** A cluster in numbers. */
export interface ClusterPlan {
  /**
   * `workers`: only workers and their links suffer, and every plain request must be answered although the client sends it
   * once. `everything`: anything may fail, and every request issued when all is well again must be answered.
   */
  readonly faults: 'workers' | 'everything';
  readonly brokers: readonly string[];
  /** Services with equal names are one service for both versions, and clients speak either version. */
  readonly bridge: boolean;
  readonly heartbeatIntervalMs: number;
  readonly liveness: number;
  /** Broker option of the same name. */
  readonly muteExpiryMs: number;
  readonly services: readonly ServicePlan[];
  /** Worker options of the same names. */
  readonly preferFirst: boolean;
  readonly drainFinishes: boolean;
  readonly clients: number;
  /** Calls that one client makes at the same time. */
  readonly loops: number;
  /** Client options of the same names. */
  readonly sockets: number;
  readonly idleMs: number;
  readonly disconnectNotices: boolean;
  readonly latencyMs: number;
  readonly jitterMs: number;
  readonly meanGapMs: number;
  /** Handlers for `alpha` inside each broker; 0 for no service there. */
  readonly inside: number;
  /** There is one broker, which sends its own requests and has no clients: a pool. */
  readonly pool: boolean;
}

/** Draws a cluster. */
export function drawPlan(random: SeededRandom): ClusterPlan {
  const faults = random.pick(['workers', 'everything'] as const);
  const service = (name: string): ServicePlan => ({
    name,
    version: random.chance(0.3) ? '0.1' : '0.2',
    hosts: 1 + random.below(3),
    concurrency: 1 + random.below(2),
  });
  // With two brokers a worker may move away from the one that its clients ask; only a client that retries finds it.
  const brokers = faults === 'everything' && random.chance(0.4) ? ['broker-a', 'broker-b'] : ['broker-a'];
  const heartbeatIntervalMs = 100 + random.below(500);
  const liveness = 3 + random.below(2);
  const plan: ClusterPlan = {
    faults,
    brokers,
    bridge: random.chance(0.2),
    heartbeatIntervalMs,
    liveness,
    // From no extra time to twice the time of a worker that sends heartbeats while working.
    muteExpiryMs: Math.round(heartbeatIntervalMs * liveness * random.between(1, 2)),
    services: random.chance(0.5) ? [service('alpha')] : [service('alpha'), service('beta')],
    preferFirst: brokers.length > 1 && random.chance(0.3),
    drainFinishes: random.chance(0.3),
    clients: 1 + random.below(3),
    loops: 1 + random.below(4),
    sockets: 1 + random.below(4),
    idleMs: random.pick([200, 2000, 60_000]),
    disconnectNotices: random.chance(0.7),
    latencyMs: random.between(0.1, 5),
    jitterMs: random.between(0, 10),
    meanGapMs: random.between(150, 600),
    inside: random.chance(0.3) ? 1 + random.below(2) : 0,
    pool: random.chance(0.15),
  };
  const asPool = { brokers: plan.brokers.slice(0, 1), bridge: true, inside: 0, preferFirst: false };
  return plan.pool ? { ...plan, ...asPool } : plan;
}
