/** One seed, from start to leak check: a phase of faults, healing, a time of calm, and the final accounts. */
import { DiskTroubles } from '../kit/disk-troubles.js';
import { Faults } from '../kit/faults.js';
import { closeAndCheckLeaks } from '../kit/leaks.js';
import { Cluster } from './cluster.js';

const FAULTS_MS = 20_000;
/** Longer than any timeout, probe and back-off that a fault leaves behind, and ZMTP's own notice of silence. */
const SETTLE_MS = 12_000;
const CALM_MS = 5000;
/** By then every message has its outcome and is settled. */
const PATIENCE_MS = 60_000;

/** What one run was like. */
export interface Summary {
  /** Equal for two runs that were equal event by event. */
  readonly hash: string;
  readonly events: number;
  readonly faults: number;
  readonly sent: number;
  readonly stored: number;
  readonly handled: number;
}

/** Runs a seed; throws `SimulationFailure` when anything is wrong. */
export async function simulatePzq(seed: number): Promise<Summary> {
  const cluster = new Cluster(seed);
  const { simulation, workload, plan, disk } = cluster;
  for (const host of simulation.hosts) host.start();
  await simulation.run(1000);

  const spared = plan.faults === 'clients' ? [cluster.queue] : [];
  const victims = simulation.hosts.filter((host) => !spared.includes(host));
  const troubles = plan.faults === 'clients' ? undefined : new DiskTroubles(simulation, disk, plan.diskGapMs);
  const faults = new Faults(simulation, {
    hosts: victims,
    // A producer ends with the run, and not before.
    restarts: victims.filter((host) => !cluster.producers.includes(host)),
    links: cluster.links(victims),
    meanGapMs: plan.meanGapMs,
    longestMs: 3000,
  });
  await simulation.run(FAULTS_MS);
  faults.heal();
  troubles?.heal();
  workload.resting = true;
  await simulation.run(SETTLE_MS);
  await cluster.untilSettled(PATIENCE_MS);

  workload.resting = false;
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
  await cluster.untilSettled(PATIENCE_MS);
  workload.requireHandled(new Set(disk.messages.values()));
  cluster.calm.end();
  await closeAndCheckLeaks(simulation);
  return { ...workload.totals, hash: simulation.trace.hash, events: simulation.trace.count, faults: faults.count };
}
