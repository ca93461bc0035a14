/** NFP client, the facade: section "Client" of docs/protocols/nfp.md. Decisions: engine/session.ts. */
import { encodeNfpJson } from '@proj/frames/nfp';
import type { Timer } from '@proj/heartbeat';
import { Emitter, parseOptions, ProjError, UnheardErrors } from '@proj/transport';
import type { Life, Transport } from '@proj/transport';
import { serverAttributes, Tracing } from '@proj/transport/tracing';
import type { TracedCall, TracedPlan } from '@proj/transport/tracing';
import type { ClientEvents } from '../shared/client-events.js';
import { encodeBody, failure, subjectOf } from './calls.js';
import { fetchFile, listFiles } from './file-transfer.js';
import type { FileClient } from './file-transfer.js';
import type { NfpFetchedFile } from './files.js';
import { JobBook } from './job-book.js';
import type { NfpJobRecord } from './job-book.js';
import { OpenJob } from './job.js';
import type { NfpJob } from './job.js';
import { OpenJobs } from './open-jobs.js';
import {
  nfpAskOptions,
  nfpClientOptions,
  nfpFetchOptions,
  nfpListOptions,
  nfpName,
  nfpPostOptions,
  nfpWorkersCallOptions,
} from './options.js';
import type {
  NfpAskOptions,
  NfpAskSettings,
  NfpCallOptions,
  NfpClientOptions,
  NfpClientSettings,
  NfpFetchOptions,
  NfpListOptions,
  NfpPostOptions,
  NfpWorkersCallOptions,
} from './options.js';
import { FILES_SERVICE, INSTEAD_OF_JOBS, INVENTORY_SERVICE, Questions } from './questions.js';
import type { QuestionCall, NfpRow } from './questions.js';
import { resultsOf } from './results.js';
import type { NfpJobResults, NfpWorkerAnswer } from './results.js';
import { NfpRunner } from './runner.js';
import type { NfpNews } from './runner.js';
import { NfpClientSession } from './engine/session.js';
import type { NfpClientNote, NfpClientStats } from './engine/events.js';

/** Events of an {@link NfpClient}. */
export interface NfpClientEvents extends ClientEvents<NfpClientNote> {
  /**
   * The store failed to save a change to a job, or an input handler rejected. The job continues. Without a listener: standard error, once a
   * minute.
   */
  error: unknown;
}

type Ticket = OpenJob | QuestionCall;

const KEEPALIVE = { interval: 2500, multiplier: 6 };

/**
 * Runs jobs on NORFAB workers, and queries the broker.
 *
 * ```ts
 * await using client = new NfpClient({ endpoints: ['tcp://127.0.0.1:5555'] });
 * const results = await client.run('sample', 'add', { args: [2, 3] });
 * for (const { worker, result, failed } of Object.values(results)) console.log(worker, failed, result);
 * ```
 *
 * A failed call rejects with a `ProjError`: `REJECTED` (by the broker or a worker, in its own words), `TIMEOUT` (`details.unmet` has the
 * endpoints that could not be reached or refused us, `details.connected` the silent ones), `PEER_LOST` (a question that must not be sent twice),
 * `QUEUE_FULL` (`openMax`, `openMaxBytes`, or no room in the transport), `UNREACHABLE`, `UNAVAILABLE`, `PROTOCOL_LOCAL`, `PROTOCOL_REMOTE`,
 * `OPTIONS_INVALID`, `CLOSED`, with a store also `CORRUPT` and `WRITE_FAILED`. An aborted call rejects with its signal's reason.
 */
export class NfpClient implements Life<NfpClientEvents> {
  readonly #settings: NfpClientSettings;
  readonly #events = new Emitter<NfpClientEvents>();
  readonly #tracing: Tracing;
  readonly #unheard = new UnheardErrors('NfpClient');
  readonly #session: NfpClientSession<Ticket>;
  readonly #runner: NfpRunner<Ticket>;
  readonly #book: JobBook | undefined;
  readonly #jobs: OpenJobs;
  readonly #questions: Questions;
  #starting: Promise<readonly NfpJob[]> | undefined;
  #early = 0;
  #hasWarned = false;
  #closing: Promise<void> | undefined;

