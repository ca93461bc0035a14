/**
 * What each trick of packages/zmtp/src/fast saves: the CPU time of the process in the middle without it, over the CPU time with all of
 * them.
 */
import { brokerCpu, measureMiddles } from './middle.js';
import type { Middle } from './rig.js';
import { ProcessUnderTest } from './process-under-test.js';
import { ratio, reportTable, sideBySide } from './samples.js';
import type { Samples } from './samples.js';
import type { Report } from './statistics.js';
import { sample, zmtpLane } from './zmtp-bodies.js';
import type { ZmtpLane } from './zmtp-bodies.js';

const ALL = 'with all tricks';
/** A trick that saves less is not worth its lines. */
const LIMIT = { atLeast: 1.03 };
const LOAD = { protocol: 'mdp', workers: 64, requests: 10_000, inFlight: 10, sets: 8 } as const;
const LONG_LOAD = { protocol: 'mdp', workers: 10, requests: 2000, inFlight: 4, sets: 2, bodyBytes: 100_000 } as const;
const ROUNDS = 9;

/** Starts this process without one trick, or with all. */
function start(name: string, trick: string): Promise<ProcessUnderTest> {
  return ProcessUnderTest.start(name, { environment: { PROJ_ZMTP_PLAIN: trick === ALL ? '' : trick } });
}

/**
 * Small messages through the MDP broker, bodies of 1 MiB through a router, and bodies of 100 kB through the broker, whose heap is large enough for V8
 * to mark it for new memory. The rows of `polling` are in `chain`, those of `sodium` in `zmtp-boxes`.
 */
export async function measureZmtpFast(report: Report): Promise<void> {
  const brokers = (tricks: readonly string[]): Map<string, Middle> =>
    new Map([ALL, ...tricks].map((trick): [string, Middle] => [trick, () => start('mdp-broker-zmtp', trick)]));
  const small = ['reading', 'writing'];
  const title = `MDP broker on zmtp, ${LOAD.workers} workers, ${LOAD.inFlight} in flight`;
  tell(title, await measureMiddles(brokers(small), LOAD), small, brokerCpu, report);
  const long = ['reading'];
  tell('1 MiB bodies through a router', await measureLongBodies([ALL, ...long]), long, middleCpu, report);
  const kept = ['spares'];
  tell('100 kB bodies through the MDP broker', await measureMiddles(brokers(kept), LONG_LOAD), kept, brokerCpu, report);
}

function middleCpu({ cpuMicros }: { readonly cpuMicros: Readonly<Record<string, number>> }): number {
  return cpuMicros['middle'] ?? Number.NaN;
}

function tell(title: string, samples: Samples, tricks: readonly string[], of: typeof middleCpu, report: Report): void {
  reportTable(title, samples, report);
  for (const trick of tricks) {
    const measured = ratio(samples, trick, ALL, of) ?? Number.NaN;
    report({ what: `${title}, without ${trick} over with: CPU`, measured, unit: 'x', limit: LIMIT });
  }
}

async function measureLongBodies(tricks: readonly string[]): Promise<Samples> {
  const middles = new Map<string, { readonly middle: ProcessUnderTest; readonly lane: ZmtpLane }>();
  for (const trick of tricks) {
    const middle = await start('zmtp-middle', trick);
    middles.set(trick, { middle, lane: await zmtpLane(middle.endpoints.clients) });
  }
  const runs = Array.from(
    middles,
    ([trick, { middle, lane }]) => [trick, () => sample(() => lane.run(), middle)] as const,
  );
  const samples = await sideBySide(ROUNDS, runs);
  for (const { middle, lane } of middles.values()) {
    await lane.close();
    await middle.stop();
  }
  return samples;
}
