/** NFP client: a job as its caller sees it, with the results and events that have come. */
import { totalBytes } from '@proj/frames';
import type { NfpBody } from '@proj/frames/nfp';
import { BoundedBuffer, toBuffers } from '@proj/transport';
import type { TracedCall } from '@proj/transport/tracing';
import { isRecord } from './engine/answers.js';
import type { NfpJobResult, NfpJobResults } from './results.js';

/** What a worker says while a job runs. */
export interface NfpJobEvent {
  readonly worker: string | undefined;
  readonly message: string | undefined;
  /** Such as `running` or `completed`. */
  readonly status: string | undefined;
  /** `INFO`, `DEBUG`, `WARNING`, `CRITICAL` or `ERROR`. */
  readonly severity: string | undefined;
  /** The JSON of the body; `undefined` if it is none. */
  readonly value: unknown;
  /** The body as it came. */
  readonly body: readonly Buffer[];
}

/** A job that was given to a broker. */
export interface NfpJob {
  readonly uuid: string;
  readonly service: string;
  readonly task: string;
  /** The workers that have it, as far as is known now. */
  readonly workers: readonly string[];
  /** Resolves with the workers when the broker has named them; rejects as `done` does. May be ignored. */
  readonly dispatched: Promise<readonly string[]>;
  /**
   * Resolves with the workers that have accepted the job, when each worker that it was given to has answered; rejects as `done` does. Why one
   * has not is in {@link said}. May be ignored.
   */
  readonly accepted: Promise<readonly string[]>;
  /** Results so far. */
  readonly said: readonly NfpJobResult[];
  /** Events dropped because they were not read in time: `eventsMax` and `eventsMaxBytes` are the bounds. */
  readonly droppedEvents: number;
  /** The last word of each worker, as it comes. May be read several times, each time from the first one on. Throws as `done` rejects. */
  results(): AsyncIterableIterator<NfpJobResult>;
  /** What workers say meanwhile; each event is read once. Ends with the job. */
  events(): AsyncIterableIterator<NfpJobEvent>;
  /**
   * All results, once they are complete. Workers that failed, or did not answer in time, are among them. Rejects with a `ProjError` if there is
   * nothing to say about any worker: `REJECTED` by the broker, `TIMEOUT`, `CLOSED`, `UNREACHABLE`; or with the reason of its signal.
   */
  done(): Promise<NfpJobResults>;
}

/** Bounds of the events that wait to be read. */
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

/** The other side of an {@link NfpJob}: what the client tells it. Nothing may be told after `end` or `fail`. */
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
  /** Workers that it was given to and that have not answered yet. */
  readonly #mute = new Set<string>();
  #over = false;
  #failure: { readonly error: unknown } | undefined;
  /** Takes the chunks that workers stream. */
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

  /** True once it has its outcome. */
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

  /** These workers have it. */
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

  /** An event. The oldest unread ones give way to it. */
  event(body: NfpBody, value: unknown): void {
    this.trace?.event('job event');
    this.#dropped += this.#events.displace(eventOf(body, value), totalBytes(body));
  }

  /** All workers have said their last word. */
  end(): void {
    this.#close();
  }

  /** It will have no further result. Does nothing when it is over. */
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

/** Reads an event of a worker; missing fields are `undefined`. Never throws. */
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
