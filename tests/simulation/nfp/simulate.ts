/** One seed, from start to leak check: a phase of faults, healing, a time of calm, and the final accounts. */
import { DiskTroubles } from '../kit/disk-troubles.js';
import { Faults } from '../kit/faults.js';
import { closeAndCheckLeaks } from '../kit/leaks.js';
import { Cluster } from './cluster.js';

const FAULTS_MS = 20_000;
/** Longer than any timeout, expiry and back-off that a fault leaves behind, and ZMTP's own notice of silence. */
const SETTLE_MS = 9000;
const CALM_MS = 5000;
/** By then every call has its outcome, and every job has ended. */
const PATIENCE_MS = 60_000;

/** What one run was like. */
export interface Summary {
  /** Equal for two runs that were equal event by event. */
  readonly hash: string;
  readonly events: number;
  readonly faults: number;
  readonly calls: number;
  readonly answered: number;
}

/** Runs a seed; throws `SimulationFailure` when anything is wrong. */
export async function simulateNfp(seed: number): Promise<Summary> {
  const cluster = new Cluster(seed);
  const { simulation, workload, plan, disks } = cluster;
  for (const host of simulation.hosts) host.start();
  await simulation.run(1000);

  const victims = plan.faults === 'workers' ? cluster.workers : simulation.hosts;
  const troubles = victims.flatMap(({ name }) => {
    const disk = disks.get(name);
    return disk === undefined ? [] : [new DiskTroubles(simulation, disk, plan.diskGapMs, `disk of ${name}`)];
  });
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
  for (const trouble of troubles) trouble.heal();
  await simulation.run(SETTLE_MS);

  workload.calm = true;
  cluster.calm.begin();
  simulation.note('calm begins');
  await simulation.run(CALM_MS);
  workload.stop();
  await simulation.runUntil(
    () => workload.open.length === 0,
    PATIENCE_MS,
    () => `answered: ${workload.open.join(', ')}`,
  );
  await cluster.untilEnded(PATIENCE_MS);
  await cluster.checkTable();
  cluster.requireIdle();
  cluster.calm.end();
  await closeAndCheckLeaks(simulation);
  return { ...workload.totals, hash: simulation.trace.hash, events: simulation.trace.count, faults: faults.count };
}
