/** What passes between an NFP worker session, which decides, and its host, which owns sockets, the store and the tasks. */
import type { NfpBody, NfpClientCall, NfpToWorker, NfpWorkerAnswer } from '@proj/frames/nfp';
import type { NfpWorkerDisconnect, NfpWorkerKeepalive } from '@proj/frames/nfp';
import type { NfpMalformedReason, NfpWorkerOpen, NfpWorkerReady, NfpWorkerTableAnswer } from '@proj/frames/nfp';
import type { RecordBatch, RejectReason } from '@proj/transport';
import type { LossReason, SessionEffect } from '../../shared/events.js';
import type { SessionOutput } from '../../shared/output.js';
import type { NfpWorkerSettings } from '../options.js';

/** Settings of an `NfpWorkerSession`: those of a worker without what only its host needs. */
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

/** Sizes now. */
export interface NfpWorkerCounters {
  /** Jobs by state. Those about to be accepted count as pending. */
  readonly jobs: Readonly<Record<NfpStoredJob['state'], number>>;
  /** Tasks that run now. */
  readonly running: number;
}

/** Where a job is in its life, in the words of the wire. */
export type NfpJobState = 'PENDING' | 'STARTED' | 'WAITING_CLIENT_INPUT' | 'COMPLETED' | 'FAILED' | 'CANCELLED';

/** States in which a job has a result, and which no other state follows. */
export type NfpFinalState = Extract<NfpJobState, 'COMPLETED' | 'FAILED' | 'CANCELLED'>;

/** A call of the broker, in either shape. */
export type NfpIncomingCall = Extract<NfpToWorker, { kind: 'worker-call' | 'worker-table-call' }>;

/** Where an answer goes: the client's address as it came, or `undefined` for a call in the shape of the tables, which has none. */
export type NfpReplyTo = Uint8Array | undefined;

/** What the store has of a job besides the body of the call and the result. */
export interface NfpStoredJob {
  readonly uuid: string;
  /** Place in the order of acceptance. */
  readonly seq: number;
  readonly task: string;
  /** Tells calls apart: the digest of what they ask for. */
  readonly digest: string;
  readonly timeoutMs: number;
  readonly replyTo: NfpReplyTo;
  readonly state: Exclude<NfpJobState, 'WAITING_CLIENT_INPUT'>;
  /** Runs begun. */
  readonly runs: number;
  /** It was deleted while it ran. */
  readonly cancelling: boolean;
  /** Wall clock, in milliseconds since 1970; 0 when that is still to come, or an earlier release did not note it. */
  readonly receivedAt: number;
  readonly startedAt: number;
  readonly endedAt: number;
}

/** A call, taken apart. */
export interface NfpCallBody {
  readonly task: string;
  readonly args: readonly unknown[];
  readonly kwargs: Readonly<Record<string, unknown>>;
  readonly timeoutMs: number;
  /** The client's trace context, unchecked. */
  readonly trace?: unknown;
}

