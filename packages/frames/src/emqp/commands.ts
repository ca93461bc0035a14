/**
 * The words of eMQP/1.0, the EventMQ protocol, as typed commands: what a message means to whoever receives it. `wire.ts`
 * holds the grammar; where the text and the product disagree, docs/protocols/emqp.md says which one this is.
 *
 * Message ids are texts with one character (U+0000 to U+00FF) per byte, 1 to 255 of them, so that any id comes back as it
 * was; peers use version 4 UUIDs. Frames that are only passed on stay frames.
 */
import type { Malformed } from '../malformed.js';

/** What every message has: an id of its own. Forwarded messages keep theirs. */
export interface EmqpMessage {
  readonly id: string;
}

/** A queue a worker takes jobs from. */
export interface EmqpQueue {
  /** Finite. Queues of a higher weight come first. */
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

/** Broker to the sender of INFORM, or to an admin who sent DISCONNECT: understood. */
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
  /** As they came; `decodeEmqpHeaders` reads them. */
  readonly headers: Uint8Array;
  /** The job, JSON by convention. */
  readonly body: Uint8Array;
}

/** Broker to client or scheduler: I have taken your REQUEST. The shorter of the two messages called REPLY. */
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
  /** Id of the REQUEST; `undefined` in the five frames of the text, which only a broker understands. */
  readonly of: string | undefined;
}

/** Client to broker, broker to scheduler: run this job regularly (`schedule`), or stop (`unschedule`). */
export interface EmqpScheduling extends EmqpMessage {
  readonly kind: 'schedule' | 'unschedule';
  /** 0 to 255 bytes of UTF-8; not empty for `schedule`. */
  readonly queue: string;
  readonly headers: Uint8Array;
  /** Seconds as decimal text, `-1` for none, one character per byte. Not judged here. */
  readonly interval: string;
  /** The job; `emqpJobText` tells which one it is. */
  readonly body: Uint8Array;
  /** Cron expression or empty, one character per byte. Not judged here. */
  readonly cron: string;
}

/** Publisher to pub-sub device: hand this to all subscribers. */
export interface EmqpPublish extends EmqpMessage {
  readonly kind: 'publish';
  /** 1 to 4096 bytes. */
  readonly topic: Uint8Array;
  readonly body: Uint8Array;
}

/** Pub-sub device to subscriber: two frames and nothing else. */
export interface EmqpPublished {
  readonly kind: 'published';
  readonly topic: Uint8Array;
  readonly body: Uint8Array;
}

/** To any peer: finish what you have and leave. */
export interface EmqpDisconnect extends EmqpMessage {
  readonly kind: 'disconnect';
}

/** From any peer: I leave. */
export interface EmqpBye extends EmqpMessage {
  readonly kind: 'bye';
  /** `KBYE` is what the product says and understands, `KBAI` what the text says. */
  readonly word: 'KBYE' | 'KBAI';
}

/** Admin to broker: how are you. `hello` opens a console session and has no answer. */
export interface EmqpAdminCommand extends EmqpMessage {
  readonly kind: 'status' | 'show-workers' | 'show-schedulers' | 'hello';
}

/** Broker to admin: the requested data. It does not say which command it answers. */
export interface EmqpAdminReply extends EmqpMessage {
  readonly kind: 'admin-reply';
  readonly json: string;
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

/** Why frames are no command. The words are counter labels; docs/protocols/emqp.md lists them with what follows. */
export type EmqpMalformedReason =
  /** Fewer than the four every message has; of a published message, not two. */
  | 'too-few-frames'
  /** The first frame is not empty. */
  | 'no-empty-frame'
  /** The second one does not begin with `eMQP/1.`. */
  | 'version'
  | 'unknown-command'
  /** A command that never travels towards this receiver. */
  | 'wrong-direction'
  /** A message id, its own or the one it refers to, of no bytes or of more than 255. */
  | 'id-invalid'
  /** A number of frames that this command does not have. */
  | 'frame-count'
  /** INFORM of neither `worker` nor `scheduler`. */
  | 'inform-type'
  /** INFORM whose queues cannot be understood. */
  | 'queues-invalid'
  /** A queue's name of no bytes, of more than 255, or not UTF-8. */
  | 'queue-invalid'
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

/** Frames that are no command. */
export type EmqpMalformed = Malformed<EmqpMalformedReason>;

/** Everything a broker may receive on its frontend and its backend, which understand the same. */
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
