/**
 * The words of Majordomo: 18/MDP (0.2), 7/MDP (0.1) and the service names of 8/MMI, as typed commands.
 *
 * A command is what a message means; `wire.ts`, `decode.ts` and `encode.ts` in this folder define its frames in each version. The framing
 * travels with every command, because a broker serves both versions on one socket and answers in kind.
 */
import type { Malformed } from '../malformed.js';

/** Protocol version, in the words of both specifications. */
export type MdpVersion = '0.1' | '0.2';

/** One or more frames of any bytes; frames may be empty. Forwarded unchanged: same count, same order. */
export type MdpBody = readonly Uint8Array[];

/** A peer's framing: what a broker must remember in order to answer in kind. */
export interface MdpFraming {
  readonly version: MdpVersion;
  /**
   * True for a 0.2 message behind an empty frame, which 18/MDP does not have but some peers send; they understand only the same framing. Never
   * set for 0.1, where the empty frame is required.
   */
  readonly leadingEmpty?: boolean | undefined;
}

/** Client to broker: do this. */
export interface MdpClientRequest extends MdpFraming {
  readonly kind: 'client-request';
  /** 1 to 255 printable ASCII characters (0x20 to 0x7e). */
  readonly service: string;
  readonly body: MdpBody;
}

/** Broker to client: one of several answers. Not available in 0.1. */
export interface MdpClientPartial extends MdpFraming {
  readonly kind: 'client-partial';
  readonly version: '0.2';
  readonly service: string;
  readonly body: MdpBody;
}

/** Broker to client: the last answer (0.1 calls it REPLY). */
export interface MdpClientFinal extends MdpFraming {
  readonly kind: 'client-final';
  readonly service: string;
  readonly body: MdpBody;
}

/** Broker to client: an answer. */
export type MdpClientReply = MdpClientPartial | MdpClientFinal;

/** Worker to broker: I serve this. */
export interface MdpWorkerReady extends MdpFraming {
  readonly kind: 'worker-ready';
  readonly service: string;
}

/** Broker to worker: do this for that client. */
export interface MdpWorkerRequest extends MdpFraming {
  readonly kind: 'worker-request';
  /** The client's routing id at the broker: one or more bytes of any value, returned unchanged. */
  readonly client: Uint8Array;
  readonly body: MdpBody;
}

/** Worker to broker: one of several answers. Not available in 0.1. */
export interface MdpWorkerPartial extends MdpFraming {
  readonly kind: 'worker-partial';
  readonly version: '0.2';
  readonly client: Uint8Array;
  readonly body: MdpBody;
}

/** Worker to broker: the last answer (0.1 calls it REPLY). */
export interface MdpWorkerFinal extends MdpFraming {
  readonly kind: 'worker-final';
  readonly client: Uint8Array;
  readonly body: MdpBody;
}

/** Worker to broker: an answer. */
export type MdpWorkerReply = MdpWorkerPartial | MdpWorkerFinal;

/** Between worker and broker, both ways: I am alive. */
export interface MdpHeartbeat extends MdpFraming {
  readonly kind: 'heartbeat';
}

/** Between worker and broker, both ways: this conversation is over. */
export interface MdpDisconnect extends MdpFraming {
  readonly kind: 'disconnect';
}

/** Everything that can be put on the wire. */
export type MdpCommand =
  | MdpClientRequest
  | MdpClientReply
  | MdpWorkerReady
  | MdpWorkerRequest
  | MdpWorkerReply
  | MdpHeartbeat
  | MdpDisconnect;

/** Why frames are not a command. Counter labels; docs/protocols/mdp.md lists them with their consequences. */
export type MdpMalformedReason =
  /** No frame at all, or nothing after the empty frame. */
  | 'no-header'
  /** The frame in the header's place is not one of the four headers. */
  | 'unknown-header'
  /** 0.2 behind an empty frame, which the receiver does not accept. */
  | 'leading-empty'
  /** 0.1 without its empty frame. */
  | 'no-leading-empty'
  /** Nothing follows the header. */
  | 'no-command'
  /** The command frame is not one byte long. */
  | 'command-length'
  /** No command of this header has that number. */
  | 'unknown-command'
  /** A header or command that is never sent to this receiver, such as REQUEST from a worker. */
  | 'wrong-direction'
  | 'no-service'
  | 'service-invalid'
  /** The address, one frame and not empty, or the empty frame behind it is missing. */
  | 'envelope'
  | 'no-body'
  /** READY, HEARTBEAT or DISCONNECT with more frames than it has. */
  | 'extra-frames';

/** Frames that are not a command. */
export interface MdpMalformed extends Malformed<MdpMalformedReason> {
  /** The half of the protocol that the header belongs to: a worker loses its registration. */
  readonly side: 'client' | 'worker' | 'unknown';
}

/** Everything a broker may receive. */
export type MdpToBroker =
  | MdpClientRequest
  | MdpWorkerReady
  | MdpWorkerReply
  | MdpHeartbeat
  | MdpDisconnect
  | MdpMalformed;

/** Everything a worker may receive. */
export type MdpToWorker = MdpWorkerRequest | MdpHeartbeat | MdpDisconnect | MdpMalformed;

/** Everything a client may receive. */
export type MdpToClient = MdpClientReply | MdpMalformed;
