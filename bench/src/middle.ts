/** Our process in the middle of raw sockets, compared with a bare loop that only forwards. */
import { CONTESTS } from './contests/index.js';
import type { Protocol } from './contests/index.js';
import { BenchRig } from './rig.js';
import type { Middle } from './rig.js';
import { ratio, reportTable, sideBySide } from './samples.js';
import type { Sample, Samples } from './samples.js';
import type { Report } from './statistics.js';

const ROUNDS = 5;
const REQUESTS = 20_000;
const IN_FLIGHT = 200;
const WORKERS = 64;
const BODY_BYTES = 64;
const BARE = 'bare loop on zeromq.js';

/** Load for the processes in the middle. */
export interface Load {
  readonly protocol: Protocol;
  readonly workers: number;
  readonly requests: number;
  readonly inFlight: number;
  /** Each is started this many times, because a process may be lucky with its memory and compilation for its whole life. */
  readonly sets: number;
  /** Size of the requests; 64 if absent. */
  readonly bodyBytes?: number;
  /** Size of the answers of NFP workers; if absent, the size of the requests. */
  readonly resultBytes?: number;
}

/** CPU time of the process in the middle. */
export function brokerCpu({ cpuMicros }: Pick<Sample, 'cpuMicros'>): number {
  return cpuMicros['broker'] ?? Number.NaN;
}

/** Puts each process in the middle of the same load, in turn. */
export async function measureMiddles(middles: ReadonlyMap<string, Middle>, load: Load): Promise<Samples> {
  const all = new Map<string, Sample[]>();
  for (let set = 0; set < load.sets; set++) {
    for (const [name, samples] of await measureSet(middles, load))
      all.set(name, [...(all.get(name) ?? []), ...samples]);
  }
  return all;
}

async function measureSet(middles: ReadonlyMap<string, Middle>, load: Load): Promise<Samples> {
  const { protocol, workers, requests, inFlight, bodyBytes = BODY_BYTES, resultBytes } = load;
  const rigs = new Map<string, BenchRig>();
  for (const [name, middle] of middles)
    rigs.set(name, await BenchRig.start(protocol, middle, workers, bodyBytes, resultBytes));
  const runs = Array.from(rigs, ([name, rig]) => [name, () => rig.run(requests, inFlight)] as const);
  const samples = await sideBySide(ROUNDS, runs);
  for (const rig of rigs.values()) await rig.stop();
  return samples;
}

function compare(protocol: Protocol, workers: number): Promise<Samples> {
  const { name, ours, bare } = CONTESTS[protocol];
  const middles = new Map([
    [name, ours],
    [BARE, bare],
  ]);
  return measureMiddles(middles, { protocol, workers, requests: REQUESTS, inFlight: IN_FLIGHT, sets: 3 });
}

/** The cost of a request in our process, over the bare loop. */
export async function measureContest(protocol: Protocol, report: Report): Promise<void> {
  const { name, atMost } = CONTESTS[protocol];
  const samples = await compare(protocol, WORKERS);
  reportTable(`${name} on zeromq.js, ${WORKERS} workers, ${IN_FLIGHT} in flight`, samples, report);
  const measured = ratio(samples, name, BARE, brokerCpu) ?? Number.NaN;
  report({ what: `${name} over bare loop: CPU per request`, measured, unit: 'x', limit: { atMost } });
}

/** The cost with more workers. */
export async function measureGrowth(protocol: Protocol, report: Report): Promise<void> {
  const { name } = CONTESTS[protocol];
  const over = async (workers: number): Promise<number> => {
    const measured = ratio(await compare(protocol, workers), name, BARE, brokerCpu) ?? Number.NaN;
    const what = `${name} over bare loop, ${workers.toLocaleString('en')} workers`;
    report({ what, measured, unit: 'x' });
    return measured;
  };
  const few = await over(10);
  const measured = (await over(1000)) / few;
  report({ what: 'growth of that ratio from 10 to 1,000 workers', measured, unit: 'x', limit: { atMost: 1.2 } });
}
