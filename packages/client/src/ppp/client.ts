/** Lazy Pirate client, the facade: section "Client" of docs/protocols/ppp.md. Rules: section 6 there. Decisions: engine/session.ts. */
import { decodePppAtClient, encodePpp } from '@proj/frames/ppp';
import type { PppClientReply, PppToClient } from '@proj/frames/ppp';
import type { Service, ServiceReply, ServiceRequestInput } from '@proj/frames/service';
import { Emitter, parseOptions, toBuffers } from '@proj/transport';
import type { BodyInput, EventListener, Life } from '@proj/transport';
import { fromReplyBody, toRequestBody } from '@proj/transport/service';
import { serverAttributes, toTracedFrames, Tracing } from '@proj/transport/tracing';
import type { TracedCall, TracedPlan } from '@proj/transport/tracing';
import { RequestRunner } from '../request-runner.js';
import { callLimits } from '../options.js';
import type { ClientEvents } from '../shared/client-events.js';
import type { RequestStats } from '../shared/events.js';
import { lazyPirateOptions, lazyPirateRequestOptions } from './options.js';
import type { LazyPirateOptions, LazyPirateRequestOptions, LazyPirateSettings } from './options.js';
import { LazyPirateSession } from './engine/session.js';
import type { LazyPirateDropReason, LazyPirateNote, LazyPirateRequest } from './engine/session.js';

/** Events of a {@link LazyPirateClient}. */
export type LazyPirateEvents = ClientEvents<LazyPirateNote>;

/** A request's name in error messages: there is no service name on the wire. */
const SUBJECT = 'request';

/**
 * Calls Paranoid Pirate queues, or anything that answers REQ sockets. Sockets open with the first call and are shared by all: up to `sockets`
 * requests at a time, each on its own socket; the others wait in order.
 *
 * ```ts
 * await using client = new LazyPirateClient({ endpoints: ['tcp://127.0.0.1:5556'] });
 * const [answer] = await client.request('hello');
 * ```
 *
 * A failed call rejects with a `ProjError`: `TIMEOUT` (no answer to any send; `details` has endpoints, tries and totalMs, `unmet` for endpoints
 * that could not be reached or refused us, and `connected` for silent ones), `QUEUE_FULL`, `UNREACHABLE` (no socket can be opened),
 * `UNAVAILABLE` (no ZeroMQ on this machine), `CLOSED`, `OPTIONS_INVALID`, or `PROTOCOL_LOCAL` (a body without frames or over the limits). An
 * aborted call rejects with the signal's reason. A request that failed, was aborted or was sent again may have been executed once, several times
 * or never.
 */
export class LazyPirateClient implements Life<LazyPirateEvents> {
  readonly #settings: LazyPirateSettings;
  readonly #session: LazyPirateSession;
  readonly #runner: RequestRunner<LazyPirateRequest, PppToClient, PppClientReply, LazyPirateDropReason>;
  readonly #events = new Emitter<LazyPirateEvents>();
  readonly #tracing: Tracing;

  /** Validates the options and does nothing else. Throws `OPTIONS_INVALID`. */
  constructor(options: LazyPirateOptions = {}) {
    const settings = parseOptions('LazyPirateClient', lazyPirateOptions, options);
    this.#settings = settings;
    this.#session = new LazyPirateSession(settings);
    this.#tracing = new Tracing('proj:client.request', 'ppp', settings.tracing);
    this.#runner = new RequestRunner<LazyPirateRequest, PppToClient, PppClientReply, LazyPirateDropReason>(
      {
        engine: this.#session,
        encode: ({ content }) => encodePpp({ kind: 'client-request', hops: [], content }),
        decode: decodePppAtClient,
        describe: () => SUBJECT,
        bodyOf: (reply) => reply.content,
        events: this.#events,
      },
      settings,
    );
  }

  /**
   * The reply: one Buffer per frame or, for a typed service, its value. You must know which service the queue's workers provide: its name is not
   * sent.
   */
  request(body: BodyInput, options?: LazyPirateRequestOptions): Promise<Buffer[]>;
  request<S extends Service>(
    service: S,
    input: ServiceRequestInput<S>,
    options?: LazyPirateRequestOptions,
  ): Promise<ServiceReply<S>>;
  async request<S extends Service>(
    first: BodyInput | S,
    second?: LazyPirateRequestOptions | ServiceRequestInput<S>,
    third?: LazyPirateRequestOptions,
  ): Promise<Buffer[] | ServiceReply<S>> {
    const ask = async (trace?: TracedCall): Promise<Buffer[] | ServiceReply<S>> => {
      if (!isService(first)) return this.#request(first, second as LazyPirateRequestOptions | undefined, trace);
      const body = await toRequestBody(first, second as ServiceRequestInput<S>);
      return fromReplyBody(first, await this.#request(body, third, trace));
    };
    return this.#tracing.isOn ? this.#tracing.trace(this.#traced(first), ask) : ask();
  }

  on<Name extends keyof LazyPirateEvents>(event: Name, listener: EventListener<LazyPirateEvents, Name>): () => void {
    return this.#events.on(event, listener);
  }

  /** A copy of the counters since construction and current gauges. */
  stats(): RequestStats {
    return this.#session.stats;
  }

  close(): Promise<void> {
    return this.#runner.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #traced(first: BodyInput | Service): TracedPlan {
    const method = isService(first) ? { 'rpc.method': first.name } : {};
    const attributes = { 'rpc.system.name': 'ppp', ...method, ...serverAttributes(this.#settings.endpoints) };
    return { kind: 'client', name: isService(first) ? first.name : SUBJECT, attributes };
  }

  async #request(
    body: BodyInput,
    options: LazyPirateRequestOptions = {},
    trace: TracedCall | undefined,
  ): Promise<Buffer[]> {
    const own = parseOptions('LazyPirateClient request', lazyPirateRequestOptions, options);
    const { maxMessageFrames, maxMessageBytes } = this.#settings;
    const size = { frames: maxMessageFrames - 1, bytes: maxMessageBytes };
    const content = toTracedFrames(SUBJECT, body, size, trace?.carrier);
    const limits = { ...callLimits(this.#settings, own), trace };
    if (own.matches === undefined) return this.#runner.request({ request: { content, matches: undefined }, ...limits });
    const judge = new Judge(own.matches);
    const reply = await this.#runner.request({ request: { content, matches: judge.matches }, ...limits });
    judge.rethrow();
    return reply;
  }
}

function isService(value: unknown): value is Service {
  return typeof value === 'object' && value !== null && 'decodeReply' in value;
}

/** Makes a caller's predicate safe for an engine: if it throws, the call ends and rejects with that error. */
class Judge {
  readonly #matches: (reply: Buffer[]) => boolean;
  #fault: { readonly thrown: unknown } | undefined;

  constructor(matches: (reply: Buffer[]) => boolean) {
    this.#matches = matches;
  }

  readonly matches = (content: readonly Uint8Array[]): boolean => {
    try {
      return this.#matches(toBuffers(content));
    } catch (thrown) {
      this.#fault = { thrown };
      return true;
    }
  };

  /** Rethrows the predicate's error, if any. */
  rethrow(): void {
    if (this.#fault !== undefined) throw this.#fault.thrown;
  }
}
