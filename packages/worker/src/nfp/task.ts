/** Tasks of an NFP worker, as applications write them: functions from a call to a result. */
import type { SchemaOutput, StandardSchema } from '@proj/frames/service';

/** Positional arguments from a client: any JSON. */
export type NfpArgs = readonly unknown[];
/** Named arguments from a client, or other fields added by a program: any JSON. */
export type NfpKwargs = Readonly<Record<string, unknown>>;

/** A job, as its task gets it. */
export interface NfpTaskCall<Args = NfpArgs, Kwargs = NfpKwargs> {
  /** Name of the task that was called. */
  readonly task: string;
  readonly args: Args;
  readonly kwargs: Kwargs;
  /** The job's uuid; the same in every run. */
  readonly uuid: string;
  /** Routing id of the client that posted the job. Empty if the broker did not report it. */
  readonly client: string;
  /** The service of this worker. */
  readonly service: string;
  /** How long the client intends to wait for the result, in milliseconds. The task is not stopped then. */
  readonly timeoutMs: number;
  /** 1, or more if a crash or a shutdown interrupted earlier runs. */
  readonly run: number;
}

/** Details of an event; see {@link NfpTaskContext.event}. */
export interface NfpEventOptions {
  /** Kind of event, such as `progress`. Default: none. */
  readonly type?: string;
  /** Default `INFO`. */
  readonly severity?: 'DEBUG' | 'INFO' | 'WARNING' | 'ERROR' | 'CRITICAL';
  /** The task's state. Default `running`. */
  readonly status?: string;
  /** The subjects of the event, such as host names. Default: none. */
  readonly resource?: readonly string[];
  /** Further data for programs. Must be JSON. */
  readonly extras?: NfpKwargs;
}

/** What a client sent to a running job by PUT. */
export interface NfpPut {
  /** The parsed body if it is one frame of JSON, otherwise `undefined`. */
  readonly value: unknown;
  /** The raw frames, at least one. Do not modify them. */
  readonly body: readonly Buffer[];
}

/** Details of a question; see {@link NfpTaskContext.requestInput}. */
export interface NfpInputOptions {
  /** Shown to the client, and used as the answer if none arrives in time. Default: none, and `TIMEOUT` is thrown. */
  readonly default?: unknown;
  /** How long to wait for an answer. 1 ms to a day; default 60,000. */
  readonly timeoutMs?: number;
  /** For programs that answer instead of people. Must be JSON. */
  readonly metadata?: NfpKwargs;
}

/** What a task gets besides its call. It may be destructured: `(call, { signal, progress }) => ...`. */
export interface NfpTaskContext {
  /** Aborts when the job is deleted or the worker closes. The reason is a `ProjError` (`REJECTED`, `CLOSED`). */
  readonly signal: AbortSignal;
  /**
   * Reports progress to the client that posted the job, as an event of type `progress`. A client that is away misses it; the last 100 events of
   * a job are kept with its result. No effect once the task has ended. Throws `PROTOCOL_LOCAL` for `extras` that are not JSON.
   */
  readonly progress: (message: string, options?: Omit<NfpEventOptions, 'type'>) => void;
  /** As {@link NfpTaskContext.progress}, with any type or none. */
  readonly event: (message: string, options?: NfpEventOptions) => void;
  /**
   * Sends bytes to the client that posted the job, in order; they are not kept. Await it before sending more, so that a slow connection slows
   * the task down. Rejects with the signal's reason once that has aborted, and with `PROTOCOL_LOCAL` for a chunk over the limits and after the
   * task has ended.
   */
  readonly stream: (chunk: string | Uint8Array) => Promise<void>;
  /**
   * The client's PUTs while the task runs, in order. At most `putQueueMax` wait; more are dropped and counted. Ends when the task ends or the
   * signal aborts. For one reader.
   */
  readonly puts: AsyncIterableIterator<NfpPut>;
  /**
   * Asks the client that posted the job, with an event of type `input_request`; until it answers, GET gets 102. Resolves to the value of the
   * answering PUT, or to `default` if none arrives in time. Rejects with `TIMEOUT` if there is no default, with `REJECTED` if the client refuses
   * to answer, and with the signal's reason. Questions of one job are asked one after the other.
   */
  readonly requestInput: (question: string, options?: NfpInputOptions) => Promise<unknown>;
  /**
   * What the broker's inventory says about this worker; `{}` for nothing. Fetched when the worker starts and after `restart`, and remembered in
   * between. Rejects with `REJECTED` (the broker has no inventory), `TIMEOUT` or `CLOSED`.
   */
  readonly inventory: () => Promise<NfpKwargs>;
  /**
   * Fetches the file of an `nf://` url from the broker or, if it has no file service, from a worker of service `filesharing`. Resolves to the
   * path of a copy in the folder `fetchFiles`, which stays until the task ends; a current copy is not fetched again. Rejects with `REJECTED` (no
   * such file), `QUEUE_FULL` (no room beside the files that running tasks need), `PROTOCOL_REMOTE` (not the announced bytes), `OPTIONS_INVALID`,
   * `TIMEOUT` or the signal's reason.
   */
  readonly fetch: (url: string) => Promise<string>;
}

