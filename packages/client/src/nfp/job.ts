/** NFP client: a job as its caller sees it, with what has come and was not read yet. */
import { totalBytes } from '@proj/frames';
import type { NfpBody } from '@proj/frames/nfp';
import { toBuffers } from '@proj/transport';
import { isRecord } from './engine/answers.js';
import type { NfpJobResult, NfpJobResults } from './results.js';

/** What a worker tells while a job runs. */
export interface NfpJobEvent {
  readonly worker: string | undefined;
  readonly message: string | undefined;
  /** Such as `running` or `completed`. */
  readonly status: string | undefined;
  /** `INFO`, `DEBUG`, `WARNING`, `CRITICAL` or `ERROR`. */
  readonly severity: string | undefined;
  /** The JSON of the body, `undefined` when it is none. */
  readonly value: unknown;
  /** The body as it came. */
  readonly body: readonly Buffer[];
}

/** A job that was given to a broker. */
export interface NfpJob {
  readonly uuid: string;
  readonly service: string;
  readonly task: string;
  /** Those that have it, as far as is known now. */
  readonly workers: readonly string[];
  /** Resolves with the workers when the broker has named them; rejects as `done` does. Nobody need listen. */
  readonly dispatched: Promise<readonly string[]>;
  /**
   * Resolves with the workers that have taken the job, when each of those it was given to has said whether it has; rejects as `done` does. Why one has
   * not is among its last words, {@link said}. Nobody need listen.
   */
  readonly accepted: Promise<readonly string[]>;
  /** Results so far. */
  readonly said: readonly NfpJobResult[];
  /** Events that nobody read in time: `eventsMax` and `eventsMaxBytes` are the bounds. */
  readonly droppedEvents: number;
  /** What each worker says in the end, as it comes. May be read by several, each from the first one on. Throws as `done` rejects. */
  results(): AsyncIterableIterator<NfpJobResult>;
  /** What workers tell meanwhile; each event is read once. Ends with the job. */
  events(): AsyncIterableIterator<NfpJobEvent>;
  /**
   * All results, when there are all. A worker that failed, or said nothing in time, is among them. Rejects with a `ProjError` when there is
   * nothing to tell of any worker: `REJECTED` by the broker, `TIMEOUT`, `CLOSED`, `UNREACHABLE`; or with the reason of its signal.
   */
  done(): Promise<NfpJobResults>;
}

/** Bounds of what waits to be read. */
export interface EventBounds {
  readonly eventsMax: number;
  readonly eventsMaxBytes: number;
}

const OK = 200;

const ignore = (): void => undefined;

/** A promise that somebody else settles, and nobody need listen to. */
class PostOutcome {
  resolve: (workers: readonly string[]) => void = ignore;
  reject: (error: unknown) => void = ignore;
  readonly promise = new Promise<readonly string[]>((resolve, reject) => {
    this.resolve = resolve;
    this.reject = reject;
  });

  constructor() {
    this.promise.catch(ignore);
  }
}

/** The other side of an {@link NfpJob}: what the client tells it. Nothing may be told after `end` or `fail`. */
export class OpenJob implements NfpJob {
  readonly uuid: string;
  readonly service: string;
  readonly task: string;
  readonly #bounds: EventBounds;
  readonly #results: NfpJobResult[] = [];
  readonly #events: NfpJobEvent[] = [];
  readonly #wake = new Set<() => void>();
  #eventBytes = 0;
  #dropped = 0;
  readonly #dispatched = new PostOutcome();
  readonly #accepted = new PostOutcome();
  #workers = new Set<string>();
  readonly #takers = new Set<string>();
  /** Workers it was given to that have said nothing yet. */
  readonly #mute = new Set<string>();
  #over = false;
  #failure: { readonly error: unknown } | undefined;
  /** Takes what workers stream. */
  onStream: ((chunk: Buffer[]) => void) | undefined;
  /** Stops listening to the caller's signal. */
  release: () => void = ignore;

  constructor({ uuid, service, task }: Pick<NfpJob, 'uuid' | 'service' | 'task'>, bounds: EventBounds) {
    this.uuid = uuid;
    this.service = service;
    this.task = task;
    this.#bounds = bounds;
  }

