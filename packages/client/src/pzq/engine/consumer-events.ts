/** PZQ consumer: the engine's events, effects and notes. Rule 24 of docs/protocols/pzq.md. */
import type {
  PzqConsumerAck,
  PzqDelivery,
  PzqLeaseExtension,
  PzqMalformedReason,
  PzqToConsumer,
} from '@proj/frames/pzq';
import type { Peer, RejectReason } from '@proj/transport';
import type { PzqConsumerSettings } from '../options.js';

/** Settings of a `PzqConsumerSession`; options.ts explains them. */
export type PzqConsumerSessionOptions = Pick<PzqConsumerSettings, 'prefetch' | 'dropExpired' | 'dedupeMax'>;

/** The verdict on a delivered message. `leave` tells the queue nothing: the message comes again when its lease ends. */
export type PzqVerdict = 'ack' | 'nack' | 'leave';

/** A fact reported to a consumer's session. */
export type PzqConsumerEvent =
  | { readonly kind: 'message'; readonly peer: Peer; readonly message: PzqToConsumer }
  /** A message over the socket's limits was dropped. */
  | { readonly kind: 'rejected'; readonly reason: RejectReason }
  /** A message to a queue was not delivered. */
  | { readonly kind: 'undeliverable' }
  /** One more reader is waiting for a message. */
  | { readonly kind: 'demand' }
  /** One reader less is waiting. */
  | { readonly kind: 'waive' }
  /** The verdict on a delivered message. Once per message. */
  | { readonly kind: 'settle'; readonly handed: PzqHanded; readonly verdict: PzqVerdict }
  /** A delivered message takes longer. */
  | { readonly kind: 'extend'; readonly handed: PzqHanded }
  /** Deliver nothing more; `drained` follows when everything delivered is settled. */
  | { readonly kind: 'drain' }
  /** The end: waiting messages are returned. */
  | { readonly kind: 'close' };

/** A message as delivered. */
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
  /** It was already in hand. */
  | 'in-hand';

/** A note for the log. */
export type PzqConsumerNote =
  /** Once per reason and minute. */
  | { readonly code: 'message-dropped'; readonly reason: PzqConsumerDropReason }
  /** An acknowledgement was not delivered, so the message comes again. Once a minute. */
  | { readonly code: 'ack-undeliverable' };

/** The session's effects. */
export type PzqConsumerEffect =
  /** To the reader that has waited longest. */
  | { readonly kind: 'hand'; readonly handed: PzqHanded }
  | { readonly kind: 'send'; readonly peer: Peer; readonly command: PzqConsumerAck | PzqLeaseExtension }
  /** Pause or resume reading. One more message may arrive after `pause`. */
  | { readonly kind: 'pause' }
  | { readonly kind: 'resume' }
  /** Consecutive deliveries look expired: one of the clocks is wrong by about this much. Once, until a delivery looks right again. */
  | { readonly kind: 'clock-skew'; readonly byMs: number }
  | { readonly kind: 'drained' }
  | { readonly kind: 'note'; readonly note: PzqConsumerNote };

/** Counters since construction and current gauges. */
export interface PzqConsumerStats {
  /** Gauge: received and waiting for a reader. */
  readonly waiting: number;
  /** Gauge: delivered and not settled. */
  readonly unsettled: number;
  /** Deliveries. */
  readonly received: number;
  readonly handedOut: number;
  readonly acked: number;
  readonly nacked: number;
  readonly left: number;
  readonly extended: number;
  /** Deliveries of messages acknowledged before: acknowledged again, not delivered. */
  readonly repeated: number;
  /** Delivered messages whose lease ended before there was a verdict. */
  readonly leasesLost: number;
  readonly acksUndeliverable: number;
  readonly dropped: Readonly<Partial<Record<PzqConsumerDropReason, number>>>;
}
