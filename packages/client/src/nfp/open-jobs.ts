/** NFP client: its open jobs. Each is stored before it is posted, gets its news, ends once. Rules 7 and 8 of docs/protocols/nfp.md. */
import { encodeNfpJson } from '@proj/frames/nfp';
import { toBuffers } from '@proj/transport';
import type { TracedCall } from '@proj/transport/tracing';
import { onAbort } from '../shared/on-abort.js';
import type { Unanswered } from '../unanswered.js';
import { isRecord } from './engine/answers.js';
import { encodeBody, failure, questionOf, subjectOf } from './calls.js';
import type { JobBook, NfpJobRecord } from './job-book.js';
import { OpenJob } from './job.js';
import type { NfpJob } from './job.js';
import type { NfpClientSettings, NfpPostSettings } from './options.js';
import { resultOf } from './results.js';
import type { NfpNews } from './runner.js';
import type { NfpClientEvent, NfpClientFailure } from './engine/events.js';

/** The session's news about jobs. */
export type NfpJobNews = Exclude<NfpNews<unknown>, { kind: 'note' }>;

/** What {@link OpenJobs} need from a client. */
export interface OpenJobsHost {
  dispatch(event: NfpClientEvent<OpenJob>): void;
  /** What is known about the brokers, for a call that failed with this code. */
  known(code: NfpClientFailure): Unanswered | undefined;
  /** Milliseconds since 1970. */
  wallMs(): number;
  /** An input handler rejected. */
  onError(error: unknown): void;
}

/** All open jobs of one client. */
export class OpenJobs {
  readonly #settings: NfpClientSettings;
  readonly #book: JobBook | undefined;
  readonly #host: OpenJobsHost;
  readonly #jobs = new Map<string, OpenJob>();

  constructor(settings: NfpClientSettings, book: JobBook | undefined, host: OpenJobsHost) {
    this.#settings = settings;
    this.#book = book;
    this.#host = host;
  }

  /** Gives a new job to the session once it is stored. Rejects with `REJECTED` while a job with this uuid is open, and as the store does. */
  async post(
    { uuid, service, task }: Pick<NfpJob, 'uuid' | 'service' | 'task'>,
    body: Uint8Array[],
    { kwargs, args, target, signal, onStream, timeoutMs = this.#settings.timeoutMs }: NfpPostSettings,
    trace: TracedCall | undefined,
  ): Promise<NfpJob> {
    const job = new OpenJob({ uuid, service, task }, this.#settings);
    job.trace = trace;
    if (this.#jobs.has(uuid)) throw failure(this.#settings, subjectOf(service, task), 'BUSY');
    job.onStream = onStream;
    const postedAt = this.#host.wallMs();
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
    if (!job.over) this.#host.dispatch({ kind: 'job', order });
    return job;
  }

  /** Continues a stored job. */
  resume(record: NfpJobRecord): NfpJob {
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
      timeoutMs: Math.max(1, record.deadlineAt - this.#host.wallMs()),
      resumed: true,
      workers: workers.filter((worker) => !told.includes(worker)),
      told,
    };
    this.#host.dispatch({ kind: 'job', order });
    return job;
  }

  /** The job is posted again. */
  reposted(uuid: string): void {
    this.#jobs.get(uuid)?.trace?.event('resend');
  }

  /** Forwards the session's news about jobs. */
  onNews(job: OpenJob, news: NfpJobNews): void {
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
      case 'taken':
        job.taken(news.worker);
        break;
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
        const known = this.#host.known(news.code);
        const subject = subjectOf(job.service, job.task);
        const error = failure(this.#settings, subject, news.code, news.errors, news.cause, known);
        if (news.code === 'CLOSED') job.fail(error);
        else this.#end(job, error, error.message, news.code === 'TIMEOUT' ? 'STALE' : 'FAILED');
        break;
      }
      case 'answered':
        break;
    }
  }

  /** Fails the jobs that have not reached the session. Call it once the session is closed. */
  close(): void {
    for (const job of this.#jobs.values())
      job.fail(failure(this.#settings, subjectOf(job.service, job.task), 'CLOSED'));
    this.#jobs.clear();
  }

  #follow(job: OpenJob, signal: AbortSignal | undefined): void {
    this.#jobs.set(job.uuid, job);
    if (signal === undefined) return;
    const abort = (): void => {
      this.#host.dispatch({ kind: 'abort', uuid: job.uuid });
      this.#end(job, signal.reason, 'aborted');
    };
    if (signal.aborted) abort();
    else job.release = onAbort(signal, abort);
  }

  /** Ends a job before all its workers have said their last word. */
  #end(job: OpenJob, error: unknown, why: string, state: 'FAILED' | 'STALE' = 'FAILED'): void {
    this.#jobs.delete(job.uuid);
    this.#book?.end(job.uuid, state, [why]);
    job.fail(error);
  }

  /** Calls the handler and sends its answer to the worker. Never rejects. */
  async #onInput(job: OpenJob, { worker, id, request }: Extract<NfpJobNews, { kind: 'input' }>): Promise<void> {
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
      this.#host.onError(error);
      answer = { value: null, cancel: true };
    }
    const said = { input_id: id, ...answer, metadata: {} };
    const body = encodeBody(`input for job ${uuid}`, said, this.#settings.maxMessageBytes);
    this.#host.dispatch({ kind: 'put', uuid, worker, body, input: id });
  }
}

function stateOf(job: OpenJob): 'COMPLETED' | 'FAILED' | 'STALE' {
  if (job.said.some(({ status }) => status === 408)) return 'STALE';
  return job.said.some(({ failed }) => failed) ? 'FAILED' : 'COMPLETED';
}
