/** EventMQ client: the effects of the current step, and the totals. */
import { ClientOutput } from '../../shared/client-output.js';
import type { Tally } from '../../shared/client-output.js';
import type { EmqpClientDropReason, EmqpClientEffect, EmqpClientFailure, EmqpClientNote, EmqpOrder } from './events.js';

/** Collects the effects of every part of the session. */
export class Output<Ticket> extends ClientOutput<EmqpClientEffect<Ticket>, EmqpClientNote> {
  override readonly counters = {
    taken: 0,
    results: 0,
    aborts: 0,
    connections: 0,
    repeats: 0,
    lateReplies: 0,
    notesWithheld: 0,
    failures: { TIMEOUT: 0, QUEUE_FULL: 0, PEER_LOST: 0, UNREACHABLE: 0, CLOSED: 0 },
    dropped: {} as Tally<EmqpClientDropReason>,
  };

  /** The order failed. */
  fail({ ticket }: EmqpOrder<Ticket>, code: EmqpClientFailure, cause?: unknown): void {
    this.counters.failures[code]++;
    this.effects.push({ kind: 'failed', ticket, code, cause });
  }

  /** A message from this broker was dropped. */
  drop(reason: EmqpClientDropReason, endpoint: string): void {
    this.dropAs(reason, { code: 'message-dropped', reason, endpoint });
  }
}
