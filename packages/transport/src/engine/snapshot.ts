/** What an operator sees of a server, in the same words for every protocol. `stats({ detail: true })` of a facade returns it. Types only. */
import type { HistogramSnapshot } from './histogram.js';

/** A service, queue or job type at one moment: whatever the protocol calls what requests are addressed to. */
export interface ServiceSnapshot {
  readonly name: string;
  /** Requests accepted since the start. */
  readonly requests: number;
  /** How requests ended since the start, by outcome: `ok`, or why not, such as `expired`. */
  readonly outcomes: Readonly<Record<string, number>>;
  /** Times a request was given to another worker because the first was lost. */
  readonly resends: number;
  /** Requests that wait for a worker now. */
  readonly waiting: number;
  /** How long the oldest of them has waited, in milliseconds; 0 if none waits. */
  readonly oldestWaitingMs: number;
  /** Requests that workers have now. */
  readonly running: number;
  /** Workers registered for it now. */
  readonly workers: number;
  /** An operator has paused it: workers get nothing of it. */
  readonly isPaused?: true;
  /** Delivers the dead letters of a queue, a service of its own: it may well have no workers, and is neither paused nor purged. */
  readonly isDead?: true;
  /** From acceptance to dispatch. */
  readonly waitMs: HistogramSnapshot;
  /** From dispatch to the end, at the worker. */
  readonly workMs: HistogramSnapshot;
}

/** A registered worker, job manager, scheduler or consumer at one moment. */
export interface WorkerSnapshot {
  /** Its name where the protocol has one, or else its routing id: as text if printable, in hex if not. */
  readonly id: string;
  /** What it serves. */
  readonly services: readonly string[];
  readonly state: 'idle' | 'busy' | 'away';
  /** How long it has been in this state, in milliseconds. */
  readonly stateMs: number;
  /** How long ago it was last heard, in milliseconds. */
  readonly silentMs: number;
  /** Requests it has now. */
  readonly running: number;
  /** Requests it has finished. */
  readonly done: number;
  /** Resends it has caused. */
  readonly resends: number;
  /** Messages of it that were dropped, by reason, as for clients. */
  readonly refused: Readonly<Record<string, number>>;
  /** Public key of its connection (CURVE, Z85), where the transport knows it. */
  readonly key?: string | undefined;
}

/** A client or producer with open requests, or any other peer of which something was refused, at one moment. */
export interface ClientSnapshot {
  /** As for workers; of a peer that was refused at its handshake, its key or address. */
  readonly id: string;
  /** Requests accepted and not ended. */
  readonly open: number;
  /** Messages of it that were dropped or refused, by reason. Bounded: a server remembers those who were refused most. */
  readonly refused: Readonly<Record<string, number>>;
  readonly key?: string | undefined;
}

/** A scheduled job at one moment. */
export interface JobSnapshot {
  readonly id: string;
  /** Its job type: the service that runs it. */
  readonly service: string;
  /** When it fires, for people: a cron expression, or an interval. */
  readonly schedule: string;
  /** Milliseconds until it fires next; absent if it does not. */
  readonly nextMs?: number | undefined;
  /** Times it has fired. */
  readonly fired: number;
  /** How it last ended, in the words of outcomes; absent before. */
  readonly result?: string | undefined;
  /** How long ago that was, in milliseconds. */
  readonly resultMs?: number | undefined;
}

/** A server at one moment. Plain data; nothing in it changes afterwards. Taking it costs time linear in what it lists. */
export interface ServerSnapshot {
  /** `mdp`, `ppp`, `nfp`, `emqp`, `pzq` or `scheduler`. */
  readonly protocol: string;
  /** Totals since the start, by name; those that {@link dropped} tells are not repeated. */
  readonly counters: Readonly<Record<string, number>>;
  /** Messages, requests and replies dropped since the start, by reason. */
  readonly dropped: Readonly<Record<string, number>>;
  /** Sizes now, by name, such as `messages` or `storeBytes` of a queue. */
  readonly gauges: Readonly<Record<string, number>>;
  /** A scheduler lists at most 1000 types of jobs; further ones together as `other`. */
  readonly services: readonly ServiceSnapshot[];
  readonly workers: readonly WorkerSnapshot[];
  readonly clients: readonly ClientSnapshot[];
  /** Connections refused at the handshake, by reason. */
  readonly refused: Readonly<Record<string, number>>;
  /** At most 1000, those that fire next first if there are more; gauge `jobs` tells how many. Absent where nothing is scheduled. */
  readonly jobs?: readonly JobSnapshot[] | undefined;
  /** How long commits of the store took; absent without one. */
  readonly commitMs?: HistogramSnapshot | undefined;
}

/** What an engine knows of it; its host knows the rest. */
export type EngineSnapshot = Omit<ServerSnapshot, 'refused'>;
