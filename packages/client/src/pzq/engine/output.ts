/** PZQ producer and consumer: the effects of the current step, and the totals. */
import type { PzqDelivery } from '@proj/frames/pzq';
import type { Peer } from '@proj/transport';
import { StepOutput } from '@proj/transport/engine';
import type { PzqConsumerDropReason, PzqConsumerEffect, PzqConsumerStats } from './consumer-events.js';
import type {
  PzqOrder,
  PzqProducerDropReason,
  PzqProducerEffect,
  PzqProducerFailure,
  PzqProducerNote,
  PzqProducerStats,
} from './producer-events.js';

const producerCounters = () => ({
  sends: 0,
  stored: 0,
  aborts: 0,
  connections: 0,
  lateAcks: 0,
  notesWithheld: 0,
  failures: { REJECTED: 0, TIMEOUT: 0, QUEUE_FULL: 0, UNREACHABLE: 0, CLOSED: 0 },
  dropped: new Map<PzqProducerDropReason, number>(),
});

/** Collects the effects of every part of a producer's session. */
export class ProducerOutput<Ticket> extends StepOutput<PzqProducerEffect<Ticket>, ReturnType<typeof producerCounters>> {
  constructor() {
    super(producerCounters());
  }

  /** A copy of the totals. */
  get totals(): Omit<PzqProducerStats, 'unacknowledged' | 'waiting'> {
    const { sends, stored, aborts, connections, lateAcks, failures, dropped } = this.counters;
    const counts = { sends, stored, aborts, connections, lateAcks };
    return { ...counts, failures: { ...failures }, dropped: Object.fromEntries(dropped) };
  }

  fail(
    { ticket }: PzqOrder<Ticket>,
    code: PzqProducerFailure,
    { sends = 0, reason = '', cause }: { sends?: number; reason?: string; cause?: unknown } = {},
  ): void {
    this.counters.failures[code]++;
    this.effects.push({ kind: 'failed', ticket, code, reason, sends, cause });
  }

  /** A message from this queue was dropped. */
  drop(reason: PzqProducerDropReason, endpoint: string): void {
    count(this.counters.dropped, reason);
    this.note(reason, { kind: 'note', note: { code: 'message-dropped', reason, endpoint } });
  }

  /** Reports this every time. */
  report(note: PzqProducerNote): void {
    this.effects.push({ kind: 'note', note });
  }
}

const consumerCounters = () => ({
  received: 0,
  handedOut: 0,
  acked: 0,
  nacked: 0,
  left: 0,
  extended: 0,
  repeated: 0,
  leasesLost: 0,
  acksUndeliverable: 0,
  notesWithheld: 0,
  dropped: new Map<PzqConsumerDropReason, number>(),
});

/** Collects the effects of every part of a consumer's session. */
export class ConsumerOutput extends StepOutput<PzqConsumerEffect, ReturnType<typeof consumerCounters>> {
  constructor() {
    super(consumerCounters());
  }

  /** A copy of the totals. */
  get totals(): Omit<PzqConsumerStats, 'waiting' | 'unsettled'> {
    const { received, handedOut, acked, nacked, left, extended } = this.counters;
    const { repeated, leasesLost, acksUndeliverable, dropped } = this.counters;
    const counts = { received, handedOut, acked, nacked, left, extended, repeated, leasesLost, acksUndeliverable };
    return { ...counts, dropped: Object.fromEntries(dropped) };
  }

  answer(peer: Peer, { key }: PzqDelivery, positive: boolean): void {
    this.effects.push({ kind: 'send', peer, command: { kind: 'consumer-ack', key, positive } });
  }

  /** A message from a queue was dropped. */
  drop(reason: PzqConsumerDropReason): void {
    count(this.counters.dropped, reason);
    this.note(reason, { kind: 'note', note: { code: 'message-dropped', reason } });
  }
}

function count<Reason>(dropped: Map<Reason, number>, reason: Reason): void {
  dropped.set(reason, (dropped.get(reason) ?? 0) + 1);
}
