/** NFP broker, the facade: the protocol of NORFAB on one ROUTER. Rules: engine.ts and docs/protocols/nfp.md. */
import process from 'node:process';
import { decodeNfpAtBroker, decodeNfpAtClient, decodeNfpAtWorker, encodeNfp } from '@proj/frames/nfp';
import type { NfpFromBroker } from '@proj/frames/nfp';
import { Emitter, EngineHost, parseOptions } from '@proj/transport';
import type { PortOptions, SocketPlan } from '@proj/transport';
import { transportOr } from '../default-transport.js';
import { CONNECTIONS } from '../parts/connections.js';
import type {
  NfpBrokerEffect,
  NfpBrokerEvent,
  NfpBrokerNote,
  NfpManagementNotice,
  NfpWorkerLostNotice,
  NfpWorkerReadyNotice,
} from './effects.js';
import { NfpBrokerEngine } from './engine.js';
import type { NfpBrokerAbout } from './mmi.js';
import { nfpBrokerOptions } from './options.js';
import type { NfpBrokerOptions, NfpBrokerSettings } from './options.js';
import type { NfpBrokerStats } from './stats.js';

/** Events of an {@link NfpBroker}. */
export interface NfpBrokerEvents {
  'worker-ready': NfpWorkerReadyNotice;
  'worker-lost': NfpWorkerLostNotice;
  /** A management command was obeyed; after `shutdown` the broker drains by itself. */
  management: NfpManagementNotice;
  /** Something worth a log line; the same about the same peer at most once a minute. */
  note: NfpBrokerNote;
  /** The socket failed for good: nothing more is received. Close this broker and start another. */
  broken: Error;
}

/**
 * Takes jobs from NORFAB clients to the workers they are for, and answers back. Jobs live at workers and clients; the broker
 * keeps nothing that must survive it.
 *
 * ```ts
 * await using broker = new NfpBroker({ endpoint: 'tcp://127.0.0.1:5555' });
 * await broker.start();
 * ```
 */
export class NfpBroker {
  readonly #engine: NfpBrokerEngine;
  readonly #host: EngineHost<NfpBrokerEvent, NfpBrokerEffect>;
  readonly #events = new Emitter<NfpBrokerEvents>();
  #starting: Promise<string[]> | undefined;

  /** Validates the options and does nothing else. Throws `OPTIONS_INVALID`. */
  constructor(options: NfpBrokerOptions = {}) {
    const settings = parseOptions('NfpBroker', nfpBrokerOptions, options);
    this.#engine = new NfpBrokerEngine(settings, aboutOf(settings));
    this.#host = new EngineHost<NfpBrokerEvent, NfpBrokerEffect>(
      {
        name: 'NfpBroker',
        engine: this.#engine,
        sockets: [socketPlan(settings)],
        drain: { kind: 'drain' },
        perform: this.#perform,
        onBroken: (error) => {
          this.#events.emit('broken', error);
        },
      },
      () => transportOr(settings.transport),
    );
  }

  /**
   * Binds and serves. Resolves to the bound endpoints, wildcard ports filled in. Rejects with `ADDRESS_IN_USE`,
   * `OPTIONS_INVALID` (an endpoint nobody can bind) or `UNAVAILABLE` (no ZeroMQ on this machine), and nothing is left bound.
   */
  start(): Promise<string[]> {
    return (this.#starting ??= this.#host.start().then((bound) => bound.flat()));
  }

  /** Comes to an end in order: 400 to the clients of jobs that wait, DISCONNECT to every worker, then `close`. Idempotent. */
  drain(): Promise<void> {
    return this.#host.drain();
  }

  /** Stops at once: workers and clients find out by themselves. Idempotent. */
  close(): Promise<void> {
    return this.#host.close();
  }

  /** As {@link NfpBroker.close}. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Adds a listener and returns the function that removes it again. */
  on<Name extends keyof NfpBrokerEvents>(event: Name, listener: (payload: NfpBrokerEvents[Name]) => void): () => void {
    return this.#events.on(event, listener);
  }

  /** Sizes now and totals so far; the cost is linear in the number of services. */
  stats(): NfpBrokerStats {
    return this.#engine.stats();
  }

  readonly #perform = (effect: NfpBrokerEffect): void => {
    switch (effect.kind) {
      case 'send':
        this.#host.send(0, effect.peer, encodeNfp(effect.command));
        break;
      case 'drained':
        this.#host.drained();
        break;
      case 'note':
        this.#events.emit('note', effect);
        break;
      case 'worker-ready':
        this.#events.emit('worker-ready', effect);
        break;
      case 'worker-lost':
        this.#events.emit('worker-lost', effect);
        break;
      case 'management':
        this.#events.emit('management', effect);
        if (effect.task === 'shutdown') void this.drain();
        break;
    }
  };
}

function aboutOf({ endpoint }: NfpBrokerSettings): NfpBrokerAbout {
  const { node } = process.versions;
  return {
    versions: { node, platform: `${process.platform} ${process.arch}` },
    endpoint: typeof endpoint === 'string' ? endpoint : endpoint.join(', '),
  };
}

function socketPlan(settings: NfpBrokerSettings): SocketPlan<NfpBrokerEvent> {
  const { endpoint } = settings;
  return {
    kind: 'router',
    bind: typeof endpoint === 'string' ? [endpoint] : endpoint,
    port: portOptions(settings),
    onMessage: (peer, frames) => ({ kind: 'message', peer, command: decodeNfpAtBroker(frames) }),
    onPeerGone: (peer) => ({ kind: 'peer-gone', peer }),
    onUndeliverable: (peer, frames, reason) => {
      const command = decodeOwn(frames);
      return command === undefined ? undefined : { kind: 'undeliverable', peer, command, reason };
    },
    onRejected: (peer, reason) => ({ kind: 'rejected', peer, reason }),
  };
}

function portOptions({ maxMessageFrames, maxMessageBytes, lingerMs, jobsMax }: NfpBrokerSettings): PortOptions {
  // Nothing limits the calls for one worker but its reading them, so all jobs may be on their way to it. Bytes are bounded by the defaults.
  return { maxMessageFrames, maxMessageBytes, lingerMs, peerQueueMax: jobsMax, queueMax: jobsMax, ...CONNECTIONS };
}

/** What of ours did not go out. Decoding it again costs nothing while all is well, unlike remembering every message. */
function decodeOwn(frames: readonly Uint8Array[]): NfpFromBroker | undefined {
  const toWorker = decodeNfpAtWorker(frames);
  // An MMI to a client reads as a call in the shape of the tables, which this broker never writes.
  if (toWorker.kind !== 'malformed' && toWorker.kind !== 'worker-table-call') return toWorker;
  const toClient = decodeNfpAtClient(frames);
  return toClient.kind === 'malformed' ? undefined : toClient;
}
