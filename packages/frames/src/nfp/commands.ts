/**
 * The words of NFP, the NORFAB protocol, as typed commands: the sections from OPEN to EVENT of its specification, and the commands STREAM, PUT
 * and MMI that its releases have added.
 *
 * A command is what a message means; `wire.ts`, `decode.ts` and `encode.ts` in this folder define its frames. The form of the command frame
 * travels with every command, because a broker answers and relays to each peer in that peer's form; so does the header of a broker's messages,
 * because releases differ in it.
 */
import type { Malformed } from '../malformed.js';

/** The form of a peer's command frames: four characters such as `0x04`, as in every release, or one byte, as specified. */
export type NfpCommandForm = 'ascii' | 'byte';

/**
 * Which header a broker writes: `current` (0.15.0 and later, and the specification) always its own, `legacy` (0.0.0 to 0.14.0) the receiver's,
 * except for KEEPALIVE and OPEN.
 */
export type NfpDialect = 'current' | 'legacy';

/** First frame after the empty one: the sender's or the receiver's role, see {@link NfpDialect}. */
export type NfpHeader = 'NFPB01' | 'NFPC01' | 'NFPW01';

/** Frames of any bytes; frames may be empty. Forwarded unchanged: same count, same order. */
export type NfpBody = readonly Uint8Array[];

/** A client's request, which a broker passes to workers. */
export type NfpCall = 'post' | 'get' | 'delete' | 'put' | 'mmi';

/** The answers. */
export type NfpAnswer = 'response' | 'event' | 'stream' | 'mmi';

/** Fields of every command. */
interface Spoken {
  readonly form: NfpCommandForm;
}

/** Fields of every command from a broker. */
interface FromBroker extends Spoken {
  readonly header: NfpHeader;
}

/** The status frame: three digits, optionally a space and a text without meaning. */
export interface NfpStatus {
  /** 0 to 999; written with three digits. */
  readonly status: number;
  /** The text after the space, one character (U+0000 to U+00FF) per byte; kept for relaying. No release sends any. */
  readonly statusText?: string | undefined;
}

/** Client to broker: let us agree on versions and keepalives. */
export interface NfpClientOpen extends Spoken {
  readonly kind: 'client-open';
  readonly body: NfpBody;
}

/** Client to broker: a job, a question about one, or a call to a service of the broker. */
export interface NfpClientCall extends Spoken {
  readonly kind: 'client-call';
  readonly command: NfpCall;
  /** 1 to 255 bytes of printable UTF-8. */
  readonly service: string;
  /** Up to 64 KiB of UTF-8; see `parseNfpTarget`. */
  readonly target: string;
  /** The job: 1 to 255 bytes of printable UTF-8. */
  readonly uuid: string;
  readonly body: NfpBody;
}

/** Worker to broker: as {@link NfpClientOpen}. */
export interface NfpWorkerOpen extends Spoken {
  readonly kind: 'worker-open';
  readonly body: NfpBody;
}

/** Worker to broker: I serve this. */
export interface NfpWorkerReady extends Spoken {
  readonly kind: 'worker-ready';
  readonly service: string;
}

/** Worker to broker: I am alive. */
export interface NfpWorkerKeepalive extends Spoken {
  readonly kind: 'worker-keepalive';
  readonly service: string;
}

/** Worker to broker: this conversation is over. */
export interface NfpWorkerDisconnect extends Spoken {
  readonly kind: 'worker-disconnect';
  readonly service: string;
  /** Often without frames. */
  readonly body: NfpBody;
}

/** Worker to broker: an answer to a client, as every release frames it. */
export interface NfpWorkerAnswer extends Spoken, NfpStatus {
  readonly kind: 'worker-answer';
  readonly command: NfpAnswer;
  /** The client's routing id at the broker: one or more bytes of any value, as received with the call. */
  readonly client: Uint8Array;
  /** The job; the topic of an EVENT. */
  readonly uuid: string;
  readonly body: NfpBody;
}

/** Worker to broker: an answer framed as in the tables of the specification, which name no client. */
export interface NfpWorkerTableAnswer extends Spoken, NfpStatus {
  readonly kind: 'worker-table-answer';
  readonly command: NfpAnswer;
  readonly service: string;
  readonly uuid: string;
  readonly body: NfpBody;
}

/** Broker to any peer: my version and keepalives. */
export interface NfpBrokerOpen extends FromBroker {
  readonly kind: 'broker-open';
  readonly body: NfpBody;
}

