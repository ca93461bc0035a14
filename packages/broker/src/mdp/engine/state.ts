/** Majordomo broker: its state, and the snapshot that users see. Only `engine.ts`, `dispatcher.ts` and `management/own-services.ts` change it. */
import type { MdpVersion } from '@proj/frames/mdp';
import type { ServiceMeter } from '@proj/transport/engine';
import { Budget } from '../../shared/budget.js';
import { check } from '../../shared/check.js';
import { ClientTable } from '../../shared/clients.js';
import { Errands, QUIET_SLICE } from '../../shared/errands.js';
import { HolderClasses } from '../../shared/holder-classes.js';
import { Listings } from '../../shared/listings.js';
import { Names } from '../../shared/names.js';
import { Slack } from '../../shared/slack.js';
import { WorkerTable } from '../../shared/worker-table.js';
import { Rates } from '../../shared/rates.js';
import type { MdpBrokerSettings } from '../options.js';
import type { MdpBrokerCounters } from './output.js';
import { ClientEntry, type OwnService, type Request, labelOf, Run, Service, type Worker } from './records.js';
import { RequestExpiry } from './request-expiry.js';

/** A client whose waiting requests cost less never makes room for others. */
const HELD_LEAST_BYTES = 65_536;

/** The broker's state between two steps. */
export interface BrokerState {
  readonly workers: WorkerTable<Worker>;
  readonly services: Services;
  readonly clients: ClientTable<ClientEntry>;
  /** Dropping what clients that are gone have left waiting. */
  readonly errands: Errands;
  /** Rule 18: bytes of all open requests, and whether the process has no memory for more that wait. */
  readonly bytes: Budget;
  /** Memory that waiting requests hold beyond those bytes. */
  readonly slack: Slack;
  /** Which clients hold most of them with waiting requests. */
  readonly holders: HolderClasses<ClientEntry>;
  readonly expiry: RequestExpiry;
  /** Rule 26: cached MMI answers. */
  readonly listings: Listings<Uint8Array[]>;
  readonly own: OwnServices;
  /** How often each peer may register. */
  readonly registrations: Rates;
}

/** The state at the start. */
export function newBrokerState(settings: MdpBrokerSettings): BrokerState {
  const bytes = new Budget(settings.requestQueueMaxBytes);
  return {
    workers: new WorkerTable(settings),
    services: new Services(settings),
    clients: new ClientTable(ClientEntry),
    errands: new Errands(QUIET_SLICE),
    bytes,
    slack: new Slack(bytes),
    holders: new HolderClasses(HELD_LEAST_BYTES),
    expiry: new RequestExpiry(settings),
    listings: new Listings(),
    own: new OwnServices(),
    registrations: new Rates(settings.registrationsPerSecondMax),
  };
}

/** Formerly served services whose figures are kept: a kilobyte each. */
const ABSENT_MAX = 1000;

/**
 * All services, by version and name. With `bridge` both versions share them. Served names and names that are only asked for have separate
 * limits, so that no client can keep workers out.
 */
export class Services {
  readonly #byVersion: Readonly<Record<MdpVersion, Map<string, Service>>>;
  readonly #bridge: boolean;
  readonly #names: Names;
  readonly #queueMax: number;
  /** For operators: figures of formerly served services with neither workers nor requests, by label, oldest first. */
  readonly absent = new Map<string, ServiceMeter>();

  constructor(options: { readonly bridge: boolean; readonly servicesMax: number; readonly requestQueueMax: number }) {
    const joined = new Map<string, Service>();
    this.#byVersion = { '0.1': joined, '0.2': options.bridge ? joined : new Map<string, Service>() };
    this.#bridge = options.bridge;
    this.#names = new Names(options.servicesMax);
    this.#queueMax = options.requestQueueMax;
  }

  /** Number of services, over both versions. */
  get size(): number {
    return this.#names.served + this.#names.asked;
  }

  /** Number of services with workers, over both versions. */
  get served(): number {
    return this.#names.served;
  }

  /** True if a worker of this service, which may not exist yet, may register. */
  mayServe(service: Service | undefined): boolean {
    return (service?.workers ?? 0) > 0 || this.#names.mayServe(1);
  }

  /** True if a client with this share may ask for a name that is neither served nor asked for. */
  mayAsk(sharer: string): boolean {
    return this.#names.mayAsk(sharer);
  }

  /** Adds workers to a service. Returns true if they are its first. */
  join(service: Service, workers = 1): boolean {
    const first = service.workers === 0;
    service.workers += workers;
    service.wasServed = true;
    if (first) this.#names.serve(service.counted);
    return first;
  }

  /** Removes workers from a service. Returns true if they were its last. */
  leave(service: Service, workers = 1): boolean {
    service.workers -= workers;
    if (service.workers > 0) return false;
    this.#names.desert(service.counted);
    return true;
  }

