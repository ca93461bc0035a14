/** PZQ producer and consumer: the effects of the current step, and the totals. */
import type { PzqDelivery } from '@proj/frames/pzq';
import type { Peer } from '@proj/transport';
import { ClientOutput } from '../../shared/client-output.js';
import type { Tally } from '../../shared/client-output.js';
import type { PzqConsumerDropReason, PzqConsumerEffect, PzqConsumerNote } from './consumer-events.js';
import type {
  PzqOrder,
  PzqProducerDropReason,
  PzqProducerEffect,
  PzqProducerFailure,
  PzqProducerNote,
} from './producer-events.js';

/** Collects the effects of every part of a producer's session. */
export class ProducerOutput<Ticket> extends ClientOutput<PzqProducerEffect<Ticket>, PzqProducerNote> {
  override readonly counters = {
    sends: 0,
    stored: 0,
    aborts: 0,
    connections: 0,
    lateAcks: 0,
    notesWithheld: 0,
    failures: { REJECTED: 0, TIMEOUT: 0, QUEUE_FULL: 0, UNREACHABLE: 0, CLOSED: 0 },
    dropped: {} as Tally<PzqProducerDropReason>,
  };

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
    this.dropAs(reason, { code: 'message-dropped', reason, endpoint });
  }
}

/** Collects the effects of every part of a consumer's session. */
export class ConsumerOutput extends ClientOutput<PzqConsumerEffect, PzqConsumerNote> {
  override readonly counters = {
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
    dropped: {} as Tally<PzqConsumerDropReason>,
  };

  answer(peer: Peer, { key }: PzqDelivery, positive: boolean): void {
    this.effects.push({ kind: 'send', peer, command: { kind: 'consumer-ack', key, positive } });
  }

  /** A message from a queue was dropped. */
  drop(reason: PzqConsumerDropReason): void {
    this.dropAs(reason, { code: 'message-dropped', reason });
  }
}
