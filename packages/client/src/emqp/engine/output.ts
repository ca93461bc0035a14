/** EventMQ client: the effects of the current step, and the totals. */
import { StepOutput } from '@proj/transport/engine';
import type {
  EmqpClientDropReason,
  EmqpClientEffect,
  EmqpClientFailure,
  EmqpClientNote,
  EmqpClientStats,
  EmqpOrder,
} from './events.js';

const newCounters = () => ({
  taken: 0,
  results: 0,
  aborts: 0,
  connections: 0,
  repeats: 0,
  lateReplies: 0,
  notesWithheld: 0,
  failures: { TIMEOUT: 0, QUEUE_FULL: 0, PEER_LOST: 0, UNREACHABLE: 0, CLOSED: 0 },
  dropped: new Map<EmqpClientDropReason, number>(),
});

/** Collects the effects of every part of the session. */
export class Output<Ticket> extends StepOutput<EmqpClientEffect<Ticket>, ReturnType<typeof newCounters>> {
  constructor() {
    super(newCounters());
  }

  /** A copy of the totals. */
  get totals(): Omit<EmqpClientStats, 'untaken' | 'awaitingResult'> {
    const { taken, results, aborts, connections, repeats, lateReplies, failures, dropped } = this.counters;
    const counts = { taken, results, aborts, connections, repeats, lateReplies };
    return { ...counts, failures: { ...failures }, dropped: Object.fromEntries(dropped) };
  }

  /** The order failed. */
  fail({ ticket }: EmqpOrder<Ticket>, code: EmqpClientFailure, cause?: unknown): void {
    this.counters.failures[code]++;
    this.effects.push({ kind: 'failed', ticket, code, cause });
  }

  /** A message from this broker was dropped. */
  drop(reason: EmqpClientDropReason, endpoint: string): void {
    const { dropped } = this.counters;
    dropped.set(reason, (dropped.get(reason) ?? 0) + 1);
    this.note(reason, { kind: 'note', note: { code: 'message-dropped', reason, endpoint } });
  }

  /** Reports this every time. */
  report(note: EmqpClientNote): void {
    this.effects.push({ kind: 'note', note });
  }
}
