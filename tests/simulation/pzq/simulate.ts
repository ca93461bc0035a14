/** One seed, from start to leak check. */
import { runCourse } from '../kit/course.js';
import type { CourseSummary } from '../kit/course.js';
import { DiskTroubles } from '../kit/disk-troubles.js';
import { Cluster } from './cluster.js';

/** By then every message has its outcome and is settled. Virtual milliseconds. */
const PATIENCE_MS = 60_000;

/** Facts about one run. */
export interface Summary extends CourseSummary {
  readonly sent: number;
  readonly stored: number;
  readonly handled: number;
}

/** Runs a seed; throws `SimulationFailure` if anything is wrong. */
export async function simulatePzq(seed: number): Promise<Summary> {
  const cluster = new Cluster(seed);
  const { simulation, workload, plan, disk, calm, producers } = cluster;
  const sparesQueue = plan.faults === 'clients';
  const victims = simulation.hosts.filter((host) => !(sparesQueue && host === cluster.queue));
  const summary = await runCourse({
    simulation,
    workload,
    victims,
    lasting: producers,
    links: cluster.links(victims),
    meanGapMs: plan.meanGapMs,
    troubles: () => (sparesQueue ? [] : [new DiskTroubles(simulation, disk, plan.diskGapMs)]),
    // Also longer than ZMTP takes to notice silence.
    settleMs: 12_000,
    calmMs: 5000,
    patienceMs: PATIENCE_MS,
    onHealed: () => {
      workload.resting = true;
    },
    onSettled: () => cluster.untilSettled(PATIENCE_MS),
    beginCalm: () => {
      workload.resting = false;
      workload.calm = true;
      calm.begin();
    },
    accounts: async () => {
      await cluster.untilSettled(PATIENCE_MS);
      workload.requireHandled(new Set(disk.messages.values()));
      calm.end();
    },
  });
  return { ...workload.totals, ...summary };
}
