/** Which seeds a test runs, and what it prints about one that fails. */
import { SimulationFailure } from './simulation.js';

/** How many seeds `npm test` runs; the later ones are left to `npm run test:all`. */
const SHORT = 10;

/**
 * The first of `count` seeds, from 0 on; in the task `long` the others. With `SIM_SEED=n` in the environment only that one, with
 * `SIM_SEEDS=n` the first n, with `SIM_SEEDS=from-to` that range.
 */
export function seedsToRun(count: number, env: Readonly<Record<string, string | undefined>> = process.env): number[] {
  const one = env['SIM_SEED'];
  if (one !== undefined) return [integer('SIM_SEED', one)];
  const [first = '', last] = (env['SIM_SEEDS'] ?? '').split('-');
  if (first === '') return env['PROJ_LONG'] === '1' ? range(SHORT, count) : range(0, Math.min(SHORT, count));
  const from = integer('SIM_SEEDS', first);
  return last === undefined ? range(0, from) : range(from, integer('SIM_SEEDS', last) + 1);
}

/** Runs one seed; a failure ends with the line that repeats it. `pattern` selects the test file. */
export async function runSeed<Result>(
  seed: number,
  pattern: string,
  run: (seed: number) => Promise<Result>,
): Promise<Result> {
  try {
    return await run(seed);
  } catch (cause) {
    const stack = cause instanceof Error ? cause.stack : undefined;
    const what = cause instanceof SimulationFailure ? cause.message : (stack ?? String(cause));
    const error = new Error(`seed ${seed} ${what}\nRepeat it: SIM_SEED=${seed} npm test -- ${pattern}`);
    // Where the report was built does not matter; the events in it do.
    error.stack = error.message;
    throw error;
  }
}

function integer(name: string, text: string): number {
  if (!/^\d+$/.test(text)) throw new Error(`${name}=${text}: must be a whole number`);
  return Number(text);
}

function range(from: number, to: number): number[] {
  return Array.from({ length: Math.max(0, to - from) }, (_, i) => from + i);
}
