/** EventMQ client, the facade: section 9 of docs/protocols/emqp.md. Decisions: session.ts. */
import { EMPTY_FRAME, fromLatin1, latin1 } from '@proj/frames';
import { decodeEmqpAtClient, emqpJobText, encodeEmqp, encodeEmqpHeaders } from '@proj/frames/emqp';
import type { EmqpRequest, EmqpScheduling } from '@proj/frames/emqp';
import { Driver, Emitter, parseOptions, ProjError, ROUTER_PEER } from '@proj/transport';
import type { Frame, PortListener, PortOptions, SocketPort, Transport } from '@proj/transport';
import { Departures } from '../departures.js';
import { loadTransport } from '../load-transport.js';
import { onAbort } from '../on-abort.js';
import { bodyOf, readResult } from './job.js';
import {
  emqpClientOptions,
  emqpDeferOptions,
  emqpQueueName,
  emqpScheduleOptions,
  emqpUnscheduleOptions,
} from './options.js';
import type {
  EmqpClientOptions,
  EmqpClientSettings,
  EmqpDeferOptions,
  EmqpJob,
  EmqpScheduleOptions,
  EmqpUnscheduleOptions,
} from './options.js';
import { EmqpClientSession } from './session.js';
import type {
  EmqpClientEffect,
  EmqpClientEvent,
  EmqpClientFailure,
  EmqpClientNote,
  EmqpClientStats,
} from './session.js';

/** Events of an {@link EmqpClient}. */
export interface EmqpClientEvents {
  /** Something worth a log line or a counter. */
  note: EmqpClientNote;
}

/** A job the broker has accepted. */
export interface EmqpDeferred {
  /** Id of the REQUEST: what logs of broker and worker call the job. */
  readonly id: string;
  /**
   * What the job returned, with `replyRequested`. A job that failed returns the text of its error: the protocol does not tell
   * the two apart. Rejects with a `ProjError`; nobody need listen.
   */
  readonly result: Promise<unknown> | undefined;
}

/** A job whose result was asked for. */
export interface EmqpDeferredWithResult extends EmqpDeferred {
  /** See {@link EmqpDeferred.result}. */
  readonly result: Promise<unknown>;
}

/** A command as the wire has it, but for the id, which the transport provides. */
type Draft = Omit<EmqpRequest, 'id'> | Omit<EmqpScheduling, 'id'>;

/** Frames besides the body hold a queue, headers and an id: never more than this many bytes. */
const BYTES_BESIDE_BODY = 1024;
const MESSAGE_FRAMES = 64;
const GUARANTEE = encodeEmqpHeaders({ guarantee: true });
const NO_INTERVAL = '-1';

const ignore = (): void => undefined;

/** One command on its way, from the caller's side. */
interface Call {
  /** What error messages call it. */
  readonly subject: string;
  readonly draft: Draft;
  readonly wantsResult: boolean;
  readonly taken: (deferred: EmqpDeferred) => void;
  /** Rejects what the caller waits for now: the acceptance, then the result. */
  fail: (error: unknown) => void;
  succeed: (result: unknown) => void;
  /** Chosen when it goes to the session. */
  id: string | undefined;
  /** Stops listening to the caller's signal. */
  release: () => void;
  over: boolean;
}

/**
 * Hands jobs to an EventMQ broker: now (`defer`) or by a scheduler (`schedule`, `unschedule`).
 *
 * ```ts
 * await using client = new EmqpClient({ endpoints: ['tcp://127.0.0.1:47291'] });
 * const { result } = await client.defer('default', { path: 'myjobs', callable: 'add', args: [2, 3] }, { replyRequested: true });
 * console.log(await result);
 * ```
 *
 * Nothing is sent twice: a broker would run the job twice. A call that fails rejects with a `ProjError`: `TIMEOUT` (not accepted in
 * `timeoutMs`, no result in `resultTimeoutMs`), `PEER_LOST` (the connection ended first), `QUEUE_FULL` (`openMax` calls are open, or the
 * transport has no room), `UNREACHABLE` (no socket can be opened), `UNAVAILABLE` (no ZeroMQ on this machine), `PROTOCOL_REMOTE` (a
 * result that is none), `PROTOCOL_LOCAL` (a job that is none, or is too large), `OPTIONS_INVALID` or `CLOSED`. An aborted one rejects
 * with the signal's reason. After `TIMEOUT`, `PEER_LOST`, `CLOSED` and an abort the job may run all the same.
 */
