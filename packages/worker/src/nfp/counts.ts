/** Totals of an NFP worker, from the notes of its session. */
import type { LossReason } from '../shared/events.js';
import type { NfpRefusalReason, NfpWorkerDropReason, NfpWorkerNote } from './engine/events.js';
import type { NfpFinalState } from './engine/job.js';

/** What a worker has done since its construction. */
export interface NfpWorkerTotals {
  readonly accepted: number;
  /** Jobs posted again that were known. */
  readonly repeated: number;
  readonly refused: Readonly<Partial<Record<NfpRefusalReason, number>>>;
  /** Runs begun, repeated ones included. */
  readonly started: number;
  readonly finished: Readonly<Partial<Record<NfpFinalState, number>>>;
  /** Runs given up because the worker ended. */
  readonly interrupted: number;
  /** Results that have left, by age or number. */
  readonly resultsRemoved: number;
  /** Conversations in which the broker was heard. */
  readonly conversations: number;
  readonly lost: Readonly<Partial<Record<LossReason, number>>>;
  readonly dropped: Readonly<Partial<Record<NfpWorkerDropReason, number>>>;
  /** PUTs dropped because the task did not read them. */
  readonly putsDropped: number;
  /** Answers and events without a connection to go out on. */
  readonly unsent: number;
  /** Batches the store did not take. */
  readonly storeFailures: number;
}

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
    switch (note.code) {
      case 'ready':
        this.#counts.conversations++;
        break;
      case 'lost':
        increment(this.#lost, note.reason);
        break;
      case 'message-dropped':
        increment(this.#dropped, note.reason);
        break;
      case 'unsent':
        this.#counts.unsent++;
        break;
      case 'job-accepted':
        this.#counts.accepted++;
        break;
      case 'job-repeated':
        this.#counts.repeated++;
        break;
      case 'job-refused':
        increment(this.#refused, note.reason);
        break;
      case 'job-started':
        this.#counts.started++;
        break;
      case 'job-finished':
        increment(this.#finished, note.state);
        break;
      case 'job-interrupted':
        this.#counts.interrupted++;
        break;
      case 'results-removed':
        this.#counts.resultsRemoved += note.count;
        break;
      case 'store-failed':
        this.#counts.storeFailures++;
        break;
      case 'left':
      case 'inventory-failed':
      case 'volatile-store':
      case 'restarted':
      case 'management':
        break;
    }
  }
}

function increment<Key extends string>(counts: Partial<Record<Key, number>>, key: Key): void {
  counts[key] = (counts[key] ?? 0) + 1;
}
