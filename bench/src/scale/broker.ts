/** The cost of the whole broker on ZMTP at growing sizes, over a bare loop on the same transport with as many connections. */
import type { ChildProcess } from 'node:child_process';
import { setTimeout } from 'node:timers/promises';
import { ask, dismiss, nextMessage, startChild } from '../children.js';
import type { LoadRun } from '../load.js';
import { ProcessUnderTest } from '../process-under-test.js';
import { ratios, reportTable, sideBySide } from '../samples.js';
import type { Sample } from '../samples.js';
import { latencyOf } from '../statistics.js';
import type { Report } from '../statistics.js';
import { reportCurve } from './curve.js';
import type { Curve, Point } from './curve.js';
import type { ScalePlan, ScaleRun } from './load.js';

const OURS = 'MDP broker on zmtp';
const BARE = 'bare loop on zmtp';
const ROUNDS = 15;
const POLL_MS = 20;
const REQUESTS = 5000;
/**
 * A worker of MDP has one request at a time: more requests than the smallest number of workers would wait in our broker but not in
 * the bare loop.
 */
const IN_FLIGHT = 10;
const CROWD_IN_FLIGHT = 200;
const BODY_BYTES = 64;
/** Most bytes in one round. */
const ROUND_BYTES = 2 ** 27;
const FLAT = 1.2;
/** Only requests: no heartbeats while it is measured, and room for everything that waits. */
const OPTIONS = {
  heartbeatIntervalMs: 600_000,
  requestTtlMs: 86_400_000,
  requestQueueMax: 2_000_000,
  clientRequestsMax: 2_000_000,
  requestQueueMaxBytes: 2 ** 40,
  servicesMax: 20_000,
};

type Work = Partial<ScaleRun>;

/** One process in the middle, and one process for all its peers. */
class Side {
  readonly #middle: ProcessUnderTest;
  readonly #load: ChildProcess;

  private constructor(middle: ProcessUnderTest, load: ChildProcess) {
    this.#middle = middle;
    this.#load = load;
  }

  static async start(script: string, workers: number, services: number): Promise<Side> {
    const environment = { PROJ_BENCH_BROKER: JSON.stringify(OPTIONS) };
    const middle = await ProcessUnderTest.start(script, { environment });
    const plan = { endpoint: middle.endpoints.clients, workers, services } satisfies ScalePlan;
    const load = startChild('scale-load', plan);
    await nextMessage(load);
    while ((await middle.measure()).workers < workers) await setTimeout(POLL_MS);
    return new Side(middle, load);
  }

