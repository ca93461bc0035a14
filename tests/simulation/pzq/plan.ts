/** The cluster that a seed stands for. */
import type { SeededRandom } from '@proj/transport/virtual';

/** A cluster in numbers. */
export interface ClusterPlan {
  /** `clients`: the queue and its disk never fail, so nothing is stored or delivered twice without a reason. */
  readonly faults: 'clients' | 'everything';
  readonly producers: number;
  /** Messages that one producer has in flight at a time. */
  readonly loops: number;
  readonly consumers: number;
  readonly concurrency: number;
  readonly prefetch: number;
  /** Options of the server of the same names. */
  readonly ackTimeoutMs: number;
  readonly maxInFlight: number;
  readonly windowMax: number;
  readonly batchMax: number;
  readonly maxMessages: number;
  readonly dedupeWindowMs: number;
  readonly maxDeliveries: number;
  readonly delayMs: number;
  readonly nackDelayMs: number;
  /** How often a handler fails, and how often it takes longer than it may. */
  readonly failing: number;
  readonly slow: number;
  readonly disconnectNotices: boolean;
  readonly latencyMs: number;
  readonly jitterMs: number;
  readonly meanGapMs: number;
  /** Mean time between two troubles of the disk. */
  readonly diskGapMs: number;
}

/** Draws a cluster. */
export function drawPlan(random: SeededRandom): ClusterPlan {
  return {
    faults: random.pick(['clients', 'everything', 'everything'] as const),
    producers: 1 + random.below(3),
    loops: 1 + random.below(8),
    consumers: 1 + random.below(3),
    concurrency: 1 + random.below(4),
    prefetch: 4 + random.below(8),
    ackTimeoutMs: 600 + random.below(1000),
    maxInFlight: random.pick([2, 5, 10_000]),
    windowMax: random.pick([1, 4, 1000]),
    batchMax: random.pick([1, 4, 512]),
    maxMessages: random.pick([0, 0, 60]),
    dedupeWindowMs: random.pick([0, 600_000]),
    maxDeliveries: random.pick([0, 0, 0, 4]),
    delayMs: random.pick([0, 0, 0, 200]),
    nackDelayMs: random.pick([0, 0, 100]),
    failing: random.pick([0, 0.1, 0.3]),
    slow: random.pick([0, 0.05]),
    disconnectNotices: random.chance(0.7),
    latencyMs: random.between(0.1, 5),
    jitterMs: random.between(0, 10),
    meanGapMs: random.between(150, 600),
    diskGapMs: random.between(500, 3000),
  };
}
