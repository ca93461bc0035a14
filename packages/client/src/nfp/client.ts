/** NFP client, the facade: section "Client" of docs/protocols/nfp.md. Decisions: session.ts. */
import { encodeNfpJson } from '@proj/frames/nfp';
import { Emitter, parseOptions, ProjError, toBuffers, toFrames } from '@proj/transport';
import type { HandshakeRefusal, Transport } from '@proj/transport';
import { onAbort } from '../on-abort.js';
import { isRecord } from './answers.js';
import { fetchFile, listFiles } from './file-transfer.js';
import type { CallLimits, FileClient } from './file-transfer.js';
import type { NfpFetchedFile } from './files.js';
import { JobBook } from './job-book.js';
import type { NfpJobRecord } from './job-book.js';
import { OpenJob } from './job.js';
import type { NfpJob } from './job.js';
import {
  nfpAskOptions,
  nfpCallOptions,
  nfpClientOptions,
  nfpFetchOptions,
  nfpListOptions,
  nfpName,
  nfpPostOptions,
  nfpWorkersCallOptions,
} from './options.js';
import type {
  NfpAskOptions,
  NfpCallOptions,
  NfpClientOptions,
  NfpClientSettings,
  NfpFetchOptions,
  NfpListOptions,
  NfpPostOptions,
  NfpWorkersCallOptions,
} from './options.js';
import { resultOf } from './results.js';
import type { NfpJobResults, NfpWorkerAnswer } from './results.js';
import { NfpRunner } from './runner.js';
import type { NfpNews } from './runner.js';
import { NfpClientSession } from './session.js';
import type { NfpClientFailure, NfpClientNote, NfpClientStats, NfpQuestion, NfpReply } from './session-events.js';

/** Events of an {@link NfpClient}. */
export interface NfpClientEvents {
  /** Something worth a log line or a counter. */
  note: NfpClientNote;
  /** The handshake with a broker has failed, by its key or by ours; it is tried again. */
  refused: HandshakeRefusal;
  /** The store did not keep a change of a job, or an input handler rejected. The job goes on. */
  error: unknown;
}

/** Who asked a question. */
interface Asker {
  readonly subject: string;
  readonly resolve: (replies: readonly NfpReply[]) => void;
  readonly reject: (error: unknown) => void;
}

type Ticket = OpenJob | Asker;

const BROKER_SERVICE = 'mmi.service.broker';
const WORKER_SERVICE = 'mmi.service.worker';
const FILES_SERVICE = 'fss.service.broker';
const INVENTORY_SERVICE = 'sid.service.broker';

/** Tasks that must not reach a second broker when the answer of the first is lost. */
const ACTS = new Set(['restart', 'shutdown', 'disconnect']);

const KEEPALIVE = { interval: 2500, multiplier: 6 };
/** Frames besides the body: header, command, names of 255 bytes, a target. */
const BYTES_BESIDE_BODY = 66_600;

/**
 * Has jobs done by NORFAB workers, and asks the broker about itself.
 *
 * ```ts
 * await using client = new NfpClient({ endpoints: ['tcp://127.0.0.1:5555'] });
 * const results = await client.run('sample', 'add', { args: [2, 3] });
 * for (const { worker, result, failed } of Object.values(results)) console.log(worker, failed, result);
 * ```
 *
 * What fails rejects with a `ProjError`: `REJECTED` (the broker's or a worker's no, in its own words), `TIMEOUT`, `PEER_LOST` (a question that is not
 * asked twice), `QUEUE_FULL` (`openMax`, `openMaxBytes`, or no room in the transport), `UNREACHABLE`, `UNAVAILABLE`, `PROTOCOL_LOCAL`,
 * `PROTOCOL_REMOTE`, `OPTIONS_INVALID`, `CLOSED`, with a store also `CORRUPT` and `WRITE_FAILED`. An aborted call rejects with its signal's reason.
 */
export class NfpClient {
  readonly #settings: NfpClientSettings;
  readonly #events = new Emitter<NfpClientEvents>();
  readonly #session: NfpClientSession<Ticket>;
  readonly #runner: NfpRunner<Ticket>;
  readonly #book: JobBook | undefined;
  readonly #jobs = new Map<string, OpenJob>();
  #starting: Promise<readonly NfpJob[]> | undefined;
  #early = 0;
  #closing: Promise<void> | undefined;

