/** Majordomo pool, the facade: 18/MDP's client application that is the broker. Rules: pool-engine.ts and docs/protocols/mdp.md. */
import { isServiceName } from '@proj/frames';
import { encodeMdp } from '@proj/frames/mdp';
import type { Service, ServicePartial, ServiceReply, ServiceRequestInput } from '@proj/frames/service';
import { Emitter, parseOptions, ProjError, toBuffers, toFrames } from '@proj/transport';
import type { AccessRules, BodyInput, EngineHost, Guarded, RefusalCounts, Startable } from '@proj/transport';
import type { ServerSnapshot } from '@proj/transport/engine';
import { fromReplyBody, ReplyBuffer, toRequestBody, typedReplies } from '@proj/transport/service';
import { type BrokerEvents, compileAccess, hostOf } from '../host.js';
import { PoolCalls } from '../pool-calls.js';
import { MdpPoolEngine } from './engine/pool-engine.js';
import type {
  MdpBrokerNote,
  MdpCallFailure,
  MdpPoolEffect,
  MdpPoolEvent,
  MdpWorkerLostNotice,
  MdpWorkerReadyNotice,
} from './engine/events.js';
import { isReserved } from './engine/management/mmi.js';
import type { MdpBrokerStats } from './engine/state.js';
import { mdpPoolOptions, mdpPoolRequestOptions } from './options.js';
import type { MdpPoolOptions, MdpPoolRequestOptions, MdpPoolSettings } from './options.js';
import { workersOnlyPlan } from './socket-plans.js';

/** Events of an {@link MdpPool}. */
export type MdpPoolEvents = BrokerEvents<MdpWorkerReadyNotice, MdpWorkerLostNotice, MdpBrokerNote>;

/** A validated request. */
interface Order {
  readonly service: string;
  readonly body: readonly Uint8Array[];
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
}

/** Where the replies to a request go. */
interface Outcome {
  /** Returns false if there is no room for the partial reply. */
  partial(body: Buffer[]): boolean;
  final(body: Buffer[]): void;
  fail(error: unknown): void;
}

interface Call extends Pick<Order, 'service' | 'timeoutMs'> {
  readonly outcome: Outcome;
}

/** Maximum number of frames of a REQUEST besides its body: empty, header, command, address, empty. */
const ENVELOPE_FRAMES = 5;

/**
 * Lets Majordomo workers that connect to it serve requests of this process: no broker in between, no client sockets. Workers of both versions
 * serve. `request` and `stream` are those of an `MdpClient`.
 *
 * ```ts
 * await using pool = new MdpPool({ endpoint: 'tcp://127.0.0.1:5555' });
 * await pool.start();
 * const [answer] = await pool.request('echo', 'hello');
 * ```
 *
 * A failed call rejects with a `ProjError`: `TIMEOUT` (silence for `timeoutMs`), `PEER_LOST` (`maxAttempts` workers were lost with the request,
 * or one after part of the reply), `QUEUE_FULL`, `SERVICE_UNKNOWN` (with `failFast`), `CLOSED` (not started, draining or closed),
 * `OPTIONS_INVALID`, or `PROTOCOL_LOCAL` (an invalid or reserved name, a body without frames, or over the limits). An aborted call rejects with
 * the signal's reason. A failed request may have been executed once, several times or never, so Majordomo services must be idempotent.
 */
export class MdpPool implements Startable<MdpPoolEvents, string[]>, Guarded {
  readonly #settings: MdpPoolSettings;
  readonly #engine: MdpPoolEngine;
  readonly #host: EngineHost<MdpPoolEvent, MdpPoolEffect>;
  readonly #events = new Emitter<MdpPoolEvents>();
  readonly #calls: PoolCalls<Call>;
  #starting: Promise<string[]> | undefined;

