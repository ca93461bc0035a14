/** One seed, from start to leak check. */
import { runCourse } from '../kit/course.js';
import type { CourseSummary } from '../kit/course.js';
import { DiskTroubles } from '../kit/disk-troubles.js';
import { Cluster } from './cluster.js';

/** By then every message has its outcome and is settled. Virtual milliseconds. */
const PATIENCE_MS = 60_000;

/** What one run was like. */
export interface Summary extends CourseSummary {
  readonly sent: number;
  readonly stored: number;
  readonly handled: number;
}

/** Runs a seed; throws `SimulationFailure` when anything is wrong. */
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
    // Also longer than ZMTP's own notice of silence.
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