  find(version: MdpVersion, name: string): Service | undefined {
    return this.#byVersion[version].get(name);
  }

  /** Adds a service that does not exist yet; it counts against this share until a worker serves it. */
  add(version: MdpVersion, name: string, sharer?: string): Service {
    const kept = this.#bridge ? 'both' : version;
    const label = labelOf(kept, name);
    const figures = this.absent.get(label);
    const service = new Service(name, kept, this.#queueMax, this.#names.add(sharer), figures);
    service.wasServed = this.absent.delete(label);
    this.#byVersion[version].set(name, service);
    return service;
  }

  /** The figures of a current or former service. */
  figuresOf(version: MdpVersion, name: string): ServiceMeter | undefined {
    const service = this.find(version, name);
    return service === undefined ? this.absent.get(labelOf(this.#bridge ? 'both' : version, name)) : service.figures;
  }

  /** Forgets a service without workers and waiting requests. Returns false if it has some or is already forgotten. */
  tidy(service: Service): boolean {
    if (service.workers > 0 || service.queue.size > 0) return false;
    const version = service.version === 'both' ? '0.2' : service.version;
    if (this.#byVersion[version].get(service.name) !== service) return false;
    this.#byVersion[version].delete(service.name);
    this.#names.remove(service.counted);
    if (service.wasServed) this.#keepFigures(service);
    return true;
  }

  #keepFigures({ label, figures }: Service): void {
    this.absent.set(label, figures);
    if (this.absent.size <= ABSENT_MAX) return;
    const [oldest] = this.absent.keys();
    if (oldest !== undefined) this.absent.delete(oldest);
  }

  /** Throws if the names are miscounted. Linear. */
  assertInvariants(): void {
    const services = [...this.values()];
    for (const { counted, workers } of services)
      check(counted.isServed === workers > 0, 'a name is served while it has workers');
    // A service inside the broker may exceed the bound, and workers may join it.
    this.#names.assertInvariants(
      services.map(({ counted }) => counted),
      false,
    );
  }

  *values(): IterableIterator<Service> {
    yield* this.#byVersion['0.2'].values();
    if (!this.#bridge) yield* this.#byVersion['0.1'].values();
  }
}

/** Rule 29: all services inside the broker, and all their running handlers. */
export class OwnServices {
  /** By number. Only `add` and `remove` change it. */
  readonly services = new Map<number, OwnService>();
  /** By number. Only `begin` and `end` change it. */
  readonly runs = new Map<number, Run>();
  #lastRun = 0;
  #slots = 0;

  /** The number of workers that all of them count as. */
  get slots(): number {
    return this.#slots;
  }

  add(own: OwnService): void {
    this.services.set(own.id, own);
    this.#slots += own.concurrency * own.homes.length;
  }

  remove(own: OwnService): void {
    this.services.delete(own.id);
    this.#slots -= own.concurrency * own.homes.length;
  }

  /** Records that a handler starts with this request. */
  begin(own: OwnService, request: Request): Run {
    const run = new Run(++this.#lastRun, own, request);
    this.runs.set(run.id, run);
    own.running++;
    (request.client.runs ??= new Set()).add(run);
    return run;
  }

  end(run: Run): void {
    this.runs.delete(run.id);
    run.own.running--;
    run.request.client.runs?.delete(run);
  }
}

/** The current state of a service. */
export interface MdpServiceStats {
  readonly name: string;
  /** `both` if `bridge` joins the versions. */
  readonly version: MdpVersion | 'both';
  /** Registered workers, busy ones included; a service inside the broker counts as `concurrency` workers. */
  readonly workers: number;
  readonly busy: number;
  /** Requests in its queue. */
  readonly waiting: number;
}

/** A snapshot: plain immutable data. */
export interface MdpBrokerStats {
  readonly counters: Readonly<MdpBrokerCounters>;
  readonly services: readonly MdpServiceStats[];
  readonly workers: number;
  /** Clients with open requests. */
  readonly clients: number;
  /** Requests accepted and neither answered nor given up, waiting or running. */
  readonly openRequests: number;
  /** Their cost in the measure of `requestQueueMaxBytes`. */
  readonly openBytes: number;
}

/** Takes the snapshot. */
export function statsOf(state: BrokerState, counters: MdpBrokerCounters, openRequests: number): MdpBrokerStats {
  return {
    counters: { ...counters, dropped: { ...counters.dropped } },
    services: Array.from(state.services.values(), (service) => ({
      name: service.name,
      version: service.version,
      workers: service.workers,
      busy: service.busy,
      waiting: service.queue.size,
    })),
    workers: state.workers.size,
    clients: state.clients.size,
    openRequests,
    openBytes: state.bytes.used,
  };
}
