/** Majordomo client, the facade: 18/MDP (0.2), 7/MDP (0.1) and 8/MMI. Rules: section 6 of docs/protocols/mdp.md. Decisions: engine/session.ts. */
import { isServiceName } from '@proj/frames';
import { decodeMdpAtClient, decodeMmiReply, encodeMdp, encodeMmiListing, MMI } from '@proj/frames/mdp';
import type {
  MdpClientReply,
  MdpClientRequest,
  MdpToClient,
  MmiListings,
  MmiReply,
  MmiServiceEntry,
  MmiWorkerEntry,
} from '@proj/frames/mdp';
import type { Service, ServicePartial, ServiceReply, ServiceRequestInput } from '@proj/frames/service';
import { Emitter, isProjError, parseOptions, ProjError } from '@proj/transport';
import type { BodyInput, Life } from '@proj/transport';
import { fromReplyBody, toRequestBody, typedReplies } from '@proj/transport/service';
import { serverAttributes, toTracedFrames, Tracing } from '@proj/transport/tracing';
import type { TracedCall, TracedPlan } from '@proj/transport/tracing';
import { RequestRunner } from '../request-runner.js';
import { callLimits } from '../options.js';
import type { CallLimits } from '../options.js';
import type { ClientEvents } from '../shared/client-events.js';
import type { RequestStats } from '../shared/events.js';
import { mdpClientOptions, mdpRequestOptions } from './options.js';
import type { MdpClientOptions, MdpClientSettings, MdpRequestOptions } from './options.js';
import { MdpClientSession } from './engine/session.js';
import type { MdpClientDropReason, MdpClientNote } from './engine/session.js';

/** Events of an {@link MdpClient}. */
export type MdpClientEvents = ClientEvents<MdpClientNote>;

/** The result of `mmi.service`: `unknown` if the broker has no MMI or does not answer. */
export type MdpServicePresence = 'available' | 'absent' | 'unknown';

interface CallPlan extends CallLimits {
  readonly failFast: boolean;
  /** Set for calls of applications, not for our own MMI requests. */
  readonly trace: TracedCall | undefined;
}

/** More services or workers than any broker of ours has. */
const LISTED_MAX = 2_000_000;

/** How much later a TIMEOUT may be reported, because the broker is asked for the reason. */
const DIAGNOSIS_MS = 250;
const PRESENCE_WORDS: Readonly<Record<MdpServicePresence, string>> = {
  available: '; the broker says that a worker offers it',
  absent: '; the broker says that no worker offers it',
  unknown: '',
};

/** Number of frames in a request besides its body: empty or header, header or command, service. */
const ENVELOPE_FRAMES = 3;

/**
 * Calls services of Majordomo brokers. Sockets open with the first call and are shared by all: up to `sockets` requests at a time, each on its
 * own socket; the others wait in order.
 *
 * ```ts
 * await using client = new MdpClient({ endpoints: ['tcp://127.0.0.1:5555'] });
 * const [answer] = await client.request('echo', 'hello');
 * ```
 *
 * A failed call rejects with a `ProjError`: `TIMEOUT` (no answer to any send; `details` has endpoints, tries and totalMs, `unmet` for endpoints
 * that could not be reached or refused us, `connected` for silent ones, and `presence` for the result of `mmi.service`), `PEER_LOST` (silence
 * after partial replies were delivered), `QUEUE_FULL`, `SERVICE_UNKNOWN` (with `failFast`), `UNREACHABLE` (no socket can be opened),
 * `UNAVAILABLE` (no ZeroMQ on this machine), `CLOSED`, `OPTIONS_INVALID`, or `PROTOCOL_LOCAL` (an invalid request: service name, body without
 * frames, over the limits). An aborted call rejects with the signal's reason. A request that failed, was aborted or was sent again may have been
 * executed once, several times or never: Majordomo services must be idempotent.
 */
export class MdpClient implements Life<MdpClientEvents> {
  readonly #settings: MdpClientSettings;
  readonly #session: MdpClientSession;
  readonly #runner: RequestRunner<MdpClientRequest, MdpToClient, MdpClientReply, MdpClientDropReason>;
  readonly #events = new Emitter<MdpClientEvents>();
  readonly #tracing: Tracing;
  /** Pending questions why a service is silent, shared by its calls. */
  readonly #diagnoses = new Map<string, Promise<MdpServicePresence>>();

