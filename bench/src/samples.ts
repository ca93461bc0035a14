/** The cost of requests, round by round, side by side. */
import { median } from './statistics.js';
import type { Latency, Report } from './statistics.js';

/** The time and cost of the requests of one round. */
export interface Sample {
  readonly perSecond: number;
  readonly latency: Latency;
  /** CPU time of all threads for each request, in microseconds, by process. */
  readonly cpuMicros: Readonly<Record<string, number>>;
}

/** Samples of each participant, by name. */
export type Samples = ReadonlyMap<string, readonly Sample[]>;

/** The first rounds cost up to twice as much, because code is compiled while it runs. */
const WARM_UP_ROUNDS = 5;

/**
 * Runs the participants one after the other in each round, so that all run under the same conditions. Extra rounds warm up
 * and do not count.
 */
export async function sideBySide(
  rounds: number,
  runs: Iterable<readonly [string, () => Promise<Sample>]>,
  warmUpRounds = WARM_UP_ROUNDS,
): Promise<Samples> {
  const all = [...runs];
  const samples = new Map(all.map(([name]): [string, Sample[]] => [name, []]));
  for (let round = 0; round < warmUpRounds + rounds; round++) {
    for (const [name, run] of all) {
      const sample = await run();
      if (round >= warmUpRounds) samples.get(name)?.push(sample);
    }
  }
  return samples;
}

/** Reports medians of the rounds: one row of the table for each participant. */
export function reportTable(table: string, samples: Samples, report: Report): void {
  for (const [row, rounds] of samples) {
    const cell = (column: string, unit: string, of: (sample: Sample) => number): void => {
      const measured = median(rounds.map(of));
      report({ what: `${table}: ${row}: ${column}`, measured, unit, cell: { table, row, column } });
    };
    cell('throughput', '/s', ({ perSecond }) => perSecond);
    cell('p50', 'us', ({ latency }) => latency.p50);
    cell('p99', 'us', ({ latency }) => latency.p99);
    cell('p99.9', 'us', ({ latency }) => latency.p999);
    for (const process of Object.keys(rounds[0]?.cpuMicros ?? {}))
      cell(`CPU of the ${process}`, 'us each', ({ cpuMicros }) => cpuMicros[process] ?? Number.NaN);
  }
}

/** A figure of one participant over that of another, round by round; empty if either was not measured. */
export function ratios(samples: Samples, one: string, other: string, of: (sample: Sample) => number): number[] {
  const theirs = samples.get(other) ?? [];
  return (samples.get(one) ?? []).flatMap((sample, round) => {
    const beside = theirs[round];
    return beside === undefined ? [] : [of(sample) / of(beside)];
  });
}

/** The median ratio; `undefined` if either was not measured. */
export function ratio(
  samples: Samples,
  one: string,
  other: string,
  of: (sample: Sample) => number,
): number | undefined {
  const all = ratios(samples, one, other, of);
  return all.length === 0 ? undefined : median(all);
}
