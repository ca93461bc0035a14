/** One engine in a separate process, so that its size is also the size of its heap. Runs rounds on request over IPC. */
import { EngineRounds } from '../engines/rounds.js';
import type { EngineName } from '../engines/index.js';
import { MdpEngineLoad } from '../mdp-engine.js';
import type { EngineSize } from '../mdp-engine.js';
import { ManyEngines } from './many-engines.js';
import { PlainQueue } from './plain-queue.js';

/** What a process gets on its command line, as JSON. */
export type EnginePlan =
  | ({ readonly kind: 'engine' } & EngineSize)
  /** How many engines take turns. */
  | { readonly kind: 'engines'; readonly engines: number; readonly workers: number }
  | { readonly kind: 'plain-queue'; readonly queued: number }
  /** The engine of any protocol. */
  | { readonly kind: 'protocol'; readonly name: EngineName | undefined };

/** Runs this many requests, and returns the CPU time of each in microseconds. */
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
    case 'protocol':
      return new EngineRounds(plan.name);
  }
}

const load = start(JSON.parse(process.argv[2] ?? '{}') as EnginePlan);
process.once('disconnect', () => process.exit());
process.on('message', (requests: number) => process.send?.(load.run(requests)));
process.send?.('ready');
