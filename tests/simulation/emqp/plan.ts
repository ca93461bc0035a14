/** The cluster that a seed stands for. */
import type { SeededRandom } from '@proj/transport/virtual';

/** One host with a job manager. */
export interface ManagerPlan {
  /** Its queues, as INFORM lists them. */
  readonly queues: readonly (readonly [weight: number, name: string])[];
  readonly concurrency: number;
  readonly maxJobsPerProcess: number;
}

/** A cluster in numbers. */
export interface ClusterPlan {
  /**
   * `workers`: only job managers and their links suffer; every guaranteed job must be done or given up, and every client told. `scheduler`:
   * only the scheduler, its link and its disk suffer; runs may be lost only by its crashes. `broker`: only the broker and its disk suffer; no
   * accepted guaranteed job may be lost. `everything`: anything may fail, but requests sent when all is well again must be done.
   */
  readonly faults: 'workers' | 'scheduler' | 'broker' | 'everything';
  /** Whether guaranteed jobs are on a disk of the broker: then no accepted one is lost, whatever fails. */
  readonly store: boolean;
  readonly managers: readonly ManagerPlan[];
  readonly heartbeatIntervalMs: number;
  /** After how much silence a peer counts as dead, for all programs. */
  readonly expiryMs: number;
  readonly leaveGraceMs: number;
  /** Broker options of the same names. */
  readonly guaranteeAttempts: number;
  readonly requestTtlMs: number;
  readonly unknownQueue: 'default' | 'wait';
  readonly clients: number;
  /** Calls that one client makes at the same time. */
  readonly loops: number;
  /** Jobs that are scheduled regularly. */
  readonly ticks: number;
  /** Whether the scheduler's disk may also be full: then jobs run without it. */
  readonly fullDisk: boolean;
  readonly disconnectNotices: boolean;
  readonly latencyMs: number;
  readonly jitterMs: number;
  readonly meanGapMs: number;
  readonly diskGapMs: number;
}

/** Queues that clients name. Only `default` is sure to have workers. */
export const QUEUES = ['default', 'mail', 'pdf', 'nobody'] as const;

/** Draws a cluster. */
export function drawPlan(random: SeededRandom): ClusterPlan {
  const heartbeatIntervalMs = 100 + random.below(400);
  const manager = (index: number): ManagerPlan => ({
    queues: QUEUES.slice(0, 3)
      .filter((name) => (name === 'default' && index === 0) || random.chance(0.6))
      .map((name) => [random.pick([10, 10, 20, 30]), name] as const),
    concurrency: 1 + random.below(3),
    maxJobsPerProcess: random.pick([0, 0, 5]),
  });
  const plan: Omit<ClusterPlan, 'store'> = {
    faults: random.pick(['workers', 'scheduler', 'everything', 'everything'] as const),
    managers: Array.from({ length: 2 + random.below(3) }, (_, index) => manager(index)).filter(
      ({ queues }) => queues.length > 0,
    ),
    heartbeatIntervalMs,
    expiryMs: heartbeatIntervalMs * (3 + random.below(2)),
    leaveGraceMs: heartbeatIntervalMs * (2 + random.below(4)),
    guaranteeAttempts: random.pick([100, 100, 2]),
    requestTtlMs: random.pick([500, 5000, 30_000]),
    unknownQueue: random.pick(['default', 'default', 'wait']),
    clients: 1 + random.below(2),
    loops: 1 + random.below(3),
    ticks: 1 + random.below(4),
    fullDisk: random.chance(0.3),
    disconnectNotices: random.chance(0.7),
    latencyMs: random.between(0.1, 5),
    jitterMs: random.between(0, 10),
    meanGapMs: random.between(150, 600),
    diskGapMs: random.between(500, 3000),
  };
  const store = random.chance(0.5);
  return { ...plan, store, faults: store && random.chance(0.4) ? 'broker' : plan.faults };
}
