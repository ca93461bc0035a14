/** Runs one load process against one process in the middle and reports how long requests took and what they cost. */
import type { ChildProcess } from 'node:child_process';
import { setTimeout } from 'node:timers/promises';
import { ask, dismiss, nextMessage, startChild } from './children.js';
import type { Protocol } from './contests/index.js';
import type { LoadOrder, LoadPlan, LoadRun } from './load.js';
import type { Sample } from './samples.js';
import { latencyOf } from './statistics.js';
import { ProcessUnderTest } from './process-under-test.js';
import type { UnderTest } from './process-under-test.js';

const POLL_MS = 20;

/** The script of the process in the middle, or how to start it. */
export type Middle = string | (() => Promise<UnderTest>);

/** How long requests took, and what they cost the process in the middle and the load process. */
export interface RigSample extends Sample {
  readonly cpuMicros: { readonly broker: number; readonly load: number };
}

/** A broker process and a load process that is connected to it, with all workers registered. */
export class BenchRig {
  readonly #broker: UnderTest;
  readonly #load: ChildProcess;

  private constructor(broker: UnderTest, load: ChildProcess) {
    this.#broker = broker;
    this.#load = load;
  }

  static async start(
    protocol: Protocol,
    middle: Middle,
    workers: number,
    bodyBytes = 64,
    resultBytes?: number,
  ): Promise<BenchRig> {
    const broker = typeof middle === 'string' ? await ProcessUnderTest.start(middle) : await middle();
    const plan: LoadPlan = { protocol, endpoints: broker.endpoints, workers, bodyBytes, resultBytes };
    const load = startChild('load', plan, { node: ['--expose-gc'] });
    await nextMessage(load);
    while ((await broker.measure()).workers < workers) await setTimeout(POLL_MS);
    return new BenchRig(broker, load);
  }

  /** Sends `requests` requests, `inFlight` at a time, and waits for all answers. */
  run(requests: number, inFlight: number): Promise<RigSample> {
    return this.#carryOut({ requests, inFlight });
  }

  /** Sends `requests` requests, `perSecond` of them whether or not others are answered, and waits for all answers. */
  pace(requests: number, perSecond: number): Promise<RigSample> {
    return this.#carryOut({ requests, perSecond });
  }

  async #carryOut(order: LoadOrder): Promise<RigSample> {
    const { requests } = order;
    const before = await this.#broker.measure();
    const { seconds, latencies, cpuMicros } = await ask<LoadRun>(this.#load, order);
    const after = await this.#broker.measure();
    return {
      perSecond: requests / seconds,
      latency: latencyOf(latencies),
      cpuMicros: { broker: (after.cpuMicros - before.cpuMicros) / requests, load: cpuMicros / requests },
    };
  }

  /** Share of one core that the broker used while it was idle for `ms`. */
  async idle(ms: number): Promise<number> {
    const before = await this.#broker.measure();
    await setTimeout(ms);
    const after = await this.#broker.measure();
    return (after.cpuMicros - before.cpuMicros) / (ms * 1000);
  }

  /** Ends both processes. */
  async stop(): Promise<void> {
    await dismiss(this.#load);
    await this.#broker.stop();
  }
}
