/** What a program shows over HTTP: one JSON document and, every second, the changed rows. The page and `proj top` use the same types. */

/** Durations of the last minute, in milliseconds. */
export interface LatencyRow {
  readonly count: number;
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
}

/** A service, queue or job type. Key in the model: `PROTOCOL/NAME`. */
export interface ServiceRow {
  readonly protocol: string;
  readonly name: string;
  /** Since the start. */
  readonly requests: number;
  /** Since the start, by outcome; `ok` is success. */
  readonly outcomes: Readonly<Record<string, number>>;
  readonly resends: number;
  /** Per second, over the last ten seconds. */
  readonly rate: number;
  readonly waiting: number;
  readonly oldestWaitingMs: number;
  readonly running: number;
  readonly workers: number;
  /** Paused by an operator. */
  readonly isPaused?: true;
  /** Its requests are the dead letters of a queue. */
  readonly isDead?: true;
  readonly wait: LatencyRow;
  readonly work: LatencyRow;
}

/** A worker, job manager, scheduler or consumer. Key: `PROTOCOL/ID`. */
export interface WorkerRow {
  readonly protocol: string;
  readonly id: string;
  readonly services: readonly string[];
  readonly state: 'idle' | 'busy' | 'away';
  /** Wall-clock milliseconds since 1970. Moments instead of durations, so that a row does not change by aging. */
  readonly stateSince: number;
  readonly lastHeard: number;
  readonly running: number;
  readonly done: number;
  readonly resends: number;
  /** Its dropped messages since the start, by reason. */
  readonly refused: Readonly<Record<string, number>>;
  readonly key?: string;
}

/** A client or producer. Key: `PROTOCOL/ID`. */
export interface ClientRow {
  readonly protocol: string;
  readonly id: string;
  readonly open: number;
  /** Since the start, by reason. */
  readonly refused: Readonly<Record<string, number>>;
  readonly key?: string;
}

/** Figures of one protocol's server, unprocessed. Key: `PROTOCOL`. */
export interface ServerRow {
  readonly protocol: string;
  readonly endpoints: Readonly<Record<string, string>>;
  readonly counters: Readonly<Record<string, number>>;
  readonly dropped: Readonly<Record<string, number>>;
  readonly gauges: Readonly<Record<string, number>>;
  /** Connections refused at the handshake, since the start, by reason. */
  readonly refused: Readonly<Record<string, number>>;
  /** Duration of its store's commits; only for a server with a store. */
  readonly commit?: LatencyRow;
  /** The actions that it supports. */
  readonly actions: readonly ServerAction[];
}

/** A dead letter of a PZQ queue. Key: its id. The body comes from `/api/dead/ID`. */
export interface DeadLetterRow {
  readonly id: string;
  readonly reason: string;
  readonly attempts: number;
  readonly bytes: number;
  /** Wall-clock milliseconds since 1970 when it died. */
  readonly at: number;
}

/** A schedule of a scheduler. Key: its id. */
export interface ScheduleRow {
  readonly id: string;
  /** A cron expression, or an interval such as `every 10 s`. */
  readonly when: string;
  /** The type of the job it runs, as named among the services. */
  readonly target: string;
  /** Wall-clock milliseconds since 1970; absent if it will not run again. */
  readonly nextAt?: number;
  /** When its last run ended. */
  readonly lastAt?: number;
  /** `ok`, or the reason of the failure. */
  readonly lastOutcome?: string;
  readonly runs: number;
}

/** A fault that the program detects in its own figures, such as a stuck worker. Key: `CODE/SUBJECT`. */
export interface FaultRow {
  readonly code: 'slow-worker' | 'stuck-worker' | 'flooding-client' | 'service-without-workers' | 'disk-full';
  /** The row at fault, as a path of the page: `/workers/mdp/ID`. */
  readonly href: string;
  /** One sentence: what, where, since when, what to do. */
  readonly text: string;
  /** Wall-clock milliseconds since 1970. */
  readonly since: number;
}

/** A note of an engine, or a refused handshake. */
export interface NoteRow {
  /** Increases by one with each note. */
  readonly id: number;
  readonly at: number;
  readonly protocol: string;
  readonly code: string;
  readonly reason?: string;
  /** The peer it is about: id of a worker or client. */
  readonly peer?: string;
  readonly text: string;
}

/** One point of the plots, once a second; the server keeps 900. */
export interface HistoryPoint {
  /** Wall-clock seconds since 1970. */
  readonly at: number;
  /** Requests that ended in this second: all, and failed ones. */
  readonly ended: number;
  readonly failed: number;
  /** For requests that ended in the last ten seconds: waiting plus working time. */
  readonly p50: number;
  readonly p99: number;
  readonly waiting: number;
  readonly running: number;
  /** Ready, in flight and dead messages of a queue. */
  readonly ready: number;
  readonly inFlight: number;
  readonly dead: number;
  /** Share of the second in which the event loop was busy, 0 to 1. */
  readonly busy: number;
  readonly rssBytes: number;
}

