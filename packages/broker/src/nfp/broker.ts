/** NFP broker, the facade: the protocol of NORFAB on one ROUTER. Rules: engine.ts and docs/protocols/nfp.md. */
import { basename } from 'node:path';
import process from 'node:process';
import type { Files } from '@proj/files';
import { totalBytes } from '@proj/frames';
import { encodeNfp, encodeNfpPublishedEvent, NfpLogBook, nfpNameOf } from '@proj/frames/nfp';
import type { NfpFromBroker, NfpLogLevel } from '@proj/frames/nfp';
import { Emitter, parseOptions } from '@proj/transport';
import type { AccessRules, EngineHost, Guarded, Peer, RefusalCounts, Startable } from '@proj/transport';
import type { ServerSnapshot } from '@proj/transport/engine';
import { type BrokerEvents, compileAccess, hostOf } from '../host.js';
import type {
  NfpBrokerEffect,
  NfpBrokerEvent,
  NfpBrokerNote,
  NfpFileRequest,
  NfpManagementNotice,
  NfpWorkerChoice,
  NfpWorkerLostNotice,
  NfpWorkerReadyNotice,
} from './engine/events.js';
import { NfpBrokerEngine } from './engine/engine.js';
import { answerFileRequest } from './file-service.js';
import type { NfpInventory } from './engine/management/inventory.js';
import { type NfpBrokerAbout, type NfpMechanism, Traffic } from './engine/management/mmi.js';
import { nfpBrokerOptions } from './options.js';
import type { NfpBrokerOptions, NfpBrokerSettings } from './options.js';
import { isManager, publisherPlans, socketPlans, withoutMark } from './socket-plans.js';
import type { NfpBrokerStats } from './engine/state.js';

/** The last call up to this size stays in memory. */
const ENCODED_BYTES = 4096;

/** Events that `get_logs` includes. */
type Notice = NfpBrokerNote | NfpWorkerReadyNotice | NfpWorkerLostNotice | NfpManagementNotice;

/** Events of an {@link NfpBroker}. */
export interface NfpBrokerEvents extends BrokerEvents<NfpWorkerReadyNotice, NfpWorkerLostNotice, NfpBrokerNote> {
  /** A management command was executed; after `shutdown` the broker drains by itself. */
  management: NfpManagementNotice;
}

/**
 * Carries jobs from NORFAB clients to workers, and answers back. Jobs live at workers and clients: the broker keeps nothing that must survive
 * it.
 *
 * ```ts
 * await using broker = new NfpBroker({ endpoint: 'tcp://127.0.0.1:5555' });
 * await broker.start();
 * ```
 */
export class NfpBroker implements Startable<NfpBrokerEvents, string[]>, Guarded {
  readonly #engine: NfpBrokerEngine;
  readonly #host: EngineHost<NfpBrokerEvent, NfpBrokerEffect>;
  readonly #events = new Emitter<NfpBrokerEvents>();
  readonly #settings: NfpBrokerSettings;
  readonly #folder: string | undefined;
  readonly #traffic = new Traffic();
  readonly #logs = new NfpLogBook({ role: 'broker', name: 'NFPBroker', logger: 'proj.broker.nfp' });
  #files: Files | undefined;
  #encoded: { readonly command: NfpFromBroker; readonly frames: Uint8Array[] } | undefined;
  #managementEndpoints: readonly string[] = [];
  #publishEndpoints: readonly string[] = [];
  #starting: Promise<string[]> | undefined;