  /** Validates the options and does nothing else. Throws `OPTIONS_INVALID`. */
  constructor(options: MdpPoolOptions = {}) {
    const settings = parseOptions('MdpPool', mdpPoolOptions, options);
    this.#settings = settings;
    this.#engine = new MdpPoolEngine(settings);
    this.#host = hostOf<MdpPoolEvent, MdpPoolEffect>(settings, this.#events, {
      name: 'MdpPool',
      engine: this.#engine,
      sockets: [workersOnlyPlan(settings)],
      onMemory: (isTight) => ({ kind: 'memory', isTight }),
      perform: this.#perform,
    });
    this.#calls = new PoolCalls('MdpPool', this.#host);
  }

  start(): Promise<string[]> {
    return (this.#starting ??= this.#host.start().then((bound) => bound.flat()));
  }

  /**
   * The final reply of a service: one Buffer per frame or, for a typed service, the value. Waits for a worker within the timeout. Partial
   * replies only restart the timeout; {@link stream} returns them.
   */
  request(service: string, body: BodyInput, options?: MdpPoolRequestOptions): Promise<Buffer[]>;
  request<S extends Service>(
    service: S,
    input: ServiceRequestInput<S>,
    options?: MdpPoolRequestOptions,
  ): Promise<ServiceReply<S>>;
  async request<S extends Service>(
    service: string | S,
    input: BodyInput | ServiceRequestInput<S>,
    options?: MdpPoolRequestOptions,
  ): Promise<Buffer[] | ServiceReply<S>> {
    if (typeof service === 'string') return this.#request(service, input as BodyInput, options);
    const body = await toRequestBody(service, input as ServiceRequestInput<S>);
    return fromReplyBody(service, await this.#request(service.name, body, options));
  }

  /**
   * The partial replies of a service as they arrive, as Buffers or values. The final reply is the iterator's return value: `next()` returns it,
   * `for await` does not. The request is sent by the first `next()`; leaving early aborts it. A reader that falls more than `streamBufferMax`
   * replies behind loses the stream with `QUEUE_FULL`.
   */
  stream(
    service: string,
    body: BodyInput,
    options?: MdpPoolRequestOptions,
  ): AsyncGenerator<Buffer[], Buffer[], undefined>;
  stream<S extends Service>(
    service: S,
    input: ServiceRequestInput<S>,
    options?: MdpPoolRequestOptions,
  ): AsyncGenerator<ServicePartial<S>, ServiceReply<S>, undefined>;
  stream<S extends Service>(
    service: string | S,
    input: BodyInput | ServiceRequestInput<S>,
    options?: MdpPoolRequestOptions,
  ): AsyncGenerator<unknown, unknown, undefined> {
    return typeof service === 'string'
      ? this.#stream(service, () => Promise.resolve(input as BodyInput), options)
      : typedReplies(
          service,
          this.#stream(service.name, () => toRequestBody(service, input as ServiceRequestInput<S>), options),
        );
  }

  /** Whether a worker is registered for a service. A promise, as for an `MdpClient`, which must ask. */
  service(name: string): Promise<'available' | 'absent'> {
    return Promise.resolve(this.#engine.serves(name) ? 'available' : 'absent');
  }

  /** Requests that wait for a worker fail with `CLOSED`; running ones may finish for `drainMs`. Then every worker gets DISCONNECT. */
  async drain(): Promise<void> {
    await this.#host.drain();
    await this.close();
  }

  close(): Promise<void> {
    const closed = this.#host.close();
    this.#calls.failAll((call) => this.#errorFor('drained', call));
    return closed;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  on<Name extends keyof MdpPoolEvents>(event: Name, listener: (payload: MdpPoolEvents[Name]) => void): () => void {
    return this.#events.on(event, listener);
  }

  /** Only the right to `serve` matters. */
  setAccess(rules: AccessRules): void {
    this.#host.setAccess(compileAccess('MdpPool', rules));
  }

  /** Current sizes and running totals; every open request counts as a client. */
  stats(): MdpBrokerStats & RefusalCounts;
  /** The same plus the operator's view: figures of each service and worker; all calls together are one client. */
  stats(options: { readonly detail: true }): MdpBrokerStats & RefusalCounts & { readonly detail: ServerSnapshot };
  stats(options?: { readonly detail: true }): MdpBrokerStats & RefusalCounts & { readonly detail?: ServerSnapshot } {
    return this.#host.stats(this.#engine, options);
  }

  async #request(service: string, input: BodyInput, options?: MdpPoolRequestOptions): Promise<Buffer[]> {
    const order = this.#order(service, input, options);
    return new Promise<Buffer[]>((resolve, reject) => {
      this.#open(order, { partial: () => true, final: resolve, fail: reject });
    });
  }

  async *#stream(
    service: string,
    input: () => Promise<BodyInput>,
    options?: MdpPoolRequestOptions,
  ): AsyncGenerator<Buffer[], Buffer[], undefined> {
    const { streamBufferMax: repliesMax, streamBufferMaxBytes: bytesMax } = this.#settings;
    const buffer = new ReplyBuffer({ repliesMax, bytesMax });
    const order = this.#order(service, await input(), options);
    const id = this.#open(order, buffer);
    try {
      while (true) {
        const { done, value } = await buffer.next();
        // Replies that came before an abort are not delivered after it.
        order.signal?.throwIfAborted();
        if (done === true) return value;
        yield value;
      }
    } finally {
      this.#calls.abort(id);
    }
  }

  #order(service: string, input: BodyInput, options: MdpPoolRequestOptions = {}): Order {
    const own = parseOptions('MdpPool', mdpPoolRequestOptions, options);
    const { maxMessageFrames, maxMessageBytes, serviceNameMaxBytes } = this.#settings;
    const subject = describe(service);
    if (!isServiceName(service) || service.length > serviceNameMaxBytes)
      throw new ProjError(
        'PROTOCOL_LOCAL',
        `${subject}: a name has 1 to ${serviceNameMaxBytes} printable ASCII characters`,
      );
    if (isReserved(service))
      throw new ProjError(
        'PROTOCOL_LOCAL',
        `${subject}: a pool has no services under mmi.; call service() or stats() instead`,
      );
    const body = toFrames(subject, input, { frames: maxMessageFrames - ENVELOPE_FRAMES, bytes: maxMessageBytes });
    own.signal?.throwIfAborted();
    if ((own.failFast ?? this.#settings.failFast) && !this.#engine.serves(service))
      throw new ProjError('SERVICE_UNKNOWN', `${subject}: no worker offers it`);
    return { service, body, timeoutMs: own.timeoutMs ?? this.#settings.timeoutMs, signal: own.signal };
  }

  #open({ service, body, timeoutMs, signal }: Order, outcome: Outcome): number {
    const id = this.#calls.open({ service, timeoutMs, outcome }, signal);
    this.#host.dispatch({ kind: 'request', id, service, body, timeoutMs });
    return id;
  }

  readonly #perform = (effect: MdpPoolEffect): void => {
    switch (effect.kind) {
      case 'send':
        this.#host.send(0, effect.peer, encodeMdp(effect.command));
        break;
      case 'partial':
        this.#onPartial(effect.id, toBuffers(effect.body));
        break;
      case 'answer':
        this.#calls.take(effect.id)?.outcome.final(toBuffers(effect.body));
        break;
      case 'fail': {
        const call = this.#calls.take(effect.id);
        call?.outcome.fail(this.#errorFor(effect.reason, call));
        break;
      }
      case 'drained':
        this.#host.drained();
        break;
      case 'note':
      case 'worker-ready':
      case 'worker-lost':
        this.#events.emit(effect.kind, effect);
        break;
    }
  };

  #onPartial(id: number, body: Buffer[]): void {
    const call = this.#calls.find(id);
    if (call === undefined || call.outcome.partial(body)) return;
    const { streamBufferMax, streamBufferMaxBytes } = this.#settings;
    const full = `${streamBufferMax} replies (streamBufferMax) or ${streamBufferMaxBytes} bytes (streamBufferMaxBytes)`;
    this.#calls
      .abort(id)
      ?.outcome.fail(
        new ProjError('QUEUE_FULL', `${describe(call.service)}: ${full} are unread; read the stream faster`),
      );
  }

  #errorFor(reason: MdpCallFailure, { service, timeoutMs }: Call): ProjError {
    const { maxAttempts, requestQueueMax, requestQueueMaxBytes, servicesMax } = this.#settings;
    const subject = describe(service);
    switch (reason) {
      case 'expired':
      case 'expired-unserved':
      case 'expired-busy':
        return new ProjError('TIMEOUT', `${subject}: no reply for ${timeoutMs} ms`);
      case 'attempts-exhausted':
        return new ProjError('PEER_LOST', `${subject}: lost with ${maxAttempts} workers (maxAttempts)`);
      case 'lost-after-partial':
        return new ProjError('PEER_LOST', `${subject}: its worker was lost after a part of the reply`);
      case 'queue-full':
      case 'displaced':
        return new ProjError(
          'QUEUE_FULL',
          `${subject}: ${requestQueueMax} requests are waiting (requestQueueMax), or ${requestQueueMaxBytes} bytes are open (requestQueueMaxBytes); try again later`,
        );
      case 'memory':
        return new ProjError('QUEUE_FULL', `${subject}: memory is short and no worker is idle; try again later`);
      case 'services-limit':
        return new ProjError(
          'QUEUE_FULL',
          `${subject}: requests are already waiting for ${servicesMax} names without workers (servicesMax)`,
        );
      default:
        return new ProjError('CLOSED', `${subject}: the pool is closing (${reason})`);
    }
  }
}

function describe(service: string): string {
  return `service ${JSON.stringify(service.length > 64 ? `${service.slice(0, 64)}...` : service)}`;
}
