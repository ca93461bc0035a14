/** Limits how many tasks run and how many wait. */
import { ProjError } from '@proj/transport';

/** Runs at most `limit` tasks at a time, first come, first served. */
export class Pool {
  readonly #limit: number;
  readonly #queueMax: number;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(limit: number, queueMax: number) {
    this.#limit = limit;
    this.#queueMax = queueMax;
  }

  /** Settles with the task; rejects with `QUEUE_FULL` if too many wait. */
  async run<Result>(task: () => Promise<Result>): Promise<Result> {
    if (this.#running < this.#limit) this.#running++;
    else await this.#turn();
    try {
      return await task();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#running--;
      else next();
    }
  }

  /** A task that ends hands over its place. */
  #turn(): Promise<void> {
    if (this.#waiting.length >= this.#queueMax)
      throw new ProjError('QUEUE_FULL', `${this.#queueMax} requests for files are already waiting; try again later`);
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
    });
  }
}
