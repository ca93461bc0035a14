/** A child process whose own CPU time can be asked for: the side of a benchmark that is being measured. */
import type { ChildProcess } from 'node:child_process';
import { growYoungGeneration } from '@proj/appkit/heap';
import { ask, dismiss, nextMessage, startChild } from './children.js';
import type { ChildOptions } from './children.js';

/** Where clients and workers find the process in the middle. Majordomo has one endpoint for both. */
export interface Endpoints {
  readonly clients: string;
  readonly workers: string;
  /** Where it is shown over HTTP, if it is. */
  readonly http?: string;
}

/** What a child reports of itself. */
export interface CpuReport {
  readonly cpuMicros: number;
  readonly rssBytes: number;
  readonly workers: number;
}

/**
 * In the child: announces the bound endpoints, answers each `cpu` with the process's own figures, leaves on `exit`. Its heap is that
 * of proj-broker, bare loops' too: what differs is not the garbage collector's luck.
 */
export function serveMeasurements(endpoints: Endpoints, workers: () => number, close: () => Promise<void>): void {
  growYoungGeneration();
  process.on('message', (message) => {
    if (message === 'cpu') {
      const { user, system } = process.cpuUsage();
      const report = { cpuMicros: user + system, rssBytes: process.memoryUsage.rss(), workers: workers() };
      process.send?.(report satisfies CpuReport);
    } else if (message === 'exit') {
      void close().then(() => {
        process.disconnect();
      });
    }
  });
  // Nobody is left who could ask.
  process.once('disconnect', () => process.exit());
  process.send?.(endpoints);
}

/** What stands in the middle of a benchmark, whatever it is written in. */
export interface UnderTest {
  readonly endpoints: Endpoints;
  measure(): Promise<CpuReport>;
  stop(): Promise<void>;
}

/** In the parent: a started child and its measurements. */
export class ProcessUnderTest implements UnderTest {
  readonly endpoints: Endpoints;
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess, endpoints: Endpoints) {
    this.#child = child;
    this.endpoints = endpoints;
  }

  /** Starts `dist/<name>.js`; resolves once it is bound. */
  static async start(name: string, options: ChildOptions = {}): Promise<ProcessUnderTest> {
    const child = startChild(name, {}, options);
    return new ProcessUnderTest(child, await nextMessage<Endpoints>(child));
  }

  /** CPU time used so far by all threads of the child, and its resident size. */
  measure(): Promise<CpuReport> {
    return ask(this.#child, 'cpu');
  }

  /** Ends the child in its own order and waits for its exit. */
  stop(): Promise<void> {
    return dismiss(this.#child);
  }
}
