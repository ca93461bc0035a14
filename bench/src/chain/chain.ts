/** Client, server and worker of one product, each in a separate process. */
import type { ChildProcess } from 'node:child_process';
import { ask, dismiss, nextMessage, startChild } from '../children.js';
import type { ChildOptions } from '../children.js';
import type { Sample } from '../samples.js';
import { latencyOf } from '../statistics.js';
import type { EndPlan } from './product.js';
import type { ClientRun, Role } from './process.js';

const BODY_BYTES = 64;

/** A server: ours, or an installed one. */
export interface ChainServer {
  readonly endpoint: string;
  /** CPU time of all its threads, in microseconds. */
  cpuMicros(): Promise<number>;
  stop(): Promise<void>;
}

/** How long requests took, and what they cost each process. */
export interface ChainSample extends Sample {
  readonly cpuMicros: { readonly client: number; readonly server: number; readonly worker: number };
}

/** A running chain. */
export class Chain {
  readonly #server: ChainServer;
  readonly #client: ChildProcess;
  readonly #worker: ChildProcess;

  private constructor(server: ChainServer, client: ChildProcess, worker: ChildProcess) {
    this.#server = server;
    this.#client = client;
    this.#worker = worker;
  }

  /** `optionsOf` returns process options for an end, if needed. */
  static async start(
    product: string,
    server: ChainServer,
    optionsOf: (role: Role) => ChildOptions = () => ({}),
  ): Promise<Chain> {
    const start = (role: Role): Promise<ChildProcess> => startEnd(product, role, server.endpoint, optionsOf(role));
    const worker = await start('worker');
    return new Chain(server, await start('client'), worker);
  }

  /** Sends `requests` requests, `inFlight` at a time. */
  async run(requests: number, inFlight: number): Promise<ChainSample> {
    const before = await this.#cpu();
    const { seconds, latencies } = await ask<ClientRun>(this.#client, { requests, inFlight });
    const after = await this.#cpu();
    const share = (end: keyof ChainSample['cpuMicros']): number => (after[end] - before[end]) / requests;
    return {
      perSecond: requests / seconds,
      latency: latencyOf(latencies),
      cpuMicros: { client: share('client'), server: share('server'), worker: share('worker') },
    };
  }

  async stop(): Promise<void> {
    for (const end of [this.#client, this.#worker]) await dismiss(end);
    await this.#server.stop();
  }

  async #cpu(): Promise<ChainSample['cpuMicros']> {
    return {
      client: await ask<number>(this.#client, 'cpu'),
      server: await this.#server.cpuMicros(),
      worker: await ask<number>(this.#worker, 'cpu'),
    };
  }
}

async function startEnd(product: string, role: Role, endpoint: string, options: ChildOptions): Promise<ChildProcess> {
  const plan = { product, role, endpoint, bodyBytes: BODY_BYTES } satisfies EndPlan;
  const child = startChild('chain-process', plan, options);
  await nextMessage(child);
  return child;
}
