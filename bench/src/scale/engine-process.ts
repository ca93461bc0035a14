/** One engine in a process of its own, so that its size is that of the heap its garbage is collected from. Rounds on request over IPC. */
import { MdpEngineLoad } from '../mdp-engine.js';
import type { EngineSize } from '../mdp-engine.js';
import { ManyEngines } from './many-engines.js';
import { PlainQueue } from './plain-queue.js';

/** What a process is told on its command line, as JSON. */
export type EnginePlan =
  | ({ readonly kind: 'engine' } & EngineSize)
  /** So many engines that take turns. */
  | { readonly kind: 'engines'; readonly engines: number; readonly workers: number }
  | { readonly kind: 'plain-queue'; readonly queued: number };

/** Runs so many requests, and tells the microseconds of CPU of each. */
export interface Runs {
  run(requests: number): number;
}

function start(plan: EnginePlan): Runs {
  switch (plan.kind) {
    case 'engine':
      return new MdpEngineLoad(plan);
    case 'engines':
      return new ManyEngines(plan.engines, plan.workers);
    case 'plain-queue':
      return new PlainQueue(plan.queued);
  }
}

const load = start(JSON.parse(process.argv[2] ?? '{}') as EnginePlan);
process.once('disconnect', () => process.exit());
process.on('message', (requests: number) => process.send?.(load.run(requests)));
process.send?.('ready');
