/** The operator's view of a server, in the same words for every protocol. A facade's `stats({ detail: true })` returns it. Types only. */
import type { HistogramSnapshot } from './histogram.js';

/** The state of a service, queue or job type: whatever the protocol addresses requests to. */
export interface ServiceSnapshot {
  readonly name: string;
  /** Requests accepted since the start. */
  readonly requests: number;
  /** Requests that ended since the start, by outcome: `ok`, or the reason, such as `expired`. */
  readonly outcomes: Readonly<Record<string, number>>;
  /** Times a request was sent to another worker because the first was lost. */
  readonly resends: number;
  /** Requests waiting for a worker now. */
  readonly waiting: number;
  /** How long the oldest of them has waited, in milliseconds; 0 if none is waiting. */
  readonly oldestWaitingMs: number;
  /** Requests being processed by workers now. */
  readonly running: number;
  /** Workers registered for it now. */
  readonly workers: number;
  /** Paused by an operator: workers get none of its requests. */
  readonly isPaused?: true;
  /** A separate service for the dead letters of a queue: it may have no workers, and is neither paused nor purged. */
  readonly isDead?: true;
  /** Time from acceptance to dispatch. */
  readonly waitMs: HistogramSnapshot;
  /** Time from dispatch to the end, at the worker. */
  readonly workMs: HistogramSnapshot;
}

/** The state of a registered worker, job manager, scheduler or consumer. */
export interface WorkerSnapshot {
  /** Its name if the protocol has one, otherwise its routing id: as text if printable, otherwise in hex. */
  readonly id: string;
  /** What it serves. */
  readonly services: readonly string[];
  readonly state: 'idle' | 'busy' | 'away';
  /** Time in this state, in milliseconds. */
  readonly stateMs: number;
  /** Time since its last message, in milliseconds. */
  readonly silentMs: number;
  /** Requests it has now. */
  readonly running: number;
  /** Requests it has finished. */
  readonly done: number;
  /** Resends it has caused. */
  readonly resends: number;
  /** Its dropped messages, by reason, as for clients. */
  readonly refused: Readonly<Record<string, number>>;
  /** Public key of its connection (CURVE, Z85), if the transport knows it. */
  readonly key?: string | undefined;
}

/** The state of a client or producer with open requests, or of any other peer with rejected messages. */
export interface ClientSnapshot {
  /** As for workers; for a peer refused at the handshake, its key or address. */
  readonly id: string;
  /** Requests accepted and still open. */
  readonly open: number;
  /** Its dropped or rejected messages, by reason. Bounded: a server remembers the peers with most rejections. */
  readonly refused: Readonly<Record<string, number>>;
  readonly key?: string | undefined;
}

/** The state of a scheduled job. */
export interface JobSnapshot {
  readonly id: string;
  /** Its job type: the service that runs it. */
  readonly service: string;
  /** When it fires, in readable form: a cron expression, or an interval. */
  readonly schedule: string;
  /** Milliseconds until it next fires; absent if it will not. */
  readonly nextMs?: number | undefined;
  /** Times it has fired. */
  readonly fired: number;
  /** Its last outcome; absent before the first run. */
  readonly result?: string | undefined;
  /** How long ago that was, in milliseconds. */
  readonly resultMs?: number | undefined;
}

/** The state of a server. Plain immutable data. Taking it costs time linear in what it lists. */
export interface ServerSnapshot {
  /** In lower case, such as `mdp`; or `scheduler`. */
  readonly protocol: string;
  /** Totals since the start, by name, except those in {@link dropped}. */
  readonly counters: Readonly<Record<string, number>>;
  /** Messages, requests and replies dropped since the start, by reason. */
  readonly dropped: Readonly<Record<string, number>>;
  /** Current sizes, by name, such as `messages` or `storeBytes` of a queue. */
  readonly gauges: Readonly<Record<string, number>>;
  /** A scheduler lists at most 1000 types of jobs; the rest is combined as `other`. */
  readonly services: readonly ServiceSnapshot[];
  readonly workers: readonly WorkerSnapshot[];
  readonly clients: readonly ClientSnapshot[];
  /** Connections refused at the handshake, by reason. */
  readonly refused: Readonly<Record<string, number>>;
  /** At most 1000, the next to fire first; gauge `jobs` is the total. Absent if nothing can be scheduled. */
  readonly jobs?: readonly JobSnapshot[] | undefined;
  /** Duration of the store's commits; absent without a store. */
  readonly commitMs?: HistogramSnapshot | undefined;
}

/** The engine's part; its host knows the rest. */
export type EngineSnapshot = Omit<ServerSnapshot, 'refused'>;