/**
 * Renews the application's state, such as what depends on the inventory; see the option `onRestart`. Errors are emitted as `error`, and the
 * worker serves again.
 */
export type NfpRestartHook = (services: Pick<NfpTaskContext, 'inventory'>) => unknown;

/**
 * Does a job. Its return value is the result, as JSON (`undefined` becomes `null`); if it throws, the job fails with the error's message. It may
 * run again for the same job after a crash: make it idempotent.
 */
export type NfpTaskHandler<Args = NfpArgs, Kwargs = NfpKwargs> = (
  call: NfpTaskCall<Args, Kwargs>,
  context: NfpTaskContext,
) => unknown;

/**
 * Thrown by a task that failed but has something to return, such as a partial result. In the job's result `failed` is true, `errors` has the
 * message, and `result` is this one, or `null` if JSON cannot express it.
 */
export class NfpTaskFailure extends Error {
  override readonly name = 'NfpTaskFailure';
  readonly result: unknown;

  constructor(message: string, result: unknown) {
    super(message);
    this.result = result;
  }
}

/** A task with its arguments. Schemas are Standard Schemas, such as those of zod: a job whose arguments they reject fails. */
export interface NfpTaskDefinition<
  ArgsSchema extends StandardSchema | undefined = undefined,
  KwargsSchema extends StandardSchema | undefined = undefined,
> {
  readonly args?: ArgsSchema;
  readonly kwargs?: KwargsSchema;
  /**
   * Names of keyword arguments, and numbers of positional ones, whose `nf://` urls are fetched first: the handler gets paths instead, as from
   * {@link NfpTaskContext.fetch}. A value may be a text or a list of texts; other texts stay. Schemas see the urls.
   */
  readonly fetch?: readonly (string | number)[];
  /** Shown by the management command `show_workers`. At most 1024 characters. */
  readonly description?: string;
  readonly handler: NfpTaskHandler<
    ArgsSchema extends StandardSchema ? SchemaOutput<ArgsSchema> : NfpArgs,
    KwargsSchema extends StandardSchema ? SchemaOutput<KwargsSchema> : NfpKwargs
  >;
}

/** A task: made by {@link defineNfpTask}, or written out without schemas. */
export interface NfpTask {
  readonly args?: StandardSchema | undefined;
  readonly kwargs?: StandardSchema | undefined;
  readonly fetch?: readonly (string | number)[] | undefined;
  readonly description?: string | undefined;
  readonly handler: NfpTaskHandler;
}

/** Types the arguments of a task by its schemas; returns it unchanged. */
export function defineNfpTask<
  ArgsSchema extends StandardSchema | undefined = undefined,
  KwargsSchema extends StandardSchema | undefined = undefined,
>(definition: NfpTaskDefinition<ArgsSchema, KwargsSchema>): NfpTask {
  // The worker calls the handler only with the schemas' output.
  return definition as unknown as NfpTask;
}
