/** A writer for a process that is killed while it writes, and the reader of its lines. */
import type { QueueStore } from '../store.js';
import { message, NOW } from './rig.js';

const BATCH = 64;
const REMOVES = 16;

/**
 * Opens the store and commits for ever: each batch puts 64 messages and removes 16 of the batch before. Calls `tell` with a line when the store
 * is open and after each commit; the line must be written when `tell` returns.
 */
export async function writeUntilKilled(store: QueueStore, tell: (line: string) => void): Promise<never> {
  await store.open();
  tell(JSON.stringify({ seqs: [], removes: [] }));
  let last: readonly number[] = [];
  for (let batch = 0; ; batch++) {
    const removes = last.slice(-REMOVES);
    const puts = Array.from({ length: BATCH }, () => message(batch.toString()));
    const { seqs } = await store.commit({
      puts,
      removes: removes.map((seq) => ({ seq, storedMicros: NOW })),
      deliveries: [],
      buries: [],
      revives: [],
      passed: [],
    });
    tell(JSON.stringify({ seqs, removes }));
    last = seqs;
  }
}

/** The combined information of the writer's lines. */
export interface Transcript {
  /** Sequences that must exist. */
  readonly kept: readonly number[];
  /** Sequences that must not exist. */
  readonly removed: readonly number[];
  /** Sequences that the unreported batch would remove. */
  readonly inDoubt: readonly number[];
  /** Number of the unreported batch: the text of its messages. */
  readonly untold: string;
  /** Number of messages it puts. */
  readonly puts: number;
}

/** Reads the lines of {@link writeUntilKilled}; ignores a truncated last line. */
export function readTranscript(lines: readonly string[]): Transcript {
  const told = lines
    .filter((line) => line.endsWith('}'))
    .map((line) => JSON.parse(line) as { readonly seqs: readonly number[]; readonly removes: readonly number[] })
    .slice(1);
  const removed = told.flatMap(({ removes }) => removes);
  const inDoubt = told.at(-1)?.seqs.slice(-REMOVES) ?? [];
  const gone = new Set([...removed, ...inDoubt]);
  const kept = told.flatMap(({ seqs }) => seqs.filter((seq) => !gone.has(seq)));
  return { kept, removed, inDoubt, untold: told.length.toString(), puts: BATCH };
}
