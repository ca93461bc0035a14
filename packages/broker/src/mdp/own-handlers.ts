/** Majordomo broker, the facade's half of services inside it (rule 29): runs their handlers. */
import { isServiceName } from '@proj/frames';
import type { MdpVersion } from '@proj/frames/mdp';
import type { Service } from '@proj/frames/service';
import type { Clock } from '@proj/heartbeat';
import { parseOptions, ProjError, toBuffers } from '@proj/transport';
import type { BodyInput, Peer } from '@proj/transport';
import { HandlerRun, toFrameHandler, untilRoom } from '@proj/transport/service';
import type { FrameHandler, SendPartial } from '@proj/transport/service';
import { withoutTraceFrame } from '@proj/transport/tracing';
import type { MdpBrokerEffect, MdpOwnEvent } from './engine/events.js';
import { isReserved } from './engine/management/mmi.js';
import { mdpServeOptions } from './options.js';
import type { MdpBrokerSettings, MdpHandler, MdpRequest, MdpServeOptions } from './options.js';
import type { OwnServiceSpec } from './engine/records.js';

/** Maximum number of frames of a reply besides its body: empty, header, command, service. */
const ENVELOPE_FRAMES = 4;

/** What handlers need from the broker. */
export interface OwnHost {
  /** `undefined` while the broker is not running. */
  readonly clock: Clock | undefined;
  dispatch(event: MdpOwnEvent): void;
  /** Messages waiting for this client, which does not read. */
  pendingFor(client: Peer): number;
  /** A handler threw or violated its service's schema, or `onError` threw. */
  onError(service: string, error: unknown): void;
}

interface Own {
  readonly spec: OwnServiceSpec;
  readonly handle: FrameHandler;
  readonly onFailure: (
    error: unknown,
    body: readonly Uint8Array[],
  ) => BodyInput | undefined | Promise<BodyInput | undefined>;
  running: number;
  /** Present once the service accepts no more requests. Called when the last handler has ended. */
  onIdle?: () => void;
}

/** The services inside one broker. */
export class OwnHandlers {
  /** Services that the engine gets when it starts. Changes until then. */
  readonly early: OwnServiceSpec[] = [];
  readonly #settings: MdpBrokerSettings;
  readonly #host: OwnHost;
  readonly #services = new Map<number, Own>();
  readonly #jobs = new Map<number, HandlerRun>();
  #lastId = 0;
  #closed = false;

  constructor(settings: MdpBrokerSettings, host: OwnHost) {
    this.#settings = settings;
    this.#host = host;
  }

