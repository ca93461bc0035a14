/** The system under demonstration: a broker and its workers, each a separate process. */
import { setTimeout as delay } from 'node:timers/promises';
import type { ChildProgram } from '@proj/appkit';
import { httpAddress, launch, recorded } from './launch.js';
import type { Guard } from './launch.js';

/** How long a program may take to finish its work at the end. */
const GRACE_MS = 15_000;

/**
 * How long a worker is frozen before it is killed: long enough for the broker to send it jobs, even on a busy machine.
 */
const FROZEN_MS = 1000;

/** How long the broker's log may lag behind the answers. */
const SETTLE_MS = 3000;

/** HTTP port of the broker, if it is free. */
const HTTP_PORT = 8055;

/** Services that each worker offers, with the handlers of the same names. */
export const SERVICES = ['text-stats', 'sha256'] as const;

/** The size of a fleet. */
export interface FleetOptions {
  readonly workers: number;
  /** Requests that each worker handles at the same time, per service. */
  readonly concurrency: number;
}

/** The broker's counters. */
export interface BrokerCounters {
  readonly replies: number;
  /** Jobs given to another worker because the first one was lost. */
  readonly resends: number;
}

/** A broker with workers. Disposing of it leaves no process behind, in any state. */
export class Fleet {
  readonly workers: ChildProgram[] = [];
  readonly #broker: ChildProgram;
  readonly #guard: Guard;
  #endpoint = '';
  #counters: BrokerCounters = { replies: 0, resends: 0 };

  #url = '';

  private constructor(guard: Guard, http: string) {
    this.#guard = guard;
    const options = { only: 'mdp', mdp: 'tcp://127.0.0.1:*', 'log-level': 'debug', 'stats-ms': '200', http };
    this.#broker = launch('broker', 'broker', options, guard);
    this.#broker.onRecord(({ counters }) => {
      if (counters !== undefined) this.#counters = counters as BrokerCounters;
    });
  }

  /** Starts everything; resolves once everything listens. Rejects with `UNAVAILABLE` if a program does not start. */
  static async start(options: FleetOptions, guard: Guard): Promise<Fleet> {
    const fleet = new Fleet(guard, await httpAddress(HTTP_PORT));
    try {
      await fleet.#start(options);
      return fleet;
    } catch (error) {
      await fleet[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** The broker's endpoint. */
  get endpoint(): string {
    return this.#endpoint;
  }

  /** The broker's HTTP address. */
  get url(): string {
    return this.#url;
  }

  /** Process id of the broker. */
  get brokerPid(): number {
    return this.#broker.pid;
  }

  /**
   * Ends a worker like a crash: no finished job, no goodbye. It is frozen for a moment first, while the broker keeps
   * sending it jobs, so that it does not die between two jobs.
   */
  async crash(worker: ChildProgram): Promise<void> {
    this.#guard.dismiss(worker);
    if (process.platform !== 'win32') {
      worker.kill('SIGSTOP');
      await delay(FROZEN_MS);
    }
    worker.kill('SIGKILL');
    await worker.exit;
  }

  /**
   * The broker's counters, once they include this many answered requests, or the latest ones after a few seconds. Rejects
   * with the signal's reason.
   */
  async counters(replies: number, signal: AbortSignal): Promise<BrokerCounters> {
    signal.throwIfAborted();
    const limit = AbortSignal.any([signal, AbortSignal.timeout(SETTLE_MS)]);
    await recorded(this.#broker, () => this.#counters.replies >= replies, limit);
    signal.throwIfAborted();
    return this.#counters;
  }

  /** Ends all programs, workers first, so that each one can finish its jobs. Idempotent. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.workers.map((worker) => this.#dismiss(worker)));
    await this.#dismiss(this.#broker);
  }

  async #start({ workers, concurrency }: FleetOptions): Promise<void> {
    const { endpoints, http } = await this.#broker.record('listening');
    this.#url = http as string;
    this.#endpoint = (endpoints as { readonly mdp: string }).mdp;
    const options = { connect: this.#endpoint, service: SERVICES.join(','), concurrency: concurrency.toString() };
    for (let number = 1; number <= workers; number++)
      this.workers.push(launch(`worker ${number}`, 'worker', options, this.#guard));
    await Promise.all(this.workers.map((worker) => worker.record('listening')));
  }

  async #dismiss(program: ChildProgram): Promise<void> {
    this.#guard.dismiss(program);
    await program.stop(GRACE_MS);
  }
}