  /** Validates the options and does nothing else. Throws `OPTIONS_INVALID`. */
  constructor(options: NfpClientOptions = {}) {
    const settings = parseOptions('NfpClient', nfpClientOptions, options);
    this.#settings = settings;
    this.#tracing = new Tracing('proj:client.request', 'nfp', settings.tracing, true);
    this.#session = new NfpClientSession({
      ...settings,
      openBody: encodeNfpJson({ name: settings.name ?? 'proj', version: '1', keepalive: KEEPALIVE }),
      random: () => this.#transport.entropy.random(),
    });
    this.#runner = new NfpRunner(settings, this.#session, this.#onNews, this.#events.forward('refused'));
    const { store, jobTtlMs } = settings;
    const onError = (error: unknown): void => {
      if (this.#events.has('error')) this.#events.emit('error', error);
      else this.#unheard.tell(error);
    };
    const wallMs = (): number => Math.floor(this.#transport.entropy.wallMicros() / 1000);
    const dispatch = this.#runner.dispatch.bind(this.#runner);
    const known = this.#runner.known.bind(this.#runner);
    const after = (ms: number, callback: () => void): Timer => {
      const { clock } = this.#transport;
      return clock.at(clock.now() + ms, callback);
    };
    if (store !== undefined) this.#book = new JobBook(store, { jobTtlMs, now: wallMs, after, onError });
    this.#jobs = new OpenJobs(settings, this.#book, { dispatch, known, wallMs, onError });
    this.#questions = new Questions(settings, {
      dispatch,
      known,
      ready: (signal) => this.#ready(signal),
      uuid: () => this.#uuid(),
    });
  }

  /**
   * Continues the stored jobs without an outcome, and resolves with them; without a store, with none. Every call does this first, so call it
   * only if you want those jobs. Rejects with `UNAVAILABLE`, `CORRUPT` or `CLOSED`; may then be called again.
   */
  start(): Promise<readonly NfpJob[]> {
    return (this.#starting ??= this.#start().catch((error: unknown) => {
      this.#starting = undefined;
      throw error;
    }));
  }

  /**
   * Runs a task on the workers of a service, all of them unless `target` says otherwise, and resolves with the last word of each; see {@link
   * NfpJob.done} and `nfpResultsOrThrow`.
   */
  async run(service: string, task: string, options: NfpPostOptions = {}): Promise<NfpJobResults> {
    return (await this.post(service, task, options)).done();
  }

  /**
   * The same without waiting: results and events arrive one by one. Resolves when the job is stored, if there is a store, and under way. Rejects
   * with `OPTIONS_INVALID` (also for the broker's own services, which have no jobs), `PROTOCOL_LOCAL`, `WRITE_FAILED` and as {@link start} does.
   * An aborted job ends here, and its workers get DELETE.
   */
  async post(service: string, task: string, options: NfpPostOptions = {}): Promise<NfpJob> {
    if (!this.#tracing.isOn) return this.#post(service, task, options);
    const trace = this.#tracing.begin(this.#traced(service, task));
    try {
      return await trace.run(() => this.#post(service, task, options, trace));
    } catch (error) {
      trace.fail(error);
      throw error;
    }
  }

  #traced(service: string, task: string): TracedPlan {
    const name = `${service}/${task}`;
    const server = serverAttributes(this.#settings.endpoints);
    return { kind: 'client', name, attributes: { 'rpc.system.name': 'nfp', 'rpc.method': name, ...server } };
  }

  async #post(service: string, task: string, options: NfpPostOptions, trace?: TracedCall): Promise<NfpJob> {
    const own = parseOptions('NfpClient post', nfpPostOptions, options);
    parseOptions('NfpClient service', nfpName, service);
    const instead = INSTEAD_OF_JOBS.get(service);
    if (instead !== undefined)
      throw new ProjError('OPTIONS_INVALID', `NfpClient post: service "${service}" has no jobs: call ${instead}`);
    const { kwargs, args, signal, uuid } = own;
    const carrier = trace?.carrier;
    const call = { task, kwargs, args, ...(carrier === undefined ? {} : { trace: carrier }) };
    const body = encodeBody(subjectOf(service, task), call, this.#settings.maxMessageBytes);
    await this.#ready(signal);
    const job = { uuid: uuid ?? this.#uuid(), service, task };
    trace?.set('proj.job.id', job.uuid);
    return this.#jobs.post(job, body, own, trace);
  }

  /** The answers of the workers that know a job, even one posted by another client. Rejects with `REJECTED` if none does. */
  async get(uuid: string, options: NfpAskOptions = {}): Promise<NfpJobResults> {
    return this.#about('get', uuid, parseOptions('NfpClient get', nfpAskOptions, options));
  }

  /**
   * Makes workers cancel a job or forget its result. Resolves with the answers of those that know it, in `value`: status `CANCELLED`,
   * `CANCELLING` or `DELETED`. NORFAB's own workers do not answer, which is 408.
   */
  async delete(uuid: string, options: NfpAskOptions = {}): Promise<NfpJobResults> {
    return this.#about('delete', uuid, parseOptions('NfpClient delete', nfpAskOptions, options));
  }

  /** The stored jobs; ended ones stay for `jobTtlMs`. Empty without a store. */
  async *jobs(): AsyncIterableIterator<NfpJobRecord> {
    if (this.#book === undefined) return;
    await this.start();
    yield* this.#book.all();
  }

  /** What the broker's inventory says about a worker; `null` if nothing. `REJECTED`: the broker has no inventory. */
  inventory(name: string, options: NfpCallOptions = {}): Promise<unknown> {
    const { kwargs, ...own } = options;
    return this.#questions.askBroker(INVENTORY_SERVICE, 'get_inventory', { ...own, kwargs: { ...kwargs, name } });
  }

  /** Calls a task of the broker itself, such as `show_broker`. An unknown task is answered with a text. */
  mmi(task: string, options: NfpCallOptions = {}): Promise<unknown> {
    return this.#questions.mmi(task, options);
  }

  /** Endpoint, keepalives and counters of the broker. */
  showBroker(options: NfpCallOptions = {}): Promise<unknown> {
    return this.mmi('show_broker', options);
  }

  /** Registered workers of all services or, with `kwargs: { service }`, of one. */
  showWorkers(options: NfpCallOptions = {}): Promise<readonly NfpRow[]> {
    return this.#questions.list('show_workers', options);
  }

  /** Clients that the broker remembers. NORFAB's brokers do not know this task: `PROTOCOL_REMOTE`. */
  showClients(options: NfpCallOptions = {}): Promise<readonly NfpRow[]> {
    return this.#questions.list('show_clients', options);
  }

  /** Services with their number of workers. NORFAB's brokers do not know this task: `PROTOCOL_REMOTE`. */
  showServices(options: NfpCallOptions = {}): Promise<readonly NfpRow[]> {
    return this.#questions.list('show_services', options);
  }

  /** Calls a management task of all or some workers. NORFAB's workers have none, and the call times out. */
  async mmiWorkers(task: string, options: NfpWorkersCallOptions = {}): Promise<readonly NfpWorkerAnswer[]> {
    return this.#questions.askWorkers(task, parseOptions('NfpClient mmiWorkers', nfpWorkersCallOptions, options));
  }

  /** The names in a folder of the broker or of a filesharing worker; with `recursive`, the urls of all files below it. `REJECTED`: no such folder. */
  async listFiles(url: string, options: NfpListOptions = {}): Promise<readonly string[]> {
    return listFiles(this.#files, url, parseOptions('NfpClient listFiles', nfpListOptions, options));
  }

  /**
   * Fetches a file from the broker or a filesharing worker into the folder `to`, under the last part of its url. Size and MD5 are requested
   * first and compared at the end; until then no file has that name. Rejects with `REJECTED` (no such file), `PROTOCOL_REMOTE` (not the
   * announced bytes) or the file system's error.
   */
  async fetchFile(url: string, options: NfpFetchOptions): Promise<NfpFetchedFile> {
    const settings = parseOptions('NfpClient fetchFile', nfpFetchOptions, options);
    await this.#ready(settings.signal);
    return fetchFile(this.#files, url, this.#transport.entropy.uuid(), settings);
  }

  /** Stored jobs stay as they are. Takes at most `lingerMs` if something is unsent. */
  close(): Promise<void> {
    return (this.#closing ??= this.#close());
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  on<Name extends keyof NfpClientEvents>(event: Name, listener: (payload: NfpClientEvents[Name]) => void): () => void {
    return this.#events.on(event, listener);
  }

  /** A copy of the counters since construction and current gauges. */
  stats(): NfpClientStats {
    return this.#session.stats;
  }

  get #transport(): Transport {
    return this.#runner.transport as Transport;
  }

  #uuid(): string {
    return this.#transport.entropy.uuid().replaceAll('-', '');
  }

  async #start(): Promise<readonly NfpJob[]> {
    if (this.#closing !== undefined) throw failure(this.#settings, 'NfpClient', 'CLOSED');
    await this.#runner.load();
    if (this.#book === undefined && !this.#hasWarned) {
      this.#hasWarned = true;
      this.#events.emit('note', { code: 'volatile-store' });
    }
    const records = (await this.#book?.open()) ?? [];
    return records.map((record) => this.#jobs.resume(record));
  }

  /** Resolves when calls can be made. */
  async #ready(signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted();
    if (this.#closing !== undefined) throw failure(this.#settings, 'NfpClient', 'CLOSED');
    if (this.#early >= this.#settings.openMax) throw failure(this.#settings, 'NfpClient', 'QUEUE_FULL');
    this.#early++;
    try {
      await this.start();
    } finally {
      this.#early--;
    }
    signal?.throwIfAborted();
    // The client may have been closed meanwhile.
    if (this.#isClosing()) throw failure(this.#settings, 'NfpClient', 'CLOSED');
  }

  #isClosing(): boolean {
    return this.#closing !== undefined;
  }

  async #about(command: 'get' | 'delete', uuid: string, own: NfpAskSettings): Promise<NfpJobResults> {
    parseOptions('NfpClient uuid', nfpName, uuid);
    await this.#ready(own.signal);
    return resultsOf(await this.#questions.askAbout(command, uuid, await this.#book?.find(uuid), own));
  }

  readonly #files: FileClient = {
    ask: (task, kwargs, limits) => this.#questions.ask(FILES_SERVICE, { task, kwargs, args: [] }, limits),
    askJson: (task, kwargs, limits) => this.#questions.askJson(FILES_SERVICE, { task, kwargs, args: [] }, limits),
    post: (service, task, options) => this.post(service, task, options),
    put: (uuid, worker, value) => {
      this.#runner.dispatch({ kind: 'put', uuid, worker, body: encodeNfpJson(value) });
    },
  };

  readonly #onNews = (news: NfpNews<Ticket>): void => {
    if (news.kind === 'note') {
      if (news.note.code === 'job-reposted') this.#jobs.reposted(news.note.uuid);
      this.#events.emit('note', news.note);
    } else if (news.ticket instanceof OpenJob) this.#jobs.onNews(news.ticket, news);
    else this.#questions.onNews(news.ticket, news);
  };

  async #close(): Promise<void> {
    await this.#runner.close();
    this.#jobs.close();
    await this.#book?.close();
  }
}