  /** Validates the options. Throws `OPTIONS_INVALID`. */
  constructor(options: NfpBrokerOptions = {}) {
    const settings = parseOptions('NfpBroker', nfpBrokerOptions, options);
    this.#engine = new NfpBrokerEngine(settings, {
      ...aboutOf(settings),
      traffic: this.#traffic,
      logs: this.#logs,
      memory: () => this.#host.transport?.memory?.stats(),
    });
    this.#host = hostOf<NfpBrokerEvent, NfpBrokerEffect>(settings, this.#events, {
      name: 'NfpBroker',
      engine: this.#engine,
      sockets: socketPlans(settings, this.#traffic),
      publishers: publisherPlans(settings),
      started: { kind: 'started' },
      onMemory: (isTight) => ({ kind: 'memory', isTight }),
      perform: this.#perform,
    });
    this.#settings = settings;
    this.#folder = settings.files;
    this.#events.on('refused', ({ reason, cause, address }) =>
      this.#log('WARNING', 'refused', { reason, cause, address }),
    );
    this.#events.on('broken', ({ message }) => this.#log('ERROR', 'broken', { error: message }));
  }

  /** Resolves to the endpoints for clients and workers. Also rejects with `OPTIONS_INVALID` if `files` is not a folder. */
  start(): Promise<string[]> {
    return (this.#starting ??= this.#start());
  }

  /** Bound management endpoints, once `start` has resolved; empty without `managementEndpoint`. */
  get managementEndpoints(): readonly string[] {
    return this.#managementEndpoints;
  }

  /** Bound endpoints for subscribers, once `start` has resolved; empty without `publish`. */
  get publishEndpoints(): readonly string[] {
    return this.#publishEndpoints;
  }

  /** Replaces the inventory. No effect before `start` has resolved. */
  setInventory(inventory: NfpInventory): void {
    this.#host.dispatch({ kind: 'inventory', inventory });
  }

  /**
   * Sends DISCONNECT to a worker at once. It keeps its jobs, and usually returns with them. `id` is its routing id as text or in hex. Returns
   * how many there were: 1 or 0.
   */
  disconnectWorker(id: string): number {
    return this.#dismiss({ worker: id }, false);
  }

  /** As {@link NfpBroker.disconnectWorker}, once its jobs have ended. Until then it gets only jobs that name it. */
  drainWorker(id: string): number {
    return this.#dismiss({ worker: id }, true);
  }

  /** As {@link NfpBroker.drainWorker}, for all workers of a service. They may register again. */
  drainService(name: string): number {
    return this.#dismiss({ service: name }, true);
  }

  /** Clients of waiting jobs get 400, workers DISCONNECT; it waits for nothing else. */
  drain(): Promise<void> {
    return this.#host.drain();
  }

  close(): Promise<void> {
    this.#files?.close();
    return this.#host.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  on<Name extends keyof NfpBrokerEvents>(event: Name, listener: (payload: NfpBrokerEvents[Name]) => void): () => void {
    return this.#events.on(event, listener);
  }

  setAccess(rules: AccessRules): void {
    this.#host.setAccess(compileAccess('NfpBroker', rules));
  }

  /** Current sizes and totals so far; the cost is linear in the number of services. */
  stats(): NfpBrokerStats & RefusalCounts;
  /** The same plus the operator's view: figures of each service, worker and client, at a cost linear in these and in waiting jobs. */
  stats(options: { readonly detail: true }): NfpBrokerStats & RefusalCounts & { readonly detail: ServerSnapshot };
  stats(options?: { readonly detail: true }): NfpBrokerStats & RefusalCounts & { readonly detail?: ServerSnapshot } {
    return this.#host.stats(this.#engine, options);
  }

  async #start(): Promise<string[]> {
    if (this.#folder !== undefined) await this.#open(this.#folder);
    const [endpoints = [], ...others] = await this.#host.start();
    if (this.#settings.managementEndpoint !== undefined) this.#managementEndpoints = others.shift() ?? [];
    this.#publishEndpoints = others.shift() ?? [];
    return endpoints;
  }

  async #open(folder: string): Promise<void> {
    const { Files } = await import('@proj/files');
    this.#files = new Files({ folder });
    await this.#files.check();
  }

  #dismiss(choice: NfpWorkerChoice, isGraceful: boolean): number {
    const { length } = this.#engine.chosen(choice);
    if (length > 0) this.#host.dispatch({ kind: 'dismiss', ...choice, isGraceful });
    return length;
  }

  /** A short call for many workers is encoded once. */
  #framesOf(command: NfpFromBroker): Uint8Array[] {
    if (command === this.#encoded?.command) return this.#encoded.frames;
    const frames = encodeNfp(command);
    if (command.kind === 'worker-call' && totalBytes(frames) <= ENCODED_BYTES) this.#encoded = { command, frames };
    return frames;
  }

  #send(peer: Peer, frames: Uint8Array[]): void {
    this.#traffic.sent(frames);
    if (isManager(peer)) this.#host.send(1, withoutMark(peer), frames);
    else this.#host.send(0, peer, frames);
  }

  async #read(id: number, request: NfpFileRequest): Promise<void> {
    if (this.#files === undefined) return;
    this.#host.dispatch({ kind: 'file-answer', id, outcome: await answerFileRequest(this.#files, request) });
  }

  /** For `get_logs`. */
  #logNotice(notice: Notice): void {
    const { kind, ...rest } = notice;
    const { peer, ...fields } = { peer: undefined, ...rest };
    const message = notice.kind === 'note' ? notice.code : kind;
    const isUsual = kind === 'worker-ready' || kind === 'management';
    this.#log(isUsual ? 'INFO' : 'WARNING', message, { ...fields, ...(peer && { peer: nfpNameOf(peer.id) }) });
  }

  #log(level: NfpLogLevel, message: string, fields: object): void {
    const { transport } = this.#host;
    if (transport !== undefined)
      this.#logs.add(Math.floor(transport.entropy.wallMicros() / 1000), level, message, fields);
  }

  readonly #perform = (effect: NfpBrokerEffect): void => {
    switch (effect.kind) {
      case 'send':
        this.#send(effect.peer, this.#framesOf(effect.command));
        break;
      case 'release':
        this.#host.release(0, effect.body);
        break;
      case 'publish':
        this.#host.publish(0, encodeNfpPublishedEvent(effect.event), effect.event.service);
        break;
      case 'file-request':
        void this.#read(effect.id, effect.request);
        break;
      case 'drained':
        this.#files?.close();
        this.#host.drained();
        break;
      case 'note':
      case 'worker-ready':
      case 'worker-lost':
        this.#logNotice(effect);
        this.#events.emit(effect.kind, effect);
        break;
      case 'management':
        this.#logNotice(effect);
        this.#events.emit('management', effect);
        if (effect.task === 'shutdown') void this.drain();
        break;
    }
  };
}

function aboutOf(settings: NfpBrokerSettings): NfpBrokerAbout {
  const { endpoint, files, curve, managementEndpoint, managementCurve = curve, transport } = settings;
  const { node } = process.versions;
  return {
    versions: { node, platform: `${process.platform} ${process.arch}` },
    endpoint: typeof endpoint === 'string' ? endpoint : endpoint.join(', '),
    ...(files === undefined ? {} : { folder: basename(files) }),
    mechanism: mechanismOf(curve, transport),
    ...(managementEndpoint === undefined ? {} : { managementMechanism: mechanismOf(managementCurve, transport) }),
  };
}

function mechanismOf(curve: unknown, transport: NfpBrokerSettings['transport']): NfpMechanism {
  return curve !== undefined || transport?.encrypts === true ? 'CURVE' : 'NULL';
}
