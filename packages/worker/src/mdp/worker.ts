/** Majordomo worker, the facade: 18/MDP (0.2) and 7/MDP (0.1). Rules: engine/session.ts and docs/protocols/mdp.md section 5. */
import { decodeMdpAtWorker, encodeMdp } from '@proj/frames/mdp';
import type { MdpToWorker } from '@proj/frames/mdp';
import type { Service } from '@proj/frames/service';
import { parseOptions, toBuffers } from '@proj/transport';
import type { Startable } from '@proj/transport';
import { toFrameHandler } from '@proj/transport/service';
import { Tracing } from '@proj/transport/tracing';
import { WorkerGroup } from '../worker-group.js';
import type { WorkerEvents, WorkerStats } from '../worker-group.js';
import type { MdpFromWorker, MdpWorkerDropReason, MdpWorkerLeaveReason, MdpWorkerNote } from './engine/events.js';
import { MdpWorkerSession } from './engine/session.js';
import { mdpWorkerOptions } from './options.js';
import type { MdpRequest, MdpWorkerOptions } from './options.js';

/** Events of an {@link MdpWorker}. */
export type MdpWorkerEvents = WorkerEvents<MdpWorkerNote>;

/** Counters of an {@link MdpWorker}. */
export type MdpWorkerStats = WorkerStats<MdpWorkerDropReason>;

/**
 * Serves one service of a Majordomo broker: `concurrency` requests at a time, each over its own connection that sends heartbeats, reconnects and
 * fails over by itself.
 *
 * ```ts
 * await using worker = new MdpWorker({ service: 'echo', handler: ({ body }) => body });
 * await worker.start();
 * ```
 *
 * A request may reach a handler more than once, here or at another worker: make it idempotent.
 */
export class MdpWorker<S extends string | Service = string> implements Startable<MdpWorkerEvents> {
  readonly #group: WorkerGroup<MdpToWorker, MdpFromWorker, MdpWorkerDropReason, MdpWorkerLeaveReason>;

  /** Validates the options and does nothing else. Throws `OPTIONS_INVALID`. */
  constructor(options: MdpWorkerOptions<S>) {
    const settings = parseOptions('MdpWorker', mdpWorkerOptions, options);
    const { handler, onError } = options;
    const service: string | Service = options.service;
    const name = typeof service === 'string' ? service : service.name;
    const toRequest = (body: readonly Uint8Array[]): MdpRequest => ({ service: name, body: toBuffers(body) });
    this.#group = new WorkerGroup<MdpToWorker, MdpFromWorker, MdpWorkerDropReason, MdpWorkerLeaveReason>(
      {
        name: `MdpWorker for ${JSON.stringify(name)}`,
        session: (random) => new MdpWorkerSession({ ...settings, service: name }, random),
        encode: encodeMdp,
        decode: decodeMdpAtWorker,
        handle: toFrameHandler(typeof service === 'string' ? undefined : service, handler, toRequest),
        onFailure: (error, body) => onError?.(error, toRequest(body)),
        tracing: new Tracing('proj:worker.job', 'mdp', settings.tracing),
        plan: { kind: 'server', name, attributes: { 'rpc.system.name': 'mdp', 'rpc.method': name } },
      },
      { ...settings, partials: settings.version === '0.2' },
    );
  }

  /** Sends READY on each socket; resolves whether or not a broker is there. */
  start(): Promise<void> {
    return this.#group.start();
  }

  /** Takes at most `drainMs`, unless a handler ignores its signal. The broker gives a request on its way to us to another worker. */
  drain(): Promise<void> {
    return this.#group.finish('drain');
  }

  /** Aborts running handlers, says goodbye, closes; resolves when the handlers have ended. Also during a drain. */
  close(): Promise<void> {
    return this.#group.finish('close');
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  on<Name extends keyof MdpWorkerEvents>(name: Name, listener: (event: MdpWorkerEvents[Name]) => void): () => void {
    return this.#group.on(name, listener);
  }

  /** A copy of the counters since construction. */
  stats(): MdpWorkerStats {
    return this.#group.stats();
  }
}
