/** The cluster that a seed stands for. */
import type { SeededRandom } from '@proj/transport/virtual';

/** A cluster in numbers. */
export interface ClusterPlan {
  /** What hands out work: queues with clients in front, or an application with a pool. */
  readonly kind: 'queue' | 'pool';
  /**
   * `workers`: only workers and their links suffer, and every request must be answered although it is sent once.
   * `everything`: anything may fail, and every request made when all is well again must be answered.
   */
  readonly faults: 'workers' | 'everything';
  /** Hosts with a queue or a pool each. */
  readonly brokers: readonly string[];
  readonly heartbeatIntervalMs: number;
  readonly liveness: number;
  /** Broker option of the same name. */
  readonly muteExpiryMs: number;
  /** Queue and pool option of the same name; longer than any job. */
  readonly jobTimeoutMs: number;
  /** Hosts with a worker each. */
  readonly workers: number;
  readonly concurrency: number;
  /** Some handlers throw at their first try: the worker sends READY instead of a reply. */
  readonly handlersThrow: boolean;
  /** Hosts with a client each; none with a pool, which sends its own requests. */
  readonly clients: number;
  /** Calls that one client, or one pool, makes at the same time. */
  readonly loops: number;
  /** Client options of the same names. */
  readonly sockets: number;
  readonly idleMs: number;
  readonly disconnectNotices: boolean;
  readonly latencyMs: number;
  readonly jitterMs: number;
  readonly meanGapMs: number;
}

/** Draws a cluster. */
export function drawPlan(random: SeededRandom): ClusterPlan {
  const kind = random.pick(['queue', 'queue', 'pool'] as const);
  const faults = random.pick(['workers', 'everything'] as const);
  // With two queues a worker may move away from the one that its clients ask; only a client that retries finds it.
  const two = kind === 'queue' && faults === 'everything' && random.chance(0.4);
  const heartbeatIntervalMs = 100 + random.below(500);
  const liveness = 3 + random.below(2);
  return {
    kind,
    faults,
    brokers: two ? ['broker-a', 'broker-b'] : ['broker-a'],
    heartbeatIntervalMs,
    liveness,
    // From no extra time to twice the time of a worker that sends heartbeats while working.
    muteExpiryMs: Math.round(heartbeatIntervalMs * liveness * random.between(1, 2)),
    jobTimeoutMs: random.pick([0, 8000]),
    workers: 1 + random.below(4),
    concurrency: 1 + random.below(2),
    handlersThrow: random.chance(0.3),
    clients: kind === 'queue' ? 1 + random.below(3) : 0,
    loops: 1 + random.below(4),
    sockets: 1 + random.below(4),
    idleMs: random.pick([200, 2000, 60_000]),
    disconnectNotices: random.chance(0.7),
    latencyMs: random.between(0.1, 5),
    jitterMs: random.between(0, 10),
    meanGapMs: random.between(150, 600),
  };
}
