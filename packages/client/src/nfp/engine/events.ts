/** NFP client, the engine's words: what is reported to it, and what it wants done. Section "Client" of docs/protocols/nfp.md. */
import type {
  NfpBody,
  NfpClientCall,
  NfpClientOpen,
  NfpCommandForm,
  NfpMalformedReason,
  NfpToClient,
} from '@proj/frames/nfp';
import type { RejectReason } from '@proj/transport';

/** Settings of an `NfpClientSession`. Times in milliseconds. */
export interface NfpClientSessionOptions {
  /** Brokers, in order of preference; at least one. */
  readonly endpoints: readonly string[];
  readonly commandForm: NfpCommandForm;
  /** Begin each connection with OPEN, and wait for the broker's for `openTimeoutMs` at most. */
  readonly sendOpen: boolean;
  readonly openTimeoutMs: number;
  /** What OPEN says, one frame. */
  readonly openBody: NfpBody;
  readonly pollIntervalMs: number;
  /** Silence of a broker that owes an answer after which its connection is given up. */
  readonly answerTimeoutMs: number;
  readonly reconnectMinMs: number;
  readonly reconnectMaxMs: number;
  /** Most jobs and questions without outcome. */
  readonly openMax: number;
  /** Most bytes in their bodies together. */
  readonly openMaxBytes: number;
  /** Uniform in [0, 1): for the reconnect back-off. */
  readonly random: () => number;
}

/** A job to be done. `Ticket` comes back with all that is said about it. */
export interface NfpJobOrder<Ticket> {
  readonly ticket: Ticket;
  /** Not that of another open job. */
  readonly uuid: string;
  readonly service: string;
  readonly target: string;
  /** Of POST; kept until the job has ended. */
  readonly body: NfpBody;
  /** Of GET. */
  readonly question: NfpBody;
  readonly timeoutMs: number;
  /** It may have been posted before: GET comes first, and POST only if nobody knows it. */
  readonly resumed: boolean;
  /** Who has it, as far as is known; of a resumed job only. */
  readonly workers: readonly string[];
  /** Whose last word is known already; of a resumed job only. */
  readonly told: readonly string[];
}

/** A question, asked once. */
export interface NfpQuestion<Ticket> {
  readonly ticket: Ticket;
  readonly call: Omit<NfpClientCall, 'kind' | 'form'>;
  /** `broker`: the first answer is all. `workers`: a 202 names those who are to answer. */
  readonly from: 'broker' | 'workers';
  readonly timeoutMs: number;
  /** Whether it may be asked again on another connection. */
  readonly repeatable: boolean;
}

/** One answer to a question. */
export interface NfpReply {
  /** Who says it, if that was said. */
  readonly worker: string | undefined;
  /** 408 for a worker that did not answer in time. */
  readonly status: number;
  readonly body: NfpBody;
  /** The JSON in the body of a worker's answer. */
  readonly value: unknown;
}

/** A fact reported to a client's session. Those about a socket that was closed are ignored. */
export type NfpClientEvent<Ticket> =
  | { readonly kind: 'job'; readonly order: NfpJobOrder<Ticket> }
  | { readonly kind: 'ask'; readonly question: NfpQuestion<Ticket> }
  /** The caller has lost interest in the job: DELETE is sent, and nothing more is said about it. */
  | { readonly kind: 'abort'; readonly uuid: string }
  /** The same of a question, without DELETE. */
  | { readonly kind: 'forget'; readonly uuid: string }
  /** PUT to a worker that has the open job. `input`: the id of the request it answers. */
  | {
      readonly kind: 'put';
      readonly uuid: string;
      readonly worker: string;
      readonly body: NfpBody;
      readonly input?: string;
    }
  | { readonly kind: 'message'; readonly socket: number; readonly message: NfpToClient }
  | { readonly kind: 'rejected'; readonly socket: number; readonly reason: RejectReason }
  /** This call did not go out. */
  | { readonly kind: 'unsent'; readonly socket: number; readonly uuid: string }
  /** Its connection ended, or it broke. */
  | { readonly kind: 'lost'; readonly socket: number }
  /** It could not be opened. */
  | { readonly kind: 'refused'; readonly socket: number; readonly cause: unknown }
  | { readonly kind: 'close' };

/**
 * Why an order has no good outcome. `REJECTED`: the broker said so. `BUSY`: the uuid is asked about already. `UNEXPECTED_ANSWER`: what came is no
 * answer to it, 417 in the specification.
 */
export type NfpClientFailure =
  'TIMEOUT' | 'QUEUE_FULL' | 'PEER_LOST' | 'UNREACHABLE' | 'REJECTED' | 'BUSY' | 'CLOSED' | 'UNEXPECTED_ANSWER';

/** Why something a broker sent was dropped. `answer`: its body does not say who says it, or is none. */
export type NfpClientDropReason = NfpMalformedReason | RejectReason | 'answer';

/** Something worth a log line. */
export type NfpClientNote =
  | { readonly code: 'connection-lost'; readonly endpoint: string }
  /** It owed an answer for `answerTimeoutMs`; another connection is opened. */
  | { readonly code: 'connection-silent'; readonly endpoint: string }
  /** Without a store: jobs are gone with the process. Once. */
  | { readonly code: 'volatile-store' }
  /** No worker knows a job that was posted, any more; it is posted again, under its uuid. */
  | { readonly code: 'job-reposted'; readonly uuid: string }
  /** What a broker sent is no answer. Once per reason and minute. */
  | { readonly code: 'message-dropped'; readonly reason: NfpClientDropReason; readonly endpoint: string };

/** What a session wants done. Of each job comes `ended` or `failed`, of each question `answered` or `failed`, once and last. */
export type NfpClientEffect<Ticket> =
  | { readonly kind: 'open'; readonly socket: number; readonly endpoint: string }
  /** `linger`: what was given to it may still go out. */
  | { readonly kind: 'close'; readonly socket: number; readonly linger: boolean }
  | { readonly kind: 'send'; readonly socket: number; readonly command: NfpClientCall | NfpClientOpen }
  /** These workers have the job, or are said to. May come again, and then counts alone. */
  | { readonly kind: 'dispatched'; readonly ticket: Ticket; readonly workers: readonly string[] }
  /** This worker says that it has the job. */
  | { readonly kind: 'taken'; readonly ticket: Ticket; readonly worker: string }
  /** What one worker says in the end, once per worker: 200 with its result, 404, 400, or 408 for none in time. */
  | {
      readonly kind: 'result';
      readonly ticket: Ticket;
      readonly worker: string;
      readonly status: number;
      /** The result, or the JSON in the body; `undefined` where there is none. */
      readonly value: unknown;
      readonly body: NfpBody;
    }
  | { readonly kind: 'event'; readonly ticket: Ticket; readonly body: NfpBody; readonly value: unknown }
  | { readonly kind: 'stream'; readonly ticket: Ticket; readonly body: NfpBody }
  /** A worker waits for input; answered by `put`. Once per request. */
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
      /** What the broker said. */
      readonly errors: readonly string[];
      readonly cause: unknown;
    }
  | { readonly kind: 'note'; readonly note: NfpClientNote };

/** Counters since construction and gauges of now. */
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
  /** POSTs of a job that no worker knew any more. */
  readonly reposts: number;
  readonly results: number;
  readonly events: number;
  readonly streams: number;
  readonly aborts: number;
  /** Answers about what is over or was never asked, the second answer to MMI among them. */
  readonly lateAnswers: number;
  readonly failures: Readonly<Record<NfpClientFailure, number>>;
  readonly dropped: Readonly<Partial<Record<NfpClientDropReason, number>>>;
}
