/** Majordomo broker: services inside it, and their handlers at work (rule 29). Books only, no protocol decisions. */
import type { MdpVersion } from '@proj/frames/mdp';
import type { Request } from './requests.js';
import type { Service } from './services.js';

/** What the facade says of a service inside the broker. */
export interface OwnServiceSpec {
  /** Its number, never used twice. */
  readonly id: number;
  readonly name: string;
  /** In which versions it can be asked for. `bridge` joins them. */
  readonly versions: readonly MdpVersion[];
  /** Handlers that may run at a time, over all versions. */
  readonly concurrency: number;
}

/** What counts as a worker of a service. */
export interface Slot {
  readonly service: Service;
  readonly busy: boolean;
}

/** A service inside the broker. Counts as `concurrency` workers, in each version. */
export class OwnService {
  readonly id: number;
  readonly concurrency: number;
  /** Whose requests it takes, in turn: one per version, or the one that `bridge` has joined. */
  readonly homes: readonly Service[];
  running = 0;
  /** True once it takes no more requests. */
  withdrawn = false;
  #turn = 0;

  constructor({ id, concurrency }: OwnServiceSpec, homes: readonly Service[]) {
    this.id = id;
    this.concurrency = concurrency;
    this.homes = homes;
  }

  /** Handlers that may be started now. */
  get free(): number {
    return this.withdrawn ? 0 : this.concurrency - this.running;
  }

  /** One for each handler that may run, in each version. */
  *slots(): IterableIterator<Slot> {
    for (const service of this.homes)
      for (let i = 0; i < this.concurrency; i++) yield { service, busy: i < this.concurrency - this.free };
  }

  /** Takes the next request that waits, of each version in turn. */
  next(): Request | undefined {
    for (let tried = 0; tried < this.homes.length; tried++) {
      const request = this.homes[this.#turn++ % this.homes.length]?.queue.shift();
      if (request !== undefined) return request;
    }
    return undefined;
  }
}

/** A handler at work. */
export class Run {
  readonly id: number;
  readonly own: OwnService;
  readonly request: Request;
  /** True once the client has had a part of the reply. */
  forwarded = false;

  constructor(id: number, own: OwnService, request: Request) {
    this.id = id;
    this.own = own;
    this.request = request;
  }
}

/** All services inside the broker, and all their runs by number. */
export class OwnServices {
  readonly #services = new Map<number, OwnService>();
  readonly #runs = new Map<number, Run>();
  #lastRun = 0;
  #slots = 0;

  /** How many workers all of them count as. */
  get slots(): number {
    return this.#slots;
  }

  find(id: number): OwnService | undefined {
    return this.#services.get(id);
  }

  add(own: OwnService): void {
    this.#services.set(own.id, own);
    this.#slots += own.concurrency * own.homes.length;
  }

  remove(own: OwnService): void {
    this.#services.delete(own.id);
    this.#slots -= own.concurrency * own.homes.length;
  }

  /** A handler is started with this request. */
  begin(own: OwnService, request: Request): Run {
    const run = new Run(++this.#lastRun, own, request);
    this.#runs.set(run.id, run);
    own.running++;
    (request.client.runs ??= new Set()).add(run);
    return run;
  }

  /** `undefined` for a run that has ended. */
  run(id: number): Run | undefined {
    return this.#runs.get(id);
  }

  end(run: Run): void {
    this.#runs.delete(run.id);
    run.own.running--;
    run.request.client.runs?.delete(run);
  }

  values(): IterableIterator<OwnService> {
    return this.#services.values();
  }

  runs(): IterableIterator<Run> {
    return this.#runs.values();
  }
}
