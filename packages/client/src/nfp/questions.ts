/** NFP client: questions to the broker and to workers, separate from jobs. Rule 6 of docs/protocols/nfp.md. */
import { parseOptions, ProjError } from '@proj/transport';
import { onAbort } from '../shared/on-abort.js';
import type { Unanswered } from '../unanswered.js';
import { isRecord } from './engine/answers.js';
import { encodeBody, failure, parseAnswer, questionOf, subjectOf } from './calls.js';
import type { TaskCall } from './calls.js';
import type { CallLimits } from './file-transfer.js';
import { nfpCallOptions } from './options.js';
import type { NfpAskSettings, NfpCallOptions, NfpClientSettings, NfpWorkersCallSettings } from './options.js';
import type { NfpWorkerAnswer } from './results.js';
import type { NfpNews } from './runner.js';
import { WORKER_SERVICE } from './engine/question-answers.js';
import type { NfpClientEvent, NfpClientFailure, NfpQuestion, NfpReply } from './engine/events.js';

/** The broker's management service. */
const BROKER_SERVICE = 'mmi.service.broker';
/** The broker's inventory of workers. */
export const INVENTORY_SERVICE = 'sid.service.broker';
/** The broker's files. */
export const FILES_SERVICE = 'fss.service.broker';

/** What to call instead of posting a job to a service without jobs: it answers, and nobody accepts (rules 17, 20 and 21). */
export const INSTEAD_OF_JOBS: ReadonlyMap<string, string> = new Map([
  [BROKER_SERVICE, 'mmi()'],
  [WORKER_SERVICE, 'mmiWorkers()'],
  [INVENTORY_SERVICE, 'inventory()'],
  [FILES_SERVICE, 'fetchFile() or listFiles()'],
]);

/** A row of one of the broker's lists, with the broker's column names. */
export type NfpRow = Readonly<Record<string, unknown>>;

/** The caller that asked a question. */
export interface QuestionCall {
  readonly subject: string;
  readonly resolve: (replies: readonly NfpReply[]) => void;
  readonly reject: (error: unknown) => void;
}

/** What {@link Questions} need from a client. */
export interface QuestionsHost {
  /** Resolves when calls can be made. */
  ready(signal: AbortSignal | undefined): Promise<void>;
  dispatch(event: NfpClientEvent<QuestionCall>): void;
  /** What is known about the brokers, for a call that failed with this code. */
  known(code: NfpClientFailure): Unanswered | undefined;
  /** A uuid in NORFAB's form. */
  uuid(): string;
}

/** More workers, clients or services than any broker of ours has. */
const ROWS_MAX = 2_000_000;

/** Tasks that must not be sent to a second broker if the answer of the first is lost. */
const ACTS = new Set(['restart', 'shutdown', 'disconnect']);

const ignore = (): void => undefined;

/** Sends the questions of one client. */
export class Questions {
  readonly #settings: NfpClientSettings;
  readonly #host: QuestionsHost;

  constructor(settings: NfpClientSettings, host: QuestionsHost) {
    this.#settings = settings;
    this.#host = host;
  }

  /** Calls a service of the broker with a caller's options; the JSON of the answer. Also rejects with `OPTIONS_INVALID`. */
  async askBroker(service: string, task: string, options: NfpCallOptions): Promise<unknown> {
    const { kwargs, args, ...limits } = parseOptions(`NfpClient ${task}`, nfpCallOptions, options);
    return this.askJson(service, { task, kwargs, args }, limits);
  }

  /** Calls the broker's management. */
  mmi(task: string, options: NfpCallOptions): Promise<unknown> {
    return this.askBroker(BROKER_SERVICE, task, options);
  }

  /** The rows of one of the broker's lists. Rejects with `PROTOCOL_REMOTE` if the broker has no such list. */
  async list(task: string, options: NfpCallOptions): Promise<readonly NfpRow[]> {
    const named: NfpRow[] = [];
    // A long list arrives in parts.
    for (;;) {
      const own = named.length === 0 ? options : { ...options, kwargs: { ...options.kwargs, skip: named.length } };
      const rows = await this.mmi(task, own);
      if (!Array.isArray(rows) || !rows.every(isRecord) || named.length > ROWS_MAX)
        throw new ProjError('PROTOCOL_REMOTE', `${task}: the answer is not a list: ${JSON.stringify(rows)}`);
      // A row without a name stands for no one, or for rows not yet sent.
      const part = rows.filter(({ name }) => name !== '');
      for (const row of part) named.push(row);
      if (part.length === 0 || !rows.some(({ more }) => typeof more === 'number' && more > 0)) return named;
    }
  }

