/** One seed, from start to leak check. */
import { runCourse } from '../kit/course.js';
import type { CourseSummary } from '../kit/course.js';
import { Cluster } from './cluster.js';

/** Facts about one run. */
export interface Summary extends CourseSummary {
  readonly calls: number;
  readonly answered: number;
}

/** Runs a seed; throws `SimulationFailure` if anything is wrong. */
export async function simulateMdp(seed: number): Promise<Summary> {
  const cluster = new Cluster(seed);
  const { simulation, workload, plan, calm, askers } = cluster;
  const victims = plan.faults === 'workers' ? cluster.workers : simulation.hosts;
  const summary = await runCourse({
    simulation,
    workload,
    victims,
    lasting: askers,
    links: cluster.links(victims),
    meanGapMs: plan.meanGapMs,
    // Also longer than ZMTP takes to notice silence.
    settleMs: 9000,
    calmMs: 8000,
    // Resent calls, and streams that ended silently, take time.
    patienceMs: 60_000,
    beginCalm: () => {
      workload.calm = true;
      calm.begin();
    },
    accounts: async () => {
      if (plan.faults === 'workers') workload.requireAnswers();
      await cluster.checkTable();
      calm.end();
    },
  });
  return { ...workload.totals, ...summary };
}
