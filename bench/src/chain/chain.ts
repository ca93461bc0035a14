/** Client, server and worker of one product, each in a process of its own. */
import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { EndPlan } from './product.js';
import type { ClientRun, Role } from './process.js';

const BODY_BYTES = 64;

/** A server: ours, or one that is installed. */
export interface ChainServer {
  readonly endpoint: string;
  /** CPU time of all its threads, in microseconds. */
  cpuMicros(): Promise<number>;
  stop(): Promise<void>;
}

/** What a request cost, by process, in microseconds of CPU, and how long it took. */
export interface ChainCost {
  readonly perSecond: number;
  readonly latencies: Float64Array;
  readonly cpuMicros: { readonly client: number; readonly server: number; readonly worker: number };
}

/** One chain that stands. */
export class Chain {
  readonly #server: ChainServer;
  readonly #client: ChildProcess;
  readonly #worker: ChildProcess;

  private constructor(server: ChainServer, client: ChildProcess, worker: ChildProcess) {
    this.#server = server;
    this.#client = client;
    this.#worker = worker;
  }

  static async start(product: string, server: ChainServer): Promise<Chain> {
    const worker = await startEnd(product, 'worker', server.endpoint);
    return new Chain(server, await startEnd(product, 'client', server.endpoint), worker);
  }

  /** Sends `requests`, `inFlight` at a time. */
  async run(requests: number, inFlight: number): Promise<ChainCost> {
    const before = await this.#cpu();
    this.#client.send({ requests, inFlight });
    const [{ seconds, latencies }] = (await once(this.#client, 'message')) as [ClientRun];
    const after = await this.#cpu();
    const share = (end: keyof ChainCost['cpuMicros']): number => (after[end] - before[end]) / requests;
    return {
      perSecond: requests / seconds,
      latencies,
      cpuMicros: { client: share('client'), server: share('server'), worker: share('worker') },
    };
  }

  async stop(): Promise<void> {
    for (const end of [this.#client, this.#worker]) {
      const exited = once(end, 'exit');
      end.send('exit');
      await exited;
    }
    await this.#server.stop();
  }

  async #cpu(): Promise<ChainCost['cpuMicros']> {
    return {
      client: await cpuOf(this.#client),
      server: await this.#server.cpuMicros(),
      worker: await cpuOf(this.#worker),
    };
  }
}

async function startEnd(product: string, role: Role, endpoint: string): Promise<ChildProcess> {
  const plan = JSON.stringify({ product, role, endpoint, bodyBytes: BODY_BYTES } satisfies EndPlan);
  const script = fileURLToPath(new URL('./chain-process.js', import.meta.url));
  const child = fork(script, [plan], { stdio: 'inherit', serialization: 'advanced' });
  await once(child, 'message');
  return child;
}

async function cpuOf(end: ChildProcess): Promise<number> {
  end.send('cpu');
  const [micros] = (await once(end, 'message')) as [number];
  return micros;
}
