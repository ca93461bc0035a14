/** EventMQ client, the facade: section 9 of docs/protocols/emqp.md. Decisions: session.ts. */
import { fromLatin1 } from '@proj/frames';
import {
  decodeEmqpAtClient,
  decodeEmqpAtSubscriber,
  emqpJobText,
  encodeEmqp,
  encodeEmqpHeaders,
} from '@proj/frames/emqp';
import type { EmqpRequest, EmqpScheduling } from '@proj/frames/emqp';
import { Departures, Emitter, parseOptions, ProjError, SessionHost, toBuffers, toFrames } from '@proj/transport';
import type { Frame, HandshakeRefusal, PortOptions, SubscriberPort, Transport } from '@proj/transport';
import { clientCurve } from '@proj/transport/curve';
import { loadTransport } from '@proj/zmtp';
import { onAbort } from '../on-abort.js';
import { unanswered } from '../unanswered.js';
import { Subscription } from '../subscription.js';
import type {
  EmqpClientEffect,
  EmqpClientEvent,
  EmqpClientFailure,
  EmqpClientNote,
  EmqpClientStats,
} from './engine/events.js';
import { bodyOf, readResult } from './job.js';
import { idOf } from './message-id.js';
import {
  emqpClientOptions,
  emqpDeferOptions,
  emqpPublishOptions,
  emqpQueueName,
  emqpScheduleOptions,
  emqpSubscribeOptions,
  emqpUnscheduleOptions,
} from './options.js';
import type {
  EmqpClientOptions,
  EmqpClientSettings,
  EmqpDeferOptions,
  EmqpJob,
  EmqpPublishOptions,
  EmqpScheduleOptions,
  EmqpSubscribeOptions,
  EmqpUnscheduleOptions,
} from './options.js';
import { EmqpPublishing } from './publishing.js';
import { EmqpClientSession } from './engine/session.js';
import type { EmqpMessage, EmqpSubscription } from './subscription.js';

/** Events of an {@link EmqpClient}. */
export interface EmqpClientEvents {
  /** Something worth a log line or a counter. */
  note: EmqpClientNote;
  /** The handshake with a server has failed, by its key or by ours; it is tried again. */
  refused: HandshakeRefusal;
  /** A subscription's reader is too slow: its oldest message was dropped. Once until it reads the next one, which says how many. */
  missed: EmqpSubscription;
}

