/** What an application writes for an NFP worker: tasks, which are functions from a call to a result. No sockets, no store. */
import type { SchemaOutput, StandardSchema } from '@proj/frames/service';

/** Positional arguments as they come from a client: whatever JSON can say. */
export type NfpArgs = readonly unknown[];
/** Named arguments as they come from a client, and wherever else a program may add what JSON can say. */
export type NfpKwargs = Readonly<Record<string, unknown>>;

/** A job as its task sees it. */
export interface NfpTaskCall<Args = NfpArgs, Kwargs = NfpKwargs> {
  /** Name of the task that was called. */
  readonly task: string;
  readonly args: Args;
  readonly kwargs: Kwargs;
  /** The job; the same in every run of it. */
  readonly uuid: string;
  /** What the broker calls the client that posted the job; its routing id. Empty when the broker did not say. */
  readonly client: string;
  /** The service of this worker. */
  readonly service: string;
  /** How long the client means to wait for the result. Milliseconds; nobody ends the task then. */
  readonly timeoutMs: number;
  /** 1, or more when earlier runs were interrupted by a crash or a shutdown. */
  readonly run: number;
}

/** Says more about an event; see {@link NfpTaskContext.event}. */
export interface NfpEventOptions {
  /** Kind of event, such as `progress`. Default: none. */
  readonly type?: string;
  /** Default `INFO`. */
  readonly severity?: 'DEBUG' | 'INFO' | 'WARNING' | 'ERROR' | 'CRITICAL';
  /** What the task is doing. Default `running`. */
  readonly status?: string;
  /** What the event is about, such as names of hosts. Default: nothing. */
  readonly resource?: readonly string[];
  /** Anything else, for programs. Must be JSON. */
  readonly extras?: NfpKwargs;
}

/** What a client sent to a running job by PUT. */
export interface NfpPut {
  /** What the body says, when it is one frame of JSON; else `undefined`. */
  readonly value: unknown;
  /** The frames as they came; not to be written to. At least one. */
  readonly body: readonly Buffer[];
}

/** How a question is put; see {@link NfpTaskContext.requestInput}. */
export interface NfpInputOptions {
  /** Shown to the client, and the answer when none comes in time. Default: none, then `TIMEOUT` is thrown. */
  readonly default?: unknown;
  /** How long to wait for an answer. 1 ms to a day; default 60,000. */
  readonly timeoutMs?: number;
  /** For programs that answer in place of people. Must be JSON. */
  readonly metadata?: NfpKwargs;
}

/** What a task has besides its call. The functions may be taken apart: `(call, { signal, progress }) => ...`. */
export interface NfpTaskContext {
  /** Aborts when the job was deleted, or the worker is closing. The reason is a `ProjError` (`REJECTED`, `CLOSED`). */
  readonly signal: AbortSignal;
  /**
   * Tells the client that posted the job how far it is: an event of type `progress`. Not kept for a client that is away; the last
   * 100 events of a job stay with its result. Does nothing once the task has ended. Throws `PROTOCOL_LOCAL` for what is no JSON.
   */
  readonly progress: (message: string, options?: Omit<NfpEventOptions, 'type'>) => void;
  /** As {@link NfpTaskContext.progress}, an event of any type or none. */
  readonly event: (message: string, options?: NfpEventOptions) => void;
  /**
   * Sends bytes to the client that posted the job, in order; not kept. Await it before the next one, then a connection that is
   * slow slows the task down. Rejects with the signal's reason once that has aborted, and with `PROTOCOL_LOCAL` for a chunk over
   * the limits and after the task has ended.
   */
  readonly stream: (chunk: string | Uint8Array) => Promise<void>;
  /**
   * What the client sends by PUT while the task runs, in order. At most `putQueueMax` wait; more are dropped and counted. Ends
   * when the task ends or the signal aborts. One reader.
   */
  readonly puts: AsyncIterableIterator<NfpPut>;
  /**
   * Asks the client that posted the job: an event of type `input_request`, while GET is answered with 102. Resolves to the value
   * of the PUT that answers, or to `default` when none came in time. Rejects with `TIMEOUT` without a default, with `REJECTED`
   * when the client refuses to answer, and with the signal's reason. Questions of one job are put one after the other.
   */
  readonly requestInput: (question: string, options?: NfpInputOptions) => Promise<unknown>;
  /**
   * What the broker's inventory says of this worker, `{}` when nothing. It was asked for when the worker began, and is asked for again after
   * `restart`; in between it is remembered. Rejects with `REJECTED` (the broker has no inventory), `TIMEOUT` or `CLOSED`.
   */
  readonly inventory: () => Promise<NfpKwargs>;
  /**
   * The file behind an `nf://` url of the broker, or of a worker of service `filesharing` when the broker has no file service, as a path on this disk where it stays until the task ends. It is kept in the folder of the option `fetchFiles`, and
   * comes over the wire only when it is not there yet, or the broker has another. Rejects with `REJECTED` (no such file), `QUEUE_FULL` (no room beside the files
   * that running tasks need), `PROTOCOL_REMOTE` (not the bytes that were announced), `OPTIONS_INVALID`, `TIMEOUT` or the signal's reason.
   */
  readonly fetch: (url: string) => Promise<string>;
}

