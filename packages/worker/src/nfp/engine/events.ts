/** Events and effects between an NFP worker session, which decides, and its host, which owns sockets, the store and the tasks. */
import type { NfpBody, NfpClientCall, NfpToWorker, NfpWorkerAnswer } from '@proj/frames/nfp';
import type { NfpWorkerDisconnect, NfpWorkerKeepalive } from '@proj/frames/nfp';
import type { NfpMalformedReason, NfpWorkerOpen, NfpWorkerReady, NfpWorkerTableAnswer } from '@proj/frames/nfp';
import type { RecordBatch, RejectReason } from '@proj/transport';
import type { LossReason, SessionEffect } from '../../shared/events.js';
import type { SessionOutput } from '../../shared/output.js';
import type { NfpWorkerSettings } from '../options.js';

/** Settings of an `NfpWorkerSession`: those of a worker, without what only its host needs. */
export interface NfpWorkerSessionOptions extends Omit<
  NfpWorkerSettings,
  | 'tasks'
  | 'baseTasks'
  | 'shellCommands'
  | 'versions'
  | 'store'
  | 'onRestart'
  | 'fetchInventory'
  | 'fetchFiles'
  | 'fetchMaxBytes'
  | 'askTimeoutMs'
  | 'putQueueMax'
  | 'maxMessageFrames'
  | 'curve'
  | 'transport'
> {
  /** Shown by `show_workers`. */
  readonly taskList: readonly { readonly name: string; readonly description: string }[];
}

/** What a session cannot know by itself. */
export interface NfpWorkerWorld {
  /** In [0, 1). */
  random(): number;
  /** Wall clock, in microseconds since 1970. */
  wallMicros(): number;
  /** A short text that differs for different texts, such as a cryptographic hash. */
  digest(text: string): string;
}

/** Current sizes. */
export interface NfpWorkerCounters {
  /** Jobs by state. Those about to be accepted count as pending. */
  readonly jobs: Readonly<Record<NfpStoredJob['state'], number>>;
  /** Tasks that run now. */
  readonly running: number;
}

/** The state of a job, in the words of the wire. */
export type NfpJobState = 'PENDING' | 'STARTED' | 'WAITING_CLIENT_INPUT' | 'COMPLETED' | 'FAILED' | 'CANCELLED';

/** States in which a job has a result; final. */
export type NfpFinalState = Extract<NfpJobState, 'COMPLETED' | 'FAILED' | 'CANCELLED'>;

/** A call of the broker, in either shape. */
export type NfpIncomingCall = Extract<NfpToWorker, { kind: 'worker-call' | 'worker-table-call' }>;

/** Where an answer goes: the client's raw address, or `undefined` for a call in the shape of the tables, which has none. */
export type NfpReplyTo = Uint8Array | undefined;

/** The stored form of a job, without the body of the call and the result. */
export interface NfpStoredJob {
  readonly uuid: string;
  /** Place in the order of acceptance. */
  readonly seq: number;
  readonly task: string;
  /** Distinguishes calls: the digest of their meaning. */
  readonly digest: string;
  readonly timeoutMs: number;
  readonly replyTo: NfpReplyTo;
  readonly state: Exclude<NfpJobState, 'WAITING_CLIENT_INPUT'>;
  /** Number of runs started. */
  readonly runs: number;
  /** It was deleted while it ran. */
  readonly cancelling: boolean;
  /** Wall clock, in milliseconds since 1970; 0 if in the future, or not recorded by an earlier release. */
  readonly receivedAt: number;
  readonly startedAt: number;
  readonly endedAt: number;
}

/** A decoded call. */
export interface NfpCallBody {
  readonly task: string;
  readonly args: readonly unknown[];
  readonly kwargs: Readonly<Record<string, unknown>>;
  readonly timeoutMs: number;
  /** The client's trace context, unchecked. */
  readonly trace?: unknown;
}

/** How to ask workers of another service. */
export interface NfpAskedJob {
  /** As in a POST. */
  readonly target: string;
  /** The result of the first worker that has not failed, or the next STREAM. */
  readonly awaits: 'result' | 'chunk';
  /** Body of a PUT to the job, which already exists; if absent, the job is posted. */
  readonly put?: unknown;
}

/** What a worker sends; calls are those of its questions. */
export type NfpFromWorker =
  | NfpWorkerOpen
  | NfpWorkerReady
  | NfpWorkerKeepalive
  | NfpWorkerDisconnect
  | NfpWorkerAnswer
  | NfpWorkerTableAnswer
  | NfpClientCall;

