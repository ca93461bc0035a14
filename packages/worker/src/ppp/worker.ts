/** Paranoid Pirate worker, the facade: 6/PPP. Rules: engine/session.ts and docs/protocols/ppp.md section 4. */
import { decodePppAtWorker, encodePpp } from '@proj/frames/ppp';
import type { PppToWorker } from '@proj/frames/ppp';
import type { Service } from '@proj/frames/service';
import { parseOptions, toBuffers } from '@proj/transport';
import type { Startable } from '@proj/transport';
import { toFrameHandler } from '@proj/transport/service';
import { Tracing } from '@proj/transport/tracing';
import { WorkerGroup } from '../worker-group.js';
import type { WorkerEvents, WorkerStats } from '../worker-group.js';
import type { PppFromWorker, PppWorkerDropReason, PppWorkerLeaveReason, PppWorkerNote } from './engine/events.js';
import { PppWorkerSession } from './engine/session.js';
import { pppWorkerOptions } from './options.js';
import type { PppWorkerOptions, PppWorkerRequest, PppWorkerSettings } from './options.js';

/** Events of a {@link PppWorker}. */
export type PppWorkerEvents = WorkerEvents<PppWorkerNote>;

/** Counters of a {@link PppWorker}. */
export type PppWorkerStats = WorkerStats<PppWorkerDropReason>;

/**
 * Works for a Paranoid Pirate queue: `concurrency` requests at a time, each over its own connection that sends heartbeats, reconnects and fails
 * over by itself.
 *
 * ```ts
 * await using worker = new PppWorker({ handler: ({ body }) => body });
 * await worker.start();
 * ```
 *
 * A request may reach a handler more than once, here or at another worker: make it idempotent. Partial replies are sent as one, with their
 * frames joined.
 */
export class PppWorker<S extends Service | undefined = undefined> implements Startable<PppWorkerEvents> {
  readonly #group: WorkerGroup<PppToWorker, PppFromWorker, PppWorkerDropReason, PppWorkerLeaveReason>;

  /** Validates the options and does nothing else. Throws `OPTIONS_INVALID`. */
  constructor(options: PppWorkerOptions<S>) {
    const settings = parseOptions('PppWorker', pppWorkerOptions, options);
    const { service, handler, onError } = options;
    const toRequest = (body: readonly Uint8Array[]): PppWorkerRequest => ({ body: toBuffers(body) });
    const method = service === undefined ? {} : { 'rpc.method': service.name };
    this.#group = new WorkerGroup<PppToWorker, PppFromWorker, PppWorkerDropReason, PppWorkerLeaveReason>(
      {
        name: 'PppWorker',
        session: (random, index) => new PppWorkerSession(sessionSettings(settings, index), random),
        encode: encodePpp,
        decode: decodePppAtWorker,
        handle: toFrameHandler(service, handler, toRequest),
        onFailure: (error, body) => onError?.(error, toRequest(body)),
        tracing: new Tracing('proj:worker.job', 'ppp', settings.tracing),
        plan: { kind: 'server', name: service?.name ?? 'request', attributes: { 'rpc.system.name': 'ppp', ...method } },
      },
      { ...settings, partials: false },
    );
  }

  /** Sends READY on each socket, or with `bind` as soon as a queue connects; resolves whether or not a queue is there. */
  start(): Promise<void> {
    return this.#group.start();
  }

  /** Takes at most `drainMs`, unless a handler ignores its signal. PPP has no goodbye: the queue notices that the connection ended. */
  drain(): Promise<void> {
    return this.#group.finish('drain');
  }

  /** Aborts running handlers and closes; resolves when the handlers have ended. Also during a drain. */
  close(): Promise<void> {
    return this.#group.finish('close');
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  on<Name extends keyof PppWorkerEvents>(name: Name, listener: (event: PppWorkerEvents[Name]) => void): () => void {
    return this.#group.on(name, listener);
  }

  /** A copy of the counters since construction. */
  stats(): PppWorkerStats {
    return this.#group.stats();
  }
}

/** Each session that binds has its own endpoint. */
function sessionSettings(settings: PppWorkerSettings, index: number): PppWorkerSettings {
  return settings.binds ? { ...settings, endpoints: settings.endpoints.slice(index, index + 1) } : settings;
}
