/** The sequence of every run: a peaceful phase, a phase of faults, healing, a calm phase, the final checks, the leak check. */
import type { DiskTroubles } from './disk-troubles.js';
import { Faults } from './faults.js';
import { closeAndCheckLeaks } from './leaks.js';
import type { Host, Simulation } from './simulation.js';

const PEACE_MS = 1000;
const FAULTS_MS = 20_000;
const LONGEST_FAULT_MS = 3000;

/** What a protocol contributes to its runs. Times are virtual milliseconds. */
export interface Course {
  readonly simulation: Simulation;
  /** Hosts that suffer faults. */
  readonly victims: readonly Host[];
  /** Hosts whose program ends with the run, and not before. */
  readonly lasting: readonly Host[];
  /** Pairs of hosts whose links suffer. */
  readonly links: readonly (readonly [Host, Host])[];
  /** Mean time between two faults. */
  readonly meanGapMs: number;
  /** Starts the troubles of disks. */
  readonly troubles?: () => readonly DiskTroubles[];
  /** Longer than any aftereffect of a fault. */
  readonly settleMs: number;
  readonly calmMs: number;
  /** By then every call has its outcome. */
  readonly patienceMs: number;
  readonly workload: {
    /** Calls without an outcome, in words. */
    readonly open: readonly string[];
    stop(): void;
  };
  /** Faults are over, and things begin to settle. */
  readonly onHealed?: () => void;
  /** The settling time is over. */
  readonly onSettled?: () => Promise<void>;
  /** From here on nothing has an excuse. */
  readonly beginCalm: () => void;
  /** The calm is over; calls may still be open. */
  readonly onCalmOver?: () => void;
  /** Every call has its outcome. */
  readonly accounts: () => Promise<void>;
}

/** What every run reports. */
export interface CourseSummary {
  /** Equal for two runs that were identical event by event. */
  readonly hash: string;
  readonly events: number;
  readonly faults: number;
}

/** Runs a seed; throws `SimulationFailure` if anything is wrong. */
export async function runCourse(course: Course): Promise<CourseSummary> {
  const { simulation, workload, victims, lasting } = course;
  for (const host of simulation.hosts) host.start();
  await simulation.run(PEACE_MS);

  const troubles = course.troubles?.() ?? [];
  const faults = new Faults(simulation, {
    hosts: victims,
    restarts: victims.filter((host) => !lasting.includes(host)),
    links: course.links,
    meanGapMs: course.meanGapMs,
    longestMs: LONGEST_FAULT_MS,
  });
  await simulation.run(FAULTS_MS);
  faults.heal();
  for (const trouble of troubles) trouble.heal();
  course.onHealed?.();
  await simulation.run(course.settleMs);
  await course.onSettled?.();

  course.beginCalm();
  simulation.note('calm begins');
  await simulation.run(course.calmMs);
  course.onCalmOver?.();
  workload.stop();
  await simulation.runUntil(
    () => workload.open.length === 0,
    course.patienceMs,
    () => `answered: ${workload.open.join(', ')}`,
  );
  await course.accounts();
  await closeAndCheckLeaks(simulation);
  return { hash: simulation.trace.hash, events: simulation.trace.count, faults: faults.count };
}