/** A question to a service of the broker, or a job for workers. It may be sent more than once, so it must change nothing. */
export interface NfpBrokerQuestion {
  /** Differs from those of other open questions. */
  readonly uuid: string;
  readonly service: string;
  readonly task: string;
  readonly kwargs: Readonly<Record<string, unknown>>;
  /** At least 1. */
  readonly timeoutMs: number;
  /** Absent for a service of the broker. */
  readonly job?: NfpAskedJob;
}

/** The outcome of a question. */
export type NfpBrokerReply =
  | { readonly kind: 'answered'; readonly body: NfpBody }
  /** For a job: what this worker returned. */
  | { readonly kind: 'result'; readonly worker: string; readonly value: unknown }
  /** In the words of the broker or the workers. */
  | { readonly kind: 'refused'; readonly error: string }
  /** For a chunk: its connection has ended, and the job will not continue. */
  | { readonly kind: 'lost' }
  | { readonly kind: 'timeout' }
  /** The worker has ended. */
  | { readonly kind: 'closed' };

/** The host's events. `timer` events come from the driver. Numbers of sockets, commits, loads and runs are never reused. */
export type NfpWorkerEvent =
  /** Starts, with the store's contents. First and once. */
  | { readonly kind: 'start'; readonly jobs: readonly NfpStoredJob[] }
  | { readonly kind: 'message'; readonly socket: number; readonly command: NfpToWorker }
  /** A message was dropped before decoding. */
  | { readonly kind: 'rejected'; readonly socket: number; readonly reason: RejectReason }
  /** A message of ours was not delivered. */
  | { readonly kind: 'undeliverable'; readonly socket: number }
  | { readonly kind: 'lost'; readonly socket: number; readonly reason: LossReason }
  /** The batch is durable. */
  | { readonly kind: 'committed'; readonly commit: number }
  /** The batch failed completely. */
  | { readonly kind: 'commit-failed'; readonly commit: number; readonly message: string }
  /** `undefined`: there is no such record. */
  | { readonly kind: 'loaded'; readonly load: number; readonly value: Uint8Array | undefined }
  | { readonly kind: 'load-failed'; readonly load: number }
  /** A task's report: the body of an EVENT. */
  | { readonly kind: 'event'; readonly run: number; readonly body: readonly Uint8Array[] }
  | { readonly kind: 'stream'; readonly run: number; readonly chunk: Uint8Array }
  /** A task asks its client; answered by the effect `input`. At most one question of a run at a time. */
  | { readonly kind: 'ask'; readonly run: number; readonly question: NfpQuestion }
  /** A question to the broker or to other workers; answered by the effect `reply`. */
  | { readonly kind: 'question'; readonly question: NfpBrokerQuestion }
  /** The task has ended: once per `run`, aborted or not. */
  | { readonly kind: 'done'; readonly run: number; readonly outcome: NfpTaskOutcome }
  /** What the effect `restart` requested is done. */
  | { readonly kind: 'restarted' }
  /** Finish running tasks, then end. */
  | { readonly kind: 'drain' }
  /** End as soon as tasks have stopped. */
  | { readonly kind: 'close' };

