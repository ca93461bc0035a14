/** NFP client: a job from its caller's side, with the results and events so far. */
import { totalBytes } from '@proj/frames';
import type { NfpBody } from '@proj/frames/nfp';
import { BoundedBuffer, toBuffers } from '@proj/transport';
import type { TracedCall } from '@proj/transport/tracing';
import { isRecord } from './engine/answers.js';
import type { NfpJobResult, NfpJobResults } from './results.js';

/** What a worker reports while a job runs. */
export interface NfpJobEvent {
  readonly worker: string | undefined;
  readonly message: string | undefined;
  /** For example `running` or `completed`. */
  readonly status: string | undefined;
  /** `INFO`, `DEBUG`, `WARNING`, `CRITICAL` or `ERROR`. */
  readonly severity: string | undefined;
  /** The JSON of the body; `undefined` if it is not JSON. */
  readonly value: unknown;
  /** The raw body. */
  readonly body: readonly Buffer[];
}

/** A job that was posted. */
export interface NfpJob {
  readonly uuid: string;
  readonly service: string;
  readonly task: string;
  /** The workers known to have it so far. */
  readonly workers: readonly string[];
  /** Resolves with the workers when the broker has named them; rejects as `done` does. May be ignored. */
  readonly dispatched: Promise<readonly string[]>;
  /**
   * Resolves with the workers that have accepted the job, once each worker that got it has answered; rejects as `done` does. {@link said}
   * explains why others have not. May be ignored.
   */
  readonly accepted: Promise<readonly string[]>;
  /** Results so far. */
  readonly said: readonly NfpJobResult[];
  /** Events dropped because they were not read in time, limited by `eventsMax` and `eventsMaxBytes`. */
  readonly droppedEvents: number;
  /** The last word of each worker, as it arrives. May be read several times, each time from the first one on. Throws as `done` rejects. */
  results(): AsyncIterableIterator<NfpJobResult>;
  /** What workers report meanwhile; each event is read once. Ends with the job. */
  events(): AsyncIterableIterator<NfpJobEvent>;
  /**
   * All results, once they are complete, including those of workers that failed or did not answer in time. Rejects with a `ProjError` if no
   * worker has an outcome: `REJECTED` by the broker, `TIMEOUT`, `CLOSED`, `UNREACHABLE`; or with its signal's reason.
   */
  done(): Promise<NfpJobResults>;
}

/** Bounds of the unread events. */
export interface EventBounds {
  readonly eventsMax: number;
  readonly eventsMaxBytes: number;
}

const OK = 200;

const ignore = (): void => undefined;

/** A promise that is settled from outside and may be ignored. */
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

/** The client's side of an {@link NfpJob}. Nothing may be reported after `end` or `fail`. */
export class OpenJob implements NfpJob {
  readonly uuid: string;
  readonly service: string;
  readonly task: string;
  readonly #results: NfpJobResult[] = [];
  readonly #events: BoundedBuffer<NfpJobEvent>;
  readonly #wake = new Set<() => void>();
  #dropped = 0;
  readonly #dispatched = new PostOutcome();
  readonly #accepted = new PostOutcome();
  #workers = new Set<string>();
  readonly #takers = new Set<string>();
  /** Workers that got it and have not answered yet. */
  readonly #mute = new Set<string>();
  #over = false;
  #failure: { readonly error: unknown } | undefined;
  /** Receives the chunks that workers stream. */
  onStream: ((chunk: Buffer[]) => void) | undefined;
  /** Stops listening to the caller's signal. */
  release: () => void = ignore;
  /** Ends with the job. */
  trace: TracedCall | undefined;

  constructor(
    { uuid, service, task }: Pick<NfpJob, 'uuid' | 'service' | 'task'>,
    { eventsMax, eventsMaxBytes }: EventBounds,
  ) {
    this.uuid = uuid;
    this.service = service;
    this.task = task;
    this.#events = new BoundedBuffer({ itemsMax: eventsMax, bytesMax: eventsMaxBytes });
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
    for (let next = await this.#events.next(); next.done !== true; next = await this.#events.next()) yield next.value;
  }

  async done(): Promise<NfpJobResults> {
    while (!this.#over) await this.#news();
    if (this.#failure !== undefined) throw this.#failure.error;
    return Object.fromEntries(this.#results.map((result) => [result.worker, result]));
  }

  given(workers: readonly string[]): void {
    this.#workers = new Set(workers);
    this.trace?.event('dispatched', { workers: workers.join(',') });
    this.#mute.clear();
    for (const worker of workers) this.#mute.add(worker);
    for (const worker of this.#takers) this.#mute.delete(worker);
    for (const { worker } of this.#results) this.#mute.delete(worker);
    this.#dispatched.resolve(workers);
  }

  /** A worker has accepted it. */
  taken(worker: string): void {
    this.#takers.add(worker);
    this.#heard(worker);
  }

  /** The last word of one worker. */
  result(result: NfpJobResult): void {
    const { worker, status } = result;
    this.#results.push(result);
    this.trace?.event('result', { worker, status });
    if (status === OK) this.#takers.add(worker);
    this.#heard(worker);
    this.#call();
  }

  /** An event. It displaces the oldest unread ones. */
  event(body: NfpBody, value: unknown): void {
    this.trace?.event('job event');
    this.#dropped += this.#events.displace(eventOf(body, value), totalBytes(body));
  }

  /** All workers have said their last word. */
  end(): void {
    this.#close();
  }

  /** No further results will arrive. No effect if it has ended. */
  fail(error: unknown): void {
    if (this.#over) return;
    this.#failure = { error };
    this.trace?.fail(error);
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
    this.trace?.end();
    this.#events.end();
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

/** Decodes a worker's event; missing fields are `undefined`. Never throws. */
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
