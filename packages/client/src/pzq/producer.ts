/** PZQ producer, the facade: rule 23 of docs/protocols/pzq.md. Decisions: engine/producer-session.ts. */
import { fromLatin1, latin1, totalBytes } from '@proj/frames';
import { decodePzqAtProducer, encodePzq, encodePzqHeaders } from '@proj/frames/pzq';
import { Emitter, parseOptions, ProjError, SessionHost } from '@proj/transport';
import type { BodyInput, EventListener, Life, PortOptions, Transport } from '@proj/transport';
import { clientCurve } from '@proj/transport/curve';
import { serverAttributes, toTracedFrames, Tracing } from '@proj/transport/tracing';
import type { TracedCall, TracedPlan } from '@proj/transport/tracing';
import { loadTransport } from '@proj/zmtp';
import type { ClientEvents } from '../shared/client-events.js';
import { onAbort } from '../shared/on-abort.js';
import { unanswered } from '../unanswered.js';
import { pzqProducerOptions, pzqSendOptions } from './options.js';
import type { PzqProducerOptions, PzqProducerSettings, PzqSendOptions } from './options.js';
import { Rounds, within } from './rounds.js';
import { PzqProducerSession } from './engine/producer-session.js';
import type {
  PzqProducerEffect,
  PzqProducerEvent,
  PzqProducerFailure,
  PzqProducerNote,
  PzqProducerStats,
} from './engine/producer-events.js';

/** Events of a {@link PzqProducer}. */
export type PzqProducerEvents = ClientEvents<PzqProducerNote>;

/** Id, delimiter and two headers. */
const FRAMES_BESIDE_BODY = 4;
const NO_HEADERS: readonly Uint8Array[] = [];
const NO_WISHES: PzqSendOptions = {};

/** A message's name in error messages. */
const SUBJECT = 'message';

/** One message under way, from the caller's side. */
interface Sending {
  readonly body: readonly Uint8Array[];
  readonly headers: readonly Uint8Array[];
  /** The round of {@link Rounds} in which it began. */
  readonly round: number;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
  /** Assigned when it goes to the session, unless the caller has chosen one. */
  id: Uint8Array | undefined;
  /** Stops listening to the caller's signal. */
  release: (() => void) | undefined;
  readonly trace: TracedCall | undefined;
  over: boolean;
}

/**
 * Puts messages into a PZQ queue. `send` resolves when the queue says that it has stored the message.
 *
 * ```ts
 * await using producer = new PzqProducer({ endpoints: ['tcp://127.0.0.1:11131'] });
 * await producer.send('hello');
 * ```
 *
 * For speed, do not await each message before the next one: up to `window` are under way at a time, in order, and the others wait for their
 * turn. An unacknowledged message is sent again under the same id, so it may be stored more than once unless the queue has a dedupe window.
 *
 * A failed call rejects with a `ProjError`: `REJECTED` (by the queue; `details.reason` has its words), `TIMEOUT` (only with `timeoutMs`;
 * `details.unmet` has the endpoints that could not be reached or refused us, `details.connected` the silent ones), `QUEUE_FULL` (too many calls
 * are waiting), `UNREACHABLE` (no socket can be opened), `UNAVAILABLE` (no ZeroMQ on this machine), `CLOSED`, `OPTIONS_INVALID` or
 * `PROTOCOL_LOCAL` (a body without frames or over the limits, an id in use). An aborted call rejects with the signal's reason. After any of
 * these but `REJECTED` the message may have been stored.
 */
export class PzqProducer implements Life<PzqProducerEvents> {
  readonly #settings: PzqProducerSettings;
  readonly #port: PortOptions;
  readonly #events = new Emitter<PzqProducerEvents>();
  readonly #session: PzqProducerSession<Sending>;
  readonly #rounds = new Rounds();
  readonly #tracing: Tracing;
  readonly #host: SessionHost<PzqProducerEvent<Sending>, PzqProducerEffect<Sending>>;
  #draining: Promise<void> | undefined;
  #closing: Promise<void> | undefined;

