/** Totals of an NFP worker, computed from its session's notes. */
import type { LossReason } from '../shared/events.js';
import type { NfpFinalState, NfpRefusalReason, NfpWorkerDropReason, NfpWorkerNote } from './engine/events.js';

/** A worker's totals since its construction. */
export interface NfpWorkerTotals {
  readonly accepted: number;
  /** Known jobs that were posted again. */
  readonly repeated: number;
  readonly refused: Readonly<Partial<Record<NfpRefusalReason, number>>>;
  /** Runs started, including repeated ones. */
  readonly started: number;
  readonly finished: Readonly<Partial<Record<NfpFinalState, number>>>;
  /** Runs abandoned because the worker ended. */
  readonly interrupted: number;
  /** Results removed by age or number. */
  readonly resultsRemoved: number;
  /** Conversations with at least one message from the broker. */
  readonly conversations: number;
  readonly lost: Readonly<Partial<Record<LossReason, number>>>;
  readonly dropped: Readonly<Partial<Record<NfpWorkerDropReason, number>>>;
  /** PUTs dropped because the task did not read them. */
  readonly putsDropped: number;
  /** Answers and events that could not be sent because there was no connection. */
  readonly unsent: number;
  /** Batches that the store rejected. */
  readonly storeFailures: number;
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
  readonly #counts = {
    accepted: 0,
    repeated: 0,
    started: 0,
    interrupted: 0,
    resultsRemoved: 0,
    conversations: 0,
    putsDropped: 0,
    unsent: 0,
    storeFailures: 0,
  };
  readonly #refused: Partial<Record<NfpRefusalReason, number>> = {};
  readonly #finished: Partial<Record<NfpFinalState, number>> = {};
  readonly #lost: Partial<Record<LossReason, number>> = {};
  readonly #dropped: Partial<Record<NfpWorkerDropReason, number>> = {};

  /** A copy. */
  get(): NfpWorkerTotals {
    return {
      ...this.#counts,
      refused: { ...this.#refused },
      finished: { ...this.#finished },
      lost: { ...this.#lost },
      dropped: { ...this.#dropped },
    };
  }

  putDropped(): void {
    this.#counts.putsDropped++;
  }

  add(note: NfpWorkerNote): void {
    if (note.code === 'lost') increment(this.#lost, note.reason);
    else if (note.code === 'message-dropped') increment(this.#dropped, note.reason);
    else if (note.code === 'job-refused') increment(this.#refused, note.reason);
    else if (note.code === 'job-finished') increment(this.#finished, note.state);
    else if (note.code === 'results-removed') this.#counts.resultsRemoved += note.count;
    else if (note.code in COUNTED) this.#counts[COUNTED[note.code as keyof typeof COUNTED]]++;
  }
}

function increment<Key extends string>(counts: Partial<Record<Key, number>>, key: Key): void {
  counts[key] = (counts[key] ?? 0) + 1;
}
