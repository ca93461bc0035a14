/** Majordomo pool, the facade: 18/MDP's client application that is the broker. Rules: engine-pool.ts and docs/protocols/mdp.md. */
import { isServiceName } from '@proj/frames';
import { encodeMdp } from '@proj/frames/mdp';
import type { Service, ServicePartial, ServiceReply, ServiceRequestInput } from '@proj/frames/service';
import { Emitter, parseOptions, ProjError, toBuffers, toFrames } from '@proj/transport';
import type { AccessRules, BodyInput, EngineHost, HandshakeRefusal, RefusalCounts } from '@proj/transport';
import { fromReplyBody, ReplyBuffer, toRequestBody, typedReplies } from '@proj/transport/service';
import { compileAccess, hostOf } from '../host.js';
import type { MdpBrokerNote, MdpWorkerLostNotice, MdpWorkerReadyNotice } from './engine/events.js';
import { MdpPoolEngine } from './engine/engine-pool.js';
import { isReserved } from './engine/mmi.js';
import { mdpPoolOptions, mdpPoolRequestOptions } from './options.js';
import type { MdpPoolOptions, MdpPoolRequestOptions, MdpPoolSettings } from './options.js';
import type { MdpCallFailure, MdpPoolEffect, MdpPoolEvent } from './engine/pool-events.js';
import { workersOnlyPlan } from './socket-plans.js';
import type { MdpBrokerStats } from './engine/stats.js';

/** Events of an {@link MdpPool}. */
export interface MdpPoolEvents {
  'worker-ready': MdpWorkerReadyNotice;
  'worker-lost': MdpWorkerLostNotice;
  /** Something worth a log line; the same about the same peer at most once a minute. */
  note: MdpBrokerNote;
  /** A peer was not let in, or did not get through the handshake; the same key or address at most once a minute. */
  refused: HandshakeRefusal;
  /** The socket failed for good: no worker is heard any more. Close this pool and start another. */
  broken: Error;
}

/** Where the replies to a call go. */
interface Outcome {
  /** False when there is no room for it. */
  partial(body: Buffer[]): boolean;
  final(body: Buffer[]): void;
  fail(reason: unknown): void;
}

interface Pending {
  readonly service: string;
  readonly timeoutMs: number;
  readonly outcome: Outcome;
  /** Stops listening to the caller's signal. */
  readonly release: () => void;
}

interface Order {
  readonly service: string;
  readonly body: readonly Uint8Array[];
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
}

/** Frames that a REQUEST has besides its body, at most: empty, header, command, address, empty. */
const ENVELOPE_FRAMES = 5;

/**
 * Has requests of this process served by Majordomo workers that connect to it: no broker in between, no client sockets. Workers of both
 * versions serve, and `request` and `stream` are those of an `MdpClient`.
 *
 * ```ts
 * await using pool = new MdpPool({ endpoint: 'tcp://127.0.0.1:5555' });
 * await pool.start();
 * const [answer] = await pool.request('echo', 'hello');
 * ```
 *
 * A call that fails rejects with a `ProjError`: `TIMEOUT` (silence for `timeoutMs`), `PEER_LOST` (lost with `maxAttempts` workers, or after
 * a part of the reply), `QUEUE_FULL`, `SERVICE_UNKNOWN` (with `failFast`), `CLOSED` (not started, draining or closed), `OPTIONS_INVALID`,
 * or `PROTOCOL_LOCAL` (no such request exists: invalid or reserved name, body without frames, over the limits). An aborted one rejects
 * with the signal's reason. What failed may have been executed once, several times or never: Majordomo services are idempotent.
 */
