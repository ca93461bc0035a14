/** NFP broker: services by name (rules 9, 10, 12). Books only, no protocol decisions. */
import { RemovableQueue } from '../../shared/removable-queue.js';
import { type Name, Names } from '../../shared/names.js';
import type { Job } from './job-table.js';
import type { Worker } from './workers.js';

/** A name that somebody serves or asks for. Exists while it has a worker or a waiting POST. */
export class Service {
  readonly name: string;
  /** Least recently used first. */
  readonly workers = new RemovableQueue<Worker>();
  /** POSTs that wait for a first worker, in order of arrival. */
  readonly queue = new RemovableQueue<Job>();
  /** It has workers, and what has waited goes to them in parts. */
  isServing = false;
  /** Its place among the names that are counted. */
  readonly counted: Name;

  constructor(name: string, counted: Name) {
    this.name = name;
    this.counted = counted;
  }
}

/** All services. Names that are served and names that are only asked for have a bound each. */
export class Services {
  readonly #byName = new Map<string, Service>();
  readonly #names: Names;

  constructor(options: { readonly servicesMax: number }) {
    this.#names = new Names(options.servicesMax);
  }

  get size(): number {
    return this.#byName.size;
  }

  /** True when a worker of this service, if there is one already, may register. */
  mayServe(service: Service | undefined): boolean {
    return service?.counted.isServed === true || this.#names.mayServe(1);
  }

  /** True when a service may be added that nobody serves; without `asker`, whosever POST it is for. */
  mayAsk(asker?: string): boolean {
    return this.#names.mayAsk(asker);
  }

  /** The worker is one of its service's from now on. */
  join({ service, turn }: Worker): void {
    service.workers.push(turn);
    this.#names.serve(service.counted);
  }

  /** The worker is none any more. */
  leave({ service, turn }: Worker): void {
    service.workers.remove(turn);
    if (service.workers.size === 0) this.#names.desert(service.counted);
  }

  find(name: string): Service | undefined {
    return this.#byName.get(name);
  }

  /** Adds a service that does not exist yet: it is part of what `asker` asks for, until somebody serves it. */
  add(name: string, asker?: string): Service {
    const service = new Service(name, this.#names.add(asker));
    this.#byName.set(name, service);
    return service;
  }

  /** Forgets a service that has neither workers nor waiting POSTs. */
  tidy(service: Service): void {
    if (service.workers.size > 0 || service.queue.size > 0 || this.#byName.get(service.name) !== service) return;
    this.#byName.delete(service.name);
    this.#names.remove(service.counted);
  }

  /** Throws when the names were not counted right. Linear. */
  assertInvariants(): void {
    const counted: Name[] = [];
    for (const { counted: name, workers } of this.values()) {
      if (name.isServed !== workers.size > 0) throw new Error('a name is served while it has workers');
      counted.push(name);
    }
    this.#names.assertInvariants(counted);
  }

  values(): IterableIterator<Service> {
    return this.#byName.values();
  }
}
