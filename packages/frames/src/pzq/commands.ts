/** The words of PZQ as typed commands: "PZQ Sockets & Formats" of 5 October 2011, as the original implements it. `wire.ts` holds the grammar. */
import type { Malformed } from '../malformed.js';

/** One or more body frames of any bytes; frames may be empty. Stored and delivered unchanged: same count, same order. */
export type PzqBody = readonly Uint8Array[];

/** Producer to queue: keep this. */
export interface PzqProduce {
  readonly kind: 'produce';
  /** The producer's name for it, only for the answer. Any bytes; may be empty or repeated. */
  readonly id: Uint8Array;
  /** Frames between id and delimiter, none of them empty. The original drops them. */
  readonly headers: readonly Uint8Array[];
  readonly body: PzqBody;
}

/** Why a message with an id cannot be stored; the original answers it with a sentence. */
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
  /** Text after the blank, at most 1024 characters of it, empty if there is none. Latin-1; our reasons are one line of ASCII. */
  readonly reason: string;
}

/** Queue to consumer: work. */
export interface PzqDelivery {
  readonly kind: 'delivery';
  /** The queue's name for the message, the same at every delivery. Return it unchanged. */
  readonly key: Uint8Array;
  /** When it was sent: microseconds since 1970. */
  readonly sentMicros: number;
  /** How long the queue then waits for an acknowledgement, in microseconds. */
  readonly ackTimeoutMicros: number;
  readonly body: PzqBody;
}

/** Consumer to queue: it is done (`positive`), or must be delivered again. */
export interface PzqConsumerAck {
  readonly kind: 'consumer-ack';
  readonly key: Uint8Array;
  /** True only for the status `1`: any other returns the message. */
  readonly positive: boolean;
}

/** Consumer to queue: I am still working on it. A key without status, which the original ignores. */
export interface PzqLeaseExtension {
  readonly kind: 'lease-extension';
  readonly key: Uint8Array;
}

/** To the monitor socket: how are you. Anything before the word is ignored. */
export interface PzqMonitorRequest {
  readonly kind: 'monitor-request';
}

/** From the monitor socket, always after one blank frame. */
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

/** Why frames are not a command. Counter labels. */
export type PzqMalformedReason =
  | 'no-frames'
  /** A producer's message of one frame, even a blank one: dropped without an answer. */
  | 'produce-one-frame'
  /** An answer to a producer with fewer than three frames, or without a blank after the status. */
  | 'producer-ack-malformed'
  /** A delivery without its four frames and a body, or with invalid times. */
  | 'delivery-malformed'
  /** Anything at the monitor socket that does not end in `MONITOR`. */
  | 'monitor-unknown'
  /** No text in the monitor's answer. */
  | 'monitor-reply-malformed';

/** Frames that are not a command. */
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
  /** 60 random bits from the store's creation. */
  readonly epoch: bigint;
  /** Place of the message in its store: 1 to 2^53 - 1. */
  readonly seq: number;
}
