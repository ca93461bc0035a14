/** One run of an NFP task: the context that the task gets, and the host's side of the run. */
import { decodeNfpJson } from '@proj/frames/nfp';
import type { HeldFile } from '@proj/files';
import { ProjError, toBuffers } from '@proj/transport';
import type { TracedCall } from '@proj/transport/tracing';
import type { BrokerServices } from './broker-services.js';
import { eventBody } from './engine/jobs/bodies.js';
import type { NfpInputOutcome, NfpRun, NfpWorkerEvent } from './engine/events.js';
import type { NfpWorkerSettings } from './options.js';
import { PutQueue } from './put-queue.js';
import type { NfpEventOptions, NfpInputOptions, NfpTaskContext } from './task.js';

const DAY_MS = 86_400_000;
const INPUT_TIMEOUT_MS = 60_000;

/** The last 100 events of a job are kept with its result, so none may be large. */
const EVENT_MAX_BYTES = 65_536;

/** Number of frames of a STREAM besides its bytes: an address, a uuid and fixed frames. */
const ENVELOPE_BYTES = 1024;

/** What runs need from their worker. */
export interface TaskRunHost {
  readonly settings: Pick<NfpWorkerSettings, 'name' | 'service' | 'putQueueMax' | 'maxMessageBytes'>;
  readonly services: BrokerServices;
  readonly newId: () => string;
  /** Milliseconds since 1970. */
  readonly wallMs: () => number;
  readonly dispatch: (event: NfpWorkerEvent) => void;
  /** Resolves when the next chunk may follow. */
  readonly room: (isOver: () => boolean) => Promise<void>;
}

interface OpenQuestion {
  readonly id: string;
  readonly options: NfpInputOptions;
  resolve(value: unknown): void;
  reject(error: Error): void;
}

/** The context of one run. Rarely used fields are created on first use. */
export class TaskRun implements NfpTaskContext {
  readonly #run: NfpRun;
  readonly #host: TaskRunHost;
  /** Called for each event. */
  trace: TracedCall | undefined;
  #puts: PutQueue | undefined;
  #controller: AbortController | undefined;
  #aborted: Error | undefined;
  #isOver = false;
  #asked: OpenQuestion | undefined;
  #questions: Promise<unknown> = Promise.resolve();
  readonly #files: HeldFile[] = [];
  /** Each ends one wait for a file. */
  readonly #stops = new Set<(reason: Error) => void>();

  constructor(run: NfpRun, host: TaskRunHost) {
    this.#run = run;
    this.#host = host;
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#aborted !== undefined) this.#controller.abort(this.#aborted);
    return this.#controller.signal;
  }