  /** Validates the options and does nothing else. Throws `OPTIONS_INVALID`. */
  constructor(options: NfpClientOptions = {}) {
    const settings = parseOptions('NfpClient', nfpClientOptions, options);
    this.#settings = settings;
    this.#session = new NfpClientSession({
      ...settings,
      openBody: encodeNfpJson({ name: settings.name ?? 'proj', version: '1', keepalive: KEEPALIVE }),
      random: () => this.#transport.entropy.random(),
    });
    this.#runner = new NfpRunner(settings, this.#session, this.#onNews, (refusal) => {
      this.#events.emit('refused', refusal);
    });
    const { store, jobTtlMs } = settings;
    if (store === undefined) return;
    this.#book = new JobBook(store, { jobTtlMs, now: this.#wallMs, onError: this.#report });
  }

  /**
   * Goes on with the jobs of the store that have no outcome, and resolves with them; without a store with none. Every call does this
   * first, so it is only needed by who wants those jobs. Rejects with `UNAVAILABLE`, `CORRUPT` or `CLOSED`, and may be called again then.
   */
  start(): Promise<readonly NfpJob[]> {
    return (this.#starting ??= this.#start().catch((error: unknown) => {
      this.#starting = undefined;
      throw error;
    }));
  }

  /**
   * Has a task done by workers of a service, by all of them unless `target` says otherwise, and resolves with what each of them says
   * in the end; see {@link NfpJob.done} and `nfpResultsOrThrow`.
   */
  async run(service: string, task: string, options: NfpPostOptions = {}): Promise<NfpJobResults> {
    return (await this.post(service, task, options)).done();
  }

  /**
   * The same, without waiting for results: they and events come one by one. Resolves when the job is on record, where there is a store, and on its
   * way; rejects with `OPTIONS_INVALID`, `PROTOCOL_LOCAL`, `WRITE_FAILED` and what {@link start} rejects with. Once it is aborted, DELETE goes to the
   * workers, and the job ends here.
   */
  async post(service: string, task: string, options: NfpPostOptions = {}): Promise<NfpJob> {
    const own = parseOptions('NfpClient post', nfpPostOptions, options);
    parseOptions('NfpClient service', nfpName, service);
    const { kwargs, args, signal, onStream, timeoutMs = this.#settings.timeoutMs } = own;
    const body = this.#bodyOf(subjectOf(service, task), { task, kwargs, args });
    await this.#ready(signal);
    const uuid = own.uuid ?? this.#transport.entropy.uuid().replaceAll('-', '');
    const job = new OpenJob({ uuid, service, task }, this.#settings);
    if (this.#jobs.has(uuid)) throw this.#error(subjectOf(service, task), 'BUSY');
    job.onStream = onStream;
    const { target } = own;
    const postedAt = this.#wallMs();
    await this.#book?.begin({ uuid, service, task, target, kwargs, args, postedAt, deadlineAt: postedAt + timeoutMs });
    this.#follow(job, signal);
    const question = questionOf(task);
    const order = {
      ticket: job,
      uuid,
      service,
      target,
      body,
      question,
      timeoutMs,
      resumed: false,
      workers: [],
      told: [],
    };
    if (!job.over) this.#runner.dispatch({ kind: 'job', order });
    return job;
  }

  /** What workers say about a job, whoever posted it: those that know it. Rejects with `REJECTED` when none does. */
  async get(uuid: string, options: NfpAskOptions = {}): Promise<NfpJobResults> {
    return this.#about('get', uuid, parseOptions('NfpClient get', nfpAskOptions, options));
  }

  /**
   * Has workers cancel a job, or forget its result; resolves with what those say that know it, in `value`: status `CANCELLED`, `CANCELLING` or `DELETED`.
   * NORFAB's own workers say nothing, which is 408.
   */
  async delete(uuid: string, options: NfpAskOptions = {}): Promise<NfpJobResults> {
    return this.#about('delete', uuid, parseOptions('NfpClient delete', nfpAskOptions, options));
  }

  /** Jobs on record, ended ones for `jobTtlMs`. None without a store. */
  async *jobs(): AsyncIterableIterator<NfpJobRecord> {
    if (this.#book === undefined) return;
    await this.start();
    yield* this.#book.all();
  }

  /** The inventory of a worker, or of everything; `null` when the broker has none of that name. */
  inventory(name?: string, options: NfpCallOptions = {}): Promise<unknown> {
    const { kwargs = {}, ...own } = options;
    const named = name === undefined ? kwargs : { ...kwargs, name };
    return this.#askBroker(INVENTORY_SERVICE, 'get_inventory', { ...own, kwargs: named });
  }

  /** A task of the broker's own: `show_broker`, or whatever else it knows. What it does not know it answers with a text. */
  mmi(task: string, options: NfpCallOptions = {}): Promise<unknown> {
    return this.#askBroker(BROKER_SERVICE, task, options);
  }

  /** Endpoint, keepalives and numbers of the broker. */
  showBroker(options: NfpCallOptions = {}): Promise<unknown> {
    return this.mmi('show_broker', options);
  }

  /** Registered workers, of all services or, with `kwargs: { service }`, of one. */
  async showWorkers(options: NfpCallOptions = {}): Promise<readonly Readonly<Record<string, unknown>>[]> {
    return this.#show('show_workers', options);
  }

  /** Clients the broker remembers. Brokers of NORFAB do not know this task: `PROTOCOL_REMOTE`. */
  async showClients(options: NfpCallOptions = {}): Promise<readonly Readonly<Record<string, unknown>>[]> {
    return this.#show('show_clients', options);
  }

  /** Services and how many workers they have. Brokers of NORFAB do not know this task: `PROTOCOL_REMOTE`. */
  async showServices(options: NfpCallOptions = {}): Promise<readonly Readonly<Record<string, unknown>>[]> {
    return this.#show('show_services', options);
  }

  /** A task of the workers' own management, of all workers or of some; NORFAB's have none, and the call times out. */
  async mmiWorkers(task: string, options: NfpWorkersCallOptions = {}): Promise<readonly NfpWorkerAnswer[]> {
    const own = parseOptions('NfpClient mmiWorkers', nfpWorkersCallOptions, options);
    const subject = `task ${JSON.stringify(task)} of the workers`;
    const body = this.#bodyOf(subject, { task, kwargs: own.kwargs, args: own.args });
    await this.#ready(own.signal);
    // By GET: a 202 says who is to answer. The workers are called by MMI all the same.
    const uuid = this.#transport.entropy.uuid().replaceAll('-', '');
    const call = { command: 'get', service: WORKER_SERVICE, target: own.target, uuid, body } as const;
    const replies = await this.#ask(subject, { call, from: 'workers', repeatable: !ACTS.has(task) }, own);
    return replies.map(({ worker, status, value }) => ({ worker, status, value }));
  }

  /** Names in a folder of the broker's, or of a filesharing worker's; with `recursive`, urls of all files below. `REJECTED`: no such folder. */
  async listFiles(url: string, options: NfpListOptions = {}): Promise<readonly string[]> {
    return listFiles(this.#files, url, parseOptions('NfpClient listFiles', nfpListOptions, options));
  }

  /**
   * Brings a file of the broker's, or of a filesharing worker's, into the folder `to`, under the last part of its url. Size and MD5 are asked for
   * first and compared at the end; before that, nothing has that name. Rejects with `REJECTED` (no such file), `PROTOCOL_REMOTE` (not the bytes that were
   * announced) or what the file system says.
   */
  async fetchFile(url: string, options: NfpFetchOptions): Promise<NfpFetchedFile> {
    const settings = parseOptions('NfpClient fetchFile', nfpFetchOptions, options);
    await this.#ready(settings.signal);
    return fetchFile(this.#files, url, this.#transport.entropy.uuid(), settings);
  }

  /**
   * Rejects what has no outcome and later calls with `CLOSED`; jobs in a store stay there as they are. Resolves when the socket is closed, which takes
   * `lingerMs` at most where something was not sent yet. Idempotent.
   */
  close(): Promise<void> {
    return (this.#closing ??= this.#close());
  }

  /** The same as {@link close}. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Adds a listener and returns the function that removes it again. */
  on<Name extends keyof NfpClientEvents>(event: Name, listener: (payload: NfpClientEvents[Name]) => void): () => void {
    return this.#events.on(event, listener);
  }

  /** Counters since construction and gauges of now, as a copy. */
  stats(): NfpClientStats {
    return this.#session.stats;
  }

  get #transport(): Transport {
    return this.#runner.transport as Transport;
  }

  readonly #wallMs = (): number => Math.floor(this.#transport.entropy.wallMicros() / 1000);

  readonly #report = (error: unknown): void => {
    this.#events.emit('error', error);
  };

  async #start(): Promise<readonly NfpJob[]> {
    if (this.#closing !== undefined) throw this.#error('NfpClient', 'CLOSED');
    await this.#runner.load();
    const records = (await this.#book?.open()) ?? [];
    return records.map((record) => this.#resume(record));
  }

  #resume(record: NfpJobRecord): NfpJob {
    const { uuid, service, task, target, kwargs, args, workers, results } = record;
    const job = new OpenJob({ uuid, service, task }, this.#settings);
    if (workers.length > 0) job.given(workers);
    for (const result of results) job.result(result);
    this.#follow(job, undefined);
    const told = results.map(({ worker }) => worker);
    const order = {
      ticket: job,
      uuid,
      service,
      target,
      body: encodeNfpJson({ task, kwargs, args }),
      question: questionOf(task),
      timeoutMs: Math.max(1, record.deadlineAt - this.#wallMs()),
      resumed: true,
      workers: workers.filter((worker) => !told.includes(worker)),
      told,
    };
    this.#runner.dispatch({ kind: 'job', order });
    return job;
  }

  /** Resolves when calls can be made. Rejects where they cannot. */
  async #ready(signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted();
    if (this.#closing !== undefined) throw this.#error('NfpClient', 'CLOSED');
    if (this.#early >= this.#settings.openMax) throw this.#error('NfpClient', 'QUEUE_FULL');
    this.#early++;
    try {
      await this.start();
    } finally {
      this.#early--;
    }
    signal?.throwIfAborted();
    // Who has called close meanwhile has not waited for this.
    if (this.#isClosing()) throw this.#error('NfpClient', 'CLOSED');
  }

  #isClosing(): boolean {
    return this.#closing !== undefined;
  }

  #follow(job: OpenJob, signal: AbortSignal | undefined): void {
    this.#jobs.set(job.uuid, job);
    if (signal === undefined) return;
    const abort = (): void => {
      this.#runner.dispatch({ kind: 'abort', uuid: job.uuid });
      this.#endJob(job, signal.reason, 'aborted');
    };
    if (signal.aborted) abort();
    else job.release = onAbort(signal, abort);
  }

  /** A job that ends without the last word of all its workers. */
  #endJob(job: OpenJob, error: unknown, why: string, state: 'FAILED' | 'STALE' = 'FAILED'): void {
    this.#jobs.delete(job.uuid);
    this.#book?.end(job.uuid, state, [why]);
    job.fail(error);
  }

  async #about(
    command: 'get' | 'delete',
    uuid: string,
    own: CallLimits & { readonly service?: string | undefined; readonly target: string },
  ): Promise<NfpJobResults> {
    parseOptions('NfpClient uuid', nfpName, uuid);
    await this.#ready(own.signal);
    const record = await this.#book?.find(uuid);
    const service = own.service ?? record?.service ?? 'all';
    const { target } = own;
    const subject = `${command} ${uuid}`;
    const call = { command, service, target, uuid, body: questionOf(record?.task ?? '') };
    const replies = await this.#ask(subject, { call, from: 'workers', repeatable: true }, own);
    const known = replies.filter(({ status }) => status !== 404);
    if (known.length === 0)
      throw new ProjError('REJECTED', `${subject}: none of ${replies.length} workers knows the job`);
    return resultsOf(known);
  }

  async #show(task: string, options: NfpCallOptions): Promise<readonly Readonly<Record<string, unknown>>[]> {
    const rows = await this.mmi(task, options);
    if (!Array.isArray(rows) || !rows.every(isRecord))
      throw new ProjError('PROTOCOL_REMOTE', `${task}: the answer is no list: ${JSON.stringify(rows)}`);
    // An empty list is one row without a name.
    return rows.filter(({ name }) => name !== '');
  }

  async #askBroker(service: string, task: string, options: NfpCallOptions): Promise<unknown> {
    const { kwargs, args, ...limits } = parseOptions(`NfpClient ${task}`, nfpCallOptions, options);
    return parse(subjectOf(service, task), await this.#askService(service, { task, kwargs, args }, limits));
  }

  /** One call of a service of the broker; the body of the answer. */
  async #askService(service: string, call: TaskCall, limits: CallLimits): Promise<readonly Uint8Array[]> {
    const subject = subjectOf(service, call.task);
    const body = this.#bodyOf(subject, call);
    await this.#ready(limits.signal);
    const { mmiCommand, dialect } = this.#settings;
    const command = mmiCommand ?? (dialect === 'legacy' ? 'get' : 'mmi');
    const uuid = this.#transport.entropy.uuid().replaceAll('-', '');
    const question = {
      call: { command, service, target: 'all', uuid, body },
      from: 'broker',
      repeatable: !ACTS.has(call.task),
    } as const;
    const [reply] = await this.#ask(subject, question, limits);
    if (reply?.status === 200) return reply.body;
    throw new ProjError('REJECTED', `${subject}: status ${reply?.status ?? 0}`);
  }

  #ask(
    subject: string,
    question: Omit<NfpQuestion<Ticket>, 'ticket' | 'timeoutMs'>,
    { timeoutMs = this.#settings.askTimeoutMs, signal }: CallLimits,
  ): Promise<readonly NfpReply[]> {
    const { uuid } = question.call;
    let release = ignore;
    const replies = new Promise<readonly NfpReply[]>((resolve, reject) => {
      const ticket: Asker = { subject, resolve, reject };
      if (signal !== undefined)
        release = onAbort(signal, () => {
          this.#runner.dispatch({ kind: 'forget', uuid });
          ticket.reject(signal.reason);
        });
      this.#runner.dispatch({ kind: 'ask', question: { ...question, ticket, timeoutMs } });
    });
    return replies.finally(release);
  }

  readonly #files: FileClient = {
    ask: (task, kwargs, limits) => this.#askService(FILES_SERVICE, { task, kwargs, args: [] }, limits),
    askJson: async (task, kwargs, limits) =>
      parse(task, await this.#askService(FILES_SERVICE, { task, kwargs, args: [] }, limits)),
    post: (service, task, options) => this.post(service, task, options),
    put: (uuid, worker, value) => {
      this.#runner.dispatch({ kind: 'put', uuid, worker, body: encodeNfpJson(value) });
    },
  };

  readonly #onNews = (news: NfpNews<Ticket>): void => {
    if (news.kind === 'note') this.#events.emit('note', news.note);
    else if (news.ticket instanceof OpenJob) this.#onJobNews(news.ticket, news);
    else if (news.kind === 'answered') news.ticket.resolve(news.replies);
    else if (news.kind === 'failed')
      news.ticket.reject(this.#error(news.ticket.subject, news.code, news.errors, news.cause));
  };

  #onJobNews(job: OpenJob, news: Exclude<NfpNews<Ticket>, { kind: 'note' }>): void {
    switch (news.kind) {
      case 'dispatched':
        this.#book?.change(job.uuid, () => ({ state: 'DISPATCHED', workers: news.workers }));
        job.given(news.workers);
        break;
      case 'result': {
        const result = resultOf(news.worker, news.status, news.value, news.body);
        this.#book?.change(job.uuid, ({ results }) => ({ results: [...results, result] }));
        job.result(result);
        break;
      }
      case 'event':
        job.event(news.body, news.value);
        break;
      case 'stream':
        job.onStream?.(toBuffers(news.body));
        break;
      case 'input':
        void this.#onInput(job, news);
        break;
      case 'ended':
        this.#jobs.delete(job.uuid);
        this.#book?.end(job.uuid, stateOf(job));
        job.end();
        break;
      case 'failed': {
        const error = this.#error(subjectOf(job.service, job.task), news.code, news.errors, news.cause);
        if (news.code === 'CLOSED') job.fail(error);
        else this.#endJob(job, error, error.message, news.code === 'TIMEOUT' ? 'STALE' : 'FAILED');
        break;
      }
      case 'answered':
        break;
    }
  }

  /** Asks the handler, and tells the worker what it says. Never rejects. */
  async #onInput(job: OpenJob, { worker, id, request }: Extract<NfpNews<Ticket>, { kind: 'input' }>): Promise<void> {
    const { onInput } = this.#settings;
    this.#book?.change(job.uuid, () => ({ state: 'WAITING_CLIENT_INPUT' }));
    if (onInput === undefined) return;
    const { uuid } = job;
    const of = isRecord(request) ? request : {};
    const question = typeof of['question'] === 'string' ? of['question'] : '';
    let answer: { readonly value: unknown; readonly cancel: boolean };
    try {
      const value = await onInput({ uuid, worker, id, question, default: of['default'], value: request });
      answer = { value: value ?? null, cancel: false };
    } catch (error) {
      this.#report(error);
      answer = { value: null, cancel: true };
    }
    const body = this.#bodyOf(`input for job ${uuid}`, { input_id: id, ...answer, metadata: {} });
    this.#runner.dispatch({ kind: 'put', uuid, worker, body, input: id });
  }

  /** Throws `PROTOCOL_LOCAL` for what JSON cannot say, and for too much. */
  #bodyOf(subject: string, value: unknown): Uint8Array[] {
    const limits = { frames: 1, bytes: Math.max(0, this.#settings.maxMessageBytes - BYTES_BESIDE_BODY) };
    let body: Uint8Array[];
    try {
      body = encodeNfpJson(value);
    } catch (cause) {
      throw new ProjError('PROTOCOL_LOCAL', `${subject}: the arguments have no JSON; send plain data`, { cause });
    }
    return toFrames(subject, body, limits);
  }

  async #close(): Promise<void> {
    await this.#runner.close();
    // Jobs whose order is still on its way to the session.
    for (const job of this.#jobs.values()) job.fail(this.#error(subjectOf(job.service, job.task), 'CLOSED'));
    this.#jobs.clear();
    await this.#book?.close();
  }

  #error(subject: string, code: NfpClientFailure, errors: readonly string[] = [], cause?: unknown): ProjError {
    const text = `${subject}: ${errors.join(', ') || explain(code, this.#settings, cause)}`;
    const details = errors.length === 0 ? {} : { details: { errors } };
    return new ProjError(code === 'BUSY' ? 'REJECTED' : code, text, {
      ...details,
      ...(cause === undefined ? {} : { cause }),
    });
  }
}

/** A call as workers read it. */
interface TaskCall {
  readonly task: string;
  readonly kwargs: Readonly<Record<string, unknown>>;
  readonly args: readonly unknown[];
}

const ignore = (): void => undefined;

function subjectOf(service: string, task: string): string {
  return `task ${JSON.stringify(task)} of service ${JSON.stringify(service)}`;
}

/** What GET says: the task's name, since workers of every release read a body that has one. */
function questionOf(task: string): Uint8Array[] {
  return encodeNfpJson({ task, kwargs: {}, args: [] });
}

function resultsOf(replies: readonly NfpReply[]): NfpJobResults {
  const results = replies.map(({ worker = '', status, value, body }) => {
    // A result is filed under its worker's name.
    const own = isRecord(value) && isRecord(value[worker]) ? value[worker] : value;
    return [worker, resultOf(worker, status, own, body)] as const;
  });
  return Object.fromEntries(results);
}

function stateOf(job: OpenJob): 'COMPLETED' | 'FAILED' | 'STALE' {
  if (job.said.some(({ status }) => status === 408)) return 'STALE';
  return job.said.some(({ failed }) => failed) ? 'FAILED' : 'COMPLETED';
}

function parse(subject: string, body: readonly Uint8Array[]): unknown {
  const [frame] = toBuffers(body);
  try {
    return JSON.parse(frame?.toString() ?? '');
  } catch (cause) {
    throw new ProjError(
      'PROTOCOL_REMOTE',
      `${subject}: the answer is no JSON: ${frame?.toString('utf8', 0, 200) ?? ''}`,
      { cause },
    );
  }
}

function explain(code: NfpClientFailure, settings: NfpClientSettings, cause: unknown): string {
  const { endpoints, openMax, openMaxBytes } = settings;
  switch (code) {
    case 'TIMEOUT':
      return `nothing was heard in time (${endpoints.join(', ')}); is a broker there?`;
    case 'QUEUE_FULL':
      return `${openMax} calls or ${openMaxBytes} bytes are open, or the transport has no room; await some, or raise openMax`;
    case 'PEER_LOST':
      return 'the connection ended first, and this must not be asked twice; it may have been done all the same';
    case 'UNREACHABLE':
      return `cannot open a socket: ${cause instanceof Error ? cause.message : String(cause)}`;
    case 'REJECTED':
      return 'the broker refused it and did not say why';
    case 'BUSY':
      return 'the uuid is in use by an open call of this client';
    case 'CLOSED':
      return 'the client is closed';
  }
}
