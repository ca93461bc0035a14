/** NFP broker: services by name (rules 9, 10, 12, 19). No protocol decisions. */
import { type Name, Names } from '../../../shared/names.js';
import type { Figures } from '../figures.js';
import { Service, type Worker } from '../records.js';

/** All services. Names with workers have one limit, names that clients only ask for another. */
export class Services {
  readonly #byName = new Map<string, Service>();
  readonly #names: Names;
  readonly #figures: Figures;
  #staying = 0;

  constructor(options: { readonly servicesMax: number }, figures: Figures) {
    this.#figures = figures;
    this.#names = new Names(options.servicesMax);
  }

  get size(): number {
    return this.#byName.size;
  }

  /** Workers of all services that accept further jobs (rule 25). */
  get staying(): number {
    return this.#staying;
  }

  /** Whether another worker may register, for this service if it exists. */
  mayServe(service: Service | undefined): boolean {
    return service?.counted.isServed === true || this.#names.mayServe(1);
  }

  /** Whether a service without workers may be added. Without `asker`, no client's share is counted. */
  mayAsk(asker?: string): boolean {
    return this.#names.mayAsk(asker);
  }

  join({ service, turn }: Worker): void {
    service.workers.push(turn);
    service.staying++;
    this.#staying++;
    this.#names.serve(service.counted);
    service.meter.wasServed = true;
  }

  leave(worker: Worker): void {
    const { service, turn } = worker;
    this.retire(worker);
    service.workers.remove(turn);
    if (service.workers.size === 0) this.#names.desert(service.counted);
  }

  /** Rule 25: the worker accepts no further jobs. */
  retire(worker: Worker): void {
    if (worker.isLeaving) return;
    worker.isLeaving = true;
    worker.service.staying--;
    this.#staying--;
  }

  find(name: string): Service | undefined {
    return this.#byName.get(name);
  }

  /** Adds a new service. It counts as one that `asker` asks for until a worker registers. */
  add(name: string, asker?: string): Service {
    const service = new Service(name, this.#names.add(asker), this.#figures.open(name));
    this.#byName.set(name, service);
    return service;
  }

  /** Forgets a service that has neither workers nor waiting POSTs. */
  tidy(service: Service): void {
    if (service.workers.size > 0 || service.queue.size > 0 || this.#byName.get(service.name) !== service) return;
    this.#byName.delete(service.name);
    this.#names.remove(service.counted);
    this.#figures.rest(service.name, service.meter);
  }

  /** Throws if the names are miscounted. Linear. */
  assertInvariants(): void {
    const counted: Name[] = [];
    let staying = 0;
    for (const { counted: name, workers, staying: own } of this.values()) {
      if (own !== [...workers.values()].filter(({ isLeaving }) => !isLeaving).length)
        throw new Error('a service counts the workers that stay');
      staying += own;
      if (name.isServed !== workers.size > 0) throw new Error('a name is served while it has workers');
      counted.push(name);
    }
    if (staying !== this.#staying) throw new Error('workers that stay are counted');
    this.#names.assertInvariants(counted);
  }

  values(): IterableIterator<Service> {
    return this.#byName.values();
  }
}
