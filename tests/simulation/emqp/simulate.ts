/** One seed, from start to leak check. */
import { runCourse } from '../kit/course.js';
import type { CourseSummary } from '../kit/course.js';
import { DiskTroubles } from '../kit/disk-troubles.js';
import { Cluster } from './cluster.js';

/** By then every job has its outcome. Virtual milliseconds. */
const PATIENCE_MS = 70_000;

/** Facts about one run. */
export interface Summary extends CourseSummary {
  readonly calls: number;
  readonly answered: number;
  /** Runs of regular jobs. */
  readonly ticks: number;
}

/** Runs a seed; throws `SimulationFailure` if anything is wrong. */
export async function simulateEmqp(seed: number): Promise<Summary> {
  const cluster = new Cluster(seed);
  const { simulation, workload, plan, jobs, schedules, victims, clients } = cluster;
  const isDiskFull = plan.fullDisk && plan.faults !== 'workers';
  const troubles = () => {
    const ofScheduler = new DiskTroubles(simulation, cluster.disk, plan.diskGapMs);
    const ofBroker = () => new DiskTroubles(simulation, cluster.brokerDisk, plan.diskGapMs, 'disk of the broker');
    return plan.store && plan.faults !== 'scheduler' ? [ofScheduler, ofBroker()] : [ofScheduler];
  };
  const summary = await runCourse({
    simulation,
    workload,
    victims,
    lasting: clients,
    links: cluster.links(victims),
    meanGapMs: plan.meanGapMs,
    troubles: () => (isDiskFull ? troubles() : []),
    // Also longer than ZMTP takes to notice silence.
    settleMs: 9000,
    // Longer than two intervals of any regular job, and how long its planner waits before it unschedules some.
    calmMs: 10_000,
    patienceMs: PATIENCE_MS,
    onHealed: () => {
      cluster.restartShortened();
    },
    beginCalm: () => {
      cluster.beginCalm();
    },
    onCalmOver: () => {
      simulation.check('SchedulesChecker', () => {
        schedules.requireRuns();
      });
    },
    accounts: async () => {
      await simulation.runUntil(
        () => jobs.unfinished.length === 0,
        PATIENCE_MS,
        () => `done: ${jobs.unfinished.join(', ')}`,
      );
      await simulation.runUntil(
        () => cluster.brokerDisk.records.size === 0,
        PATIENCE_MS,
        () => `removed: ${cluster.brokerDisk.records.size} records of the broker`,
      );
      workload.requireRuns(jobs.dispatches);
      await cluster.checkTable();
      cluster.calm.end();
    },
  });
  return { ...workload.totals, ...summary, ticks: schedules.runs };
}
