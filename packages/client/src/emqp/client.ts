/** EventMQ client, the facade: section 9 of docs/protocols/emqp.md. Decisions: engine/session.ts. */
import { fromLatin1, latin1 } from '@proj/frames';
import { decodeEmqpAtSubscriber, encodeEmqpHeaders } from '@proj/frames/emqp';
import { Departures, Emitter, parseOptions, ProjError, toBuffers, toFrames } from '@proj/transport';
import type { EventListener, Frame, Life } from '@proj/transport';
import { clientCurve } from '@proj/transport/curve';
import { encodeTraceItems, serverAttributes, Tracing } from '@proj/transport/tracing';
import type { TracedCall, TracedPlan } from '@proj/transport/tracing';
import type { ClientEvents } from '../shared/client-events.js';
import { ClientSubscriptions } from '../subscription.js';
import type { Heard, Subscription } from '../subscription.js';
import { CommandRunner } from './command-runner.js';
import type { EmqpDeferred } from './command-runner.js';
import type { EmqpClientNote, EmqpClientStats } from './engine/events.js';
import { bodyMax, bodyOf, namedBodyOf } from './job.js';
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

/** A published message. */
export interface EmqpMessage {
  readonly topic: Buffer;
  readonly body: Buffer;
}

/** A message of the pub-sub device, with the number missed before it. */
export type EmqpPublication = EmqpMessage & Heard;

/** See {@link Subscription}. */
export type EmqpSubscription = Subscription<EmqpMessage>;

/** Events of an {@link EmqpClient}. */
export interface EmqpClientEvents extends ClientEvents<EmqpClientNote> {
  /** A subscription's reader is too slow: its oldest message was dropped. Emitted once until it reads the next one, which has the count. */
  missed: EmqpSubscription;
}

/** Counters of an {@link EmqpClient}; see its `stats`. */
export interface EmqpClientTotals extends EmqpClientStats {
  /** Published messages, taken by the transport. */
  readonly published: number;
  /** Messages received by subscriptions. */
  readonly received: number;
  /** Those dropped because they were not read in time. */
  readonly missed: number;
  /** Messages to subscriptions that were invalid or over the limits. */
  readonly unreadable: number;
}

/** A job whose result was asked for. */
export interface EmqpDeferredWithResult extends EmqpDeferred {
  /** See {@link EmqpDeferred.result}. */
  readonly result: Promise<unknown>;
}

const MESSAGE_FRAMES = 64;
const TOPIC_SHOWN = 100;
const NO_INTERVAL = '-1';

/**
 * Sends jobs to an EventMQ broker: now (`defer`) or through a scheduler (`schedule`, `unschedule`). Publishes messages and subscribes to them at
 * its pub-sub device (`publish`, `subscribe`).
 *
 * ```ts
 * await using client = new EmqpClient({ endpoints: ['tcp://127.0.0.1:47291'] });
 * const { result } = await client.defer('default', { path: 'myjobs', callable: 'add', args: [2, 3] }, { replyRequested: true });
 * console.log(await result);
 * ```
 *
 * Nothing is sent twice, because a broker would run the job twice. Exception: if their connection ends, guaranteed jobs are sent again until
 * they are accepted and, if requested, until the result has arrived; our broker recognizes a job that it still has. A failed call rejects with a
 * `ProjError`: `TIMEOUT` (not accepted within `timeoutMs`, no result within `resultTimeoutMs`; `details.unmet` has the endpoints that could not
 * be reached or refused us, `details.connected` the silent ones), `PEER_LOST` (the connection ended first), `QUEUE_FULL` (`openMax` calls are
 * open, or the transport has no room), `UNREACHABLE` (no socket can be opened), `UNAVAILABLE` (no ZeroMQ on this machine), `PROTOCOL_REMOTE`
 * (the result is invalid), `PROTOCOL_LOCAL` (the job is invalid or too large), `OPTIONS_INVALID` or `CLOSED`. An aborted call rejects with the
 * signal's reason. After `TIMEOUT`, `PEER_LOST`, `CLOSED` and an abort the job may still run.
 */
export class EmqpClient implements Life<EmqpClientEvents> {
  readonly #settings: EmqpClientSettings;
  readonly #events = new Emitter<EmqpClientEvents>();
  readonly #tracing: Tracing;
  readonly #runner: CommandRunner;
  readonly #publishing: EmqpPublishing;
  readonly #subscriptions: ClientSubscriptions<EmqpMessage>;
  #closing: Promise<void> | undefined;

