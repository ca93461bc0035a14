/** EventMQ scheduler: what the engine is told, what it wants done, and what it reports. */
import type {
  EmqpBye,
  EmqpHeartbeat,
  EmqpInformScheduler,
  EmqpMalformedReason,
  EmqpRequest,
  EmqpToScheduler,
} from '@proj/frames/emqp';
import type { RejectReason } from '@proj/transport';

/** What a scheduler sends. */
export type EmqpFromScheduler = EmqpInformScheduler | EmqpHeartbeat | EmqpRequest | EmqpBye;

/** A job in the store: what to send, when next, and how often still. */
export interface ScheduleRecord {
  readonly queue: string;
  readonly headers: Uint8Array;
  readonly body: Uint8Array;
  /** Every so many seconds, or at the times of a cron expression. */
  readonly every: number | string;
  /** Runs left; `undefined` without end. At least 1. */
  readonly runsLeft: number | undefined;
  /** Wall clock of the next run, in microseconds since 1970. */
  readonly nextMicros: number;
}

/** A change of the store: a record to write, or its removal. */
export interface ScheduleChange {
  /** SHA-1 of the job, in lower-case hex. */
  readonly identity: string;
  readonly record: ScheduleRecord | undefined;
}

/** What an engine cannot compute itself. */
export interface SchedulerTools {
  /** SHA-1 in lower-case hex, of printable ASCII. */
  readonly sha1: (text: string) => string;
  /** The first time of a cron expression after a wall clock, both in microseconds; `undefined` if it is invalid or never comes. */
  readonly nextCron: (expression: string, afterMicros: number) => number | undefined;
}

/** Why a SCHEDULE was not taken. */
export type ScheduleRefusal =
  /** The body names no job. */
  | 'body'
  /** Neither seconds of at least 1 nor `-1` with a cron expression. */
  | 'interval'
  /** Not five fields, not understood, or a time that never comes. */
  | 'cron'
  /** `jobsMax` or `jobsMaxBytes`. */
  | 'full'
  /** It could not be written down. */
  | 'store'
  /** It came after our farewell. */
  | 'leaving';

/** Why a conversation was lost. */
export type SchedulerLoss =
  /** Nothing was heard for `brokerExpiryMs`. */
  | 'silent'
  /** INFORM was not acknowledged in time. */
  | 'no-ack'
  /** The broker said farewell. */
  | 'disconnected'
  /** The connection ended. */
  | 'peer-gone'
  /** A message did not go out. */
  | 'undeliverable'
  /** The socket could not be opened, or broke. */
  | 'socket-failed';

/** Why a message was dropped: the decoder's reason or the port's. */
export type SchedulerDropReason = EmqpMalformedReason | RejectReason;

/** A fact reported to the engine. Sockets and writes have numbers that are never used again. */
export type SchedulerEvent =
  /** Begin, with the jobs of the store. First and once. */
  | { readonly kind: 'start'; readonly records: readonly (readonly [identity: string, record: ScheduleRecord])[] }
  | { readonly kind: 'message'; readonly socket: number; readonly command: EmqpToScheduler }
  /** A message was dropped before decoding. */
  | { readonly kind: 'rejected'; readonly socket: number; readonly reason: RejectReason }
  | { readonly kind: 'lost'; readonly socket: number; readonly reason: SchedulerLoss }
  /** The transport has taken the REQUEST with this id. */
  | { readonly kind: 'sent'; readonly id: string }
  /** The REQUEST with this id did not go out. */
  | { readonly kind: 'unsent'; readonly id: string }
  /** A write is durable, or nothing of it was kept. Writes end in the order of their numbers. */
  | { readonly kind: 'stored'; readonly write: number; readonly error: string | undefined }
  /** Finish writes under way, say farewell, end. */
  | { readonly kind: 'drain' }
  /** Say farewell, end. */
  | { readonly kind: 'close' };