/** Renews what an application has, such as what it has made of its inventory; see the option `onRestart`. What it throws is told as an error, and the worker serves again. */
export type NfpRestartHook = (services: Pick<NfpTaskContext, 'inventory'>) => unknown;

/**
 * Does a job. What it returns is the result, as JSON (`undefined` becomes `null`); when it throws the job has failed, and the
 * message is the error. May run again for the same job after a crash: tasks are idempotent.
 */
export type NfpTaskHandler<Args = NfpArgs, Kwargs = NfpKwargs> = (
  call: NfpTaskCall<Args, Kwargs>,
  context: NfpTaskContext,
) => unknown;

/**
 * Thrown by a task that has failed and still has something to return, such as what of many things was done: `failed` is true in what clients are
 * told, `errors` holds the message, and `result` is told as well. What JSON cannot express is told as `null`.
 */
export class NfpTaskFailure extends Error {
  override readonly name = 'NfpTaskFailure';
  readonly result: unknown;

  constructor(message: string, result: unknown) {
    super(message);
    this.result = result;
  }
}

/** A task with what it expects. Schemas are Standard Schemas, such as those of zod: a job whose arguments they refuse fails. */
export interface NfpTaskDefinition<
  ArgsSchema extends StandardSchema | undefined = undefined,
  KwargsSchema extends StandardSchema | undefined = undefined,
> {
  readonly args?: ArgsSchema;
  readonly kwargs?: KwargsSchema;
  /**
   * Names of keyword arguments, and numbers of positional ones, whose `nf://` urls are fetched first: the handler finds the paths of
   * {@link NfpTaskContext.fetch} in their places. A text, or a list of texts; what is no such url stays. The schemas see the urls.
   */
  readonly fetch?: readonly (string | number)[];
  /** Shown by the management command `show_workers`. At most 1024 characters. */
  readonly description?: string;
  readonly handler: NfpTaskHandler<
    ArgsSchema extends StandardSchema ? SchemaOutput<ArgsSchema> : NfpArgs,
    KwargsSchema extends StandardSchema ? SchemaOutput<KwargsSchema> : NfpKwargs
  >;
}

/** A task as a worker holds it: made by {@link defineNfpTask}, or written out without schemas. */
export interface NfpTask {
  readonly args?: StandardSchema | undefined;
  readonly kwargs?: StandardSchema | undefined;
  readonly fetch?: readonly (string | number)[] | undefined;
  readonly description?: string | undefined;
  readonly handler: NfpTaskHandler;
}

/** Gives a task with schemas the types of its arguments; returns it as it is. */
export function defineNfpTask<
  ArgsSchema extends StandardSchema | undefined = undefined,
  KwargsSchema extends StandardSchema | undefined = undefined,
>(definition: NfpTaskDefinition<ArgsSchema, KwargsSchema>): NfpTask {
  // The worker calls the handler with what the schemas made, and with nothing else.
  return definition as unknown as NfpTask;
}