/** A question of a task. */
export interface NfpQuestion {
  readonly id: string;
  readonly question: string;
  readonly default: unknown;
  readonly timeoutMs: number;
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** How a task ended: with a result, or with errors and perhaps a result. Results are JSON texts. */
export type NfpTaskOutcome =
  | { readonly result: string }
  | { readonly errors: readonly string[]; readonly failedResult?: string | undefined };

/** The outcome of a question. */
export type NfpInputOutcome =
  | { readonly kind: 'answered'; readonly value: unknown }
  /** The client refuses to answer. */
  | { readonly kind: 'refused' }
  | { readonly kind: 'timeout' };

/** Why a task is told to stop. */
export type NfpAbortReason = 'deleted' | 'drain-timeout' | 'closed' | 'restart';

/** A run of a task. */
export interface NfpRun {
  readonly run: number;
  readonly uuid: string;
  readonly task: string;
  readonly replyTo: NfpReplyTo;
  readonly timeoutMs: number;
  /** 1 for the first run of this job. */
  readonly attempt: number;
  /** `undefined`: it is in the record `call/<uuid>`. */
  readonly call: NfpCallBody | undefined;
}

/** The session's effects besides those of every session, in order. */
export type NfpJobEffect =
  | { readonly kind: 'open'; readonly socket: number; readonly endpoint: string }
  /** Answered by `committed` or `commit-failed`; at most one is pending. */
  | { readonly kind: 'commit'; readonly commit: number; readonly batch: RecordBatch }
  /** Answered by `loaded` or `load-failed`. */
  | { readonly kind: 'load'; readonly load: number; readonly key: string }
  /** Answered by `done`. */
  | ({ readonly kind: 'run' } & NfpRun)
  | { readonly kind: 'abort'; readonly run: number; readonly reason: NfpAbortReason }
  | { readonly kind: 'put'; readonly run: number; readonly body: readonly Uint8Array[] }
  | { readonly kind: 'input'; readonly run: number; readonly id: string; readonly outcome: NfpInputOutcome }
  /** Nothing runs, and nothing begins before `restarted`: fetch the inventory again, and renew whatever else the application renews. */
  | { readonly kind: 'restart' }
  /** Emitted once per question. */
  | { readonly kind: 'reply'; readonly uuid: string; readonly reply: NfpBrokerReply };

/** All effects of a session. */
export type NfpWorkerEffect = SessionEffect<NfpFromWorker, NfpWorkerNote> | NfpJobEffect;

/** Receives the effects of every part of a session. */
export type NfpOutput = SessionOutput<NfpFromWorker, NfpWorkerNote, NfpJobEffect>;

/** Why a message was dropped: the decoder's reason, the port's, or no such run (`put`) or question (`answer`). */
export type NfpWorkerDropReason = NfpMalformedReason | RejectReason | 'put' | 'answer';

/** Why a job was rejected; the client is informed. */
export type NfpRefusalReason =
  /** The body is not a valid call. */
  | 'body'
  /** Another job has the uuid. */
  | 'conflict'
  /** Too many jobs are waiting. */
  | 'full'
  /** The worker is leaving. */
  | 'leaving'
  /** The store rejects it. */
  | 'store';

/** Why a worker ended a conversation. */
export type NfpWorkerLeaveReason = 'drained' | 'drain-timeout' | 'closed' | 'management';

/** A note, distinguished by `code`: the source of events, log lines and counters. */
export type NfpWorkerNote =
  /** First message from the broker in a conversation. NFP has no answer to READY: the first keepalive or call shows it. */
  | { readonly code: 'ready'; readonly endpoint: string }
  /** The conversation has ended; the next one begins in `retryInMs`. Current jobs continue. */
  | { readonly code: 'lost'; readonly endpoint: string; readonly reason: LossReason; readonly retryInMs: number }
  | { readonly code: 'left'; readonly endpoint: string; readonly reason: NfpWorkerLeaveReason }
  | { readonly code: 'message-dropped'; readonly reason: NfpWorkerDropReason }
  /** There was no connection for an answer or event; clients ask again. */
  | { readonly code: 'unsent' }
  | { readonly code: 'job-accepted'; readonly uuid: string; readonly task: string }
  /** A client posted a known job again. */
  | { readonly code: 'job-repeated'; readonly uuid: string }
  | { readonly code: 'job-refused'; readonly uuid: string; readonly reason: NfpRefusalReason }
  | { readonly code: 'job-started'; readonly uuid: string; readonly task: string; readonly attempt: number }
  /** Its result is durable. */
  | { readonly code: 'job-finished'; readonly uuid: string; readonly task: string; readonly state: NfpFinalState }
  /** The worker ends or restarts while it runs: the next start, or the end of the restart, decides what happens to it. */
  | { readonly code: 'job-interrupted'; readonly uuid: string; readonly task: string }
  /** Finished jobs were removed, by age or because there were too many. */
  | { readonly code: 'results-removed'; readonly count: number }
  /** A batch failed completely; changes of accepted jobs are retried every second. */
  | { readonly code: 'store-failed'; readonly message: string }
  /** The broker did not answer with its inventory of this worker; tasks that want it ask again. */
  | { readonly code: 'inventory-failed'; readonly message: string }
  /** Without a store, jobs and results are lost with the process. Reported once. */
  | { readonly code: 'volatile-store' }
  /** After the command `restart`: the worker serves again. */
  | { readonly code: 'restarted' }
  /** A management command was executed. */
  | { readonly code: 'management'; readonly task: 'restart' | 'shutdown' | 'disconnect' };
