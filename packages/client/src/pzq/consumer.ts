/** PZQ consumer, the facade: rule 24 of docs/protocols/pzq.md. Decisions: engine/consumer-session.ts. */
import { latin1 } from '@proj/frames';
import { decodePzqAtConsumer, encodePzq } from '@proj/frames/pzq';
import { Emitter, parseOptions, ProjError, SessionHost, UnheardErrors } from '@proj/transport';
import type { EventListener, Life } from '@proj/transport';
import { clientCurve } from '@proj/transport/curve';
import { carrierInBody, serverAttributes, Tracing } from '@proj/transport/tracing';
import type { TracedCall } from '@proj/transport/tracing';
import { loadTransport } from '@proj/zmtp';
import type { ClientEvents } from '../shared/client-events.js';
import { onAbort } from '../shared/on-abort.js';
import { PzqMessage } from './message.js';
import type { PzqMessageOwner } from './message.js';
import { pzqConsumerOptions, pzqReceiveOptions, pzqRunOptions } from './options.js';
import type { PzqConsumerOptions, PzqConsumerSettings, PzqReceiveOptions, PzqRunOptions } from './options.js';
import { within } from './rounds.js';
import { PzqConsumerSession } from './engine/consumer-session.js';
import type {
  PzqConsumerEffect,
  PzqConsumerEvent,
  PzqConsumerNote,
  PzqConsumerStats,
  PzqHanded,
} from './engine/consumer-events.js';

/** Events of a {@link PzqConsumer}. */
export interface PzqConsumerEvents extends ClientEvents<PzqConsumerNote> {
  /** A handler rejected (with its message), the clocks seem to disagree, or the socket failed. Without a listener: standard error, once a minute. */
  error: { readonly error: unknown; readonly message?: PzqMessage };
}

/** Called by `run` for each message. `signal` aborts when the consumer is closed. */
export type PzqHandler = (message: PzqMessage, context: { readonly signal: AbortSignal }) => unknown;

/** The only socket, connected to all queues. */
const SOCKET = 1;

/** A caller waiting for a message. */
interface Reader {
  readonly resolve: (message: PzqMessage | undefined) => void;
  readonly reject: (error: unknown) => void;
  /** Stops listening to the reader's signal. */
  release: (() => void) | undefined;
}

/**
 * Takes messages from one or more PZQ queues.
 *
 * ```ts
 * await using consumer = new PzqConsumer({ endpoints: ['tcp://127.0.0.1:11132'] });
 * for await (const message of consumer) {
 *   await store(message.body);
 *   message.ack();
 * }
 * ```
 *
 * or, with several handlers at a time and automatic acknowledgements, `await consumer.run(handler, { concurrency: 8 })`.
 *
 * At least once: a message that is not acknowledged in time comes again. One whose key was acknowledged here before is acknowledged again but
 * not delivered. The queue's clock starts when it sends, so keep `prefetch` to what can be handled within its acknowledgement timeout; a
 * delivery whose turn comes too late is dropped (`dropExpired`).
 *
 * The socket opens with the first reader. Reading rejects with `OPTIONS_INVALID`, `UNAVAILABLE` (no ZeroMQ on this machine) or the transport's
 * error for an endpoint.
 */
