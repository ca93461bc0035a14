/**
 * The words of PZQ as typed commands: "PZQ Sockets & Formats" of 5 October 2011, as the original speaks it. `wire.ts`
 * holds the grammar.
 */
import type { Malformed } from '../malformed.js';

/** Body frames of any bytes, at least one, empty ones included. Stored and delivered untouched: same count, same order. */
export type PzqBody = readonly Uint8Array[];

/** Producer to queue: keep this. */
export interface PzqProduce {
  readonly kind: 'produce';
  /** The producer's name for it, for the answer only. Any bytes; may be empty, may repeat. */
  readonly id: Uint8Array;
  /** Frames between id and delimiter, none of them empty. The original drops them. */
  readonly headers: readonly Uint8Array[];
  readonly body: PzqBody;
}

/** Why a message that has an id cannot be stored; the original answers it with a sentence. */
export type PzqUnusableReason = 'no-delimiter' | 'no-body';

/** Producer to queue: a message that cannot be stored but is answered, as far as it has an id. */
export interface PzqUnusable {
  readonly kind: 'unusable';
  readonly id: Uint8Array;
  readonly reason: PzqUnusableReason;
}

/** Queue to producer: stored, or not and why. */
export interface PzqProducerAck {
  readonly kind: 'producer-ack';
  readonly id: Uint8Array;
  /** True for the status `1` only. */
  readonly stored: boolean;
  /** Text behind the blank, at most 1024 characters of it, empty where there is none. Latin-1; a reason of ours is one line of ASCII. */
  readonly reason: string;
}

/** Queue to consumer: work. */
export interface PzqDelivery {
  readonly kind: 'delivery';
  /** The queue's name for the message, the same at every delivery. To be returned as it is. */
  readonly key: Uint8Array;
  /** When it was sent: microseconds since 1970. */
  readonly sentMicros: number;
  /** How long after that the queue waits for an acknowledgement, in microseconds. */
  readonly ackTimeoutMicros: number;
  readonly body: PzqBody;
}

/** Consumer to queue: it is done (`positive`), or must be delivered again. */
export interface PzqConsumerAck {
  readonly kind: 'consumer-ack';
  readonly key: Uint8Array;
  /** True for the status `1` only: any other one gives the message back. */
  readonly positive: boolean;
}

/** Consumer to queue: I am still at it. A key without status, which the original ignores. */
export interface PzqLeaseExtension {
  readonly kind: 'lease-extension';
  readonly key: Uint8Array;
}

/** To the monitor socket: how are you. Whatever stood in front of the word is ignored. */
export interface PzqMonitorRequest {
  readonly kind: 'monitor-request';
}

/** From the monitor socket, always behind one blank frame. */
export interface PzqMonitorReply {
  readonly kind: 'monitor-reply';
  /** `name: value` lines, each ended by a line feed; Latin-1, not empty. */
  readonly text: string;
}

/** Everything that can be put on the wire. */
export type PzqCommand =
  | PzqProduce
  | PzqProducerAck
  | PzqDelivery
  | PzqConsumerAck
  | PzqLeaseExtension
  | PzqMonitorRequest
  | PzqMonitorReply;

/** Why frames are no command. The words are counter labels. */
export type PzqMalformedReason =
  | 'no-frames'
  /** A producer's message of one frame, even a blank one: dropped without an answer. */
  | 'produce-one-frame'
  /** An answer to a producer with fewer than three frames, or without a blank behind the status. */
  | 'producer-ack-malformed'
  /** A delivery without its four frames and a body, or with times that are no numbers. */
  | 'delivery-malformed'
  /** Anything at the monitor socket that does not end in `MONITOR`. */
  | 'monitor-unknown'
  /** No text in the monitor's answer. */
  | 'monitor-reply-malformed';

/** Frames that are no command. */
export type PzqMalformed = Malformed<PzqMalformedReason>;

/** Everything the receive socket may get from a producer. */
export type PzqFromProducer = PzqProduce | PzqUnusable | PzqMalformed;

/** Everything a producer may get. */
export type PzqToProducer = PzqProducerAck | PzqMalformed;

/** Everything the send socket may get from a consumer. */
export type PzqFromConsumer = PzqConsumerAck | PzqLeaseExtension | PzqMalformed;

/** Everything a consumer may get. */
export type PzqToConsumer = PzqDelivery | PzqMalformed;

/** Everything the monitor socket may get. */
export type PzqFromMonitor = PzqMonitorRequest | PzqMalformed;

/** Everything a monitoring program may get. */
export type PzqToMonitor = PzqMonitorReply | PzqMalformed;

/** The contents of our keys: the store, the message, and when it was stored. */
export interface PzqKey {
  /** Microseconds since 1970. */
  readonly storedMicros: number;
  /** 60 random bits, drawn when the store was made. */
  readonly epoch: bigint;
  /** Place of the message in its store: 1 to 2^53 - 1. */
  readonly seq: number;
}