  /** Validates the options and does nothing else. Throws `OPTIONS_INVALID`. */
  constructor(options: EmqpClientOptions = {}) {
    const settings = parseOptions('EmqpClient', emqpClientOptions, options);
    const { maxMessageBytes, openMax, lingerMs, subscribeEndpoint } = settings;
    this.#settings = settings;
    this.#tracing = new Tracing('proj:client.request', 'emqp', settings.tracing, true);
    const limits = { maxMessageFrames: MESSAGE_FRAMES, maxMessageBytes, ...clientCurve(settings.curve) };
    // `openMax` limits the messages; the port limits the bytes.
    const port = { ...limits, lingerMs, peerQueueMax: openMax, queueMax: openMax };
    const departures = new Departures();
    const onRefused = this.#events.forward('refused');
    this.#runner = new CommandRunner(settings, port, departures, { onNote: this.#events.forward('note'), onRefused });
    this.#publishing = new EmqpPublishing(settings, port, departures);
    const source = {
      subject: `subscribe at ${subscribeEndpoint}`,
      endpoints: [subscribeEndpoint],
      port: limits,
      load: () => this.#runner.load(),
      read: readMessage,
      onRefused,
      onMissed: this.#events.forward('missed'),
    };
    this.#subscriptions = new ClientSubscriptions(source, departures);
  }

  /**
   * Requests a job, once. Resolves when the broker has accepted it. Our broker accepts at once, even if the job has to wait; EventMQ's own
   * router accepts when it gives the job to a worker, and never if it had to wait. Do not change bytes until then.
   */
  defer(
    queue: string,
    job: EmqpJob | Frame,
    options: EmqpDeferOptions & { readonly replyRequested: true },
  ): Promise<EmqpDeferredWithResult>;
  defer(queue: string, job: EmqpJob | Frame, options?: EmqpDeferOptions): Promise<EmqpDeferred>;
  defer(queue: string, job: EmqpJob | Frame, options: EmqpDeferOptions = {}): Promise<EmqpDeferred> {
    if (!this.#tracing.isOn) return this.#defer(queue, job, options);
    const trace = this.#tracing.begin(this.#traced('send', queue));
    return trace.run(() => this.#defer(queue, job, options, trace));
  }

  #defer(queue: string, job: EmqpJob | Frame, options: EmqpDeferOptions, trace?: TracedCall): Promise<EmqpDeferred> {
    return this.#runner.run(() => {
      const { signal, ...wishes } = parseOptions('EmqpClient defer', emqpDeferOptions, options);
      const subject = subjectOf('job for', queue);
      const body = bodyOf(subject, job, this.#settings.maxMessageBytes);
      const draft = { kind: 'request', queue, headers: tracedHeaders(wishes, trace), body } as const;
      return { subject, draft, wantsResult: wishes.replyRequested, mayRepeat: wishes.guarantee, signal };
    }, trace);
  }

