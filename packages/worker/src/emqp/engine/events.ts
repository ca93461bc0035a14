/** What passes between a job manager's session, which decides, and the facade, which owns sockets and processes. */
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
 * How one run of a job ended: with a value, with an error, or before it began because its body names nothing that may be run. What
 * was refused is not tried again.
 */
export type EmqpRunOutcome = 'done' | 'failed' | 'refused';

/** What a session is told. `timer` events come from the driver. Sockets and jobs go by numbers that are never used again, slots from 0 on. */
export type EmqpJobManagerEvent =
  /** Begin. First and once. */
  | { readonly kind: 'start' }
  | { readonly kind: 'message'; readonly socket: number; readonly command: EmqpToWorker }
  /** A message was dropped before decoding. */
  | { readonly kind: 'rejected'; readonly socket: number; readonly reason: RejectReason }
  | { readonly kind: 'lost'; readonly socket: number; readonly reason: LossReason }
  /** A REPLY did not go out. Its connection is lost with it. */
  | { readonly kind: 'unsent'; readonly socket: number; readonly reply: EmqpResult }
  /** A process runs in the slot, which had none, and takes jobs. */
  | { readonly kind: 'up'; readonly slot: number }
  /** The process of the slot is gone; the host replaces it by itself. */
  | { readonly kind: 'gone'; readonly slot: number; readonly reason: string }
  /** A run ended; `result` is the JSON that a REPLY carries. */
  | {
      readonly kind: 'ran';
      readonly slot: number;
      readonly job: number;
      readonly outcome: EmqpRunOutcome;
      readonly result: Uint8Array;
    }
  /** Say farewell, finish what runs, then end. */
  | { readonly kind: 'drain' }
  /** Say farewell, kill what runs, then end. */
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

/** Why a REQUEST was not taken. */
export type EmqpRequestRefusal =
  /** As many are in hand as there are slots and places in the queue (`queueMax`). */
  | 'full'
  /** It came after our farewell. */
  | 'leaving';

/** Why a message was dropped: the decoder's reason or the port's. */
export type EmqpJobManagerDropReason = EmqpMalformedReason | RejectReason;

/** A notice: the source of events, log lines and counters. `id` is the id of the REQUEST. */
export type EmqpJobManagerNote =
  /** The broker knows us. */
  | { readonly code: 'registered'; readonly endpoint: string }
  /** The conversation is over; the next one begins in `retryInMs`. */
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
  /** A job failed for good. */
  | { readonly code: 'job-failed'; readonly id: string; readonly run: number; readonly reason: string }
  /** It ran too long: its process is killed. */
  | { readonly code: 'job-timeout'; readonly id: string; readonly run: number }
  /** The job manager stopped before it had ended. */
  | { readonly code: 'job-abandoned'; readonly id: string }
  /** A process died unasked, with the job of that id. */
  | { readonly code: 'process-died'; readonly slot: number; readonly reason: string; readonly id?: string };

/** What a job manager wants done besides what every session wants, in order. */
export type EmqpJobEffect =
  /** `identity`: the routing id, in printable ASCII. */
  | { readonly kind: 'open'; readonly socket: number; readonly endpoint: string; readonly identity: string }
  /** Have the process in the slot run a job. Without `wantsResult` the result may be left empty. */
  | {
      readonly kind: 'run';
      readonly slot: number;
      readonly job: EmqpRun;
      readonly wantsResult: boolean;
      /** As they came. */
      readonly headers: Uint8Array;
    }
  /** Kill the process in the slot; `gone` follows once it does not exist any more, then `up`. */
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

/** Counters since construction and gauges of now. */
export interface EmqpJobManagerStats {
  /** Gauge: jobs that run, or pause before another run. */
  readonly running: number;
  /** Gauge: jobs that wait for a slot. */
  readonly waiting: number;
  /** Gauge: slots that could take a job. */
  readonly free: number;
  /** Gauge: results that wait for a broker. */
  readonly held: number;
  /** Requests taken. */
  readonly jobs: number;
  /** Jobs that ended with a value. */
  readonly done: number;
  /** Jobs that failed for good. */
  readonly failed: number;
  /** Runs after the first. */
  readonly retries: number;
  /** Runs ended by their time. */
  readonly timeouts: number;
  /** Jobs that had not ended when the job manager stopped. */
  readonly abandoned: number;
  /** Processes that died unasked. */
  readonly deaths: number;
  /** Processes replaced after `maxJobsPerProcess` runs. */
  readonly recycled: number;
  /** REPLYs given to a broker. */
  readonly replies: number;
  /** Brokers that acknowledged INFORM. */
  readonly conversations: number;
  /** Lost conversations by reason. */
  readonly lost: Readonly<Partial<Record<EmqpLossReason, number>>>;
  /** Messages dropped by reason, requests included. */
  readonly dropped: Readonly<Partial<Record<EmqpJobManagerDropReason | EmqpRequestRefusal, number>>>;
}
