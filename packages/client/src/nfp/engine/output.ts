/** NFP client: the effects of the step under way, and the totals. */
import { oncePerMinute } from '@proj/heartbeat';
import type {
  NfpClientDropReason,
  NfpClientEffect,
  NfpClientFailure,
  NfpClientNote,
  NfpClientStats,
} from './events.js';

/** The last word of a worker. */
export type Word = Pick<Extract<NfpClientEffect<unknown>, { kind: 'result' }>, 'status' | 'value' | 'body'>;

/** What is said for a worker that says nothing in time, for one when something else has come than what it was asked, and for one that has forgotten the job. */
export const LATE: Word = { status: 408, value: undefined, body: [] };
export const UNEXPECTED: Word = { status: 417, value: undefined, body: [] };
export const GONE: Word = { status: 404, value: undefined, body: [] };

/** Where every part of the session puts its effects, in order. */
export class Output<Ticket> {
  /** Running totals. */
  readonly counts = {
    posts: 0,
    polls: 0,
    reposts: 0,
    results: 0,
    events: 0,
    streams: 0,
    aborts: 0,
    lateAnswers: 0,
  };
  effects: NfpClientEffect<Ticket>[] = [];
  readonly #failures = {
    TIMEOUT: 0,
    QUEUE_FULL: 0,
    PEER_LOST: 0,
    UNREACHABLE: 0,
    REJECTED: 0,
    BUSY: 0,
    CLOSED: 0,
    UNEXPECTED_ANSWER: 0,
  };
  readonly #dropped = new Map<NfpClientDropReason, number>();
  readonly #noted = oncePerMinute();

  /** Begins a step. The effects of the last one are its receiver's. */
  begin(): void {
    this.effects = [];
  }

  push(effect: NfpClientEffect<Ticket>): void {
    this.effects.push(effect);
  }

  note(note: NfpClientNote): void {
    this.push({ kind: 'note', note });
  }

  /** What the broker at `endpoint` sent came to nothing. Noted once per reason and minute. */
  drop(reason: NfpClientDropReason, endpoint: string, now: number): void {
    this.#dropped.set(reason, (this.#dropped.get(reason) ?? 0) + 1);
    if (this.#noted.allow(reason, now)) this.note({ code: 'message-dropped', reason, endpoint });
  }

  /** An order has no good outcome. */
  fail(ticket: Ticket, code: NfpClientFailure, errors: readonly string[] = [], cause?: unknown): void {
    this.#failures[code]++;
    this.push({ kind: 'failed', ticket, code, errors, cause });
  }

  /** The totals, as a copy. */
  get totals(): Omit<NfpClientStats, 'jobs' | 'questions' | 'bytes' | 'connections'> {
    return { ...this.counts, failures: { ...this.#failures }, dropped: Object.fromEntries(this.#dropped) };
  }
}
