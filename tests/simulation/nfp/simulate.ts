/** One seed, from start to leak check. */
import { runCourse } from '../kit/course.js';
import type { CourseSummary } from '../kit/course.js';
import { DiskTroubles } from '../kit/disk-troubles.js';
import { Cluster } from './cluster.js';

/** By then every call has its outcome, and every job has ended. Virtual milliseconds. */
const PATIENCE_MS = 60_000;

/** Facts about one run. */
export interface Summary extends CourseSummary {
  readonly calls: number;
  readonly answered: number;
}

/** Runs a seed; throws `SimulationFailure` if anything is wrong. */
export async function simulateNfp(seed: number): Promise<Summary> {
  const cluster = new Cluster(seed);
  const { simulation, workload, plan, disks, calm, clients } = cluster;
  const victims = plan.faults === 'workers' ? cluster.workers : simulation.hosts;
  const summary = await runCourse({
    simulation,
    workload,
    victims,
    lasting: clients,
    links: cluster.links(victims),
    meanGapMs: plan.meanGapMs,
    troubles: () =>
      victims.flatMap(({ name }) => {
        const disk = disks.get(name);
        return disk === undefined ? [] : [new DiskTroubles(simulation, disk, plan.diskGapMs, `disk of ${name}`)];
      }),
    // Also longer than ZMTP takes to notice silence.
    settleMs: 9000,
    calmMs: 5000,
    patienceMs: PATIENCE_MS,
    beginCalm: () => {
      workload.calm = true;
      calm.begin();
    },
    accounts: async () => {
      await cluster.untilEnded(PATIENCE_MS);
      await cluster.checkTable();
      cluster.requireIdle();
      calm.end();
    },
  });
  return { ...workload.totals, ...summary };
}
