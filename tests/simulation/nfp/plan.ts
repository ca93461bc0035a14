/** The cluster that a seed stands for. */
import type { SeededRandom } from '@proj/transport/virtual';

/** One service and its workers. */
export interface ServicePlan {
  readonly name: string;
  /** Hosts with a worker each. */
  readonly hosts: number;
  readonly concurrency: number;
}

/** A cluster in numbers; fields of the same names are options of the broker, the workers and the clients. */
export interface ClusterPlan {
  /**
   * `workers`: only workers, their links and their disks suffer, and a job for `any` has no time limit. `everything`: anything may fail.
   */
  readonly faults: 'workers' | 'everything';
  readonly services: readonly ServicePlan[];
  readonly keepaliveIntervalMs: number;
  readonly keepaliveMultiplier: number;
  readonly dialect: 'current' | 'legacy';
  readonly queueForService: boolean | 'known';
  readonly requestTtlMs: number;
  readonly returnMs: number;
  readonly settleMs: number;
  readonly workersOpen: boolean;
  readonly clientsOpen: boolean;
  readonly commandForm: 'ascii' | 'byte';
  readonly crashPolicy: 'rerun' | 'fail';
  readonly maxRuns: number;
  readonly maxPendingJobs: number;
  readonly clients: number;
  /** Calls that one client makes at the same time. */
  readonly loops: number;
  /** Clients keep their jobs on a disk, and their routing ids. */
  readonly clientsKeep: boolean;
  readonly clientsNamed: boolean;
  readonly pollIntervalMs: number;
  readonly disconnectNotices: boolean;
  readonly latencyMs: number;
  readonly jitterMs: number;
  readonly meanGapMs: number;
  readonly diskGapMs: number;
}

/** Draws a cluster. */
export function drawPlan(random: SeededRandom): ClusterPlan {
  const service = (name: string): ServicePlan => ({
    name,
    hosts: 1 + random.below(3),
    concurrency: 1 + random.below(3),
  });
  const plan: Omit<ClusterPlan, 'requestTtlMs'> = {
    faults: random.pick(['workers', 'everything'] as const),
    services: random.chance(0.5) ? [service('alpha')] : [service('alpha'), service('beta')],
    keepaliveIntervalMs: 100 + random.below(500),
    keepaliveMultiplier: 3 + random.below(4),
    dialect: random.chance(0.15) ? 'legacy' : 'current',
    queueForService: random.pick(['known', 'known', true, false] as const),
    returnMs: random.pick([0, 300, 2000]),
    settleMs: random.pick([0, 500, 2000]),
    workersOpen: random.chance(0.7),
    clientsOpen: random.chance(0.3),
    commandForm: random.chance(0.3) ? 'byte' : 'ascii',
    crashPolicy: random.chance(0.2) ? 'fail' : 'rerun',
    maxRuns: random.pick([1, 3, 1000]),
    maxPendingJobs: random.pick([2, 10_000, 10_000]),
    clients: 1 + random.below(3),
    loops: 1 + random.below(3),
    clientsKeep: random.chance(0.6),
    clientsNamed: random.chance(0.5),
    pollIntervalMs: random.pick([100, 500]),
    disconnectNotices: random.chance(0.7),
    latencyMs: random.between(0.1, 5),
    jitterMs: random.between(0, 10),
    meanGapMs: random.between(150, 600),
    diskGapMs: random.between(500, 3000),
  };
  // If no job for any worker may be lost, it waits for longer than all workers of a service are away.
  return { ...plan, requestTtlMs: plan.faults === 'workers' ? 15_000 : random.pick([500, 5000]) };
}
