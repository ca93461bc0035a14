/** The queue of the demonstration: a process with a store on disk, which can be killed and restarted. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ChildProgram, LogRecord } from '@proj/appkit';
import { ownEndpoint } from '@proj/testkit/own-endpoint';
import { httpAddress, launch, recorded } from './launch.js';
import type { Guard } from './launch.js';

/** How long the queue may take to finish at the end. */
const GRACE_MS = 15_000;

/** Endpoints for producers, consumers and monitors. */
export interface QueueEndpoints {
  readonly receive: string;
  readonly send: string;
  readonly monitor: string;
}

/** What the queue has logged about itself. */
export interface QueueState {
  /** Messages in the queue, as of the last flush. */
  readonly messages: number;
  /** Since its start: messages stored, and messages acknowledged by a consumer. */
  readonly counters: { readonly stored: number; readonly acked: number };
}

/** HTTP port of the queue, if it is free. */
const HTTP_PORT = 8056;

/** A queue process and its folder. Disposing of it removes both. */
export class QueueProcess {
  readonly folder: string;
  /** The same before and after a crash: ports that stay free while the queue is down. */
  readonly endpoints: QueueEndpoints;
  readonly #guard: Guard;
  readonly #http: string;
  #program: ChildProgram;
  #url = '';

  private constructor(folder: string, endpoints: QueueEndpoints, guard: Guard, http: string) {
    this.#http = http;
    this.folder = folder;
    this.endpoints = endpoints;
    this.#guard = guard;
    this.#program = this.#launch();
  }

  /** Starts a queue with an empty store; resolves once it listens. Rejects with `UNAVAILABLE` if it does not start. */
  static async start(guard: Guard): Promise<QueueProcess> {
    const endpoints = { receive: await ownEndpoint(), send: await ownEndpoint(), monitor: await ownEndpoint() };
    const http = await httpAddress(HTTP_PORT);
    const queue = new QueueProcess(await mkdtemp(join(tmpdir(), 'proj-demo-queue-')), endpoints, guard, http);
    try {
      const { http } = await queue.#program.record('listening');
      queue.#url = http as string;
      return queue;
    } catch (error) {
      await queue[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** The queue's HTTP address. */
  get url(): string {
    return this.#url;
  }

  /** Process id of the current queue. */
  get pid(): number {
    return this.#program.pid;
  }

  /** Kills the queue with SIGKILL; resolves when it is gone. */
  async crash(): Promise<void> {
    this.#guard.dismiss(this.#program);
    this.#program.kill('SIGKILL');
    await this.#program.exit;
  }

  /** Restarts it on the store it has left on disk; resolves to the number of messages found there. */
  async restart(): Promise<number> {
    this.#program = this.#launch();
    const { messages } = await this.#program.record('listening');
    return messages as number;
  }

  /**
   * Resolves as soon as the queue has logged a state that satisfies the condition. Rejects with the signal's reason.
   */
  async until(condition: (state: QueueState) => boolean, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    await recorded(this.#program, (record) => isState(record) && condition(record), signal);
    signal.throwIfAborted();
  }

  /** Ends the queue and removes its folder. Idempotent. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#guard.dismiss(this.#program);
    await this.#program.stop(GRACE_MS);
    await rm(this.folder, { recursive: true, force: true });
  }

  #launch(): ChildProgram {
    const options = {
      ...this.endpoints,
      store: `lmdb:${this.folder}`,
      // A producer that has seen no answer before the crash resends its messages.
      'dedupe-window-ms': '3600000',
      // So that on a busy machine messages come back only because of the crash.
      'ack-timeout-ms': '600000',
      'log-level': 'debug',
      'stats-ms': '100',
      // The same address after a crash, so that an open browser page still works.
      http: this.#url === '' ? this.#http : new URL(this.#url).host,
    };
    return launch('queue', 'queue', options, this.#guard);
  }
}

function isState(record: LogRecord): record is LogRecord & QueueState {
  return record.msg === 'stats';
}