export class MdpPool {
  readonly #settings: MdpPoolSettings;
  readonly #engine: MdpPoolEngine;
  readonly #host: EngineHost<MdpPoolEvent, MdpPoolEffect>;
  readonly #events = new Emitter<MdpPoolEvents>();
  readonly #pending = new Map<number, Pending>();
  #starting: Promise<string[]> | undefined;
  #closing: Promise<void> | undefined;
  #nextId: number | undefined;

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
  }

  /**
   * Binds and takes in workers. Resolves to the bound endpoints, wildcard ports filled in. Rejects with `ADDRESS_IN_USE`,
   * `OPTIONS_INVALID` (an endpoint nobody can bind), `UNAVAILABLE` (no ZeroMQ on this machine) or `CLOSED`, and nothing is left bound.
   */
  start(): Promise<string[]> {
    return (this.#starting ??= this.#host.start().then((bound) => bound.flat()));
  }

  /**
   * The final reply of a service: one Buffer per frame, or the reply's value for a typed service. Waits for a worker as long as its time
   * lasts. Partial replies show life and are not handed out: see {@link stream}.
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
   * The partial replies of a service as they come, as Buffers or values. The final reply is the iterator's return value: `for await` does
   * not show it, `next()` does. The request goes out with the first `next()`; leaving early aborts it. A reader that falls behind by more
   * than `streamBufferMax` replies loses the stream with `QUEUE_FULL`.
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

  /** Whether any worker is registered for a service. A promise, as an `MdpClient` has to ask. */
  service(name: string): Promise<'available' | 'absent'> {
    return Promise.resolve(this.#engine.serves(name) ? 'available' : 'absent');
  }

  /**
   * Comes to an end in order: no new requests, those without a worker fail with `CLOSED`, running ones may finish for `drainMs`,
   * DISCONNECT to every worker, then `close`. Idempotent.
   */
  async drain(): Promise<void> {
    await this.#host.drain();
    await this.close();
  }

  /** Stops at once: open requests fail with `CLOSED`, workers find out by themselves. Idempotent. */
  close(): Promise<void> {
    return (this.#closing ??= this.#close());
  }

  /** As {@link MdpPool.close}. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Adds a listener and returns the function that removes it again. */
  on<Name extends keyof MdpPoolEvents>(event: Name, listener: (payload: MdpPoolEvents[Name]) => void): () => void {
    return this.#events.on(event, listener);
  }

  /**
   * Puts other rules in force at once, also for workers that are registered; only `serve` matters. Throws `OPTIONS_INVALID`, and the old
   * ones stay, for what are no rules and for rules about keys on a transport that does not tell keys.
   */
  setAccess(rules: AccessRules): void {
    this.#host.setAccess(compileAccess('MdpPool', rules));
  }

  /**
   * Sizes now and totals so far; the cost is linear in the number of services. Every open request is a client; what its caller gave up,
   * or had no more patience for, counts as `client-gone` while it waited, as `reply-undeliverable` when a reply comes after all.
   */
  stats(): MdpBrokerStats & RefusalCounts {
    return { ...this.#engine.stats(), ...this.#host.refusals };
  }

  async #request(service: string, input: BodyInput, options?: MdpPoolRequestOptions): Promise<Buffer[]> {
    const order = this.#order(service, input, options);
    return new Promise<Buffer[]>((resolve, reject) => {
      this.#begin(order, { partial: () => true, final: resolve, fail: reject });
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
    const id = this.#begin(order, buffer);
    try {
      while (true) {
        const { done, value } = await buffer.next();
        // What came before the abort is of no interest after it.
        order.signal?.throwIfAborted();
        if (done === true) return value;
        yield value;
      }
    } finally {
      this.#abort(id);
    }
  }

  /** What is to be asked for, checked. */
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
      throw new ProjError('PROTOCOL_LOCAL', `${subject}: a pool has no services under mmi.; ask service() and stats()`);
    const body = toFrames(subject, input, { frames: maxMessageFrames - ENVELOPE_FRAMES, bytes: maxMessageBytes });
    own.signal?.throwIfAborted();
    if ((own.failFast ?? this.#settings.failFast) && !this.#engine.serves(service))
      throw new ProjError('SERVICE_UNKNOWN', `${subject}: no worker offers it`);
    return { service, body, timeoutMs: own.timeoutMs ?? this.#settings.timeoutMs, signal: own.signal };
  }

  #begin({ service, body, timeoutMs, signal }: Order, outcome: Outcome): number {
    const id = this.#takeId();
    const abort = () => {
      this.#abort(id)?.outcome.fail(signal?.reason);
    };
    signal?.addEventListener('abort', abort, { once: true });
    const release = () => signal?.removeEventListener('abort', abort);
    this.#pending.set(id, { service, timeoutMs, outcome, release });
    this.#host.dispatch({ kind: 'request', id, service, body, timeoutMs });
    return id;
  }

  /** Ends the call for the engine and hands back who waits for it; `undefined` when it is over already. */
  #abort(id: number): Pending | undefined {
    const pending = this.#take(id);
    if (pending !== undefined) this.#host.dispatch({ kind: 'abort', id });
    return pending;
  }

  /** Rule 2: ids begin at the wall clock's microseconds, so that a pool that is started anew uses none again. */
  #takeId(): number {
    const transport = this.#host.transport;
    if (transport === undefined) throw new ProjError('CLOSED', 'MdpPool: request while not started');
    const id = this.#nextId ?? transport.entropy.wallMicros();
    this.#nextId = id + 1;
    return id;
  }

  #close(): Promise<void> {
    const closed = this.#host.close();
    for (const id of this.#pending.keys()) this.#fail(id, 'drained');
    return closed;
  }

  readonly #perform = (effect: MdpPoolEffect): void => {
    switch (effect.kind) {
      case 'send':
        this.#host.send(0, effect.peer, encodeMdp(effect.command));
        break;
      case 'partial':
        this.#partial(effect.id, toBuffers(effect.body));
        break;
      case 'answer':
        this.#take(effect.id)?.outcome.final(toBuffers(effect.body));
        break;
      case 'fail':
        this.#fail(effect.id, effect.reason);
        break;
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

  #partial(id: number, body: Buffer[]): void {
    const pending = this.#pending.get(id);
    if (pending === undefined || pending.outcome.partial(body)) return;
    const { streamBufferMax, streamBufferMaxBytes } = this.#settings;
    const full = `${streamBufferMax} replies (streamBufferMax) or ${streamBufferMaxBytes} bytes (streamBufferMaxBytes)`;
    this.#abort(id)?.outcome.fail(new ProjError('QUEUE_FULL', `${describe(pending.service)}: ${full} wait to be read`));
  }

  #take(id: number): Pending | undefined {
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    pending?.release();
    return pending;
  }

  #fail(id: number, reason: MdpCallFailure): void {
    const pending = this.#take(id);
    pending?.outcome.fail(this.#errorFor(reason, pending));
  }

  #errorFor(reason: MdpCallFailure, { service, timeoutMs }: Pending): ProjError {
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
        return new ProjError(
          'QUEUE_FULL',
          `${subject}: ${requestQueueMax} requests (requestQueueMax) wait, or ${requestQueueMaxBytes} bytes (requestQueueMaxBytes) are open`,
        );
      case 'memory':
        return new ProjError('QUEUE_FULL', `${subject}: the process has no room for what would have to wait`);
      case 'services-limit':
        return new ProjError(
          'QUEUE_FULL',
          `${subject}: ${servicesMax} names that nobody serves are asked for (servicesMax)`,
        );
      default:
        return new ProjError('CLOSED', `${subject}: the pool is closing (${reason})`);
    }
  }
}

function describe(service: string): string {
  return `service ${JSON.stringify(service.length > 64 ? `${service.slice(0, 64)}...` : service)}`;
}