  /** Calls a service of the broker; the JSON of the answer. */
  async askJson(service: string, call: TaskCall, limits: CallLimits): Promise<unknown> {
    return parseAnswer(subjectOf(service, call.task), await this.ask(service, call, limits));
  }

  /** The same; the raw body of the answer. */
  async ask(service: string, call: TaskCall, limits: CallLimits): Promise<readonly Uint8Array[]> {
    const subject = subjectOf(service, call.task);
    const body = encodeBody(subject, call, this.#settings.maxMessageBytes);
    await this.#host.ready(limits.signal);
    const { mmiCommand, dialect } = this.#settings;
    const command = mmiCommand ?? (dialect === 'legacy' ? 'get' : 'mmi');
    const uuid = this.#host.uuid();
    const question = {
      call: { command, service, target: 'all', uuid, body },
      from: 'broker',
      repeatable: !ACTS.has(call.task),
    } as const;
    const [reply] = await this.#put(subject, question, limits);
    if (reply?.status === 200) return reply.body;
    throw new ProjError('REJECTED', `${subject}: status ${reply?.status ?? 0}`);
  }

  /** A management task of the workers. */
  async askWorkers(task: string, own: NfpWorkersCallSettings): Promise<readonly NfpWorkerAnswer[]> {
    const { target, kwargs, args, signal } = own;
    const subject = `task ${JSON.stringify(task)} of the workers`;
    const body = encodeBody(subject, { task, kwargs, args }, this.#settings.maxMessageBytes);
    await this.#host.ready(signal);
    // By GET, because its 202 says which workers will answer. The workers are called by MMI anyway.
    const call = { command: 'get', service: WORKER_SERVICE, target, uuid: this.#host.uuid(), body } as const;
    const replies = await this.#put(subject, { call, from: 'workers', repeatable: !ACTS.has(task) }, own);
    return replies.map(({ worker, status, value }) => ({ worker, status, value }));
  }

  /** The answers of the workers that know the job. Rejects with `REJECTED` if none does. `job`: what is known of it here. */
  async askAbout(
    command: 'get' | 'delete',
    uuid: string,
    job: { readonly service: string; readonly task: string } | undefined,
    { service = job?.service ?? 'all', target, ...limits }: NfpAskSettings,
  ): Promise<readonly NfpReply[]> {
    const subject = `${command} ${uuid}`;
    const call = { command, service, target, uuid, body: questionOf(job?.task ?? '') };
    const replies = await this.#put(subject, { call, from: 'workers', repeatable: true }, limits);
    const known = replies.filter(({ status }) => status !== 404);
    if (known.length > 0) return known;
    throw new ProjError('REJECTED', `${subject}: none of ${replies.length} workers knows the job`);
  }

  /** Forwards the session's news about a question. */
  onNews(asker: QuestionCall, news: Exclude<NfpNews<unknown>, { kind: 'note' }>): void {
    if (news.kind === 'answered') asker.resolve(news.replies);
    else if (news.kind === 'failed') {
      const known = this.#host.known(news.code);
      asker.reject(failure(this.#settings, asker.subject, news.code, news.errors, news.cause, known));
    }
  }

  #put(
    subject: string,
    question: Omit<NfpQuestion<QuestionCall>, 'ticket' | 'timeoutMs'>,
    { timeoutMs = this.#settings.askTimeoutMs, signal }: CallLimits,
  ): Promise<readonly NfpReply[]> {
    const { uuid } = question.call;
    let release = ignore;
    const replies = new Promise<readonly NfpReply[]>((resolve, reject) => {
      const ticket: QuestionCall = { subject, resolve, reject };
      if (signal !== undefined)
        release = onAbort(signal, () => {
          this.#host.dispatch({ kind: 'forget', uuid });
          ticket.reject(signal.reason);
        });
      this.#host.dispatch({ kind: 'ask', question: { ...question, ticket, timeoutMs } });
    });
    return replies.finally(release);
  }
}
