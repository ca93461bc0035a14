/** Majordomo broker: services by version and name (rules 2, 18, 20, 21). Books only, no protocol decisions. */
import type { MdpVersion } from '@proj/frames/mdp';
import { Deadline } from '@proj/heartbeat';
import { FairQueue } from '../../shared/fair-queue.js';
import { LruPool } from '../../shared/lru-pool.js';
import type { OwnService } from './own-services.js';
import type { Request } from './requests.js';
import type { Worker } from './workers.js';

/** A name that somebody serves or asks for. Exists while it has a worker or a waiting request. */
export class Service {
  readonly name: string;
  /** The version it belongs to; `both` when `bridge` joins them. */
  readonly version: MdpVersion | 'both';
  /** Requests nobody could take at once. Never waits while a worker is idle. */
  readonly queue: FairQueue<Request>;
  readonly idle = new LruPool<Worker>();
  /** Registered workers, busy ones included, and as many as `own` stands for. */
  workers = 0;
  /** Rule 29: a service of this name inside the broker. */
  own: OwnService | undefined;
  /** Counts the changes between "has workers" and "has none"; see `request-ttl.ts`. */
  situation = 0;
  /** When those that waited before the last change have waited too long. */
  readonly patience = new Deadline<Service>(this);

  constructor(name: string, version: MdpVersion | 'both', queueMax: number) {
    this.name = name;
    this.version = version;
    this.queue = new FairQueue<Request>(queueMax);
  }

  /** Workers that have a job. */
  get busy(): number {
    return this.workers - this.idle.size - (this.own?.free ?? 0);
  }
}

/** A client may wait in so many queues, or in this part of `servicesMax`, before it may ask for one more name that nobody serves. */
const SHARE_MIN = 16;
const SHARE = 0.1;

/**
 * All services. With `bridge` both versions share them. Names that are served and names that are only asked for have a bound each,
 * so that no client can keep workers out.
 */
export class Services {
  readonly #byVersion: Readonly<Record<MdpVersion, Map<string, Service>>>;
  readonly #bridge: boolean;
  readonly #max: number;
  readonly #queueMax: number;
  #size = 0;
  #served = 0;

  constructor(options: { readonly bridge: boolean; readonly servicesMax: number; readonly requestQueueMax: number }) {
    const joined = new Map<string, Service>();
    this.#byVersion = { '0.1': joined, '0.2': options.bridge ? joined : new Map<string, Service>() };
    this.#bridge = options.bridge;
    this.#max = options.servicesMax;
    this.#queueMax = options.requestQueueMax;
  }

  /** Number of services, over both versions. */
  get size(): number {
    return this.#size;
  }

  /** Number of services with workers, over both versions. */
  get served(): number {
    return this.#served;
  }

  /** True when a worker of this service, if there is one already, may register. */
  mayServe(service: Service | undefined): boolean {
    return (service?.workers ?? 0) > 0 || this.#served < this.#max;
  }

  /** True when a client that waits in so many queues may ask for a name that nobody serves or has asked for. */
  mayAsk(queues: number): boolean {
    return this.#size - this.#served < this.#max && queues < Math.max(SHARE_MIN, this.#max * SHARE);
  }

  /** So many workers more; true when they are the first. */
  join(service: Service, workers = 1): boolean {
    const first = service.workers === 0;
    service.workers += workers;
    if (first) this.#served++;
    return first;
  }

  /** So many workers less; true when they were the last. */
  leave(service: Service, workers = 1): boolean {
    service.workers -= workers;
    if (service.workers > 0) return false;
    this.#served--;
    return true;
  }

  find(version: MdpVersion, name: string): Service | undefined {
    return this.#byVersion[version].get(name);
  }

  /** Adds a service that does not exist yet. */
  add(version: MdpVersion, name: string): Service {
    const service = new Service(name, this.#bridge ? 'both' : version, this.#queueMax);
    this.#byVersion[version].set(name, service);
    this.#size++;
    return service;
  }

  /** Forgets a service that has neither workers nor waiting requests, and tells whether it did. */
  tidy(service: Service): boolean {
    if (service.workers > 0 || service.queue.size > 0) return false;
    const version = service.version === 'both' ? '0.2' : service.version;
    if (this.#byVersion[version].get(service.name) !== service) return false;
    this.#byVersion[version].delete(service.name);
    this.#size--;
    return true;
  }

  *values(): IterableIterator<Service> {
    yield* this.#byVersion['0.2'].values();
    if (!this.#bridge) yield* this.#byVersion['0.1'].values();
  }
}