  get workers(): readonly string[] {
    return [...this.#workers];
  }

  get dispatched(): Promise<readonly string[]> {
    return this.#dispatched.promise;
  }

  get accepted(): Promise<readonly string[]> {
    return this.#accepted.promise;
  }

  get droppedEvents(): number {
    return this.#dropped;
  }

  get said(): readonly NfpJobResult[] {
    return this.#results;
  }

  /** It has its outcome. */
  get over(): boolean {
    return this.#over;
  }

  async *results(): AsyncIterableIterator<NfpJobResult> {
    for (let index = 0; ; index++) {
      while (index >= this.#results.length && !this.#over) await this.#news();
      const result = this.#results[index];
      if (result !== undefined) yield result;
      else if (this.#failure !== undefined) throw this.#failure.error;
      else return;
    }
  }

  async *events(): AsyncIterableIterator<NfpJobEvent> {
    for (;;) {
      while (this.#events.length === 0 && !this.#over) await this.#news();
      const event = this.#events.shift();
      if (event === undefined) return;
      this.#eventBytes -= totalBytes(event.body);
      yield event;
    }
  }

  async done(): Promise<NfpJobResults> {
    while (!this.#over) await this.#news();
    if (this.#failure !== undefined) throw this.#failure.error;
    return Object.fromEntries(this.#results.map((result) => [result.worker, result]));
  }

  /** Tells who has it. */
  given(workers: readonly string[]): void {
    this.#workers = new Set(workers);
    this.#mute.clear();
    for (const worker of workers) this.#mute.add(worker);
    for (const worker of this.#takers) this.#mute.delete(worker);
    for (const { worker } of this.#results) this.#mute.delete(worker);
    this.#dispatched.resolve(workers);
  }

  /** Tells that a worker has taken it. */
  taken(worker: string): void {
    this.#takers.add(worker);
    this.#heard(worker);
  }

  /** Tells the last word of one worker. */
  result(result: NfpJobResult): void {
    const { worker, status } = result;
    this.#results.push(result);
    if (status === OK) this.#takers.add(worker);
    this.#heard(worker);
    this.#call();
  }

  /** Tells an event. The oldest that nobody has read gives way. */
  event(body: NfpBody, value: unknown): void {
    const { eventsMax, eventsMaxBytes } = this.#bounds;
    const bytes = totalBytes(body);
    while (this.#events.length > 0 && (this.#events.length >= eventsMax || this.#eventBytes + bytes > eventsMaxBytes)) {
      this.#eventBytes -= totalBytes((this.#events.shift() as NfpJobEvent).body);
      this.#dropped++;
    }
    this.#eventBytes += bytes;
    this.#events.push(eventOf(body, value));
    this.#call();
  }

  /** All workers have said their last word. */
  end(): void {
    this.#close();
  }

  /** It will have no further result. Does nothing when it is over. */
  fail(error: unknown): void {
    if (this.#over) return;
    this.#failure = { error };
    this.#dispatched.reject(error);
    this.#accepted.reject(error);
    this.#close();
  }

  #heard(worker: string): void {
    this.#workers.add(worker);
    this.#mute.delete(worker);
    if (this.#mute.size === 0) this.#accepted.resolve([...this.#takers]);
  }

  #close(): void {
    this.#over = true;
    this.release();
    this.#dispatched.resolve(this.workers);
    this.#accepted.resolve([...this.#takers]);
    this.#call();
  }

  #news(): Promise<void> {
    return new Promise((resolve) => this.#wake.add(resolve));
  }

  #call(): void {
    for (const wake of this.#wake) wake();
    this.#wake.clear();
  }
}

/** Reads an event of a worker; whatever it does not say is `undefined`. Never throws. */
export function eventOf(body: NfpBody, value: unknown): NfpJobEvent {
  const of = isRecord(value) ? value : {};
  const text = (name: string): string | undefined => (typeof of[name] === 'string' ? of[name] : undefined);
  return {
    worker: text('worker'),
    message: text('message'),
    status: text('status'),
    severity: text('severity'),
    value,
    body: toBuffers(body),
  };
}