/** How workers of another service are asked. */
export interface NfpAskedJob {
  /** As in a POST. */
  readonly target: string;
  /** The result of the first worker that has not failed, or the next STREAM. */
  readonly awaits: 'result' | 'chunk';
  /** Body of a PUT to the job, which exists already; absent, the job is posted. */
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

/** A question to a service of the broker, or a job for workers. It may be asked more than once, so it must change nothing. */
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

/** What became of a question. */
export type NfpBrokerReply =
  | { readonly kind: 'answered'; readonly body: NfpBody }
  /** For a job: what this worker returned. */
  | { readonly kind: 'result'; readonly worker: string; readonly value: unknown }
  /** In the words of the broker or the workers. */
  | { readonly kind: 'refused'; readonly error: string }
  /** For a chunk: its connection has ended, and the job will not go on. */
  | { readonly kind: 'lost' }
  | { readonly kind: 'timeout' }
  /** The worker has ended. */
  | { readonly kind: 'closed' };

/** What the host tells the session. `timer` events come from the driver. Sockets, commits, loads and runs go by numbers that are never used again. */
export type NfpWorkerEvent =
  /** Begin, with what the store holds. First and once. */
  | { readonly kind: 'start'; readonly jobs: readonly NfpStoredJob[] }
  | { readonly kind: 'message'; readonly socket: number; readonly command: NfpToWorker }
  /** A message was dropped before decoding. */
  | { readonly kind: 'rejected'; readonly socket: number; readonly reason: RejectReason }
  /** A message of ours did not go out. */
  | { readonly kind: 'undeliverable'; readonly socket: number }
  | { readonly kind: 'lost'; readonly socket: number; readonly reason: LossReason }
  /** The batch is durable. */
  | { readonly kind: 'committed'; readonly commit: number }
  /** Nothing of the batch was kept. */
  | { readonly kind: 'commit-failed'; readonly commit: number; readonly message: string }
  /** `undefined`: there is no such record. */
  | { readonly kind: 'loaded'; readonly load: number; readonly value: Uint8Array | undefined }
  | { readonly kind: 'load-failed'; readonly load: number }
  /** A task reports something: the body of an EVENT. */
  | { readonly kind: 'event'; readonly run: number; readonly body: readonly Uint8Array[] }
  | { readonly kind: 'stream'; readonly run: number; readonly chunk: Uint8Array }
  /** A task asks its client; answered by the effect `input`. At most one question of a run at a time. */
  | { readonly kind: 'ask'; readonly run: number; readonly question: NfpQuestion }
  /** A question to the broker or to other workers; answered by the effect `reply`. */
  | { readonly kind: 'question'; readonly question: NfpBrokerQuestion }
  /** The task has ended: once per `run`, aborted or not. */
  | { readonly kind: 'done'; readonly run: number; readonly outcome: NfpTaskOutcome }
  /** What the effect `restart` asked for is done. */
  | { readonly kind: 'restarted' }
  /** Finish what runs, then end. */
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

/** How a task ended: with a result, or with errors and perhaps a result all the same. Results are JSON texts. */
export type NfpTaskOutcome =
  | { readonly result: string }
  | { readonly errors: readonly string[]; readonly failedResult?: string | undefined };

/** What became of a question. */
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

/** What the session has its host do besides what every session does, in order. */
export type NfpJobEffect =
  | { readonly kind: 'open'; readonly socket: number; readonly endpoint: string }
  /** Answered by `committed` or `commit-failed`; at most one is under way. */
  | { readonly kind: 'commit'; readonly commit: number; readonly batch: RecordBatch }
  /** Answered by `loaded` or `load-failed`. */
  | { readonly kind: 'load'; readonly load: number; readonly key: string }
  /** Answered by `done`. */
  | ({ readonly kind: 'run' } & NfpRun)
  | { readonly kind: 'abort'; readonly run: number; readonly reason: NfpAbortReason }
  | { readonly kind: 'put'; readonly run: number; readonly body: readonly Uint8Array[] }
  | { readonly kind: 'input'; readonly run: number; readonly id: string; readonly outcome: NfpInputOutcome }
  /** Nothing runs, and nothing begins before `restarted`: ask for the inventory again, and renew whatever else the application renews. */
  | { readonly kind: 'restart' }
  /** Once per question. */
  | { readonly kind: 'reply'; readonly uuid: string; readonly reply: NfpBrokerReply };

/** All effects of a session. */
export type NfpWorkerEffect = SessionEffect<NfpFromWorker, NfpWorkerNote> | NfpJobEffect;

/** Where every part of a session puts its effects. */
export type NfpOutput = SessionOutput<NfpFromWorker, NfpWorkerNote, NfpJobEffect>;

/** Why a message was dropped: the decoder's reason, the port's, or no such run (`put`) or question (`answer`). */
export type NfpWorkerDropReason = NfpMalformedReason | RejectReason | 'put' | 'answer';

/** Why a job was not accepted; the client is told. */
export type NfpRefusalReason =
  /** The body is no call. */
  | 'body'
  /** Another job has the uuid. */
  | 'conflict'
  /** Too many wait. */
  | 'full'
  /** The worker is leaving. */
  | 'leaving'
  /** The store does not take it. */
  | 'store';

/** Why a worker ended a conversation. */
export type NfpWorkerLeaveReason = 'drained' | 'drain-timeout' | 'closed' | 'management';

/** A notice, told apart by `code`: the source of events, log lines and counters. */
export type NfpWorkerNote =
  /** The broker was heard for the first time in a conversation. NFP has no answer to READY: the first keepalive or call shows it. */
  | { readonly code: 'ready'; readonly endpoint: string }
  /** The conversation is over; the next one begins in `retryInMs`. Jobs in hand go on. */
  | { readonly code: 'lost'; readonly endpoint: string; readonly reason: LossReason; readonly retryInMs: number }
  | { readonly code: 'left'; readonly endpoint: string; readonly reason: NfpWorkerLeaveReason }
  | { readonly code: 'message-dropped'; readonly reason: NfpWorkerDropReason }
  /** An answer or event had no connection to go out on; clients ask again. */
  | { readonly code: 'unsent' }
  | { readonly code: 'job-accepted'; readonly uuid: string; readonly task: string }
  /** A client posted a known job again. */
  | { readonly code: 'job-repeated'; readonly uuid: string }
  | { readonly code: 'job-refused'; readonly uuid: string; readonly reason: NfpRefusalReason }
  | { readonly code: 'job-started'; readonly uuid: string; readonly task: string; readonly attempt: number }
  /** Its result is durable. */
  | { readonly code: 'job-finished'; readonly uuid: string; readonly task: string; readonly state: NfpFinalState }
  /** The worker ends or restarts while it runs: what becomes of it is decided at the next start, or right after the restart. */
  | { readonly code: 'job-interrupted'; readonly uuid: string; readonly task: string }
  /** Finished jobs have left, by age or because there were too many. */
  | { readonly code: 'results-removed'; readonly count: number }
  /** Nothing of a batch was kept; changes of accepted jobs are tried again every second. */
  | { readonly code: 'store-failed'; readonly message: string }
  /** The broker did not say what its inventory has of this worker; tasks that want it ask again. */
  | { readonly code: 'inventory-failed'; readonly message: string }
  /** Without a store: jobs and results are gone with the process. Once. */
  | { readonly code: 'volatile-store' }
  /** After the command `restart`: the worker serves again. */
  | { readonly code: 'restarted' }
  /** A management command was obeyed. */
  | { readonly code: 'management'; readonly task: 'restart' | 'shutdown' | 'disconnect' };
