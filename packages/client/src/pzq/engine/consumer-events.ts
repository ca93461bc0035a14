/** PZQ consumer: what its engine is told, what it wants done, what it reports. Rule 24 of docs/protocols/pzq.md. */
import type {
  PzqConsumerAck,
  PzqDelivery,
  PzqLeaseExtension,
  PzqMalformedReason,
  PzqToConsumer,
} from '@proj/frames/pzq';
import type { Peer, RejectReason } from '@proj/transport';

/** Settings of a `PzqConsumerSession`. */
export interface PzqConsumerSessionOptions {
  /** Most messages in hand, at least 1: waiting for a reader, or handed out and not settled. */
  readonly prefetch: number;
  readonly dropExpired: boolean;
  /** Keys of acknowledged messages that are remembered. */
  readonly dedupeMax: number;
}

/** What becomes of a message that was handed out. `leave` tells the queue nothing: the message comes again when its lease ends. */
export type PzqVerdict = 'ack' | 'nack' | 'leave';

/** A fact reported to a consumer's session. */
export type PzqConsumerEvent =
  | { readonly kind: 'message'; readonly peer: Peer; readonly message: PzqToConsumer }
  /** A message over the socket's limits was dropped. */
  | { readonly kind: 'rejected'; readonly reason: RejectReason }
  /** A message to a queue did not go out. */
  | { readonly kind: 'undeliverable' }
  /** One reader more waits for a message. */
  | { readonly kind: 'demand' }
  /** One reader less waits. */
  | { readonly kind: 'waive' }
  /** The verdict on a message that was handed out. Once per message. */
  | { readonly kind: 'settle'; readonly handed: PzqHanded; readonly verdict: PzqVerdict }
  /** A message that was handed out takes longer. */
  | { readonly kind: 'extend'; readonly handed: PzqHanded }
  /** Hand nothing more out; `drained` follows when everything handed out is settled. */
  | { readonly kind: 'drain' }
  /** The end: waiting messages are given back. */
  | { readonly kind: 'close' };

/** A message as it was handed out. */
export interface PzqHanded {
  /** Different each time, even for the same message. */
  readonly number: number;
  readonly peer: Peer;
  readonly delivery: PzqDelivery;
}

/** Why a queue's message was dropped. */
export type PzqConsumerDropReason =
  | PzqMalformedReason
  | RejectReason
  /** Its acknowledgement timeout was over when its turn came. */
  | 'expired'
  /** It was in hand already. */
  | 'in-hand';

/** Something worth a log line. */
export type PzqConsumerNote =
  /** Once per reason and minute. */
  | { readonly code: 'message-dropped'; readonly reason: PzqConsumerDropReason }
  /** An acknowledgement did not go out, so the message comes again. Once a minute. */
  | { readonly code: 'ack-undeliverable' };

/** What a session wants done. */
export type PzqConsumerEffect =
  /** To the reader that has waited longest. */
  | { readonly kind: 'hand'; readonly handed: PzqHanded }
  | { readonly kind: 'send'; readonly peer: Peer; readonly command: PzqConsumerAck | PzqLeaseExtension }
  /** Stop reading, or start again. One more message may come after `pause`. */
  | { readonly kind: 'pause' }
  | { readonly kind: 'resume' }
  /** One delivery after another looks expired: one of the clocks is wrong by about so much. Once, until a delivery looks right again. */
  | { readonly kind: 'clock-skew'; readonly byMs: number }
  | { readonly kind: 'drained' }
  | { readonly kind: 'note'; readonly note: PzqConsumerNote };

/** Counters since construction and gauges of now. */
export interface PzqConsumerStats {
  /** Gauge: taken in and waiting for a reader. */
  readonly waiting: number;
  /** Gauge: handed out and not settled. */
  readonly unsettled: number;
  /** Deliveries. */
  readonly received: number;
  readonly handedOut: number;
  readonly acked: number;
  readonly nacked: number;
  readonly left: number;
  readonly extended: number;
  /** Deliveries of messages acknowledged before: acknowledged again, not handed out. */
  readonly repeated: number;
  /** Messages handed out whose lease ended before there was a verdict. */
  readonly leasesLost: number;
  readonly acksUndeliverable: number;
  readonly dropped: Readonly<Partial<Record<PzqConsumerDropReason, number>>>;
}
