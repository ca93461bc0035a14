/** What the whole broker on ZMTP costs with more of everything, over a bare loop on the same transport with as many connections. */
import type { ChildProcess } from 'node:child_process';
import { setTimeout } from 'node:timers/promises';
import { ask, dismiss, nextMessage, startChild } from '../children.js';
import type { LoadRun } from '../load.js';
import { ProcessUnderTest } from '../process-under-test.js';
import { ratios, reportTable, sideBySide } from '../samples.js';
import type { Sample, Samples } from '../samples.js';
import { latencyOf, median } from '../statistics.js';
import type { Report } from '../statistics.js';
import { reportCurve } from './curve.js';
import type { Curve, Point } from './curve.js';
import type { ScalePlan, ScaleRun } from './load.js';

const OURS = 'MDP broker on zmtp';
const BARE = 'bare loop on zmtp';
const ROUNDS = 7;
const POLL_MS = 20;
const REQUESTS = 5000;
/** A worker of MDP has one request at a time: more than the fewest workers there are would wait in ours and not in the bare loop. */
const IN_FLIGHT = 10;
const CROWD_IN_FLIGHT = 200;
const BODY_BYTES = 64;
/** Bytes of one round at most. */
const ROUND_BYTES = 2 ** 27;
const FLAT = 1.2;
/** Nothing but the requests: no heartbeats while it is measured, and room for all that waits. */
const OPTIONS = {
  heartbeatIntervalMs: 600_000,
  requestTtlMs: 86_400_000,
  requestQueueMax: 2_000_000,
  clientRequestsMax: 2_000_000,
  requestQueueMaxBytes: 2 ** 40,
  servicesMax: 20_000,
};

type Work = Partial<ScaleRun>;

/** One process in the middle, and one that is all its peers. */
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

  /** Leaves so many more requests waiting for a service without workers. */
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

  run(work: Work = {}): Promise<Samples> {
    return sideBySide(ROUNDS, [
      [BARE, () => this.#bare.run(work)],
      [OURS, () => this.ours.run(work)],
    ]);
  }

  async stop(): Promise<void> {
    await Promise.all([this.ours.stop(), this.#bare.stop()]);
  }
}

/** What was measured with so many of something. */
interface Size {
  readonly size: number;
  readonly samples: Samples;
}

function curve(report: Report, of: string, sizes: readonly Size[], atMost?: number, inFlight = IN_FLIGHT): void {
  const rows = sizes.flatMap(({ size, samples }) =>
    Array.from(samples, ([name, rounds]) => [`${size.toLocaleString('en')}: ${name}`, rounds] as const),
  );
  reportTable(`broker by ${of}, ${inFlight} in flight`, new Map(rows), report);
  const what = `${OURS} over bare loop, ${inFlight} in flight`;
  const about: Curve = { what, of, unit: 'x of the bare loop' };
  // Not measured in the same rounds: medians are compared.
  const points = sizes.map(({ size, samples }): Point => ({ size, costs: [median(ratios(samples, OURS, BARE, cpu))] }));
  reportCurve(atMost === undefined ? about : { ...about, atMost }, points, report);
}

function cpu({ cpuMicros }: Sample): number {
  return cpuMicros['broker'] ?? Number.NaN;
}

/** Measures the curves of workers and services: each size has processes of its own. */
export async function measureBrokerCrowds(report: Report): Promise<void> {
  const workers: Size[] = [];
  const crowds: Size[] = [];
  for (const size of [10, 1000, 10_000]) {
    const pair = await Pair.start(size);
    workers.push({ size, samples: await pair.run() });
    if (size > CROWD_IN_FLIGHT) crowds.push({ size, samples: await pair.run({ inFlight: CROWD_IN_FLIGHT }) });
    await pair.stop();
  }
  curve(report, 'workers', workers, FLAT);
  curve(report, 'workers', crowds, undefined, CROWD_IN_FLIGHT);
  const served = await Pair.start(10_000, 10_000);
  const services = { size: 10_000, samples: await served.run() };
  await served.stop();
  curve(report, 'services of 10,000 workers', [{ size: 1, samples: workers.at(-1)?.samples ?? new Map() }, services]);
}

/** Measures the curves of bodies and of waiting requests, in one pair of processes. */
export async function measureBrokerLoads(report: Report): Promise<void> {
  const pair = await Pair.start(10);
  const bodies: Size[] = [];
  for (const bodyBytes of [10, 1000, 100_000, 10_000_000]) {
    const requests = Math.min(REQUESTS, Math.ceil(ROUND_BYTES / bodyBytes));
    const inFlight = bodyBytes > 10_000 ? 4 : IN_FLIGHT;
    bodies.push({ size: bodyBytes, samples: await pair.run({ bodyBytes, requests, inFlight }) });
  }
  curve(report, 'bytes of body', bodies, FLAT);
  const queues: Size[] = [];
  let waiting = 0;
  for (const size of [10, 100_000, 1_000_000]) {
    await pair.ours.fill(size - waiting);
    waiting = size;
    queues.push({ size, samples: await pair.run() });
  }
  curve(report, 'requests waiting for another service', queues, FLAT);
  await pair.stop();
}
