/** What the Majordomo engine costs with more workers, services, waiting requests, and larger bodies. */
import { MdpEngineLoad } from '../mdp-engine.js';
import type { EngineSize } from '../mdp-engine.js';
import { median } from '../statistics.js';
import type { Finding } from '../statistics.js';
import { reportCurve } from './curve.js';

const ROUNDS = 9;
const REQUESTS = 50_000;
const FLAT = 1.2;

/** Measures all curves. */
export function measureEngineScale(report: (finding: Finding) => void): void {
  const curve = (of: string, sizes: readonly number[], load: (size: number) => EngineSize, atMost?: number): void => {
    const loads = sizes.map((size) => ({ size, load: new MdpEngineLoad(load(size)), costs: [] as number[] }));
    for (let round = 0; round <= ROUNDS; round++) {
      for (const { load, costs } of loads) {
        const cost = load.run(REQUESTS);
        // The first round warms up.
        if (round > 0) costs.push(cost);
      }
    }
    const about = { what: 'MDP engine', of, unit: 'us/request', ...(atMost === undefined ? {} : { atMost }) };
    reportCurve(about, loads, report);
  };
  curve('workers', [10, 100, 1000, 10_000], (workers) => ({ workers }), FLAT);
  cold(report);
  curve('services of 10,000 workers', [1, 10, 100, 1000, 10_000], (services) => ({ workers: 10_000, services }));
  const queues = [10, 1000, 100_000, 1_000_000];
  curve('requests waiting for another service', queues, (absent) => ({ absent }), FLAT);
  curve('requests waiting ahead', queues, (queued) => ({ queued }), FLAT);
  curve('bytes of body', [10, 1000, 100_000, 10_000_000], (bodyBytes) => ({ bodyBytes }), FLAT);
}

/** Ten workers fit into the caches of a core. A thousand engines of ten take up as much memory as one of ten thousand. */
function cold(report: (finding: Finding) => void): void {
  const few = Array.from({ length: 1000 }, () => new MdpEngineLoad({ workers: 10 }));
  const many = new MdpEngineLoad({ workers: 10_000 });
  const growths: number[] = [];
  for (let round = 0; round <= ROUNDS; round++) {
    const before = process.cpuUsage();
    for (let turn = 0; turn < REQUESTS; turn += 10) few[(turn / 10) % few.length]?.run(10);
    const { user, system } = process.cpuUsage(before);
    const growth = many.run(REQUESTS) / ((user + system) / REQUESTS);
    if (round > 0) growths.push(growth);
  }
  const what = 'MDP engine of 10,000 workers over a thousand of 10, caches as cold';
  report({ what, measured: median(growths), unit: 'x' });
}