/** Broker to worker: I am alive. */
export interface NfpBrokerKeepalive extends FromBroker {
  readonly kind: 'broker-keepalive';
  readonly service: string;
}

/** Broker to worker: this conversation is over. */
export interface NfpBrokerDisconnect extends FromBroker {
  readonly kind: 'broker-disconnect';
  /** Empty when the broker does not know it. */
  readonly service: string;
  readonly body: NfpBody;
}

/** Broker to worker: a client's call, as every release frames it. */
export interface NfpWorkerCall extends FromBroker {
  readonly kind: 'worker-call';
  readonly command: NfpCall;
  /** As in {@link NfpWorkerAnswer}. */
  readonly client: Uint8Array;
  readonly uuid: string;
  readonly body: NfpBody;
}

/** Broker to worker: a client's call, framed as in the tables of the specification. */
export interface NfpWorkerTableCall extends FromBroker {
  readonly kind: 'worker-table-call';
  readonly command: NfpCall;
  readonly service: string;
  /** Not empty. */
  readonly target: string;
  readonly uuid: string;
  readonly body: NfpBody;
}

/** Broker to client, or to a worker that has asked as one: an answer from a worker or the broker. */
export interface NfpClientAnswer extends FromBroker, NfpStatus {
  readonly kind: 'client-answer';
  readonly command: NfpAnswer;
  /** Empty in an answer to a call without a valid one. */
  readonly service: string;
  /** Empty in an answer to a call without a valid one. */
  readonly uuid: string;
  readonly body: NfpBody;
}

/** Everything a client or a worker sends. */
export type NfpFromPeer =
  | NfpClientOpen
  | NfpClientCall
  | NfpWorkerOpen
  | NfpWorkerReady
  | NfpWorkerKeepalive
  | NfpWorkerDisconnect
  | NfpWorkerAnswer
  | NfpWorkerTableAnswer;

/** Everything a broker sends. */
export type NfpFromBroker =
  | NfpBrokerOpen
  | NfpBrokerKeepalive
  | NfpBrokerDisconnect
  | NfpWorkerCall
  | NfpWorkerTableCall
  | NfpClientAnswer;

/** Everything that can be put on the wire. */
export type NfpCommand = NfpFromPeer | NfpFromBroker;

/** Why frames are not a command. Counter labels; docs/protocols/nfp.md lists them with their consequences. */
export type NfpMalformedReason =
  /** No empty frame, a missing or unknown header, or nothing after it. */
  | 'header'
  /** Not a command of any release. */
  | 'command'
  /** A command that is never sent to this receiver, such as POST from a worker. */
  | 'direction'
  /** Fewer frames than the command has. */
  | 'short'
  /** More frames than the command has, or a client address with no bytes or more than 255. */
  | 'shape'
  /** The service is empty, too long or not printable. */
  | 'service'
  /** The target is longer than 64 KiB or not UTF-8. */
  | 'target'
  /** The uuid is empty, too long or not printable. */
  | 'uuid'
  /** The status does not begin with three digits, followed by the end or a space. */
  | 'status';

/** The readable part of a client's invalid message: enough to answer it. */
export interface NfpReturnAddress {
  readonly form: NfpCommandForm;
  /** The command frame, for an error text: at most 16 bytes. */
  readonly command: string;
  /** Empty when it could not be read. */
  readonly service: string;
  /** Empty when it could not be read. */
  readonly target: string;
  /** Cut to 255 bytes; empty when it could not be read. */
  readonly uuid: string;
}

/** Frames that are not a command. */
export interface NfpMalformed extends Malformed<NfpMalformedReason> {
  /** The role in the header, as seen by the broker: a worker loses its registration. `unknown` elsewhere. */
  readonly side: 'client' | 'worker' | 'unknown';
  /** At a broker, if a client's message has a frame in the place of the uuid. */
  readonly answer?: NfpReturnAddress | undefined;
}

/** Everything a broker may receive. */
export type NfpToBroker = NfpFromPeer | NfpMalformed;

/** Everything a worker may receive. Answers are to its own questions to the broker. */
export type NfpToWorker =
  | NfpBrokerOpen
  | NfpBrokerKeepalive
  | NfpBrokerDisconnect
  | NfpWorkerCall
  | NfpWorkerTableCall
  | NfpClientAnswer
  | NfpMalformed;

/** Everything a client may receive. */
export type NfpToClient = NfpBrokerOpen | NfpClientAnswer | NfpMalformed;
