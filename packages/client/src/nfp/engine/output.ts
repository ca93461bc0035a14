/** NFP client: the effects of the current step, and the totals. */
import { StepOutput } from '@proj/transport/engine';
import type {
  NfpClientDropReason,
  NfpClientEffect,
  NfpClientFailure,
  NfpClientNote,
  NfpClientStats,
} from './events.js';

/** The last word of a worker. */
export type Word = Pick<Extract<NfpClientEffect<unknown>, { kind: 'result' }>, 'status' | 'value' | 'body'>;

/** The word for a worker that was silent. */
export const LATE: Word = { status: 408, value: undefined, body: [] };
/** The same after an unexpected answer. */
export const UNEXPECTED: Word = { status: 417, value: undefined, body: [] };
/** The word for a worker that has forgotten the job. */
export const GONE: Word = { status: 404, value: undefined, body: [] };

const newCounters = () => ({
  posts: 0,
  polls: 0,
  reposts: 0,
  results: 0,
  events: 0,
  streams: 0,
  aborts: 0,
  lateAnswers: 0,
  notesWithheld: 0,
  failures: {
    TIMEOUT: 0,
    QUEUE_FULL: 0,
    PEER_LOST: 0,
    UNREACHABLE: 0,
    REJECTED: 0,
    BUSY: 0,
    CLOSED: 0,
    UNEXPECTED_ANSWER: 0,
  },
  dropped: new Map<NfpClientDropReason, number>(),
});

/** Collects the effects of every part of the session. */
export class Output<Ticket> extends StepOutput<NfpClientEffect<Ticket>, ReturnType<typeof newCounters>> {
  constructor() {
    super(newCounters());
  }

  /** Reports this every time. */
  report(note: NfpClientNote): void {
    this.effects.push({ kind: 'note', note });
  }

  /** A message from this broker was dropped. */
  drop(reason: NfpClientDropReason, endpoint: string): void {
    const { dropped } = this.counters;
    dropped.set(reason, (dropped.get(reason) ?? 0) + 1);
    this.note(reason, { kind: 'note', note: { code: 'message-dropped', reason, endpoint } });
  }

  /** The order failed. */
  fail(ticket: Ticket, code: NfpClientFailure, errors: readonly string[] = [], cause?: unknown): void {
    this.counters.failures[code]++;
    this.effects.push({ kind: 'failed', ticket, code, errors, cause });
  }

  /** A copy of the totals. */
  get totals(): Omit<NfpClientStats, 'jobs' | 'questions' | 'bytes' | 'connections'> {
    const { posts, polls, reposts, results, events, streams, aborts, lateAnswers, failures, dropped } = this.counters;
    const counts = { posts, polls, reposts, results, events, streams, aborts, lateAnswers };
    return { ...counts, failures: { ...failures }, dropped: Object.fromEntries(dropped) };
  }
}
