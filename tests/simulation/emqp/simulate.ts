/** One seed, from start to leak check: a phase of faults, healing, a time of calm, and the final accounts. */
import { DiskTroubles } from '../kit/disk-troubles.js';
import { Faults } from '../kit/faults.js';
import { closeAndCheckLeaks } from '../kit/leaks.js';
import { Cluster } from './cluster.js';

const FAULTS_MS = 20_000;
/** Longer than any timeout, expiry and back-off that a fault leaves behind, and ZMTP's own notice of silence. */
const SETTLE_MS = 9000;
/** Longer than two intervals of any regular job, and what its planner waits before it unschedules some. */
const CALM_MS = 10_000;
/** By then every job has its outcome. */
const PATIENCE_MS = 70_000;

/** What one run was like. */
export interface Summary {
  /** Equal for two runs that were equal event by event. */
  readonly hash: string;
  readonly events: number;
  readonly faults: number;
  readonly calls: number;
  readonly answered: number;
  /** Runs of regular jobs. */
  readonly ticks: number;
}

/** Runs a seed; throws `SimulationFailure` when anything is wrong. */
export async function simulateEmqp(seed: number): Promise<Summary> {
  const cluster = new Cluster(seed);
  const { simulation, workload, plan, jobs, schedules } = cluster;
  for (const host of simulation.hosts) host.start();
  await simulation.run(1000);

  const { victims } = cluster;
  const troubles =
    plan.fullDisk && plan.faults !== 'workers' ? new DiskTroubles(simulation, cluster.disk, plan.diskGapMs) : undefined;
  const faults = new Faults(simulation, {
    hosts: victims,
    // A client ends with the run, and not before.
    restarts: victims.filter((host) => !cluster.clients.includes(host)),
    links: cluster.links(victims),
    meanGapMs: plan.meanGapMs,
    longestMs: 3000,
  });
  await simulation.run(FAULTS_MS);
  faults.heal();
  troubles?.heal();
  await simulation.run(SETTLE_MS);

  cluster.beginCalm();
  await simulation.run(CALM_MS);
  simulation.check('SchedulesChecker', () => {
    schedules.requireRuns();
  });
  workload.stop();
  await simulation.runUntil(
    () => workload.open.length === 0,
    PATIENCE_MS,
    () => `answered: ${workload.open.join(', ')}`,
  );
  await simulation.runUntil(
    () => jobs.unfinished.length === 0,
    PATIENCE_MS,
    () => `done: ${jobs.unfinished.join(', ')}`,
  );
  workload.requireRuns(jobs.dispatches);
  await cluster.checkTable();
  cluster.calm.end();
  await closeAndCheckLeaks(simulation);
  const { hash, count: events } = simulation.trace;
  return { ...workload.totals, ticks: schedules.runs, hash, events, faults: faults.count };
}
