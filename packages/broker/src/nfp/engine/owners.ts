/** NFP broker: whose jobs are remembered: each client's own part of what all share. Books only. */
import { RemovableQueue } from '../../shared/removable-queue.js';
import { Share } from '../../shared/shares.js';
import type { Job } from './job-table.js';

/** Who posted jobs first that are remembered. Exists while there are any. */
export class Owner {
  readonly key: string;
  /** Jobs. */
  count = 0;
  /** Those that may be forgotten, the least recently used first. */
  readonly recent = new RemovableQueue<Job>();
  /** Those whose body may go, the oldest first. */
  readonly spare = new RemovableQueue<Job>();
  /** Of all jobs that may be forgotten, of those that wait, of workers that have jobs, and of the bytes of kept bodies. */
  readonly remembered = new Share();
  readonly waiting = new Share();
  readonly parts = new Share();
  readonly bytes = new Share();

  constructor(key: string) {
    this.key = key;
  }
}

/** All of them. */
export class Owners {
  readonly #byKey = new Map<string, Owner>();

  /** The client of that routing id has one job more. */
  join(key: string): Owner {
    let owner = this.#byKey.get(key);
    if (owner === undefined) this.#byKey.set(key, (owner = new Owner(key)));
    owner.count++;
    return owner;
  }

  /** And one less. */
  leave(owner: Owner): void {
    if (--owner.count === 0) this.#byKey.delete(owner.key);
  }

  get size(): number {
    return this.#byKey.size;
  }
}
