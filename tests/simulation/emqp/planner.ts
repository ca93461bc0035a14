/** A client that schedules and unschedules regular jobs. */
import type { EmqpClient } from '@proj/client';
import { isProjError } from '@proj/transport';
import type { SeededRandom, VirtualTransport } from '@proj/transport/virtual';
import { sleep } from '../kit/sleep.js';
import { nameInBody } from './sight.js';
import type { Task } from './task.js';

/** Longest pause between two commands. Virtual milliseconds. */
const THINK_MS = 4000;

const TASK: Task = { ms: 20, failing: 0, end: 'well' };

/** Schedules jobs at random until told to stop. For use inside one process. */
export class Planner {
  readonly #ticks: number;
  #isCalm = false;

  /** `ticks`: how many jobs there are. */
  constructor(ticks: number) {
    this.#ticks = ticks;
  }

  /** Schedules all jobs once more, and then unschedules every other one. */
  settle(): void {
    this.#isCalm = true;
  }

  /** Returns when everything is settled. */
  async run(client: EmqpClient, transport: VirtualTransport, random: SeededRandom): Promise<void> {
    for (let index = 0; index < this.#ticks; index++) await this.#schedule(client, index, random);
    while (!this.#isCalm) {
      await sleep(transport, random.between(0, THINK_MS / this.#ticks));
      const index = random.below(this.#ticks);
      if (random.chance(0.6)) await this.#schedule(client, index, random);
      else await this.#perhaps(client.unschedule('default', jobOf(index)));
    }
    for (let index = 0; index < this.#ticks; index++) await this.#schedule(client, index, random);
    await sleep(transport, 4000);
    for (let index = 0; index < this.#ticks; index += 2)
      await this.#perhaps(client.unschedule('default', jobOf(index)));
  }

  #schedule(client: EmqpClient, index: number, random: SeededRandom): Promise<void> {
    const options = { intervalSeconds: 1 + random.below(3), haste: random.chance(0.5), guarantee: random.chance(0.5) };
    return this.#perhaps(client.schedule('default', jobOf(index), options));
  }

  /** There is no answer; a command that was not sent is skipped. */
  async #perhaps(call: Promise<void>): Promise<void> {
    try {
      await call;
    } catch (error) {
      if (!isProjError(error, 'TIMEOUT') && !isProjError(error, 'PEER_LOST')) throw error;
    }
  }
}

function jobOf(index: number): { path: string; callable: string; args: [string, Task] } {
  return { path: 'jobs', callable: 'tick', args: [nameInBody(`tick-${index}`), TASK] };
}
