/** NFP broker: services by name (rules 9, 10, 12). Books only, no protocol decisions. */
import { Line } from '../parts/line.js';
import type { Job } from './jobs.js';
import type { Worker } from './workers.js';

/** A name that somebody serves or asks for. Exists while it has a worker or a waiting POST. */
export class Service {
  readonly name: string;
  /** Least recently used first. */
  readonly workers = new Line<Worker>();
  /** POSTs that wait for a first worker, in order of arrival. */
  readonly queue = new Line<Job>();

  constructor(name: string) {
    this.name = name;
  }
}

/** All services. */
export class Services {
  readonly #byName = new Map<string, Service>();
  readonly #max: number;

  constructor(options: { readonly servicesMax: number }) {
    this.#max = options.servicesMax;
  }

  get size(): number {
    return this.#byName.size;
  }

  /** True when no further name may be added. */
  get full(): boolean {
    return this.#byName.size >= this.#max;
  }

  find(name: string): Service | undefined {
    return this.#byName.get(name);
  }

  /** Adds a service that does not exist yet. */
  add(name: string): Service {
    const service = new Service(name);
    this.#byName.set(name, service);
    return service;
  }

  /** Forgets a service that has neither workers nor waiting POSTs. */
  tidy(service: Service): void {
    if (service.workers.size === 0 && service.queue.size === 0) this.#byName.delete(service.name);
  }

  values(): IterableIterator<Service> {
    return this.#byName.values();
  }
}