  async run(work: Work): Promise<Sample> {
    const plan = { requests: REQUESTS, inFlight: IN_FLIGHT, bodyBytes: BODY_BYTES, ...work, absent: 0 };
    const before = await this.#middle.measure();
    const { seconds, latencies, cpuMicros } = await ask<LoadRun>(this.#load, plan satisfies ScaleRun);
    const after = await this.#middle.measure();
    const broker = (after.cpuMicros - before.cpuMicros) / plan.requests;
    return {
      perSecond: plan.requests / seconds,
      latency: latencyOf(latencies),
      cpuMicros: { broker, load: cpuMicros / plan.requests },
    };
  }

  /** Adds this many waiting requests for a service without workers. */
  async fill(absent: number): Promise<void> {
    const plan = { requests: 1, inFlight: 1, bodyBytes: BODY_BYTES, absent } satisfies ScaleRun;
    await ask<LoadRun>(this.#load, plan);
  }

  async stop(): Promise<void> {
    await dismiss(this.#load);
    await this.#middle.stop();
  }
}

/** The broker and the bare loop, side by side. */
class Pair {
  readonly ours: Side;
  readonly #bare: Side;

  private constructor(ours: Side, bare: Side) {
    this.ours = ours;
    this.#bare = bare;
  }

  static async start(workers: number, services = 1): Promise<Pair> {
    const start = (script: string): Promise<Side> => Side.start(script, workers, services);
    const [ours, bare] = await Promise.all([start('mdp-broker-zmtp'), start('bare-mdp-zmtp')]);
    return new Pair(ours, bare);
  }

  /** Both with this work, named. */
  runs(size: number, work: Work): (readonly [string, () => Promise<Sample>])[] {
    return [
      [rowOf(size, BARE), () => this.#bare.run(work)],
      [rowOf(size, OURS), () => this.ours.run(work)],
    ];
  }

  async stop(): Promise<void> {
    await Promise.all([this.ours.stop(), this.#bare.stop()]);
  }
}

/** This many of something: at this pair, or with this work. */
interface Size {
  readonly size: number;
  readonly pair: Pair;
  readonly work?: Work;
}

/**
 * Runs all sizes in each round, so that all run under the same conditions, and reports the cost of a request at each
 * size.
 */
async function measureCurve(
  report: Report,
  of: string,
  sizes: readonly Size[],
  { atMost, inFlight = IN_FLIGHT }: { readonly atMost?: number; readonly inFlight?: number } = {},
): Promise<void> {
  const runs = sizes.flatMap(({ size, pair, work }) => pair.runs(size, { inFlight, ...work }));
  const samples = await sideBySide(ROUNDS, runs);
  reportTable(`broker by ${of}, ${inFlight} in flight`, samples, report);
  const what = `${OURS} over bare loop, ${inFlight} in flight`;
  const about: Curve = { what, of, unit: 'x of the bare loop', ...(atMost !== undefined && { atMost }) };
  const points = sizes.map(({ size }): Point => ({
    size,
    costs: ratios(samples, rowOf(size, OURS), rowOf(size, BARE), cpu),
  }));
  reportCurve(about, points, report);
}

function rowOf(size: number, name: string): string {
  return `${size.toLocaleString('en')}: ${name}`;
}

function cpu({ cpuMicros }: Sample): number {
  return cpuMicros['broker'] ?? Number.NaN;
}

/** Measures the curves of workers and services: each size has its own processes. */
export async function measureBrokerCrowds(report: Report): Promise<void> {
  const [few, many, most] = [await Pair.start(10), await Pair.start(1000), await Pair.start(10_000)];
  const [thousand, crowd] = [
    { size: 1000, pair: many },
    { size: 10_000, pair: most },
  ];
  await measureCurve(report, 'workers', [{ size: 10, pair: few }, thousand, crowd], { atMost: FLAT });
  await measureCurve(report, 'workers', [thousand, crowd], { inFlight: CROWD_IN_FLIGHT });
  await few.stop();
  await many.stop();
  const served = await Pair.start(10_000, 10_000);
  await measureCurve(report, 'services of 10,000 workers', [
    { size: 1, pair: most },
    { size: 10_000, pair: served },
  ]);
  await most.stop();
  await served.stop();
}

/** Measures the curve of bodies, with one pair of processes, and of waiting requests, with one pair for each size. */
export async function measureBrokerLoads(report: Report): Promise<void> {
  const pair = await Pair.start(10);
  const bodies = [10, 1000, 100_000, 10_000_000].map((size): Size => {
    const requests = Math.min(REQUESTS, Math.ceil(ROUND_BYTES / size));
    const inFlight = size > 10_000 ? 4 : IN_FLIGHT;
    return { size, pair, work: { bodyBytes: size, requests, inFlight } };
  });
  await measureCurve(report, 'bytes of body', bodies, { atMost: FLAT });
  await pair.stop();
  const queues: Size[] = [];
  for (const size of [10, 100_000, 1_000_000]) {
    const queue = { size, pair: await Pair.start(10) };
    await queue.pair.ours.fill(size);
    queues.push(queue);
  }
  await measureCurve(report, 'requests waiting for another service', queues, { atMost: FLAT });
  for (const queue of queues) await queue.pair.stop();
}
