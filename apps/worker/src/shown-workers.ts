/** What `--http` shows of the workers: the sum of their statistics. */
import type { Worker } from './protocol.js';

type Figures = Readonly<Record<string, unknown>>;

/** The statistics of all workers, added up. */
export function totalStats(workers: readonly Worker[]): object {
  return workers.reduce<Figures>((total, worker) => add(total, (worker.stats() ?? {}) as Figures), {});
}

/** Adds numbers, also in nested records; anything else stays as it is in `one`. */
function add(one: Figures, other: Figures): Figures {
  const sums = Object.entries(other).map(([name, value]): [string, unknown] => {
    const before = one[name];
    if (typeof value === 'number') return [name, value + (typeof before === 'number' ? before : 0)];
    if (!isRecord(value)) return [name, before ?? value];
    return [name, add(isRecord(before) ? before : {}, value)];
  });
  return { ...one, ...Object.fromEntries(sums) };
}

function isRecord(value: unknown): value is Figures {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
