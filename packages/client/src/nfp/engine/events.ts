/** NFP client: the engine's events, effects and notes. Section "Client" of docs/protocols/nfp.md. */
import type { NfpBody, NfpClientCall, NfpClientOpen, NfpMalformedReason, NfpToClient } from '@proj/frames/nfp';
import type { RejectReason } from '@proj/transport';
import type { SocketEvent } from '../../shared/client-events.js';
import type { NfpClientSettings } from '../options.js';

/** Settings of an `NfpClientSession`; options.ts explains them. */
export interface NfpClientSessionOptions extends Pick<
  NfpClientSettings,
  | 'commandForm'
  | 'sendOpen'
  | 'openTimeoutMs'
  | 'pollIntervalMs'
  | 'answerTimeoutMs'
  | 'reconnectMinMs'
  | 'reconnectMaxMs'
  | 'openMax'
  | 'openMaxBytes'
> {
  /** Brokers, in order of preference; at least one. */
  readonly endpoints: readonly string[];
  /** The body of OPEN, one frame. */
  readonly openBody: NfpBody;
  /** Uniform in [0, 1): for the reconnect back-off. */
  readonly random: () => number;
}

/** A job to run. Its `Ticket` comes back with everything reported about it. */
export interface NfpJobOrder<Ticket> {
  readonly ticket: Ticket;
  /** Must differ from those of all open jobs. */
  readonly uuid: string;
  readonly service: string;
  readonly target: string;
  /** The body of POST; kept until the job has ended. */
  readonly body: NfpBody;
  /** The body of GET. */
  readonly question: NfpBody;
  readonly timeoutMs: number;
  /** It may have been posted before: GET comes first, and POST only if nobody knows it. */
  readonly resumed: boolean;
  /** The workers known to have it. Resumed jobs only. */
  readonly workers: readonly string[];
  /** The workers whose last word is already known. Resumed jobs only. */
  readonly told: readonly string[];
}

/** A question, sent once. */
export interface NfpQuestion<Ticket> {
  readonly ticket: Ticket;
  readonly call: Omit<NfpClientCall, 'kind' | 'form'>;
  /** `broker`: the first answer counts. `workers`: a 202 names those that will answer. */
  readonly from: 'broker' | 'workers';
  readonly timeoutMs: number;
  /** Whether it may be sent again on another connection. */
  readonly repeatable: boolean;
}

/** One answer to a question. */
export interface NfpReply {
  /** The worker that sent it, if known. */
  readonly worker: string | undefined;
  /** 408 for a worker that did not answer in time. */
  readonly status: number;
  readonly body: NfpBody;
  /** The JSON in the body of a worker's answer. */
  readonly value: unknown;
}

/** A fact reported to a client's session. */
export type NfpClientEvent<Ticket> =
  | { readonly kind: 'job'; readonly order: NfpJobOrder<Ticket> }
  | { readonly kind: 'ask'; readonly question: NfpQuestion<Ticket> }
  /** The caller has given up the job: DELETE is sent, and nothing more is reported about it. */
  | { readonly kind: 'abort'; readonly uuid: string }
  /** The same for a question, without DELETE. */
  | { readonly kind: 'forget'; readonly uuid: string }
  /** PUT to a worker that has the open job. `input`: the id of the request it answers. */
  | {
      readonly kind: 'put';
      readonly uuid: string;
      readonly worker: string;
      readonly body: NfpBody;
      readonly input?: string;
    }
  | SocketEvent<NfpToClient>
  /** This call was not delivered. */
  | { readonly kind: 'unsent'; readonly socket: number; readonly uuid: string }
  | { readonly kind: 'close' };

/** Why an order failed. `REJECTED`: by the broker. `BUSY`: the uuid is in use. `UNEXPECTED_ANSWER`: 417 in the specification. */
export type NfpClientFailure =
  | 'TIMEOUT'
  | 'QUEUE_FULL'
  | 'PEER_LOST'
  | 'UNREACHABLE'
  | 'REJECTED'
  | 'BUSY'
  | 'CLOSED'
  | 'UNEXPECTED_ANSWER';

