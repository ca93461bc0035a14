/** Events and effects between a job manager's session, which decides, and its facade, which owns sockets and processes. */
import type {
  EmqpBye,
  EmqpHeartbeat,
  EmqpInformWorker,
  EmqpMalformedReason,
  EmqpReady,
  EmqpResult,
  EmqpToWorker,
} from '@proj/frames/emqp';
import type { RejectReason } from '@proj/transport';
import type { LossReason, SessionEffect } from '../../shared/events.js';

/** What a job manager sends. */
export type EmqpFromJobManager = EmqpInformWorker | EmqpReady | EmqpHeartbeat | EmqpResult | EmqpBye;

/**
 * How one run of a job ended: with a value, with an error, or before it began because its body names nothing that may be run. A refused job is
 * not retried.
 */
export type EmqpRunOutcome = 'done' | 'failed' | 'refused';

/** The session's events. `timer` events come from the driver. Numbers of sockets and jobs are never reused; slots count from 0. */
export type EmqpJobManagerEvent =
  /** Starts. First and once. */
  | { readonly kind: 'start' }
  | { readonly kind: 'message'; readonly socket: number; readonly command: EmqpToWorker }
  /** A message was dropped before decoding. */
  | { readonly kind: 'rejected'; readonly socket: number; readonly reason: RejectReason }
  | { readonly kind: 'lost'; readonly socket: number; readonly reason: LossReason }
  /** A REPLY was not delivered. Its connection is lost with it. */
  | { readonly kind: 'unsent'; readonly socket: number; readonly reply: EmqpResult }
  /** A process runs in the slot, which had none, and accepts jobs. */
  | { readonly kind: 'up'; readonly slot: number }
  /** The slot's process has gone; the host replaces it by itself. */
  | { readonly kind: 'gone'; readonly slot: number; readonly reason: string }
  /** A run ended; `result` is the JSON for a REPLY. */
  | {
      readonly kind: 'ran';
      readonly slot: number;
      readonly job: number;
      readonly outcome: EmqpRunOutcome;
      readonly result: Uint8Array;
    }
  /** Say farewell, finish current work, then end. */
  | { readonly kind: 'drain' }
  /** Say farewell, kill current work, then end. */
  | { readonly kind: 'close' };

/** Why a conversation ended that the job manager wanted to keep. */
export type EmqpLossReason =
  | LossReason
  /** INFORM was not acknowledged in time. */
  | 'no-ack';

/** Why a job manager left its broker. */
export type EmqpLeaveReason =
  /** `drain()`. */
  | 'drained'
  /** `close()`. */
  | 'closed'
  /** The broker said DISCONNECT. */
  | 'told';

/** Why a REQUEST was not accepted. */
export type EmqpRequestRefusal =
  /** Current jobs fill all slots and the queue (`queueMax`). */
  | 'full'
  /** It came after our farewell. */
  | 'leaving';

/** Why a message was dropped: the decoder's reason or the port's. */
export type EmqpJobManagerDropReason = EmqpMalformedReason | RejectReason;

/** A note: the source of events, log lines and counters. `id` is the id of the REQUEST. */
export type EmqpJobManagerNote =
  /** The broker has accepted us. */
  | { readonly code: 'registered'; readonly endpoint: string }
  /** The conversation has ended; the next one begins in `retryInMs`. */
  | {
      readonly code: 'lost';
      readonly endpoint: string;
      readonly reason: EmqpLossReason;
      readonly retryInMs: number;
    }
  /** We said farewell. */
  | { readonly code: 'left'; readonly endpoint: string; readonly reason: EmqpLeaveReason }
  | { readonly code: 'message-dropped'; readonly reason: EmqpJobManagerDropReason }
  | { readonly code: 'request-dropped'; readonly reason: EmqpRequestRefusal; readonly id: string }
  /** Invalid header items were ignored. */
  | { readonly code: 'headers-invalid'; readonly id: string; readonly items: number }
  /** A run of a job begins. */
  | { readonly code: 'job-started'; readonly id: string; readonly run: number; readonly slot: number }
  /** A job failed and is run again. `run` counts from 1; `reason` is the beginning of the error's text. */
  | {
      readonly code: 'job-retried';
      readonly id: string;
      readonly run: number;
      readonly retryInMs: number;
      readonly reason: string;
    }
  /** A job failed permanently. */
  | { readonly code: 'job-failed'; readonly id: string; readonly run: number; readonly reason: string }
  /** It ran too long: its process is killed. */
  | { readonly code: 'job-timeout'; readonly id: string; readonly run: number }
  /** The job manager stopped before the job had ended. */
  | { readonly code: 'job-abandoned'; readonly id: string }
  /** A process died unexpectedly, with the job of that id. */
  | { readonly code: 'process-died'; readonly slot: number; readonly reason: string; readonly id?: string };

/** A job manager's effects besides those of every session, in order. */
export type EmqpJobEffect =
  /** `identity`: the routing id, in printable ASCII. */
  | { readonly kind: 'open'; readonly socket: number; readonly endpoint: string; readonly identity: string }
  /** Run a job in the slot's process. Without `wantsResult` the result may be left empty. */
  | {
      readonly kind: 'run';
      readonly slot: number;
      readonly job: EmqpRun;
      readonly wantsResult: boolean;
      /** Unprocessed. */
      readonly headers: Uint8Array;
    }
  /** Kill the slot's process; `gone` follows once it no longer exists, then `up`. */
  | { readonly kind: 'kill'; readonly slot: number }
  /** End the idle process in the slot and start another. */
  | { readonly kind: 'recycle'; readonly slot: number };

/** All effects of a session. */
export type EmqpJobManagerEffect = SessionEffect<EmqpFromJobManager, EmqpJobManagerNote> | EmqpJobEffect;

/** One run of a job. */
export interface EmqpRun {
  /** Its number here: ids may repeat. */
  readonly number: number;
  /** Id of the REQUEST. */
  readonly id: string;
  readonly queue: string;
  readonly body: Uint8Array;
  /** 1 for the first run. */
  readonly run: number;
  /** With option `tracing`: the context of the run's span, such as `traceparent`. */
  readonly trace?: Readonly<Record<string, string>>;
}

/** Counters since construction and current gauges. */
export interface EmqpJobManagerStats {
  /** Gauge: jobs that run, or pause before another run. */
  readonly running: number;
  /** Gauge: jobs waiting for a slot. */
  readonly waiting: number;
  /** Gauge: slots that could take a job. */
  readonly free: number;
  /** Gauge: results waiting for a broker. */
  readonly held: number;
  /** Accepted requests. */
  readonly jobs: number;
  /** Jobs that ended with a value. */
  readonly done: number;
  /** Jobs that failed permanently. */
  readonly failed: number;
  /** Runs after the first. */
  readonly retries: number;
  /** Runs killed by their time limit. */
  readonly timeouts: number;
  /** Jobs that had not ended when the job manager stopped. */
  readonly abandoned: number;
  /** Processes that died unexpectedly. */
  readonly deaths: number;
  /** Processes replaced after `maxJobsPerProcess` runs. */
  readonly recycled: number;
  /** REPLYs sent to a broker. */
  readonly replies: number;
  /** Brokers that acknowledged INFORM. */
  readonly conversations: number;
  /** Lost conversations by reason. */
  readonly lost: Readonly<Partial<Record<EmqpLossReason, number>>>;
  /** Messages dropped by reason, including requests. */
  readonly dropped: Readonly<Partial<Record<EmqpJobManagerDropReason | EmqpRequestRefusal, number>>>;
}
