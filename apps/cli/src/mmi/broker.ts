/** A Majordomo broker, seen through `mmi.services` and `mmi.workers`, which only brokers of this project have. */
import { setTimeout } from 'node:timers/promises';
import { isProjError, ProjError } from '@proj/client';
import type { MdpClient } from '@proj/client';
import type { Overview } from '../overview.js';
import { overviewOf } from './overview.js';
import { EndedRates } from './rates.js';

/** Pause between an answer and the next question. */
const PAUSE_MS = 1000;

/** The clock and its pauses. For tests. */
export interface MmiTime {
  readonly now: () => number;
  /** Rejects when `stop` aborts. */
  readonly pause: (ms: number, stop: AbortSignal) => Promise<unknown>;
}

const TIME: MmiTime = {
  now: () => performance.now(),
  pause: (ms, signal) => setTimeout(ms, undefined, { signal }),
};

type Client = Pick<MdpClient, 'service' | 'services' | 'workers'>;

/** Asks a broker through a client. Rejects as the client does; with `SERVICE_UNKNOWN` for a broker that does not list its services. */
export class MmiBroker {
  readonly #client: Client;
  readonly #where: string;
  readonly #time: MmiTime;
  readonly #rates = new EndedRates();

  constructor(client: Client, where: string, time: MmiTime = TIME) {
    this.#client = client;
    this.#where = where;
    this.#time = time;
  }

  /** The broker now. Rates are known from the second call on. */
  async overview(stop: AbortSignal): Promise<Overview> {
    const services = await this.#services(stop);
    const rates = this.#rates.next(services, this.#time.now());
    const workers = await this.#client.workers('', { signal: stop });
    return overviewOf({ where: this.#where, services, workers, rates });
  }

  async #services(stop: AbortSignal) {
    try {
      return await this.#client.services({ signal: stop });
    } catch (error) {
      if (!(await this.#listsNothing(error, stop))) throw error;
      const remedy = `ask for one service with 'proj call mmi.service NAME', or run proj-broker without --no-mdp-mmi-additions`;
      throw new ProjError('SERVICE_UNKNOWN', `${this.#where}: this broker does not list its services: ${remedy}`);
    }
  }

  /** Whether a broker is there but has no such list. Most brokers say so; some do not answer. */
  async #listsNothing(error: unknown, stop: AbortSignal): Promise<boolean> {
    if (isProjError(error, 'SERVICE_UNKNOWN')) return true;
    if (!isProjError(error, 'TIMEOUT')) return false;
    return (await this.#client.service('mmi.services', { tries: 1, signal: stop })) !== 'unknown';
  }

  /** The broker, again every second. Rejects when it stops answering or `stop` aborts. */
  async *overviews(stop: AbortSignal): AsyncGenerator<Overview, never, undefined> {
    for (;;) {
      yield await this.overview(stop);
      await this.#time.pause(PAUSE_MS, stop);
    }
  }
}
