/** What the whole broker on ZMTP costs with more of everything, over a bare loop on the same transport with as many connections. */
import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { ProcessUnderTest } from '../process-under-test.js';
import { median } from '../statistics.js';
import type { Finding } from '../statistics.js';
import { reportCurve } from './curve.js';
import type { Curve, Point } from './curve.js';
import type { ScalePlan, ScaleRun } from './load.js';

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
    const middle = await ProcessUnderTest.start(script, { PROJ_BENCH_BROKER: JSON.stringify(OPTIONS) });
    const plan = { endpoint: middle.endpoints.clients, workers, services } satisfies ScalePlan;
    const program = fileURLToPath(new URL('./scale-load.js', import.meta.url));
    const load = fork(program, [JSON.stringify(plan)], { stdio: 'inherit' });
    await once(load, 'message');
    while ((await middle.measure()).workers < workers) await setTimeout(POLL_MS);
    return new Side(middle, load);
  }

  /** Microseconds of CPU of the process in the middle for each request. */
  async run(work: Work): Promise<number> {
    const plan = { requests: REQUESTS, inFlight: IN_FLIGHT, bodyBytes: BODY_BYTES, ...work, absent: 0 };
    const before = await this.#middle.measure();
    await this.#send(plan);
    const after = await this.#middle.measure();
    return (after.cpuMicros - before.cpuMicros) / plan.requests;
  }

  /** Leaves so many more requests waiting for a service without workers. */
  fill(absent: number): Promise<void> {
    return this.#send({ requests: 1, inFlight: 1, bodyBytes: BODY_BYTES, absent });
  }

  async stop(): Promise<void> {
    const exited = once(this.#load, 'exit');
    this.#load.send('exit');
    await exited;
    await this.#middle.stop();
  }

  async #send(plan: ScaleRun): Promise<void> {
    const answered = once(this.#load, 'message');
    this.#load.send(plan);
    await answered;
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

  /** Cost of the broker over that of the bare loop, round by round. */
  async ratios(work: Work = {}): Promise<number[]> {
    const ratios: number[] = [];
    for (let round = 0; round <= ROUNDS; round++) {
      const bare = await this.#bare.run(work);
      const ours = await this.ours.run(work);
      // The first round warms up.
      if (round > 0) ratios.push(ours / bare);
    }
    return ratios;
  }

  async stop(): Promise<void> {
    await Promise.all([this.ours.stop(), this.#bare.stop()]);
  }
}

type Report = (finding: Finding) => void;

function curve(report: Report, of: string, points: readonly Point[], atMost?: number, inFlight = IN_FLIGHT): void {
  const what = `MDP broker on zmtp over bare loop, ${inFlight} in flight`;
  const about: Curve = { what, of, unit: 'x of the bare loop' };
  // Not measured in the same rounds: medians are compared.
  const settled = points.map(({ size, costs }) => ({ size, costs: [median(costs)] }));
  reportCurve(atMost === undefined ? about : { ...about, atMost }, settled, report);
}

/** Measures the curves of workers and services: each size has processes of its own. */
export async function measureBrokerCrowds(report: Report): Promise<void> {
  const workers: Point[] = [];
  const crowds: Point[] = [];
  for (const size of [10, 1000, 10_000]) {
    const pair = await Pair.start(size);
    workers.push({ size, costs: await pair.ratios() });
    if (size > CROWD_IN_FLIGHT) crowds.push({ size, costs: await pair.ratios({ inFlight: CROWD_IN_FLIGHT }) });
    await pair.stop();
  }
  curve(report, 'workers', workers, FLAT);
  curve(report, 'workers', crowds, undefined, CROWD_IN_FLIGHT);
  const services: Point[] = [{ size: 1, costs: workers.at(-1)?.costs ?? [] }];
  const served = await Pair.start(10_000, 10_000);
  services.push({ size: 10_000, costs: await served.ratios() });
  await served.stop();
  curve(report, 'services of 10,000 workers', services);
}

/** Measures the curves of bodies and of waiting requests, in one pair of processes. */
export async function measureBrokerLoads(report: Report): Promise<void> {
  const pair = await Pair.start(10);
  const bodies: Point[] = [];
  for (const bodyBytes of [10, 1000, 100_000, 10_000_000]) {
    const requests = Math.min(REQUESTS, Math.ceil(ROUND_BYTES / bodyBytes));
    const costs = await pair.ratios({ bodyBytes, requests, inFlight: bodyBytes > 10_000 ? 4 : IN_FLIGHT });
    bodies.push({ size: bodyBytes, costs });
  }
  curve(report, 'bytes of body', bodies, FLAT);
  const queues: Point[] = [];
  let waiting = 0;
  for (const size of [10, 100_000, 1_000_000]) {
    await pair.ours.fill(size - waiting);
    waiting = size;
    queues.push({ size, costs: await pair.ratios() });
  }
  curve(report, 'requests waiting for another service', queues, FLAT);
  await pair.stop();
}