  /** See `MdpBroker.serve`. */
  serve<S extends string | Service>(service: S, handler: MdpHandler<S>, options: MdpServeOptions): () => Promise<void> {
    const { concurrency } = parseOptions('MdpBroker serve', mdpServeOptions, options);
    const given: string | Service = service;
    const typed = typeof given === 'string' ? undefined : given;
    const name = typeof given === 'string' ? given : ((given as Partial<Service> | undefined)?.name ?? '');
    this.#check(name, handler);
    const id = ++this.#lastId;
    // A 0.1 client cannot distinguish a partial reply from the last one.
    const versions: readonly MdpVersion[] = typed?.partial === undefined ? ['0.2', '0.1'] : ['0.2'];
    const toRequest = (body: readonly Uint8Array[]): MdpRequest => ({ service: name, body: toBuffers(body) });
    const report = (error: unknown): void => {
      this.#host.onError(name, error);
    };
    const own: Own = {
      spec: { id, name, versions, concurrency },
      handle: toFrameHandler(typed, handler, toRequest)(report),
      onFailure: (error, body) => options.onError?.(error, toRequest(body)),
      running: 0,
    };
    this.#services.set(id, own);
    if (this.#host.clock === undefined) this.early.push(own.spec);
    else this.#host.dispatch({ kind: 'serve', services: [own.spec] });
    let stopping: Promise<void> | undefined;
    return () => (stopping ??= this.#stop(own));
  }

  run(effect: MdpBrokerEffect & { kind: 'run' }): void {
    const own = this.#services.get(effect.service);
    if (own !== undefined) void this.#run(own, effect);
  }

  cancel(run: number, reason: 'client-gone' | 'drained'): void {
    const error =
      reason === 'drained'
        ? new ProjError('CLOSED', 'request: canceled because the broker is closing')
        : new ProjError('PEER_LOST', 'request: canceled because its client has gone');
    this.#jobs.get(run)?.cancel(error);
  }

  close(): void {
    this.#closed = true;
    for (const run of this.#jobs.keys()) this.cancel(run, 'drained');
  }

  #check(name: string, handler: unknown): void {
    const subject = `MdpBroker: service ${JSON.stringify(name.slice(0, 64))}`;
    const { serviceNameMaxBytes, servicesMax } = this.#settings;
    const refuse = (why: string): never => {
      throw new ProjError('OPTIONS_INVALID', `${subject}: ${why}`);
    };
    if (this.#closed) throw new ProjError('CLOSED', `${subject}: the broker was closed`);
    if (!isServiceName(name) || name.length > serviceNameMaxBytes)
      refuse(`a name has 1 to ${serviceNameMaxBytes} printable ASCII characters (serviceNameMaxBytes)`);
    if (isReserved(name)) refuse('names that begin with mmi. are reserved for the broker; choose another one');
    if (typeof handler !== 'function') refuse(`the handler is ${typeof handler}; pass a function`);
    for (const { spec } of this.#services.values())
      if (spec.name === name) refuse('it is already served; stop that first');
    if (this.#services.size >= servicesMax) refuse(`${servicesMax} services are already served (servicesMax)`);
  }

  async #run(own: Own, { run, client, version, body }: MdpBrokerEffect & { kind: 'run' }): Promise<void> {
    const { maxMessageFrames, maxMessageBytes } = this.#settings;
    const limits = { frames: maxMessageFrames - ENVELOPE_FRAMES, bytes: maxMessageBytes };
    const job = new HandlerRun(run, limits, version === '0.2' ? this.#sendPartialTo(client) : undefined);
    this.#jobs.set(run, job);
    own.running++;
    const reply = await this.#replyOf(own, job, withoutTraceFrame(body));
    this.#jobs.delete(run);
    own.running--;
    this.#host.dispatch(reply === undefined ? { kind: 'own-failed', run } : { kind: 'own-final', run, body: reply });
    if (own.running === 0) own.onIdle?.();
  }

  async #replyOf(own: Own, job: HandlerRun, body: readonly Uint8Array[]): Promise<readonly Uint8Array[] | undefined> {
    try {
      return await job.run(own.handle, body);
    } catch (error) {
      // An aborted handler may stop by throwing.
      if (job.isCancelled) return undefined;
      this.#host.onError(own.spec.name, error);
      try {
        const reply = await own.onFailure(error, body);
        return reply === undefined ? undefined : job.substitute(reply);
      } catch (second) {
        this.#host.onError(own.spec.name, second);
        return undefined;
      }
    }
  }

  #sendPartialTo(client: Peer): SendPartial {
    const host = this.#host;
    const waiting = {
      get pending() {
        return host.pendingFor(client);
      },
    };
    return async (job, body) => {
      host.dispatch({ kind: 'own-partial', run: job.id, body });
      const { clock } = host;
      if (clock !== undefined) await untilRoom(waiting, clock, () => job.isCancelled);
    };
  }

  async #stop(own: Own): Promise<void> {
    const at = this.early.indexOf(own.spec);
    if (at >= 0 && this.#host.clock === undefined) this.early.splice(at, 1);
    else this.#host.dispatch({ kind: 'withdraw', service: own.spec.id });
    if (own.running > 0)
      await new Promise<void>((resolve) => {
        own.onIdle = resolve;
      });
    this.#services.delete(own.spec.id);
  }
}
