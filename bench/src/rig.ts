/** Drives one load process against one broker process and tells what each request cost the broker. */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { LoadPlan, Protocol } from './load.js';
import { median } from './statistics.js';
import { ProcessUnderTest } from './process-under-test.js';
import type { UnderTest } from './process-under-test.js';

const POLL_MS = 20;

/** The script of the process in the middle, or how to start it. */
export type Middle = string | (() => Promise<UnderTest>);

/** What a request cost the process in the middle. */
export interface RequestCost {
  /** CPU time of all its threads, in microseconds. */
  readonly cpuMicros: number;
  readonly perSecond: number;
  /** Middle time from a request to its answer, where no client had more than one open. Microseconds. */
  readonly p50Micros: number | undefined;
}

/** A broker process and a load process that is connected to it, all workers registered. */
export class Rig {
  readonly broker: UnderTest;
  readonly #load: ChildProcess;

  private constructor(broker: UnderTest, load: ChildProcess) {
    this.broker = broker;
    this.#load = load;
  }

  static async start(protocol: Protocol, middle: Middle, workers: number, bodyBytes = 64): Promise<Rig> {
    const broker = typeof middle === 'string' ? await ProcessUnderTest.start(middle) : await middle();
    const plan = JSON.stringify({ protocol, endpoints: broker.endpoints, workers, bodyBytes } satisfies LoadPlan);
    const load = fork(fileURLToPath(new URL('./load.js', import.meta.url)), [plan], { stdio: 'inherit' });
    await once(load, 'message');
    while ((await broker.measure()).workers < workers) await setTimeout(POLL_MS);
    return new Rig(broker, load);
  }

  /** Sends `requests`, `inFlight` at a time, and waits for all answers. */
  async run(requests: number, inFlight: number): Promise<RequestCost> {
    const before = await this.broker.measure();
    const startedAt = performance.now();
    this.#load.send({ requests, inFlight });
    const [latencies] = (await once(this.#load, 'message')) as [readonly number[]];
    const seconds = (performance.now() - startedAt) / 1000;
    const after = await this.broker.measure();
    return {
      cpuMicros: (after.cpuMicros - before.cpuMicros) / requests,
      perSecond: requests / seconds,
      p50Micros: latencies.length === 0 ? undefined : median(latencies),
    };
  }

  /** Share of one core the broker used while nothing was asked of it for `ms`. */
  async idle(ms: number): Promise<number> {
    const before = await this.broker.measure();
    await setTimeout(ms);
    const after = await this.broker.measure();
    return (after.cpuMicros - before.cpuMicros) / (ms * 1000);
  }

  /** Ends both processes. */
  async stop(): Promise<void> {
    const exited = once(this.#load, 'exit');
    this.#load.send('exit');
    await exited;
    await this.broker.stop();
  }
}