/** Why a broker's message was dropped. `answer`: its body is invalid or does not say whose answer it is. */
export type NfpClientDropReason = NfpMalformedReason | RejectReason | 'answer';

/** A note for the log. */
export type NfpClientNote =
  | { readonly code: 'connection-lost'; readonly endpoint: string }
  /** An answer was overdue for `answerTimeoutMs`; another connection is opened. */
  | { readonly code: 'connection-silent'; readonly endpoint: string }
  /** There is no store, so jobs end with the process. Reported once. */
  | { readonly code: 'volatile-store' }
  /** No worker knows a posted job any more; it is posted again under its uuid. */
  | { readonly code: 'job-reposted'; readonly uuid: string }
  /** A broker's message is not a valid answer. Once per reason and minute. */
  | { readonly code: 'message-dropped'; readonly reason: NfpClientDropReason; readonly endpoint: string };

/** The session's effects. Each job ends once with `ended` or `failed`, each question with `answered` or `failed`. */
export type NfpClientEffect<Ticket> =
  | { readonly kind: 'open'; readonly socket: number; readonly endpoint: string }
  /** `linger`: unsent messages may still be sent. */
  | { readonly kind: 'close'; readonly socket: number; readonly linger: boolean }
  | { readonly kind: 'send'; readonly socket: number; readonly command: NfpClientCall | NfpClientOpen }
  /** The workers that have the job, or are said to. Replaces an earlier list. */
  | { readonly kind: 'dispatched'; readonly ticket: Ticket; readonly workers: readonly string[] }
  /** This worker says that it has the job. */
  | { readonly kind: 'taken'; readonly ticket: Ticket; readonly worker: string }
  /** The last word of one worker, once per worker: 200 with its result, 404, 400, or 408 for none in time. */
  | {
      readonly kind: 'result';
      readonly ticket: Ticket;
      readonly worker: string;
      readonly status: number;
      /** The result, or the JSON in the body; `undefined` if there is none. */
      readonly value: unknown;
      readonly body: NfpBody;
    }
  | { readonly kind: 'event'; readonly ticket: Ticket; readonly body: NfpBody; readonly value: unknown }
  | { readonly kind: 'stream'; readonly ticket: Ticket; readonly body: NfpBody }
  /** A worker is waiting for input; answered by `put`. Once per request. */
  | {
      readonly kind: 'input';
      readonly ticket: Ticket;
      readonly worker: string;
      readonly id: string;
      readonly request: unknown;
    }
  | { readonly kind: 'ended'; readonly ticket: Ticket }
  | { readonly kind: 'answered'; readonly ticket: Ticket; readonly replies: readonly NfpReply[] }
  | {
      readonly kind: 'failed';
      readonly ticket: Ticket;
      readonly code: NfpClientFailure;
      /** The broker's words. */
      readonly errors: readonly string[];
      readonly cause: unknown;
    }
  | { readonly kind: 'note'; readonly note: NfpClientNote };

/** Counters since construction and current gauges. */
export interface NfpClientStats {
  /** Gauge: open jobs. */
  readonly jobs: number;
  /** Gauge: open questions. */
  readonly questions: number;
  /** Gauge: bytes in their bodies. */
  readonly bytes: number;
  readonly connections: number;
  readonly posts: number;
  readonly polls: number;
  /** POSTs of a job that workers no longer knew. */
  readonly reposts: number;
  readonly results: number;
  readonly events: number;
  readonly streams: number;
  readonly aborts: number;
  /** Answers to unknown or finished calls, including the second answer to MMI. */
  readonly lateAnswers: number;
  readonly failures: Readonly<Record<NfpClientFailure, number>>;
  readonly dropped: Readonly<Partial<Record<NfpClientDropReason, number>>>;
}