/** The process itself. */
export interface ProcessRow {
  readonly name: string;
  readonly version: string;
  readonly pid: number;
  readonly startedAt: number;
  readonly isDraining: boolean;
  /** Whether actions are possible: a token file was given. */
  readonly hasActions: boolean;
  readonly memoryMaxBytes: number;
  readonly memoryHeldBytes: number;
}

/** The whole model. */
export interface Model {
  readonly process: ProcessRow;
  readonly servers: Readonly<Record<string, ServerRow>>;
  readonly services: Readonly<Record<string, ServiceRow>>;
  readonly workers: Readonly<Record<string, WorkerRow>>;
  readonly clients: Readonly<Record<string, ClientRow>>;
  readonly deadLetters: Readonly<Record<string, DeadLetterRow>>;
  /** Only in programs with a scheduler. */
  readonly schedules?: Readonly<Record<string, ScheduleRow>>;
  readonly faults: Readonly<Record<string, FaultRow>>;
  /** At most 500: see {@link latestNotes}. */
  readonly notes: readonly NoteRow[];
  /** The latest 900 seconds. */
  readonly history: readonly HistoryPoint[];
}

/** Changed rows; `null` for removed rows. */
type Changed<Rows> = { readonly [Key in keyof Rows]?: Rows[Key] | null };

/** The changes of a second: event `delta` of `/api/events`, whose first event is `model`, the whole model. */
export interface Delta {
  readonly process?: ProcessRow;
  readonly servers?: Changed<Model['servers']>;
  readonly services?: Changed<Model['services']>;
  readonly workers?: Changed<Model['workers']>;
  readonly clients?: Changed<Model['clients']>;
  readonly deadLetters?: Changed<Model['deadLetters']>;
  readonly schedules?: Changed<NonNullable<Model['schedules']>>;
  readonly faults?: Changed<Model['faults']>;
  /** The new ones. */
  readonly notes?: readonly NoteRow[];
  /** The new point. */
  readonly point: HistoryPoint;
}

/** An action: `POST /api/actions` with this as JSON, and `Authorization: Bearer TOKEN`. */
export type Action =
  | { readonly action: 'drain-worker' | 'disconnect-worker'; readonly protocol: string; readonly id: string }
  | { readonly action: 'drain-service'; readonly protocol: string; readonly name: string }
  | { readonly action: 'pause' | 'resume'; readonly protocol: string; readonly name: string }
  | { readonly action: 'requeue-dead' | 'discard-dead'; readonly ids: readonly string[] | 'all' }
  /** `confirm` repeats the name of the queue. */
  | { readonly action: 'purge'; readonly protocol: string; readonly name: string; readonly confirm: string }
  | { readonly action: 'drain-process' };

/** An action on one server. */
export type ServerAction = Exclude<Action['action'], 'drain-process'>;

/** The answer: how many items it affected, or why none. */
export interface ActionResult {
  readonly ok: boolean;
  readonly count: number;
  readonly text: string;
}

/** Outcomes that were requested, not failures. */
const WANTED: ReadonlySet<string> = new Set([
  'ok',
  'deduplicated',
  'purged',
  'moved',
  'skipped',
  'unscheduled',
  'cancelled',
]);

/** Requests that failed. */
export function failures({ outcomes }: Pick<ServiceRow, 'outcomes'>): number {
  let failed = 0;
  for (const outcome in outcomes) if (!WANTED.has(outcome)) failed += outcomes[outcome] ?? 0;
  return failed;
}

/** Adds up the values of a record. */
export function totalOf(counts: Readonly<Record<string, number>>): number {
  let total = 0;
  for (const key in counts) total += counts[key] ?? 0;
  return total;
}

/** Notes in a model. */
const NOTES_MAX = 500;

/**
 * `notes` with `added` behind them. Those beyond 500 are taken from the kind that has most, the oldest first: however often
 * peers cause one kind of note, rare notes are kept. A kind is a reason of one code and protocol.
 */
export function latestNotes(notes: readonly NoteRow[], added: readonly NoteRow[]): readonly NoteRow[] {
  if (added.length === 0) return notes;
  const all = [...notes, ...added];
  if (all.length <= NOTES_MAX) return all;
  const kinds = new Map<string, NoteRow[]>();
  for (const note of all) {
    const name = `${note.protocol} ${note.code} ${note.reason ?? ''}`;
    const kind = kinds.get(name);
    if (kind === undefined) kinds.set(name, [note]);
    else kind.push(note);
  }
  const kept = new Set(all);
  while (kept.size > NOTES_MAX) {
    let largest: NoteRow[] = [];
    for (const kind of kinds.values()) if (kind.length > largest.length) largest = kind;
    kept.delete(largest.shift() as NoteRow);
  }
  return [...kept];
}
