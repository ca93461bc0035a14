/**
 * The words of eMQP/1.0, the EventMQ protocol, as typed commands: what a message means to its receiver. `wire.ts` holds the grammar; where the
 * specification and the product disagree, docs/protocols/emqp.md says which one this is.
 *
 * Message ids are texts with one character (U+0000 to U+00FF) per byte, 1 to 255 of them, so that any id comes back unchanged; peers use version
 * 4 UUIDs. Frames that are only forwarded stay frames.
 */
import type { Malformed } from '../malformed.js';

/** Every message has its own id. Forwarded messages keep theirs. */
export interface EmqpMessage {
  readonly id: string;
}

/** A queue that a worker takes jobs from. */
export interface EmqpQueue {
  /** Finite. Queues with a higher weight come first. */
  readonly weight: number;
  /** 1 to 255 bytes of UTF-8. */
  readonly name: string;
}

/** Worker to broker: I am here and take jobs from these. */
export interface EmqpInformWorker extends EmqpMessage {
  readonly kind: 'inform-worker';
  /** At most 1000, in the worker's order; `undefined` for an empty field, which means the broker's default. */
  readonly queues: readonly EmqpQueue[] | undefined;
}

/** Scheduler to broker: I am here. */
export interface EmqpInformScheduler extends EmqpMessage {
  readonly kind: 'inform-scheduler';
}

/** Broker to the sender of INFORM, or to an admin that sent DISCONNECT: understood. */
export interface EmqpAck extends EmqpMessage {
  readonly kind: 'ack';
  /** Id of the message that is acknowledged. */
  readonly of: string;
}

/** Worker to broker: one more free slot. */
export interface EmqpReady extends EmqpMessage {
  readonly kind: 'ready';
}

/** Both ways between the broker and its workers and schedulers: I am alive. */
export interface EmqpHeartbeat extends EmqpMessage {
  readonly kind: 'heartbeat';
  /** The sender's clock as written, see `emqpTime`; not used. Empty when absent or over 64 bytes. */
  readonly time: string;
}

/** Client or scheduler to broker, broker to worker: do this. */
export interface EmqpRequest extends EmqpMessage {
  readonly kind: 'request';
  /** 1 to 255 bytes of UTF-8. */
  readonly queue: string;
  /** Unprocessed; `decodeEmqpHeaders` reads them. */
  readonly headers: Uint8Array;
  /** The job, JSON by convention. */
  readonly body: Uint8Array;
}

/** Broker to client or scheduler: I have accepted your REQUEST. The shorter of the two messages called REPLY. */
export interface EmqpAccepted extends EmqpMessage {
  readonly kind: 'accepted';
  /** Id of the REQUEST. */
  readonly of: string;
}

/** Worker to broker, broker to client: the outcome of a REQUEST. The longer of the two messages called REPLY. */
export interface EmqpResult extends EmqpMessage {
  readonly kind: 'result';
  /** JSON by convention: `{"value": ...}`. */
  readonly result: Uint8Array;
  /** Id of the REQUEST; `undefined` in the specification's five frames, which only a broker understands. */
  readonly of: string | undefined;
}

/** Client to broker, broker to scheduler: run this job regularly (`schedule`), or stop (`unschedule`). */
export interface EmqpScheduling extends EmqpMessage {
  readonly kind: 'schedule' | 'unschedule';
  /** 0 to 255 bytes of UTF-8; not empty for `schedule`. */
  readonly queue: string;
  readonly headers: Uint8Array;
  /** Seconds as decimal text, `-1` for none, one character per byte. Not validated here. */
  readonly interval: string;
  /** The job; `emqpJobText` tells which one it is. */
  readonly body: Uint8Array;
  /** Cron expression or empty, one character per byte. Not validated here. */
  readonly cron: string;
}

/** Publisher to pub-sub device: forward this to all subscribers. */
export interface EmqpPublish extends EmqpMessage {
  readonly kind: 'publish';
  /** 1 to 4096 bytes. */
  readonly topic: Uint8Array;
  readonly body: Uint8Array;
}

/** Pub-sub device to subscriber: exactly two frames. */
export interface EmqpPublished {
  readonly kind: 'published';
  readonly topic: Uint8Array;
  readonly body: Uint8Array;
}

/** To any peer: finish your work and leave. */
export interface EmqpDisconnect extends EmqpMessage {
  readonly kind: 'disconnect';
}