  get puts(): PutQueue {
    return (this.#puts ??= this.#newQueue());
  }

  /** True once the task was told to stop. */
  get isAborted(): boolean {
    return this.#aborted !== undefined;
  }

  readonly progress: NfpTaskContext['progress'] = (message, options) => {
    this.event(message, { ...options, type: 'progress' });
  };

  readonly event: NfpTaskContext['event'] = (message, options = {}) => {
    const { run } = this.#run;
    this.trace?.event('job event', { message });
    if (!this.#isOver) this.#host.dispatch({ kind: 'event', run, body: this.#eventBody(message, options) });
  };

  readonly stream: NfpTaskContext['stream'] = async (chunk) => {
    this.#throwIfAborted();
    if (this.#isOver) throw new ProjError('PROTOCOL_LOCAL', 'stream: the task has already ended');
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
    const max = this.#host.settings.maxMessageBytes - ENVELOPE_BYTES;
    if (bytes.length > max)
      throw new ProjError('PROTOCOL_LOCAL', `stream chunk of ${bytes.length} bytes: the limit is ${max}`);
    this.#host.dispatch({ kind: 'stream', run: this.#run.run, chunk: bytes });
    await this.#host.room(() => this.#isOver || this.isAborted);
    this.#throwIfAborted();
  };

  readonly requestInput: NfpTaskContext['requestInput'] = (question, options = {}) => {
    const answer = this.#questions.then(() => this.#ask(question, options));
    this.#questions = answer.catch(() => undefined);
    return answer;
  };

  readonly inventory: NfpTaskContext['inventory'] = () => this.#host.services.inventory();

  readonly fetch: NfpTaskContext['fetch'] = async (url) => {
    this.#throwIfAborted();
    const file = await this.#unlessAborted(this.#host.services.fetch(url));
    return file.path;
  };

  /** Adds a client's PUT. False if it was dropped. */
  put(body: readonly Uint8Array[]): boolean {
    return this.puts.push({ value: decodeNfpJson(body), body: toBuffers(body) });
  }

  settle(id: string, outcome: NfpInputOutcome): void {
    const asked = this.#asked;
    if (asked?.id !== id) return;
    this.#asked = undefined;
    if (outcome.kind === 'answered') asked.resolve(outcome.value);
    else if (outcome.kind === 'refused') asked.reject(new ProjError('REJECTED', 'input: the client does not answer'));
    else if ('default' in asked.options) asked.resolve(asked.options.default);
    else asked.reject(new ProjError('TIMEOUT', `input: no answer within ${timeoutOf(asked.options)} ms`));
  }

  abort(reason: Error): void {
    this.#aborted = reason;
    this.#controller?.abort(reason);
    for (const stop of this.#stops) stop(reason);
    this.#puts?.end();
    this.#asked?.reject(reason);
    this.#asked = undefined;
  }

  end(): void {
    this.#isOver = true;
    this.#puts?.end();
    this.#asked?.reject(new ProjError('CLOSED', 'input: the task has ended'));
    this.#asked = undefined;
    for (const file of this.#files.splice(0)) file.release();
  }

  /** Holds the file until the task ends; stops waiting for it when the task is told to stop. */
  async #unlessAborted(fetching: Promise<HeldFile>): Promise<HeldFile> {
    const held = fetching.then((file) => {
      if (this.#isOver) file.release();
      else this.#files.push(file);
      return file;
    });
    let stop: (reason: Error) => void = () => undefined;
    const stopped = new Promise<never>((_, reject) => {
      stop = reject;
    });
    this.#stops.add(stop);
    try {
      return await Promise.race([held, stopped]);
    } finally {
      this.#stops.delete(stop);
    }
  }

  #newQueue(): PutQueue {
    const queue = new PutQueue(this.#host.settings.putQueueMax);
    if (this.#isOver || this.isAborted) queue.end();
    return queue;
  }

  #eventBody(message: string, options: NfpEventOptions): readonly Uint8Array[] {
    const { type, severity = 'INFO', status = 'running', resource, extras } = options;
    const { uuid, task } = this.#run;
    const text = { uuid, task, message, type, severity, status, resource, extras };
    let body: readonly Uint8Array[];
    try {
      body = eventBody(this.#host.settings, text, this.#host.wallMs());
    } catch (cause) {
      throw new ProjError('PROTOCOL_LOCAL', `event ${JSON.stringify(message)}: extras must be JSON`, { cause });
    }
    const bytes = (body[0] as Uint8Array).length;
    if (bytes > EVENT_MAX_BYTES)
      throw new ProjError('PROTOCOL_LOCAL', `event of ${bytes} bytes: the limit is ${EVENT_MAX_BYTES}`);
    return body;
  }

  #ask(question: string, options: NfpInputOptions): Promise<unknown> {
    this.#throwIfAborted();
    if (this.#isOver) throw new ProjError('PROTOCOL_LOCAL', 'input: the task has already ended');
    const timeoutMs = timeoutOf(options);
    const { metadata = {} } = options;
    assertJson(question, [options.default, metadata]);
    const id = this.#host.newId();
    return new Promise((resolve, reject) => {
      this.#asked = { id, options, resolve, reject };
      const asked = { id, question, default: options.default ?? null, timeoutMs, metadata };
      this.#host.dispatch({ kind: 'ask', run: this.#run.run, question: asked });
    });
  }

  #throwIfAborted(): void {
    if (this.#aborted !== undefined) throw this.#aborted;
  }
}

function timeoutOf({ timeoutMs = INPUT_TIMEOUT_MS }: NfpInputOptions): number {
  if (timeoutMs >= 1 && timeoutMs <= DAY_MS) return timeoutMs;
  throw new ProjError('OPTIONS_INVALID', `input: timeoutMs = ${timeoutMs}: must be from 1 to ${DAY_MS}`);
}

function assertJson(question: string, values: unknown): void {
  let bytes: number;
  try {
    bytes = JSON.stringify([question, values]).length;
  } catch (cause) {
    throw new ProjError('PROTOCOL_LOCAL', `input ${JSON.stringify(question)}: must be JSON`, { cause });
  }
  if (bytes > EVENT_MAX_BYTES / 4)
    throw new ProjError('PROTOCOL_LOCAL', `input: a question of ${bytes} characters is too long`);
}