/** Something worth a log line. Jobs are named by their identity. */
export type SchedulerNote =
  /** The broker knows us. `held` runs were waiting for it. */
  | { readonly code: 'registered'; readonly endpoint: string; readonly held: number }
  /** The conversation is over; the next one begins in `retryInMs`. */
  | { readonly code: 'lost'; readonly endpoint: string; readonly reason: SchedulerLoss; readonly retryInMs: number }
  /** We said farewell; `told`: because the broker asked for it. */
  | { readonly code: 'left'; readonly endpoint: string; readonly reason: 'drained' | 'closed' | 'told' }
  | { readonly code: 'scheduled'; readonly job: string; readonly queue: string; readonly replaced: boolean }
  | { readonly code: 'unscheduled'; readonly job: string }
  /** It has had all its runs. */
  | { readonly code: 'finished'; readonly job: string }
  | { readonly code: 'schedule-refused'; readonly reason: ScheduleRefusal; readonly queue: string }
  /** A run was due; `held`: its REQUEST waits for a broker. */
  | { readonly code: 'fired'; readonly job: string; readonly queue: string; readonly held: boolean }
  /** Invalid header items were ignored. */
  | { readonly code: 'headers-invalid'; readonly job: string; readonly items: number }
  /** The cron expression of a job in the store is no longer understood; the job stays there and does not run. */
  | { readonly code: 'cron-unknown'; readonly job: string; readonly cron: string }
  /** A write failed. Jobs run on; new ones are refused. Once per cause and minute. */
  | { readonly code: 'store-failed'; readonly error: string }
  /** Writes succeed again, after a failure that was reported. */
  | { readonly code: 'store-recovered' }
  | { readonly code: 'message-dropped'; readonly reason: SchedulerDropReason };

/** What the engine wants done, in order. */
export type SchedulerEffect =
  /** `identity`: the routing id, in printable ASCII. */
  | { readonly kind: 'open'; readonly socket: number; readonly endpoint: string; readonly identity: string }
  | { readonly kind: 'send'; readonly socket: number; readonly command: EmqpFromScheduler }
  /** `flush`: send what is queued first, within `lingerMs`; otherwise nothing more goes out. */
  | { readonly kind: 'close'; readonly socket: number; readonly flush: boolean }
  /** All or nothing; `stored` must follow, in the order of the writes. */
  | { readonly kind: 'store'; readonly write: number; readonly changes: readonly ScheduleChange[] }
  | { readonly kind: 'note'; readonly note: SchedulerNote }
  /** The engine has ended and ignores further events. */
  | { readonly kind: 'ended' };

/** Counters since construction and gauges of now. */
export interface EmqpSchedulerStats {
  /** Gauge: jobs that run regularly. */
  readonly jobs: number;
  /** Gauge: bytes of their bodies. */
  readonly jobsBytes: number;
  /** Gauge: runs that wait for a broker. */
  readonly held: number;
  /** Gauge: writes under way. */
  readonly writing: number;
  /** Gauge: true between the ACK of a broker and the loss of its connection. */
  readonly registered: boolean;
  /** Gauge: false after a write that failed, until one succeeds. */
  readonly storeHealthy: boolean;
  /** REQUESTs given to a broker. */
  readonly fired: number;
  /** Runs that were due while the one before waited for a broker or the disk. */
  readonly skipped: number;
  readonly scheduled: number;
  readonly replaced: number;
  readonly unscheduled: number;
  /** UNSCHEDULE of jobs that this scheduler does not have. */
  readonly unknown: number;
  /** Jobs that have had all their runs. */
  readonly finished: number;
  /** REQUESTs that a broker has accepted. */
  readonly accepted: number;
  /** Results of jobs, which are not read. */
  readonly results: number;
  /** Brokers that acknowledged INFORM. */
  readonly conversations: number;
  readonly refused: Readonly<Partial<Record<ScheduleRefusal, number>>>;
  readonly lost: Readonly<Partial<Record<SchedulerLoss, number>>>;
  readonly dropped: Readonly<Partial<Record<SchedulerDropReason, number>>>;
}
