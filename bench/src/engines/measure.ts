/** The cost of a request in the engine of each protocol, over its cost in that of MDP in the same run, so that no engine gets slower unnoticed. */
import type { EnginePlan } from '../scale/engine-process.js';
import { measureProcesses } from '../scale/engine.js';
import { median } from '../statistics.js';
import type { Report } from '../statistics.js';
import { ENGINES, YARDSTICK } from './index.js';
import type { EngineName } from './index.js';

const SETS = 3;
/** In the first round, which does not count, an NFP broker fills its table of 100,000 jobs. */
const REQUESTS = 100_000;

/** Measures all in turn, each in its own process. */
export async function measureEngines(report: Report): Promise<void> {
  const names = Object.keys(ENGINES) as EngineName[];
  const plans = [undefined, ...names].map((name): EnginePlan => ({ kind: 'protocol', name }));
  const [yardstick = [], ...others] = await measureProcesses(plans, SETS, REQUESTS);
  report({ what: `${YARDSTICK.name} engine with codec`, measured: median(yardstick), unit: 'us/request' });
  for (const [index, name] of names.entries()) {
    const costs = others[index] ?? [];
    report({ what: `engine with codec: ${name}`, measured: median(costs), unit: 'us/request' });
    const measured = median(costs.map((cost, round) => cost / (yardstick[round] ?? Number.NaN)));
    const { atMost } = ENGINES[name];
    report({ what: `the same over ${YARDSTICK.name}: ${name}`, measured, unit: 'x', limit: { atMost } });
  }
}