  /** Validates the options and does nothing else. Throws `OPTIONS_INVALID`. */
  constructor(options: PzqProducerOptions = {}) {
    const settings = parseOptions('PzqProducer', pzqProducerOptions, options);
    const { maxMessageFrames, maxMessageBytes, window } = settings;
    this.#settings = settings;
    this.#tracing = new Tracing('proj:pzq.put', 'pzq', settings.tracing);
    this.#session = new PzqProducerSession(settings, () => this.#host.transport?.entropy.random() ?? 0);
    // The window is the bound, so the socket's own must be higher.
    const room = 2 * window + 1;
    const bytes = Number.MAX_SAFE_INTEGER;
    this.#port = {
      maxMessageFrames,
      maxMessageBytes,
      highWaterMark: room,
      peerQueueMax: room,
      peerQueueMaxBytes: bytes,
      queueMax: room,
      queueMaxBytes: bytes,
      ...clientCurve(settings.curve),
    };
    this.#host = new SessionHost<PzqProducerEvent<Sending>, PzqProducerEffect<Sending>>(
      {
        engine: this.#session,
        perform: this.#perform,
        onMessage: (socket, frames) => ({ kind: 'message', socket, message: decodePzqAtProducer(frames) }),
        onRejected: (socket, reason) => ({ kind: 'rejected', socket, reason }),
        onLost: (socket) => ({ kind: 'lost', socket }),
        onUnopened: (socket, cause) => ({ kind: 'refused', socket, cause }),
        onRefused: this.#events.forward('refused'),
      },
      () => loadTransport(settings.transport, settings.curve),
    );
  }

  /** Resolves when the queue has stored the message. Do not change the body's bytes until then. */
  send(body: BodyInput, options?: PzqSendOptions): Promise<void> {
    if (!this.#tracing.isOn) return this.#send(body, options);
    return this.#tracing.trace(this.#traced(), (trace) => this.#send(body, options, trace));
  }

  /** Resolves when every message sent before has an outcome, good or bad. */
  flush(): Promise<void> {
    return this.#rounds.next();
  }

  /** Accepts no more messages, waits for the others' outcomes, at most `drainMs`, and closes: the rest then rejects with `CLOSED`. Idempotent. */
  drain(): Promise<void> {
    return (this.#draining ??= this.#drain());
  }

  close(): Promise<void> {
    return (this.#closing ??= this.#host.close({ kind: 'close' }));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  on<Name extends keyof PzqProducerEvents>(event: Name, listener: EventListener<PzqProducerEvents, Name>): () => void {
    return this.#events.on(event, listener);
  }

  /** A copy of the counters since construction and current gauges. */
  stats(): PzqProducerStats {
    return this.#session.stats;
  }

  #traced(): TracedPlan {
    const server = serverAttributes(this.#settings.endpoints);
    const queue = 'server.address' in server ? ` ${server['server.address']}:${server['server.port']}` : '';
    const operation = { 'messaging.operation.name': 'send', 'messaging.operation.type': 'send' };
    return {
      kind: 'producer',
      name: `send${queue}`,
      attributes: { 'messaging.system': 'pzq', ...operation, ...server },
    };
  }

  #send(body: BodyInput, options: PzqSendOptions | undefined, trace?: TracedCall): Promise<void> {
    return new Promise((resolve, reject) => {
      // Anything thrown here rejects the promise.
      const { delayMs, ttlMs, id, signal } =
        options === undefined ? NO_WISHES : parseOptions('PzqProducer send', pzqSendOptions, options);
      const { maxMessageFrames, maxMessageBytes } = this.#settings;
      const limits = { frames: maxMessageFrames - FRAMES_BESIDE_BODY, bytes: maxMessageBytes };
      const sending: Sending = {
        body: toTracedFrames(SUBJECT, body, limits, trace?.carrier),
        headers: delayMs === undefined && ttlMs === undefined ? NO_HEADERS : encodePzqHeaders({ delayMs, ttlMs }),
        round: this.#rounds.begin(),
        resolve,
        reject,
        id: typeof id === 'string' ? Buffer.from(id) : id,
        release: undefined,
        trace,
        over: false,
      };
      this.#begin(sending, signal);
    });
  }

  #begin(sending: Sending, signal: AbortSignal | undefined): void {
    if (signal?.aborted === true) this.#settle(sending, signal.reason);
    else if (this.#draining !== undefined || this.#closing !== undefined) this.#settle(sending, this.#error('CLOSED'));
    else {
      if (signal !== undefined) this.#listen(sending, signal);
      if (this.#host.early >= this.#settings.window + this.#settings.waitingMax)
        this.#settle(sending, this.#error('QUEUE_FULL'));
      else
        this.#host.whenLoaded(
          (transport) => {
            if (!sending.over) this.#produce(sending, transport);
          },
          (error) => {
            this.#settle(sending, error ?? this.#error('CLOSED'));
          },
        );
    }
  }

  #listen(sending: Sending, signal: AbortSignal): void {
    sending.release = onAbort(signal, () => {
      this.#settle(sending, signal.reason);
      if (sending.id !== undefined) this.#host.dispatch({ kind: 'abort', id: sending.id });
    });
  }

  #produce(sending: Sending, { entropy }: Transport): void {
    const { headers, body } = sending;
    if (sending.id !== undefined && this.#session.has(sending.id)) {
      const id = JSON.stringify(latin1(sending.id));
      const text = `${SUBJECT}: another message with id ${id} is under way; choose another id`;
      this.#settle(sending, new ProjError('PROTOCOL_LOCAL', text));
      return;
    }
    const id = (sending.id ??= fromLatin1(entropy.uuid()));
    sending.trace?.set('messaging.message.id', latin1(id));
    this.#host.dispatch({ kind: 'produce', order: { ticket: sending, id, headers, body, bytes: totalBytes(body) } });
  }

  readonly #perform = (effect: PzqProducerEffect<Sending>): void => {
    switch (effect.kind) {
      case 'open':
        this.#host.open(effect.socket, { endpoints: [effect.endpoint], port: this.#port });
        break;
      case 'close':
        // Unsent messages are sent on the next connection.
        this.#host.closeSocket(effect.socket, false);
        break;
      case 'send':
        effect.ticket.trace?.sent();
        this.#host.send(effect.socket, encodePzq(effect.command));
        break;
      case 'stored':
        this.#settle(effect.ticket);
        break;
      case 'failed':
        this.#settle(effect.ticket, this.#error(effect.code, effect));
        break;
      case 'note':
        this.#events.emit('note', effect.note);
        break;
    }
  };

  /** Ends a call, successfully if there is no error. Only the first end counts. */
  #settle(sending: Sending, error?: unknown): void {
    if (sending.over) return;
    sending.over = true;
    sending.release?.();
    if (error === undefined) sending.resolve();
    else sending.reject(error);
    this.#rounds.end(sending.round);
  }

  async #drain(): Promise<void> {
    const flushed = this.flush();
    if (this.#host.early > 0) await this.#host.load().catch(() => undefined);
    await within(this.#settings.drainMs, this.#host.transport?.clock, flushed);
    await this.close();
  }

  #error(code: PzqProducerFailure, outcome: Partial<Failure> = {}): ProjError {
    const { reason = '', sends = 0, cause } = outcome;
    const why = explain(code, { reason, sends, cause }, this.#settings);
    const { endpoints } = this.#settings;
    const known = code === 'TIMEOUT' ? unanswered(this.#host, endpoints, 'is a queue there?') : undefined;
    const text = `${SUBJECT}: ${why}${known?.words ?? ''}`;
    return new ProjError(code, text, {
      details: { reason, sends, ...known?.details },
      ...(cause === undefined ? {} : { cause }),
    });
  }
}

type Failure = Pick<Extract<PzqProducerEffect<unknown>, { kind: 'failed' }>, 'reason' | 'sends' | 'cause'>;

function explain(code: PzqProducerFailure, { reason, sends, cause }: Failure, settings: PzqProducerSettings): string {
  const { endpoints, window, waitingMax, timeoutMs = 0 } = settings;
  switch (code) {
    case 'REJECTED':
      return `the queue did not store it: ${reason === '' ? 'no reason given' : JSON.stringify(reason)}`;
    case 'TIMEOUT':
      return `not acknowledged within ${timeoutMs} ms, ${sends} ${sends === 1 ? 'send' : 'sends'} (${endpoints.join(', ')})`;
    case 'QUEUE_FULL':
      return `${window + waitingMax} messages have no outcome yet; await some, or raise option waitingMax`;
    case 'UNREACHABLE':
      return `cannot open a socket: ${cause instanceof Error ? cause.message : String(cause)}`;
    case 'CLOSED':
      return 'the producer is closed';
  }
}