  /** Validates the options and does nothing else. Throws `OPTIONS_INVALID`. */
  constructor(options: MdpClientOptions = {}) {
    const settings = parseOptions('MdpClient', mdpClientOptions, options);
    this.#settings = settings;
    this.#session = new MdpClientSession(settings);
    this.#tracing = new Tracing('proj:client.request', 'mdp', settings.tracing);
    this.#runner = new RequestRunner<MdpClientRequest, MdpToClient, MdpClientReply, MdpClientDropReason>(
      {
        engine: this.#session,
        encode: encodeMdp,
        decode: decodeMdpAtClient,
        describe: (request) => describe(request.service),
        bodyOf: (reply) => reply.body,
        events: this.#events,
      },
      settings,
    );
  }

  /**
   * The final reply of a service: one Buffer per frame or, for a typed service, the value. Partial replies only show life; for their content see
   * {@link stream}.
   */
  request(service: string, body: BodyInput, options?: MdpRequestOptions): Promise<Buffer[]>;
  request<S extends Service>(
    service: S,
    input: ServiceRequestInput<S>,
    options?: MdpRequestOptions,
  ): Promise<ServiceReply<S>>;
  async request<S extends Service>(
    service: string | S,
    input: BodyInput | ServiceRequestInput<S>,
    options?: MdpRequestOptions,
  ): Promise<Buffer[] | ServiceReply<S>> {
    const plan = this.#plan(options);
    if (!this.#tracing.isOn) return this.#ask(service, input, plan);
    return this.#tracing.trace(this.#traced(service), (trace) => this.#ask(service, input, { ...plan, trace }));
  }

  /**
   * The partial replies of a service as they arrive, as Buffers or values. The final reply is the iterator's return value: `for await` does not
   * show it, `next()` does. The request is sent with the first `next()`; leaving early aborts it. A reader that falls behind by more than
   * `streamBufferMax` replies loses the stream with `QUEUE_FULL`.
   */
  stream(service: string, body: BodyInput, options?: MdpRequestOptions): AsyncGenerator<Buffer[], Buffer[], undefined>;
  stream<S extends Service>(
    service: S,
    input: ServiceRequestInput<S>,
    options?: MdpRequestOptions,
  ): AsyncGenerator<ServicePartial<S>, ServiceReply<S>, undefined>;
  stream<S extends Service>(
    service: string | S,
    input: BodyInput | ServiceRequestInput<S>,
    options?: MdpRequestOptions,
  ): AsyncGenerator<unknown, unknown, undefined> {
    const read = (trace?: TracedCall): AsyncGenerator<unknown, unknown, undefined> =>
      typeof service === 'string'
        ? this.#stream(service, input as BodyInput, options, trace)
        : this.#typedStream(service, input as ServiceRequestInput<S>, options, trace);
    return this.#tracing.isOn ? this.#tracing.traceAll(this.#traced(service), read) : read();
  }

  /** Whether a worker is registered for a service, from `mmi.service` of 8/MMI. `unknown` if the broker does not answer. */
  async service(name: string, options?: MdpRequestOptions): Promise<MdpServicePresence> {
    return this.#presence(name, this.#plan(options));
  }

  /** The services known to the broker. `SERVICE_UNKNOWN` if it has no `mmi.services`, an addition of ours. */
  services(options?: MdpRequestOptions): Promise<readonly MmiServiceEntry[]> {
    return this.#list(MMI.services, '', options);
  }

  /** The workers of one service, or all. `SERVICE_UNKNOWN` if the broker has no `mmi.workers`, an addition of ours. */
  workers(service = '', options?: MdpRequestOptions): Promise<readonly MmiWorkerEntry[]> {
    return this.#list(MMI.workers, service, options);
  }

  on<Name extends keyof MdpClientEvents>(event: Name, listener: (payload: MdpClientEvents[Name]) => void): () => void {
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

  #traced(service: string | Service): TracedPlan {
    const name = typeof service === 'string' ? service : service.name;
    const server = serverAttributes(this.#settings.endpoints);
    return { kind: 'client', name, attributes: { 'rpc.system.name': 'mdp', 'rpc.method': name, ...server } };
  }

  async #ask<S extends Service>(
    service: string | S,
    input: BodyInput | ServiceRequestInput<S>,
    plan: CallPlan,
  ): Promise<Buffer[] | ServiceReply<S>> {
    if (typeof service === 'string') return this.#request(service, input as BodyInput, plan);
    const body = await toRequestBody(service, input as ServiceRequestInput<S>);
    return fromReplyBody(service, await this.#request(service.name, body, plan));
  }

  async #request(service: string, body: BodyInput, plan: CallPlan): Promise<Buffer[]> {
    const request = this.#compose(service, body, plan.trace);
    if (plan.failFast) await this.#requireWorker(service, plan);
    try {
      return await this.#runner.request({ request, ...plan });
    } catch (error) {
      throw await this.#explained(error, service, plan);
    }
  }

  async *#stream(
    service: string,
    body: BodyInput,
    options: MdpRequestOptions | undefined,
    trace: TracedCall | undefined,
  ): AsyncGenerator<Buffer[], Buffer[], undefined> {
    const plan = { ...this.#plan(options), trace };
    const request = this.#compose(service, body, trace);
    if (plan.failFast) await this.#requireWorker(service, plan);
    const { streamBufferMax: repliesMax, streamBufferMaxBytes: bytesMax } = this.#settings;
    try {
      return yield* this.#runner.stream({ request, ...plan }, { repliesMax, bytesMax });
    } catch (error) {
      throw await this.#explained(error, service, plan);
    }
  }

  async *#typedStream<S extends Service>(
    service: S,
    input: ServiceRequestInput<S>,
    options: MdpRequestOptions | undefined,
    trace: TracedCall | undefined,
  ): AsyncGenerator<ServicePartial<S>, ServiceReply<S>, undefined> {
    const body = await toRequestBody(service, input);
    return yield* typedReplies(service, this.#stream(service.name, body, options, trace));
  }

  #compose(service: string, input: BodyInput, trace: TracedCall | undefined): MdpClientRequest {
    const subject = describe(service);
    if (!isServiceName(service)) {
      throw new ProjError('PROTOCOL_LOCAL', `${subject}: a name has 1 to 255 printable ASCII characters`);
    }
    const { version, maxMessageFrames, maxMessageBytes } = this.#settings;
    // The broker answers `mmi.` requests itself, and ignores traces.
    const carrier = service.startsWith(MMI.prefix) ? undefined : trace?.carrier;
    const limits = { frames: maxMessageFrames - ENVELOPE_FRAMES, bytes: maxMessageBytes };
    return { kind: 'client-request', version, service, body: toTracedFrames(subject, input, limits, carrier) };
  }

  #plan(options: MdpRequestOptions | undefined): CallPlan {
    const own = options === undefined ? {} : parseOptions('MdpClient request', mdpRequestOptions, options);
    const failFast = own.failFast ?? this.#settings.failFast;
    return { ...callLimits(this.#settings, own), failFast, trace: undefined };
  }

  /** Sent once: a broker without MMI stays silent, and then the request itself must decide. */
  async #requireWorker(service: string, plan: CallPlan): Promise<void> {
    if (service.startsWith(MMI.prefix)) return;
    if ((await this.#presence(service, { ...plan, tries: 1, trace: undefined })) === 'absent') {
      throw new ProjError('SERVICE_UNKNOWN', `${describe(service)}: no worker offers it`);
    }
  }

  /** For a TIMEOUT at a connected broker, adds what the broker says about the service; returns any other error unchanged. */
  async #explained(error: unknown, service: string, plan: CallPlan): Promise<unknown> {
    if (!isProjError(error, 'TIMEOUT') || service.startsWith(MMI.prefix)) return error;
    const details = error.details as { readonly connected?: readonly string[] };
    // Without a free socket the question would wait as long as other calls take.
    if (details.connected === undefined || this.#session.stats.busy >= this.#settings.sockets) return error;
    let diagnosis = this.#diagnoses.get(service);
    if (diagnosis === undefined) {
      const once = { tries: 1, signal: undefined, failFast: false, trace: undefined };
      const terms = { timeoutMs: Math.min(DIAGNOSIS_MS, plan.timeoutMs), ...once };
      diagnosis = this.#presence(service, terms).catch(() => 'unknown' as const);
      this.#diagnoses.set(service, diagnosis);
      void diagnosis.finally(() => this.#diagnoses.delete(service));
    }
    const presence = await diagnosis;
    if (presence === 'unknown') return error;
    return new ProjError('TIMEOUT', `${error.message}${PRESENCE_WORDS[presence]}`, {
      details: { ...details, presence },
    });
  }

  async #presence(name: string, plan: CallPlan): Promise<MdpServicePresence> {
    try {
      const answer = await this.#question(MMI.service, name, plan);
      if (answer?.code === '200') return 'available';
      return answer?.code === '404' ? 'absent' : 'unknown';
    } catch (error) {
      if (isProjError(error, 'TIMEOUT')) return 'unknown';
      throw error;
    }
  }

  async #list<Name extends 'mmi.services' | 'mmi.workers'>(
    name: Name,
    argument: string,
    options: MdpRequestOptions | undefined,
  ): Promise<readonly MmiListings[Name][]> {
    const plan = this.#plan(options);
    const listed: MmiListings[Name][] = [];
    // A long listing arrives in parts.
    for (;;) {
      const answer = await this.#question(name, encodeMmiListing(argument, listed.length), plan);
      if (answer === undefined || listed.length > LISTED_MAX)
        throw new ProjError('PROTOCOL_REMOTE', `${describe(name)}: the answer is not a listing`);
      if (answer.code === '501')
        throw new ProjError('SERVICE_UNKNOWN', `${describe(name)}: this broker has no such listing`);
      for (const entry of answer.entries) listed.push(entry);
      if (answer.more === undefined || answer.entries.length === 0) return listed;
    }
  }

  async #question<Name extends keyof MmiListings>(
    name: Name,
    argument: BodyInput,
    plan: CallPlan,
  ): Promise<MmiReply<MmiListings[Name]> | undefined> {
    return decodeMmiReply(name, await this.#request(name, argument, plan));
  }
}

function describe(service: string): string {
  return `service ${JSON.stringify(service.length > 64 ? `${service.slice(0, 64)}...` : service)}`;
}
