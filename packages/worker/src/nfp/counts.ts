/** Totals of an NFP worker, computed from its session's notes. */
import type { LossReason } from '../shared/events.js';
import type { NfpFinalState, NfpRefusalReason, NfpWorkerDropReason, NfpWorkerNote } from './engine/events.js';

/** A worker's totals since its construction. */
export type NfpWorkerTotals = Readonly<ReturnType<typeof newTotals>>;

function newTotals() {
  return {
    accepted: 0,
    /** Known jobs that were posted again. */
    repeated: 0,
    refused: {} as Partial<Record<NfpRefusalReason, number>>,
    /** Runs started, including repeated ones. */
    started: 0,
    finished: {} as Partial<Record<NfpFinalState, number>>,
    /** Runs abandoned because the worker ended. */
    interrupted: 0,
    /** Results removed by age or number. */
    resultsRemoved: 0,
    /** Conversations with at least one message from the broker. */
    conversations: 0,
    lost: {} as Partial<Record<LossReason, number>>,
    dropped: {} as Partial<Record<NfpWorkerDropReason, number>>,
    /** PUTs dropped because the task did not read them. */
    putsDropped: 0,
    /** Answers and events that could not be sent because there was no connection. */
    unsent: 0,
    /** Batches that the store rejected. */
    storeFailures: 0,
  };
}

/** Notes that are counted, each in one number. */
const COUNTED = {
  ready: 'conversations',
  unsent: 'unsent',
  'job-accepted': 'accepted',
  'job-repeated': 'repeated',
  'job-started': 'started',
  'job-interrupted': 'interrupted',
  'store-failed': 'storeFailures',
} as const satisfies Partial<Record<NfpWorkerNote['code'], keyof NfpWorkerTotals>>;

/** Totals that begin at zero. */
export class NfpTotals {
  readonly #counts = newTotals();

  /** A copy. */
  get(): NfpWorkerTotals {
    return structuredClone(this.#counts);
  }

  putDropped(): void {
    this.#counts.putsDropped++;
  }

  add(note: NfpWorkerNote): void {
    if (note.code === 'lost') increment(this.#counts.lost, note.reason);
    else if (note.code === 'message-dropped') increment(this.#counts.dropped, note.reason);
    else if (note.code === 'job-refused') increment(this.#counts.refused, note.reason);
    else if (note.code === 'job-finished') increment(this.#counts.finished, note.state);
    else if (note.code === 'results-removed') this.#counts.resultsRemoved += note.count;
    else if (note.code in COUNTED) this.#counts[COUNTED[note.code as keyof typeof COUNTED]]++;
  }
}

function increment<Key extends string>(counts: Partial<Record<Key, number>>, key: Key): void {
  counts[key] = (counts[key] ?? 0) + 1;
}
