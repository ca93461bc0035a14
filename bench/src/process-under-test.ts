/** A child process that reports its own CPU time: the measured side of a benchmark. */
import type { ChildProcess } from 'node:child_process';
import { growYoungGeneration } from '@proj/appkit/heap';
import { ask, dismiss, nextMessage, startChild } from './children.js';
import type { ChildOptions } from './children.js';

/** Where clients and workers connect to the process in the middle. Majordomo has one endpoint for both. */
export interface Endpoints {
  readonly clients: string;
  readonly workers: string;
}

/** What a child reports about itself. */
export interface CpuReport {
  readonly cpuMicros: number;
  readonly rssBytes: number;
  readonly workers: number;
}

/**
 * In the child: announces the bound endpoints, answers each `cpu` with the process's own figures, carries out commands, exits on `exit`. Its heap has the
 * same settings as proj-broker's, also in bare loops, so that they do not differ by luck with the garbage collector.
 */
export function serveMeasurements(
  endpoints: Endpoints,
  workers: () => number,
  close: () => Promise<void>,
  /** By name. The parent gets what they resolve to. */
  commands: Readonly<Record<string, () => Promise<unknown>>> = {},
): void {
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
    } else {
      void commands[String(message)]?.().then((answer) => process.send?.({ answer }));
    }
  });
  // No parent is left that could ask.
  process.once('disconnect', () => process.exit());
  process.send?.(endpoints);
}

/** The process in the middle of a benchmark, in any language. */
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

  /** Has the child carry out a command; resolves to its result. */
  async command(name: string): Promise<unknown> {
    return (await ask<{ readonly answer: unknown }>(this.#child, name)).answer;
  }

  /** Tells the child to exit and waits until it has. */
  stop(): Promise<void> {
    return dismiss(this.#child);
  }
}
