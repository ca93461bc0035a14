/** NFP client: the effects of the current step, and the totals. */
import { ClientOutput } from '../../shared/client-output.js';
import type { Tally } from '../../shared/client-output.js';
import type { NfpClientDropReason, NfpClientEffect, NfpClientFailure, NfpClientNote } from './events.js';

/** The last word of a worker. */
export type Word = Pick<Extract<NfpClientEffect<unknown>, { kind: 'result' }>, 'status' | 'value' | 'body'>;

/** The word for a worker that was silent. */
export const LATE: Word = { status: 408, value: undefined, body: [] };
/** The same after an unexpected answer. */
export const UNEXPECTED: Word = { status: 417, value: undefined, body: [] };
/** The word for a worker that has forgotten the job. */
export const GONE: Word = { status: 404, value: undefined, body: [] };

/** Collects the effects of every part of the session. */
export class Output<Ticket> extends ClientOutput<NfpClientEffect<Ticket>, NfpClientNote> {
  override readonly counters = {
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
    dropped: {} as Tally<NfpClientDropReason>,
  };

  /** A message from this broker was dropped. */
  drop(reason: NfpClientDropReason, endpoint: string): void {
    this.dropAs(reason, { code: 'message-dropped', reason, endpoint });
  }

  /** The order failed. */
  fail(ticket: Ticket, code: NfpClientFailure, errors: readonly string[] = [], cause?: unknown): void {
    this.counters.failures[code]++;
    this.effects.push({ kind: 'failed', ticket, code, errors, cause });
  }
}
