/** The cost of the Majordomo engine with more workers, services and waiting requests, and with larger bodies. */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { ask, nextMessage, startChild } from '../children.js';
import type { EngineSize } from '../mdp-engine.js';
import { median } from '../statistics.js';
import type { Finding } from '../statistics.js';
import { reportCurve } from './curve.js';
import type { Curve, Point } from './curve.js';
import type { EnginePlan } from './engine-process.js';

/** Each is started this many times, because a process may be lucky with its memory for its whole life. */
const SETS = 9;
const ROUNDS = 4;
const REQUESTS = 50_000;
const FLAT = 1.2;
/**
 * All heaps have a young generation, in MB, of the size that it reaches when many objects live: Node's largest. A small one fits into a
 * core's cache; then the curve would compare heaps instead of sizes.
 */
const HEAP = ['--min-semi-space-size=16', '--max-semi-space-size=16'];

/** CPU time of a request in each, in microseconds, round by round, with all of them in each round. */
export async function measureProcesses(
  plans: readonly EnginePlan[],
  sets = SETS,
  requests = REQUESTS,
): Promise<number[][]> {
  const costs = plans.map(() => [] as number[]);
  for (let set = 0; set < sets; set++) {
    for (const [index, rounds] of (await measureSet(plans, requests)).entries()) costs[index]?.push(...rounds);
  }
  return costs;
}

/** Each has its own process. */
async function measureSet(plans: readonly EnginePlan[], requests: number): Promise<number[][]> {
  const children: ChildProcess[] = [];
  for (const plan of plans) {
    const child = startChild('scale-engine', plan, { node: HEAP });
    children.push(child);
    await nextMessage(child);
  }
  const costs = plans.map(() => [] as number[]);
  for (let round = 0; round <= ROUNDS; round++) {
    for (const [index, child] of children.entries()) {
      const cost = await ask<number>(child, requests);
      // The first round warms up.
      if (round > 0) costs[index]?.push(cost);
    }
  }
  for (const child of children) {
    const exited = once(child, 'exit');
    child.disconnect();
    await exited;
  }
  return costs;
}

/** Measures all curves. */
export async function measureEngineScale(report: (finding: Finding) => void): Promise<void> {
  const curve = async (
    about: Omit<Curve, 'unit'>,
    sizes: readonly number[],
    plan: (size: number) => EnginePlan,
  ): Promise<readonly Point[]> => {
    const costs = await measureProcesses(sizes.map(plan));
    const points = sizes.map((size, index) => ({ size, costs: costs[index] ?? [] }));
    reportCurve({ ...about, unit: 'us/request' }, points, report);
    return points;
  };
  const engine = (of: string, sizes: readonly number[], size: (size: number) => EngineSize, atMost?: number) =>
    curve({ what: 'MDP engine', of, ...(atMost === undefined ? {} : { atMost }) }, sizes, (count) => ({
      kind: 'engine',
      ...size(count),
    }));
  await engine('workers', [10, 100, 1000, 10_000], (workers) => ({ workers }), FLAT);
  await engine('workers, 50 at work, in no order', [100, 1000, 10_000], (workers) => ({ workers, atWork: 50 }));
  await cold(report);
  await engine('services of 10,000 workers', [1, 100, 10_000], (services) => ({ workers: 10_000, services }));
  const queues = [10, 1000, 100_000, 1_000_000];
  await engine('requests waiting for another service', queues, (absent) => ({ absent }), FLAT);
  const ahead = 'requests waiting ahead';
  const ours = await engine(ahead, queues, (queued) => ({ queued }), FLAT);
  const about = { what: 'plain ring of decoded requests', of: ahead };
  const plain = await curve(about, queues, (queued) => ({ kind: 'plain-queue', queued }));
  const more = (points: readonly Point[]): number =>
    median(points.at(-1)?.costs ?? []) - median(points[0]?.costs ?? []);
  const what = 'MDP engine over plain ring: what 1,000,000 waiting ahead cost more than 10';
  report({ what, measured: more(ours) / more(plain), unit: 'x' });
  await engine('bytes of body', [10, 1000, 100_000, 10_000_000], (bodyBytes) => ({ bodyBytes }), FLAT);
}

/** Ten workers fit into a core's caches. A thousand engines of ten workers take as much memory as one of ten thousand. */
async function cold(report: (finding: Finding) => void): Promise<void> {
  const [few = [], many = []] = await measureProcesses([
    { kind: 'engines', engines: 1000, workers: 10 },
    { kind: 'engine', workers: 10_000 },
  ]);
  const measured = median(many.map((cost, round) => cost / (few[round] ?? Number.NaN)));
  const what = 'MDP engine of 10,000 workers over a thousand of 10, caches as cold';
  report({ what, measured, unit: 'x', limit: { atMost: FLAT } });
}
