/** EventMQ scheduler: the engine's events, effects and notes. */
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

/** A job in the store: what to send, when next, and how many runs are left. */
export interface ScheduleRecord {
  readonly queue: string;
  readonly headers: Uint8Array;
  readonly body: Uint8Array;
  /** An interval in seconds, or a cron expression. */
  readonly every: number | string;
  /** Runs left, at least 1; `undefined` for no limit. */
  readonly runsLeft: number | undefined;
  /** Wall clock of the next run, in microseconds since 1970. */
  readonly nextMicros: number;
}

/** A change to the store: writes or removes a record. */
export interface ScheduleChange {
  /** SHA-1 of the job, in lower-case hex. */
  readonly identity: string;
  readonly record: ScheduleRecord | undefined;
}

/** What an engine cannot compute itself. */
export interface SchedulerTools {
  /** SHA-1 in lower-case hex, of printable ASCII. */
  readonly sha1: (text: string) => string;
  /** The next time of a cron expression after a wall-clock time, both in microseconds; `undefined` if it is invalid or never matches. */
  readonly nextCron: (expression: string, afterMicros: number) => number | undefined;
}

/** Why a SCHEDULE was rejected. */
export type ScheduleRefusal =
  /** The body names no job. */
  | 'body'
  /** Neither seconds of at least 1 nor `-1` with a cron expression. */
  | 'interval'
  /** Not five fields, invalid, or a time that never comes. */
  | 'cron'
  /** `jobsMax` or `jobsMaxBytes`. */
  | 'full'
  /** It could not be stored. */
  | 'store'
  /** It came after our farewell. */
  | 'leaving';

/** Why a conversation ended. */
export type SchedulerLoss =
  /** The broker was silent for `brokerExpiryMs`. */
  | 'silent'
  /** INFORM was not acknowledged in time. */
  | 'no-ack'
  /** The broker said farewell. */
  | 'disconnected'
  /** The connection ended. */
  | 'peer-gone'
  /** A message was not delivered. */
  | 'undeliverable'
  /** The socket could not be opened, or failed. */
  | 'socket-failed';

/** Why a message was dropped: the decoder's reason or the port's. */
export type SchedulerDropReason = EmqpMalformedReason | RejectReason;

/** A fact reported to the engine. Numbers of sockets and writes are never reused. */
export type SchedulerEvent =
  /** Starts with the jobs of the store. First and once. */
  | { readonly kind: 'start'; readonly records: readonly (readonly [identity: string, record: ScheduleRecord])[] }
  | { readonly kind: 'message'; readonly socket: number; readonly command: EmqpToScheduler }
  /** A message was dropped before decoding. */
  | { readonly kind: 'rejected'; readonly socket: number; readonly reason: RejectReason }
  | { readonly kind: 'lost'; readonly socket: number; readonly reason: SchedulerLoss }
  /** The transport has taken the REQUEST with this id. */
  | { readonly kind: 'sent'; readonly id: string }
  /** The REQUEST with this id was not delivered. */
  | { readonly kind: 'unsent'; readonly id: string }
  /** A write is durable, or has failed completely. Writes end in order. */
  | { readonly kind: 'stored'; readonly write: number; readonly error: string | undefined }
  /** Finish pending writes, say farewell, end. */
  | { readonly kind: 'drain' }
  /** Say farewell, end. */
  | { readonly kind: 'close' };

/** A note for the log. Jobs are named by their identity. */
export type SchedulerNote =
  /** The broker has accepted us. `held` runs were waiting for it. */
  | { readonly code: 'registered'; readonly endpoint: string; readonly held: number }
  /** The conversation has ended; the next one begins in `retryInMs`. */
  | { readonly code: 'lost'; readonly endpoint: string; readonly reason: SchedulerLoss; readonly retryInMs: number }
  /** We said farewell; `told`: because the broker asked us to. */
  | { readonly code: 'left'; readonly endpoint: string; readonly reason: 'drained' | 'closed' | 'told' }
  | { readonly code: 'scheduled'; readonly job: string; readonly queue: string; readonly replaced: boolean }
  | { readonly code: 'unscheduled'; readonly job: string }
  /** Its last run is over. */
  | { readonly code: 'finished'; readonly job: string }
  | { readonly code: 'schedule-refused'; readonly reason: ScheduleRefusal; readonly queue: string }
  /** A run was due; `held`: its REQUEST is waiting for a broker. */
  | { readonly code: 'fired'; readonly job: string; readonly queue: string; readonly held: boolean }
  /** Invalid header items were ignored. */
  | { readonly code: 'headers-invalid'; readonly job: string; readonly items: number }
  /** The cron expression of a stored job is no longer valid; the job stays in the store and does not run. */
  | { readonly code: 'cron-unknown'; readonly job: string; readonly cron: string }
  /** A write failed. Jobs continue to run; new ones are rejected. Once per cause and minute. */
  | { readonly code: 'store-failed'; readonly error: string }
  /** Writes succeed again, after a reported failure. */
  | { readonly code: 'store-recovered' }
  | { readonly code: 'message-dropped'; readonly reason: SchedulerDropReason };

/** The engine's effects, in order. */
export type SchedulerEffect =
  /** `identity`: the routing id, in printable ASCII. */
  | { readonly kind: 'open'; readonly socket: number; readonly endpoint: string; readonly identity: string }
  | { readonly kind: 'send'; readonly socket: number; readonly command: EmqpFromScheduler }
  /** `flush`: first send what is queued, within `lingerMs`; otherwise nothing more is sent. */
  | { readonly kind: 'close'; readonly socket: number; readonly flush: boolean }
  /** Atomic; `stored` must follow, in the order of the writes. */
  | { readonly kind: 'store'; readonly write: number; readonly changes: readonly ScheduleChange[] }
  | { readonly kind: 'note'; readonly note: SchedulerNote }
  /** The engine has ended and ignores further events. */
  | { readonly kind: 'ended' };

/** Counters since construction and current gauges. */
export interface EmqpSchedulerStats {
  /** Gauge: scheduled jobs. */
  readonly jobs: number;
  /** Gauge: bytes of their bodies. */
  readonly jobsBytes: number;
  /** Gauge: runs waiting for a broker. */
  readonly held: number;
  /** Gauge: pending writes. */
  readonly writing: number;
  /** Gauge: true between the ACK of a broker and the loss of its connection. */
  readonly registered: boolean;
  /** Gauge: false after a failed write, until one succeeds. */
  readonly storeHealthy: boolean;
  /** REQUESTs sent to a broker. */
  readonly fired: number;
  /** Runs that were due while the previous one waited for a broker or the disk. */
  readonly skipped: number;
  readonly scheduled: number;
  readonly replaced: number;
  readonly unscheduled: number;
  /** UNSCHEDULE of unknown jobs. */
  readonly unknown: number;
  /** Jobs whose last run is over. */
  readonly finished: number;
  /** REQUESTs accepted by a broker. */
  readonly accepted: number;
  /** Results of jobs; their contents are ignored. */
  readonly results: number;
  /** Brokers that acknowledged INFORM. */
  readonly conversations: number;
  readonly refused: Readonly<Partial<Record<ScheduleRefusal, number>>>;
  readonly lost: Readonly<Partial<Record<SchedulerLoss, number>>>;
  readonly dropped: Readonly<Partial<Record<SchedulerDropReason, number>>>;
}