/** From any peer: I am leaving. */
export interface EmqpBye extends EmqpMessage {
  readonly kind: 'bye';
  /** `KBYE` is what the product sends and understands, `KBAI` what the specification says. */
  readonly word: 'KBYE' | 'KBAI';
}

/** Admin to broker: how are you. `hello` opens a console session and has no answer. */
export interface EmqpAdminCommand extends EmqpMessage {
  readonly kind: 'status' | 'show-workers' | 'show-schedulers' | 'hello';
}

/** Broker to admin: the requested data. Does not say which command it answers. */
export interface EmqpAdminReply extends EmqpMessage {
  readonly kind: 'admin-reply';
  readonly json: string;
  /** To send: the bytes of `json`, if they are at hand. Do not modify. */
  readonly encoded?: Uint8Array;
}

/** Everything that can be put on the wire. */
export type EmqpCommand =
  | EmqpInformWorker
  | EmqpInformScheduler
  | EmqpAck
  | EmqpReady
  | EmqpHeartbeat
  | EmqpRequest
  | EmqpAccepted
  | EmqpResult
  | EmqpScheduling
  | EmqpPublish
  | EmqpPublished
  | EmqpDisconnect
  | EmqpBye
  | EmqpAdminCommand
  | EmqpAdminReply;

/** Why frames are not a command. Counter labels; docs/protocols/emqp.md lists them with their consequences. */
export type EmqpMalformedReason =
  /** Fewer than the four that every message has; for a published message, not two. */
  | 'too-few-frames'
  /** The first frame is not empty. */
  | 'no-empty-frame'
  /** The second one does not begin with `eMQP/1.`. */
  | 'version'
  | 'unknown-command'
  /** A command that is never sent to this receiver. */
  | 'wrong-direction'
  /** A message id, its own or a referenced one, with no bytes or more than 255. */
  | 'id-invalid'
  /** A number of frames that this command cannot have. */
  | 'frame-count'
  /** INFORM from neither `worker` nor `scheduler`. */
  | 'inform-type'
  /** INFORM with invalid queues. */
  | 'queues-invalid'
  /** A queue name with no bytes or more than 255, or not UTF-8. */
  | 'queue-invalid'
  /** REQUEST, SCHEDULE or UNSCHEDULE with headers of more than 4096 bytes. */
  | 'headers-too-long'
  /** SCHEDULE of seven frames without a header `interval:N`. */
  | 'no-interval'
  /** SCHEDULE or UNSCHEDULE with an interval of more than 64 bytes. */
  | 'interval-too-long'
  /** SCHEDULE or UNSCHEDULE with a cron expression of more than 255 bytes. */
  | 'cron-too-long'
  /** PUBLISH with an empty topic. */
  | 'topic-empty'
  /** PUBLISH with a topic of more than 4096 bytes. */
  | 'topic-too-long'
  /** An answer to an admin that is not UTF-8. */
  | 'text-invalid';

/** Frames that are not a command. */
export type EmqpMalformed = Malformed<EmqpMalformedReason>;

/** Everything a broker may receive on its frontend and its backend, which have the same commands. */
export type EmqpToBroker =
  | EmqpInformWorker
  | EmqpInformScheduler
  | EmqpReady
  | EmqpHeartbeat
  | EmqpRequest
  | EmqpResult
  | EmqpScheduling
  | EmqpPublish
  | EmqpDisconnect
  | EmqpBye
  | EmqpMalformed;

/** Everything a broker may receive on its admin port. */
export type EmqpToAdminPort = EmqpAdminCommand | EmqpDisconnect | EmqpMalformed;

/** Everything a worker may receive. */
export type EmqpToWorker = EmqpAck | EmqpHeartbeat | EmqpRequest | EmqpDisconnect | EmqpBye | EmqpMalformed;

/** Everything a scheduler may receive. */
export type EmqpToScheduler =
  | EmqpAck
  | EmqpHeartbeat
  | EmqpAccepted
  | EmqpResult
  | EmqpScheduling
  | EmqpDisconnect
  | EmqpBye
  | EmqpMalformed;

/** Everything a client may receive. */
export type EmqpToClient = EmqpAccepted | EmqpResult | EmqpAck | EmqpDisconnect | EmqpBye | EmqpMalformed;

/** Everything an admin may receive. */
export type EmqpToAdmin = EmqpAck | EmqpAdminReply | EmqpMalformed;

/** Everything a pub-sub device may receive. */
export type EmqpToPubSub = EmqpPublish | EmqpMalformed;

/** Everything a subscriber may receive. */
export type EmqpToSubscriber = EmqpPublished | EmqpMalformed;