export class PzqConsumer implements Life<PzqConsumerEvents> {
  readonly #settings: PzqConsumerSettings;
  readonly #events = new Emitter<PzqConsumerEvents>();
  readonly #unheard = new UnheardErrors('PzqConsumer');
  readonly #tracing: Tracing;
  /** For messages without a verdict. */
  readonly #traces = new WeakMap<PzqMessage, TracedCall>();
  readonly #session: PzqConsumerSession;
  readonly #readers = new Set<Reader>();
  readonly #closed = new AbortController();
  readonly #owner: PzqMessageOwner;
  #drained: () => void = () => undefined;
  readonly #emptied = new Promise<void>((resolve) => {
    this.#drained = resolve;
  });
  #opening: Promise<void> | undefined;
  readonly #host: SessionHost<PzqConsumerEvent, PzqConsumerEffect>;
  #isOpen = false;
  #broken: unknown;
  #draining: Promise<void> | undefined;
  #closing: Promise<void> | undefined;

  /** Validates the options and does nothing else. Throws `OPTIONS_INVALID`. */
  constructor(options: PzqConsumerOptions = {}) {
    const settings = parseOptions('PzqConsumer', pzqConsumerOptions, options);
    this.#settings = settings;
    this.#tracing = new Tracing('proj:pzq.process', 'pzq', settings.tracing);
    this.#session = new PzqConsumerSession(settings, () => this.#host.transport?.entropy.wallMicros() ?? 0);
    this.#owner = {
      settle: (handed, verdict) => {
        this.#host.dispatch({ kind: 'settle', handed, verdict });
      },
      extend: (handed) => {
        this.#host.dispatch({ kind: 'extend', handed });
      },
    };
    this.#host = new SessionHost<PzqConsumerEvent, PzqConsumerEffect>(
      {
        engine: this.#session,
        perform: this.#perform,
        onMessage: (_socket, frames, peer) => ({ kind: 'message', peer, message: decodePzqAtConsumer(frames) }),
        onRejected: (_socket, reason) => ({ kind: 'rejected', reason }),
        onUndeliverable: () => ({ kind: 'undeliverable' }),
        onLost: () => undefined,
        // Reported to the reader that opened it.
        onUnopened: () => undefined,
        onRefused: this.#events.forward('refused'),
        onError: (error) => {
          this.#onBroken(error);
        },
      },
      () => loadTransport(settings.transport, settings.curve),
    );
  }

  /**
   * The next message, which the caller must settle; `undefined` once the consumer is drained or closed. An aborted call rejects with the
   * signal's reason and takes no message. Any number of calls may wait, each for its own message.
   */
  async receive(options?: PzqReceiveOptions): Promise<PzqMessage | undefined> {
    const { signal } = options === undefined ? {} : parseOptions('PzqConsumer receive', pzqReceiveOptions, options);
    return this.#receive(signal);
  }

  /** Messages as they arrive, which the reader must settle; ends when the consumer is drained or closed. */
  async *[Symbol.asyncIterator](): AsyncGenerator<PzqMessage, void, undefined> {
    for (let next = await this.#receive(); next !== undefined; next = await this.#receive()) yield next;
  }

  /**
   * Handles messages, `concurrency` at a time. If the handler resolves, the message is acknowledged, unless the handler has settled it; if it
   * rejects, the message is returned (or left), with an `error` event. Resolves when the consumer is drained or closed or the signal aborts, and
   * every handler has ended.
   */
  async run(handler: PzqHandler, options: PzqRunOptions = {}): Promise<void> {
    const { concurrency, onError, signal } = parseOptions('PzqConsumer run', pzqRunOptions, options);
    const { prefetch } = this.#settings;
    if (concurrency > prefetch) {
      const text = `PzqConsumer run: option concurrency = ${concurrency}: must not exceed option prefetch = ${prefetch}`;
      throw new ProjError('OPTIONS_INVALID', text);
    }
    const work = async (): Promise<void> => {
      for (let next = await this.#unlessAborted(signal); next !== undefined; next = await this.#unlessAborted(signal))
        await this.#handle(next, handler, onError);
    };
    await Promise.all(Array.from({ length: concurrency }, work));
  }

  /**
   * Delivers no more messages. When all delivered ones are settled or their leases have ended, at the latest after `drainMs`, returns waiting
   * messages and closes. Messages still in TCP come again after their timeout. Idempotent.
   */
  drain(): Promise<void> {
    return (this.#draining ??= this.#drain());
  }

  /** Returns waiting messages, ends all reading and closes. Delivered but unsettled messages come again after their timeout. Idempotent. */
  close(): Promise<void> {
    return (this.#closing ??= this.#close());
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  on<Name extends keyof PzqConsumerEvents>(event: Name, listener: EventListener<PzqConsumerEvents, Name>): () => void {
    return this.#events.on(event, listener);
  }

  /** A copy of the counters since construction and current gauges. */
  stats(): PzqConsumerStats {
    return this.#session.stats;
  }

  async #receive(signal?: AbortSignal): Promise<PzqMessage | undefined> {
    signal?.throwIfAborted();
    if (!this.#isOpen) await (this.#opening ??= this.#open());
    signal?.throwIfAborted();
    if (this.#broken !== undefined) throw this.#broken as Error;
    if (this.#draining !== undefined || this.#closing !== undefined) return undefined;
    return new Promise((resolve, reject) => {
      const reader: Reader = { resolve, reject, release: undefined };
      this.#readers.add(reader);
      if (signal !== undefined) this.#listen(reader, signal);
      this.#host.dispatch({ kind: 'demand' });
    });
  }

  #listen(reader: Reader, signal: AbortSignal): void {
    reader.release = onAbort(signal, () => {
      this.#dismiss(reader);
      this.#host.dispatch({ kind: 'waive' });
      reader.reject(signal.reason);
    });
  }

  #dismiss(reader: Reader): void {
    this.#readers.delete(reader);
    reader.release?.();
  }

  async #unlessAborted(signal: AbortSignal | undefined): Promise<PzqMessage | undefined> {
    try {
      return await this.#receive(signal);
    } catch (error) {
      if (signal?.aborted === true) return undefined;
      throw error;
    }
  }

  async #handle(message: PzqMessage, handler: PzqHandler, onError: 'nack' | 'leave'): Promise<void> {
    const trace = this.#traces.get(message);
    const context = { signal: this.#closed.signal };
    try {
      await (trace === undefined ? handler(message, context) : trace.within(() => handler(message, context)));
      message.ack();
    } catch (error) {
      trace?.fail(error);
      message[onError]();
      this.#tell(error, { message });
    }
  }

  #tell(error: unknown, about: { readonly message?: PzqMessage } = {}): void {
    if (this.#events.has('error')) this.#events.emit('error', { error, ...about });
    else this.#unheard.tell(error);
  }

  async #open(): Promise<void> {
    try {
      await this.#host.load();
      if (this.#draining !== undefined || this.#closing !== undefined) return;
      const { endpoints, maxMessageFrames, maxMessageBytes, prefetch, curve } = this.#settings;
      // Few wait in the socket, because another consumer may get what this one has not read; but a mark of 1 costs several system calls per message.
      const room = { receiveHighWaterMark: Math.ceil(prefetch / 4), peerQueueMax: 2 * prefetch + 1000 };
      const port = { maxMessageFrames, maxMessageBytes, ...room, ...clientCurve(curve) };
      this.#host.open(SOCKET, { kind: 'router', endpoints, port });
      this.#host.assertOpened();
      this.#isOpen = true;
    } catch (error) {
      // The next reader retries.
      this.#opening = undefined;
      throw error;
    }
  }

  #onBroken(error: unknown): void {
    this.#broken = error;
    for (const reader of this.#readers) {
      this.#dismiss(reader);
      reader.reject(error);
    }
    this.#tell(error);
  }

  readonly #perform = (effect: PzqConsumerEffect): void => {
    switch (effect.kind) {
      case 'hand': {
        const [reader] = this.#readers;
        if (reader === undefined) throw new Error('a message is delivered but nobody is waiting');
        this.#dismiss(reader);
        reader.resolve(this.#tracing.isOn ? this.#traced(effect.handed) : new PzqMessage(effect.handed, this.#owner));
        break;
      }
      case 'send':
        this.#host.send(SOCKET, encodePzq(effect.command), effect.peer);
        break;
      case 'pause':
      case 'resume':
        this.#host[effect.kind](SOCKET);
        break;
      case 'clock-skew':
        this.#tell(clockSkew(effect.byMs));
        break;
      case 'drained':
        this.#drained();
        break;
      case 'note':
        this.#events.emit('note', effect.note);
        break;
    }
  };

  /** The message with its span, which ends with the verdict. */
  #traced(handed: PzqHanded): PzqMessage {
    const { key, body } = handed.delivery;
    const server = serverAttributes(this.#settings.endpoints);
    const queue = 'server.address' in server ? ` ${server['server.address']}:${server['server.port']}` : '';
    const operation = { 'messaging.operation.name': 'process', 'messaging.operation.type': 'process' };
    const trace = this.#tracing.begin({
      kind: 'consumer',
      name: `process${queue}`,
      attributes: { 'messaging.system': 'pzq', ...operation, 'messaging.message.id': latin1(key), ...server },
      carrier: carrierInBody(body),
    });
    return trace.run(() => {
      const message = new PzqMessage(handed, this.#owner, trace);
      this.#traces.set(message, trace);
      return message;
    });
  }

  async #drain(): Promise<void> {
    if (this.#isOpen) this.#host.dispatch({ kind: 'drain' });
    else this.#drained();
    this.#endReading();
    await within(this.#settings.drainMs, this.#host.transport?.clock, this.#emptied);
    await this.close();
  }

  #close(): Promise<void> {
    this.#endReading();
    this.#drained();
    this.#closed.abort(new ProjError('CLOSED', 'PzqConsumer: the consumer was closed'));
    return this.#host.close({ kind: 'close' });
  }

  /** Tells readers that nothing more will arrive. */
  #endReading(): void {
    for (const reader of this.#readers) {
      this.#dismiss(reader);
      reader.resolve(undefined);
    }
  }
}

function clockSkew(byMs: number): ProjError {
  const text =
    `PzqConsumer: one delivery after another looks expired; the last one says that it was sent ${byMs} ms ago: ` +
    'the clocks of queue and consumer disagree, so expired deliveries cannot be recognized; set the clocks';
  return new ProjError('EXPIRED', text);
}
