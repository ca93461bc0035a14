/** Workers of which one after the other loses its life. */
import type { PeerProcess } from '@proj/testkit';
import type { Flags } from './programs.js';

/** A number of workers that stays the same as long as each victim is replaced. */
export class WorkerFleet {
  readonly #start: (flags: Flags) => Promise<PeerProcess>;
  readonly #workers = new Set<Promise<PeerProcess>>();

  constructor(size: number, start: (flags: Flags) => Promise<PeerProcess>) {
    this.#start = start;
    for (let number = 0; number < size; number++) this.hire();
  }

  /** Starts one more. */
  hire(): void {
    // At this level it says `request`.
    const worker = this.#start({ 'log-level': 'debug' }).then(async (started) => {
      await started.line('request');
      return started;
    });
    // Whoever takes it is told; nobody is when the test is over before.
    worker.catch(() => undefined);
    this.#workers.add(worker);
  }

  /** Takes out the oldest of those that have had a request: any other may die before it is registered, and is never counted. */
  async takeVictim(): Promise<PeerProcess> {
    const [worker, victim] = await Promise.race([...this.#workers].map(async (each) => [each, await each] as const));
    this.#workers.delete(worker);
    return victim;
  }
}
