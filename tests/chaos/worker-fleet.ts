/** Workers of which one after the other is killed. */
import type { PeerProcess } from '@proj/testkit';
import type { Flags } from './programs.js';

/** A number of workers that stays constant as long as each victim is replaced. */
export class WorkerFleet {
  readonly #start: (flags: Flags) => Promise<PeerProcess>;
  readonly #workers = new Set<Promise<PeerProcess>>();

  constructor(size: number, start: (flags: Flags) => Promise<PeerProcess>) {
    this.#start = start;
    for (let number = 0; number < size; number++) this.hire();
  }

  /** Starts one more worker. */
  hire(): void {
    // At this level it logs `request`.
    const worker = this.#start({ 'log-level': 'debug' }).then(async (started) => {
      await started.line('request');
      return started;
    });
    // Errors reach the caller that takes it; if the test ends first, no caller does.
    worker.catch(() => undefined);
    this.#workers.add(worker);
  }

  /**
   * Takes out the oldest worker that has had a request: any other might die before it is registered, and would never be
   * counted.
   */
  async takeVictim(): Promise<PeerProcess> {
    const [worker, victim] = await Promise.race([...this.#workers].map(async (each) => [each, await each] as const));
    this.#workers.delete(worker);
    return victim;
  }
}