  /**
   * Makes a scheduler run a job regularly, replacing an earlier schedule of the same job. There is no answer: resolves when the transport has
   * taken the message. A broker without a scheduler drops it.
   */
  schedule(queue: string, job: EmqpJob | Frame, options: EmqpScheduleOptions): Promise<void> {
    return this.#send('schedule', queue, () => {
      const own = parseOptions('EmqpClient schedule', emqpScheduleOptions, options);
      const { signal, intervalSeconds, cron = '', haste, ...wishes } = own;
      const subject = subjectOf('schedule for', queue);
      const headers = encodeEmqpHeaders({ ...wishes, nohaste: !haste });
      const interval = intervalSeconds === undefined ? NO_INTERVAL : String(intervalSeconds);
      const body = namedBodyOf(subject, job, this.#settings.maxMessageBytes);
      const draft = { kind: 'schedule', queue, headers, interval, body, cron } as const;
      return { subject, draft, wantsResult: false, mayRepeat: false, signal };
    });
  }

  /**
   * Makes all schedulers forget a job: same path, callable and arguments, in any queue. There is no answer: resolves when the transport has
   * taken the message. EventMQ's own scheduler keeps cron jobs.
   */
  unschedule(queue: string, job: EmqpJob | Frame, options: EmqpUnscheduleOptions = {}): Promise<void> {
    return this.#send('unschedule', queue, () => {
      const { signal } = parseOptions('EmqpClient unschedule', emqpUnscheduleOptions, options);
      const subject = subjectOf('unschedule for', queue);
      const body = namedBodyOf(subject, job, this.#settings.maxMessageBytes);
      // The header has no meaning here, but EventMQ's own client sends it.
      const headers = encodeEmqpHeaders({ guarantee: true });
      const draft = { kind: 'unschedule', queue, headers, interval: NO_INTERVAL, body, cron: '' } as const;
      return { subject, draft, wantsResult: false, mayRepeat: false, signal };
    });
  }

  /**
   * Makes the pub-sub device send a message to every subscriber to a prefix of its topic, which must not be empty. There is no answer: resolves
   * when the transport has taken the message, whether or not there are subscribers. Text is sent as UTF-8, which EventMQ's own device requires.
   */
  publish(topic: Frame, body: Frame, options: EmqpPublishOptions = {}): Promise<void> {
    const publish = (): Promise<void> => this.#publish(topic, body, options);
    return this.#tracing.isOn ? this.#tracing.trace(this.#traced('publish'), publish) : publish();
  }

  async #publish(topic: Frame, body: Frame, options: EmqpPublishOptions): Promise<void> {
    const { signal } = parseOptions('EmqpClient publish', emqpPublishOptions, options);
    const subject = `publish to topic ${JSON.stringify(String(topic).slice(0, TOPIC_SHOWN))}`;
    const frames = toFrames(subject, [topic, body], { frames: 2, bytes: bodyMax(this.#settings.maxMessageBytes) });
    const [topicFrame, bodyFrame] = frames as [Uint8Array, Uint8Array];
    if (topicFrame.length === 0) throw new ProjError('PROTOCOL_LOCAL', `${subject}: the topic is empty; name one`);
    signal?.throwIfAborted();
    const transport = await this.#runner.load();
    signal?.throwIfAborted();
    if (this.#closing !== undefined) throw new ProjError('CLOSED', `${subject}: the client is closed`);
    await this.#publishing.send(transport, topicFrame, bodyFrame, signal);
  }

  /**
   * Subscribes to all topics that begin with one of these, byte by byte; `''` means all. Each subscription has its own socket until it ends. The
   * socket reconnects by itself; messages published meanwhile are missed.
   *
   * ```ts
   * for await (const { topic, body, missed } of client.subscribe('news.', { signal })) console.log(String(topic), String(body));
   * ```
   */
  subscribe(topics: Frame | readonly Frame[], options: EmqpSubscribeOptions = {}): EmqpSubscription {
    const { signal, ...limits } = parseOptions('EmqpClient subscribe', emqpSubscribeOptions, options);
    if (Array.isArray(topics) && topics.length === 0)
      throw new ProjError('OPTIONS_INVALID', "subscribe: no topic; name one, or use '' for all");
    const prefixes = toFrames('subscribe', topics);
    if (this.#closing !== undefined) throw new ProjError('CLOSED', 'subscribe: the client is closed');
    return this.#subscriptions.subscribe({ prefixes, limits, signal });
  }

  /** Takes at most `lingerMs` if something is unsent. */
  close(): Promise<void> {
    return (this.#closing ??= this.#close());
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  on<Name extends keyof EmqpClientEvents>(event: Name, listener: EventListener<EmqpClientEvents, Name>): () => void {
    return this.#events.on(event, listener);
  }

  /** A copy of the counters since construction and current gauges. */
  stats(): EmqpClientTotals {
    return { ...this.#runner.stats, published: this.#publishing.published, ...this.#subscriptions.totals };
  }

  /** Sends a command without an answer. */
  #send(
    operation: 'schedule' | 'unschedule',
    queue: string,
    prepare: Parameters<CommandRunner['run']>[0],
  ): Promise<void> {
    const send = async (): Promise<void> => {
      await this.#runner.run(prepare);
    };
    return this.#tracing.isOn ? this.#tracing.trace(this.#traced(operation, queue), send) : send();
  }

  #traced(operation: 'send' | 'schedule' | 'unschedule' | 'publish', queue?: string): TracedPlan {
    const { endpoints, publishEndpoint } = this.#settings;
    const attributes = {
      'messaging.system': 'eventmq',
      'messaging.operation.name': operation,
      ...(operation === 'send' || operation === 'publish' ? { 'messaging.operation.type': 'send' } : {}),
      ...(queue === undefined ? {} : { 'messaging.destination.name': queue }),
      ...serverAttributes(operation === 'publish' ? [publishEndpoint] : endpoints),
    };
    return { kind: 'producer', name: queue === undefined ? operation : `${operation} ${queue}`, attributes };
  }

  async #close(): Promise<void> {
    this.#publishing.close();
    this.#subscriptions.close();
    await this.#runner.close();
  }
}

/** The header frame, with the trace context after the items: peers ignore unknown items. */
function tracedHeaders(wishes: Parameters<typeof encodeEmqpHeaders>[0], trace: TracedCall | undefined): Uint8Array {
  const headers = encodeEmqpHeaders(wishes);
  const carrier = trace?.carrier;
  const items = carrier === undefined ? '' : encodeTraceItems(carrier);
  if (items === '') return headers;
  return fromLatin1(headers.length === 0 ? items : `${latin1(headers)},${items}`);
}

/** A call's name in error messages. Throws `OPTIONS_INVALID` for an invalid queue name. */
function subjectOf(what: string, queue: string): string {
  return `${what} queue ${JSON.stringify(parseOptions('EmqpClient queue', emqpQueueName, queue))}`;
}

function readMessage(frames: Uint8Array[]): EmqpMessage | undefined {
  const message = decodeEmqpAtSubscriber(frames);
  if (message.kind === 'malformed') return undefined;
  const [topic, body] = toBuffers([message.topic, message.body]) as [Buffer, Buffer];
  return { topic, body };
}