/** What an {@link EmqpClient} counts; see its `stats`. */
export interface EmqpClientTotals extends EmqpClientStats {
  /** Messages published: the transport has taken them. */
  readonly published: number;
  /** Messages subscriptions have received. */
  readonly received: number;
  /** Those of them that were dropped because they were not read in time. */
  readonly missed: number;
  /** What came to a subscription and is no message, or over the limits. */
  readonly unreadable: number;
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
const TOPIC_SHOWN = 100;
const GUARANTEE = encodeEmqpHeaders({ guarantee: true });
const NO_INTERVAL = '-1';

const ignore = (): void => undefined;

/** One command on its way, from the caller's side. */
interface Call {
  /** What error messages call it. */
  readonly subject: string;
  readonly draft: Draft;
  readonly wantsResult: boolean;
  readonly mayRepeat: boolean;
  readonly taken: (deferred: EmqpDeferred) => void;
  /** Rejects what the caller waits for now: the acceptance, then the result. */
  fail: (error: unknown) => void;
  succeed: (result: unknown) => void;
  /** The broker has accepted it, and its result is awaited. */
  accepted: boolean;
  /** Chosen when it goes to the session. */
  id: string | undefined;
  /** Stops listening to the caller's signal. */
  release: () => void;
  over: boolean;
}

/**
 * Hands jobs to an EventMQ broker: now (`defer`) or by a scheduler (`schedule`, `unschedule`). Publishes messages and subscribes to
 * them at its pub-sub device (`publish`, `subscribe`).
 *
 * ```ts
 * await using client = new EmqpClient({ endpoints: ['tcp://127.0.0.1:47291'] });
 * const { result } = await client.defer('default', { path: 'myjobs', callable: 'add', args: [2, 3] }, { replyRequested: true });
 * console.log(await result);
 * ```
 *
 * Nothing is sent twice, as a broker would run the job twice, but guaranteed jobs: when their connection ends they go out again until they
 * are accepted and, where a result is asked for, until that is here; our broker knows one again that it still has. A call that fails rejects with a `ProjError`: `TIMEOUT` (not accepted in
 * `timeoutMs`, no result in `resultTimeoutMs`; `details.unmet` has the endpoints that could not be reached or did not let us in, `details.connected` the silent ones), `PEER_LOST` (the connection ended first), `QUEUE_FULL` (`openMax` calls are open, or the
 * transport has no room), `UNREACHABLE` (no socket can be opened), `UNAVAILABLE` (no ZeroMQ on this machine), `PROTOCOL_REMOTE` (a
 * result that is none), `PROTOCOL_LOCAL` (a job that is none, or is too large), `OPTIONS_INVALID` or `CLOSED`. An aborted one rejects
 * with the signal's reason. After `TIMEOUT`, `PEER_LOST`, `CLOSED` and an abort the job may run all the same.
 */
export class EmqpClient {
  readonly #settings: EmqpClientSettings;
  readonly #port: PortOptions;
  readonly #events = new Emitter<EmqpClientEvents>();
  readonly #session: EmqpClientSession<Call>;
  readonly #departures = new Departures();
  readonly #host: SessionHost<EmqpClientEvent<Call>, EmqpClientEffect<Call>>;
  readonly #publishing: EmqpPublishing;
  /** With its socket, once it has one. */
  readonly #subscriptions = new Map<EmqpSubscription, SubscriberPort | undefined>();
  readonly #received = { received: 0, missed: 0, unreadable: 0 };
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
      ...clientCurve(settings.curve),
    };
    this.#host = new SessionHost<EmqpClientEvent<Call>, EmqpClientEffect<Call>>(
      {
        engine: this.#session,
        perform: this.#perform,
        onMessage: (socket, frames) => ({ kind: 'message', socket, message: decodeEmqpAtClient(frames) }),
        onRejected: (socket, reason) => ({ kind: 'rejected', socket, reason }),
        onSent: (socket, frames) => ({ kind: 'sent', socket, id: idOf(frames) }),
        onUndeliverable: (socket, frames) => ({ kind: 'unsent', socket, id: idOf(frames) }),
        onLost: (socket) => ({ kind: 'lost', socket }),
        onUnopened: (socket, cause) => ({ kind: 'refused', socket, cause }),
        onRefused: (refusal) => {
          this.#events.emit('refused', refusal);
        },
      },
      () => loadTransport(settings.transport),
      this.#departures,
    );
    this.#publishing = new EmqpPublishing(settings, this.#port, this.#departures);
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
      return { subject, draft, wantsResult: wishes.replyRequested, mayRepeat: wishes.guarantee, signal };
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
      return { subject, draft, wantsResult: false, mayRepeat: false, signal };
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
      return { subject, draft, wantsResult: false, mayRepeat: false, signal };
    });
  }

  /**
   * Has the pub-sub device hand a message to whoever subscribed to a prefix of its topic, which may not be empty. There is no answer:
   * resolves when the transport has the message; whoever listens does not show. Text is sent as UTF-8, which EventMQ's own device needs.
   */
  async publish(topic: Frame, body: Frame, options: EmqpPublishOptions = {}): Promise<void> {
    const { signal } = parseOptions('EmqpClient publish', emqpPublishOptions, options);
    const subject = `publish to topic ${JSON.stringify(String(topic).slice(0, TOPIC_SHOWN))}`;
    const frames = toFrames(subject, [topic, body], { frames: 2, bytes: this.#bodyMax });
    const [topicFrame, bodyFrame] = frames as [Uint8Array, Uint8Array];
    if (topicFrame.length === 0) throw new ProjError('PROTOCOL_LOCAL', `${subject}: the topic is empty; name one`);
    signal?.throwIfAborted();
    const transport = await this.#host.load();
    signal?.throwIfAborted();
    if (this.#closing !== undefined) throw new ProjError('CLOSED', `${subject}: the client is closed`);
    await this.#publishing.send(transport, topicFrame, bodyFrame, signal);
  }

  /**
   * Listens from now on to all topics that begin with one of these, byte by byte; `''` asks for all. Each subscription has a socket of
   * its own, until it ends; it comes back by itself after a lost connection, and what was published meanwhile is missed.
   *
   * ```ts
   * for await (const { topic, body, missed } of client.subscribe('news.', { signal })) console.log(String(topic), String(body));
   * ```
   */
  subscribe(topics: Frame | readonly Frame[], options: EmqpSubscribeOptions = {}): EmqpSubscription {
    const { signal, ...limits } = parseOptions('EmqpClient subscribe', emqpSubscribeOptions, options);
    if (Array.isArray(topics) && topics.length === 0)
      throw new ProjError('OPTIONS_INVALID', "subscribe: no topic is given; name one, or '' for all");
    const prefixes = toFrames('subscribe', topics);
    if (this.#closing !== undefined) throw new ProjError('CLOSED', 'subscribe: the client is closed');
    let release = ignore;
    const subscription = new Subscription<EmqpMessage>(limits, {
      onMissed: (first) => {
        this.#received.missed++;
        if (first) this.#events.emit('missed', subscription);
      },
      onEnd: () => {
        release();
        const port = this.#subscriptions.get(subscription);
        this.#subscriptions.delete(subscription);
        if (port !== undefined) this.#departures.add(port, 0);
      },
    });
    this.#subscriptions.set(subscription, undefined);
    if (signal?.aborted === true) subscription.end({ error: signal.reason });
    else if (signal !== undefined)
      release = onAbort(signal, () => {
        subscription.end({ error: signal.reason });
      });
    this.#hear(subscription, prefixes).catch((error: unknown) => {
      subscription.end({ error });
    });
    return subscription;
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
  stats(): EmqpClientTotals {
    return { ...this.#session.stats, published: this.#publishing.published, ...this.#received };
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
    prepare: () => Pick<Call, 'subject' | 'draft' | 'wantsResult' | 'mayRepeat'> & { signal: AbortSignal | undefined },
  ): Promise<EmqpDeferred> {
    return new Promise((resolve, reject) => {
      // What is thrown in here rejects the promise.
      const { signal, ...prepared } = prepare();
      const state = { fail: reject, succeed: ignore, accepted: false, id: undefined, release: ignore, over: false };
      this.#begin({ ...prepared, taken: resolve, ...state }, signal);
    });
  }

  #begin(call: Call, signal: AbortSignal | undefined): void {
    if (signal?.aborted === true) this.#fail(call, signal.reason);
    else if (this.#closing !== undefined) this.#fail(call, this.#error(call, 'CLOSED'));
    else if (this.#host.early >= this.#settings.openMax) this.#fail(call, this.#error(call, 'QUEUE_FULL'));
    else {
      if (signal !== undefined) this.#listen(call, signal);
      this.#host.whenLoaded(
        (transport) => {
          if (!call.over) this.#order(call, transport);
        },
        (error) => {
          this.#fail(call, error ?? this.#error(call, 'CLOSED'));
        },
      );
    }
  }

  #listen(call: Call, signal: AbortSignal): void {
    call.release = onAbort(signal, () => {
      this.#fail(call, signal.reason);
      if (call.id !== undefined) this.#host.dispatch({ kind: 'abort', id: call.id });
    });
  }

  #order(call: Call, { entropy }: Transport): void {
    const id = (call.id = entropy.uuid());
    const { draft, wantsResult, mayRepeat } = call;
    const command = { ...draft, id };
    this.#host.dispatch({ kind: 'order', order: { ticket: call, command, wantsResult, mayRepeat } });
  }

  readonly #perform = (effect: EmqpClientEffect<Call>): void => {
    switch (effect.kind) {
      case 'open':
        this.#open(effect.socket, effect.endpoint, this.#host.transport as Transport);
        break;
      case 'close':
        this.#host.closeSocket(effect.socket, effect.linger);
        break;
      case 'send':
        this.#host.send(effect.socket, encodeEmqp(effect.command));
        break;
      case 'bye': {
        const id = (this.#host.transport as Transport).entropy.uuid();
        this.#host.send(effect.socket, encodeEmqp({ kind: 'bye', id, word: 'KBAI' }));
        break;
      }
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
    call.accepted = true;
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

  #open(socket: number, endpoint: string, { entropy }: Transport): void {
    // In ASCII: an id of ZeroMQ's own making ends EventMQ's router.
    const port = { ...this.#port, routingId: fromLatin1(entropy.uuid()) };
    this.#host.open(socket, { endpoints: [endpoint], port });
  }

  /** Opens the socket of a subscription, unless it is over by then. */
  async #hear(subscription: EmqpSubscription, prefixes: readonly Uint8Array[]): Promise<void> {
    const transport = await this.#host.load();
    if (subscription.over) return;
    const { maxMessageBytes } = this.#settings;
    const { curve } = this.#port;
    const port = transport.subscriber({
      maxMessageFrames: MESSAGE_FRAMES,
      maxMessageBytes,
      ...(curve === undefined ? {} : { curve }),
    });
    this.#subscriptions.set(subscription, port);
    const unreadable = () => {
      this.#received.unreadable++;
    };
    for (const prefix of prefixes) port.subscribe(prefix);
    port.connect(this.#settings.subscribeEndpoint);
    port.start({
      onMessage: (frames) => {
        const message = decodeEmqpAtSubscriber(frames);
        if (message.kind === 'malformed') {
          unreadable();
          return;
        }
        this.#received.received++;
        const [topic, body] = toBuffers([message.topic, message.body]) as [Buffer, Buffer];
        subscription.deliver({ topic, body }, topic.length + body.length);
      },
      onRejected: unreadable,
      onRefused: (refusal) => {
        this.#events.emit('refused', refusal);
      },
      onBroken: (cause) => {
        const text = `subscribe at ${this.#settings.subscribeEndpoint}: the socket failed; subscribe again`;
        subscription.end({ error: new ProjError('PEER_LOST', text, { cause }) });
      },
    });
  }

  async #close(): Promise<void> {
    this.#publishing.close();
    for (const subscription of [...this.#subscriptions.keys()]) subscription.end();
    await this.#host.close({ kind: 'close' });
  }

  #error({ subject, accepted }: Call, code: EmqpClientFailure, cause?: unknown): ProjError {
    const { endpoints } = this.#settings;
    const known = code === 'TIMEOUT' ? unanswered(this.#host, endpoints, 'is a broker there?') : undefined;
    const text = `${subject}: ${explain(code, this.#settings, accepted, cause)}${known?.words ?? ''}`;
    return new ProjError(code, text, { details: known?.details, ...(cause === undefined ? {} : { cause }) });
  }
}

/** What error messages call a call. Throws `OPTIONS_INVALID` for what is no queue's name. */
function subjectOf(what: string, queue: string): string {
  return `${what} queue ${JSON.stringify(parseOptions('EmqpClient queue', emqpQueueName, queue))}`;
}

function explain(code: EmqpClientFailure, settings: EmqpClientSettings, accepted: boolean, cause: unknown): string {
  const { endpoints, timeoutMs, resultTimeoutMs, openMax } = settings;
  switch (code) {
    case 'TIMEOUT':
      return accepted
        ? `accepted, but no result within ${resultTimeoutMs} ms (${endpoints.join(', ')})`
        : `no acceptance within ${timeoutMs} ms (${endpoints.join(', ')})`;
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