export class EmqpClient {
  readonly #settings: EmqpClientSettings;
  readonly #port: PortOptions;
  readonly #events = new Emitter<EmqpClientEvents>();
  readonly #session: EmqpClientSession<Call>;
  readonly #sockets = new Map<number, SocketPort>();
  readonly #departures = new Departures();
  #early: Call[] = [];
  #loading = false;
  #transport: Transport | undefined;
  #driver: Driver<EmqpClientEvent<Call>, EmqpClientEffect<Call>> | undefined;
  #closing: Promise<void> | undefined;

  /** Validates the options and does nothing else. Throws `OPTIONS_INVALID`. */
  constructor(options: EmqpClientOptions = {}) {
    const settings = parseOptions('EmqpClient', emqpClientOptions, options);
    const { maxMessageBytes, openMax, lingerMs } = settings;
    this.#settings = settings;
    this.#session = new EmqpClientSession(settings);
    this.#port = {
      lingerMs,
      maxMessageFrames: MESSAGE_FRAMES,
      maxMessageBytes,
      // `openMax` is the bound of messages; that of bytes is the port's own.
      peerQueueMax: openMax,
      queueMax: openMax,
    };
  }

  /**
   * Asks for a job, once. Resolves when the broker has accepted it: ours at once, for what waits too; EventMQ's own router when it
   * gives the job to a worker, and never for one that had to wait. Bytes and text are sent as they are; they must not change until then.
   */
  defer(
    queue: string,
    job: EmqpJob | Frame,
    options: EmqpDeferOptions & { readonly replyRequested: true },
  ): Promise<EmqpDeferredWithResult>;
  defer(queue: string, job: EmqpJob | Frame, options?: EmqpDeferOptions): Promise<EmqpDeferred>;
  defer(queue: string, job: EmqpJob | Frame, options: EmqpDeferOptions = {}): Promise<EmqpDeferred> {
    return this.#call(() => {
      const { signal, ...wishes } = parseOptions('EmqpClient defer', emqpDeferOptions, options);
      const subject = subjectOf('job for', queue);
      const body = bodyOf(subject, job, this.#bodyMax);
      const draft: Draft = { kind: 'request', queue, headers: encodeEmqpHeaders(wishes), body };
      return { subject, draft, wantsResult: wishes.replyRequested, signal };
    });
  }

  /**
   * Has a scheduler run a job regularly, in place of what it did with this job before. There is no answer: resolves when the transport has
   * the message. A broker without a scheduler drops it.
   */
  async schedule(queue: string, job: EmqpJob | Frame, options: EmqpScheduleOptions): Promise<void> {
    await this.#call(() => {
      const { signal, intervalSeconds, cron, haste, ...wishes } = parseOptions(
        'EmqpClient schedule',
        emqpScheduleOptions,
        options,
      );
      const subject = subjectOf('schedule for', queue);
      const headers = encodeEmqpHeaders({ ...wishes, nohaste: !haste });
      const interval = intervalSeconds === undefined ? NO_INTERVAL : String(intervalSeconds);
      const body = this.#namedJob(subject, job);
      const draft: Draft = { kind: 'schedule', queue, headers, interval, body, cron: cron ?? '' };
      return { subject, draft, wantsResult: false, signal };
    });
  }

  /**
   * Has all schedulers forget a job: the same path, callable and arguments; the queue is not looked at. There is no answer: resolves
   * when the transport has the message. EventMQ's own scheduler keeps what runs by cron.
   */
  async unschedule(queue: string, job: EmqpJob | Frame, options: EmqpUnscheduleOptions = {}): Promise<void> {
    await this.#call(() => {
      const { signal } = parseOptions('EmqpClient unschedule', emqpUnscheduleOptions, options);
      const subject = subjectOf('unschedule for', queue);
      const body = this.#namedJob(subject, job);
      // The header says nothing here; EventMQ's own client sends it.
      const draft: Draft = { kind: 'unschedule', queue, headers: GUARANTEE, interval: NO_INTERVAL, body, cron: '' };
      return { subject, draft, wantsResult: false, signal };
    });
  }

  /**
   * Rejects what has no outcome and later calls with `CLOSED`; resolves when the sockets are closed, which takes `lingerMs` at most where
   * something was not sent yet. Idempotent.
   */
  close(): Promise<void> {
    return (this.#closing ??= this.#close());
  }

  /** The same as {@link close}. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Adds a listener and returns the function that removes it again. */
  on<Name extends keyof EmqpClientEvents>(
    event: Name,
    listener: (payload: EmqpClientEvents[Name]) => void,
  ): () => void {
    return this.#events.on(event, listener);
  }

  /** Counters since construction and gauges of now, as a copy. */
  stats(): EmqpClientStats {
    return this.#session.stats;
  }

  get #bodyMax(): number {
    return Math.max(0, this.#settings.maxMessageBytes - BYTES_BESIDE_BODY);
  }

  /** A body that names a job: brokers drop schedules without one, and tell nobody. */
  #namedJob(subject: string, job: EmqpJob | Frame): Uint8Array {
    const body = bodyOf(subject, job, this.#bodyMax);
    if (emqpJobText(body) !== undefined) return body;
    throw new ProjError(
      'PROTOCOL_LOCAL',
      `${subject}: the body names no job of at most 1 MiB; it needs callable and path`,
    );
  }

  #call(
    prepare: () => Pick<Call, 'subject' | 'draft' | 'wantsResult'> & { signal: AbortSignal | undefined },
  ): Promise<EmqpDeferred> {
    return new Promise((resolve, reject) => {
      // What is thrown in here rejects the promise.
      const { signal, ...prepared } = prepare();
      const state = { fail: reject, succeed: ignore, id: undefined, release: ignore, over: false };
      this.#begin({ ...prepared, taken: resolve, ...state }, signal);
    });
  }

  #begin(call: Call, signal: AbortSignal | undefined): void {
    if (signal?.aborted === true) this.#fail(call, signal.reason);
    else if (this.#closing !== undefined) this.#fail(call, this.#error(call, 'CLOSED'));
    else if (this.#early.length >= this.#settings.openMax) this.#fail(call, this.#error(call, 'QUEUE_FULL'));
    else {
      if (signal !== undefined) this.#listen(call, signal);
      if (this.#transport !== undefined) this.#order(call, this.#transport);
      else {
        this.#early.push(call);
        if (!this.#loading) void this.#load();
      }
    }
  }

  #listen(call: Call, signal: AbortSignal): void {
    call.release = onAbort(signal, () => {
      this.#fail(call, signal.reason);
      if (call.id !== undefined) this.#driver?.dispatch({ kind: 'abort', id: call.id });
    });
  }

  #order(call: Call, { entropy }: Transport): void {
    const id = (call.id = entropy.uuid());
    const { draft, wantsResult } = call;
    this.#driver?.dispatch({ kind: 'order', order: { ticket: call, command: { ...draft, id }, wantsResult } });
  }

  /** Never rejects. */
  async #load(): Promise<void> {
    this.#loading = true;
    try {
      const transport = await loadTransport(this.#settings.transport);
      if (this.#closing !== undefined) return;
      this.#driver = new Driver(this.#session, transport, this.#perform);
      this.#transport = transport;
      for (const call of this.#early.splice(0)) if (!call.over) this.#order(call, transport);
    } catch (error) {
      // The next call tries again.
      this.#loading = false;
      for (const call of this.#early.splice(0)) this.#fail(call, error);
    }
  }

  readonly #perform = (effect: EmqpClientEffect<Call>): void => {
    switch (effect.kind) {
      case 'open':
        this.#open(effect.socket, effect.endpoint);
        break;
      case 'close':
        this.#shut(effect.socket, effect.linger);
        break;
      case 'send':
        this.#sockets.get(effect.socket)?.send(ROUTER_PEER, encodeEmqp(effect.command));
        break;
      case 'taken':
        this.#onTaken(effect.ticket);
        break;
      case 'result':
        this.#onResult(effect.ticket, effect.result);
        break;
      case 'failed':
        this.#fail(effect.ticket, this.#error(effect.ticket, effect.code, effect.cause));
        break;
      case 'note':
        this.#events.emit('note', effect.note);
        break;
    }
  };

  #onTaken(call: Call): void {
    if (call.over) return;
    const id = call.id as string;
    if (!call.wantsResult) {
      this.#finish(call);
      call.taken({ id, result: undefined });
      return;
    }
    const result = new Promise<unknown>((resolve, reject) => {
      call.succeed = resolve;
      call.fail = reject;
    });
    result.catch(ignore);
    call.taken({ id, result });
  }

  #onResult(call: Call, frame: Uint8Array): void {
    if (call.over) return;
    try {
      const result = readResult(call.subject, frame);
      this.#finish(call);
      call.succeed(result);
    } catch (error) {
      this.#fail(call, error);
    }
  }

  /** What comes after the first end is ignored. */
  #fail(call: Call, error: unknown): void {
    if (call.over) return;
    this.#finish(call);
    call.fail(error);
  }

  #finish(call: Call): void {
    call.over = true;
    call.release();
  }

  #open(socket: number, endpoint: string): void {
    let port: SocketPort | undefined;
    try {
      const transport = this.#transport as Transport;
      // In ASCII: an id of ZeroMQ's own making ends EventMQ's router.
      port = transport.dealer({ ...this.#port, routingId: fromLatin1(transport.entropy.uuid()) });
      port.connect(endpoint);
      port.start(this.#listenerOf(socket));
      this.#sockets.set(socket, port);
    } catch (cause) {
      if (port !== undefined) this.#departures.add(port, 0);
      this.#driver?.dispatch({ kind: 'refused', socket, cause });
    }
  }

  #listenerOf(socket: number): PortListener {
    const lost = () => {
      this.#driver?.dispatch({ kind: 'lost', socket });
    };
    return {
      onMessage: (_peer, frames) => {
        this.#driver?.dispatch({ kind: 'message', socket, message: decodeEmqpAtClient(frames) });
      },
      onRejected: (_peer, reason) => {
        this.#driver?.dispatch({ kind: 'rejected', socket, reason });
      },
      onSent: (_peer, frames) => {
        this.#driver?.dispatch({ kind: 'sent', socket, id: idOf(frames) });
      },
      onUndeliverable: (_peer, frames) => {
        this.#driver?.dispatch({ kind: 'unsent', socket, id: idOf(frames) });
      },
      onPeerGone: lost,
      onBroken: lost,
    };
  }

  #shut(socket: number, linger: boolean): void {
    const port = this.#sockets.get(socket);
    this.#sockets.delete(socket);
    if (port !== undefined) this.#departures.add(port, linger ? this.#settings.lingerMs : 0);
  }

  async #close(): Promise<void> {
    this.#driver?.dispatch({ kind: 'close' });
    for (const call of this.#early.splice(0)) this.#fail(call, this.#error(call, 'CLOSED'));
    // The driver delivers the event when the current step, if any, is done: not later than this.
    await Promise.resolve();
    this.#driver?.stop();
    await this.#departures.over();
  }

  #error({ subject }: Call, code: EmqpClientFailure, cause?: unknown): ProjError {
    const text = `${subject}: ${explain(code, this.#settings, cause)}`;
    return new ProjError(code, text, cause === undefined ? {} : { cause });
  }
}

/** The id in the frames of a message of ours. */
function idOf(frames: readonly Uint8Array[]): string {
  return latin1(frames[3] ?? EMPTY_FRAME);
}

/** What error messages call a call. Throws `OPTIONS_INVALID` for what is no queue's name. */
function subjectOf(what: string, queue: string): string {
  return `${what} queue ${JSON.stringify(parseOptions('EmqpClient queue', emqpQueueName, queue))}`;
}

function explain(code: EmqpClientFailure, settings: EmqpClientSettings, cause: unknown): string {
  const { endpoints, timeoutMs, resultTimeoutMs, openMax } = settings;
  switch (code) {
    case 'TIMEOUT':
      return `no acceptance within ${timeoutMs} ms, or no result within ${resultTimeoutMs} ms (${endpoints.join(', ')}); is a broker there?`;
    case 'PEER_LOST':
      return 'the connection ended first; the job may run all the same';
    case 'QUEUE_FULL':
      return `${openMax} calls are open, or the transport has no room; await some, or raise option openMax`;
    case 'UNREACHABLE':
      return `cannot open a socket: ${cause instanceof Error ? cause.message : String(cause)}`;
    case 'CLOSED':
      return 'the client is closed';
  }
}
