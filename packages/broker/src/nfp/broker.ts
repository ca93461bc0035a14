/** NFP broker, the facade: the protocol of NORFAB on one ROUTER. Rules: engine.ts and docs/protocols/nfp.md. */
import { basename } from 'node:path';
import process from 'node:process';
import type { Files } from '@proj/files';
import {
  decodeNfpAtBroker,
  decodeNfpAtClient,
  decodeNfpAtWorker,
  encodeNfp,
  encodeNfpPublishedEvent,
  NfpLogBook,
  nfpNameOf,
} from '@proj/frames/nfp';
import type { NfpFromBroker, NfpLogLevel } from '@proj/frames/nfp';
import { Emitter, parseOptions } from '@proj/transport';
import type {
  AccessRules,
  EngineHost,
  HandshakeRefusal,
  Peer,
  PortOptions,
  PublisherPlan,
  RefusalCounts,
  SocketPlan,
} from '@proj/transport';
import { serverCurve } from '@proj/transport/curve';
import { compileAccess, hostOf } from '../host.js';
import { CONNECTIONS } from '../shared/connections.js';
import type {
  NfpBrokerEffect,
  NfpBrokerEvent,
  NfpBrokerNote,
  NfpFileRequest,
  NfpManagementNotice,
  NfpWorkerLostNotice,
  NfpWorkerReadyNotice,
} from './engine/events.js';
import { NfpBrokerEngine } from './engine/engine.js';
import { answerFileRequest } from './file-service.js';
import type { NfpInventory } from './engine/inventory.js';
import type { NfpBrokerAbout, NfpMechanism } from './engine/mmi.js';
import { nfpBrokerOptions } from './options.js';
import type { NfpBrokerOptions, NfpBrokerSettings } from './options.js';
import type { NfpBrokerStats } from './engine/stats.js';
import { Traffic } from './engine/traffic.js';

/** Before the keys of peers at the endpoint for management. Keys are latin1, so none begins with it: routing ids of two sockets may be equal. */
const MANAGER = '\u0100';

/** What happens to a broker that is worth a line. */
type Notice = NfpBrokerNote | NfpWorkerReadyNotice | NfpWorkerLostNotice | NfpManagementNotice;

/** Events of an {@link NfpBroker}. */
export interface NfpBrokerEvents {
  'worker-ready': NfpWorkerReadyNotice;
  'worker-lost': NfpWorkerLostNotice;
  /** A management command was obeyed; after `shutdown` the broker drains by itself. */
  management: NfpManagementNotice;
  /** Something worth a log line; the same about the same peer at most once a minute. */
  note: NfpBrokerNote;
  /** A peer was not let in, or did not get through the handshake; the same key or address at most once a minute. */
  refused: HandshakeRefusal;
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
  readonly #settings: NfpBrokerSettings;
  readonly #folder: string | undefined;
  readonly #traffic = new Traffic();
  readonly #logs = new NfpLogBook({ role: 'broker', name: 'NFPBroker', logger: 'proj.broker.nfp' });
  #files: Files | undefined;
  #managementEndpoints: readonly string[] = [];
  #publishEndpoints: readonly string[] = [];
  #starting: Promise<string[]> | undefined;

  /** Validates the options and does nothing else. Throws `OPTIONS_INVALID`. */
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
      sockets: socketPlans(settings).map((plan) => counted(plan, this.#traffic)),
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

  /**
   * Binds and serves. Resolves to the bound endpoints for clients and workers, wildcard ports filled in. Rejects with
   * `ADDRESS_IN_USE`, `OPTIONS_INVALID` (an endpoint nobody can bind, `files` that is no folder) or `UNAVAILABLE` (no ZeroMQ on
   * this machine), and nothing is left bound.
   */
  start(): Promise<string[]> {
    return (this.#starting ??= this.#start());
  }

  /** Bound endpoints for management, once `start` has resolved; none without `managementEndpoint`. */
  get managementEndpoints(): readonly string[] {
    return this.#managementEndpoints;
  }

  /** Bound endpoints for subscribers, once `start` has resolved; none without `publish`. */
  get publishEndpoints(): readonly string[] {
    return this.#publishEndpoints;
  }

  /** Another inventory counts from the next question on; before `start` has resolved this does nothing. */
  setInventory(inventory: NfpInventory): void {
    this.#host.dispatch({ kind: 'inventory', inventory });
  }

  /** Comes to an end in order: 400 to the clients of jobs that wait, DISCONNECT to every worker, then `close`. Idempotent. */
  drain(): Promise<void> {
    return this.#host.drain();
  }

  /** Stops at once: workers and clients find out by themselves. Idempotent. */
  close(): Promise<void> {
    this.#files?.close();
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

  /**
   * Puts other rules in force at once, also for those who are registered: rule 23. Throws `OPTIONS_INVALID`, and the old ones
   * stay, for what are no rules and for rules about keys on a transport that does not tell keys.
   */
  setAccess(rules: AccessRules): void {
    this.#host.setAccess(compileAccess('NfpBroker', rules));
  }

  /** Sizes now and totals so far; the cost is linear in the number of services. */
  stats(): NfpBrokerStats & RefusalCounts {
    return { ...this.#engine.stats(), ...this.#host.refusals };
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

  #send(peer: Peer, frames: Uint8Array[]): void {
    this.#traffic.sent(frames);
    if (!peer.key.startsWith(MANAGER)) this.#host.send(0, peer, frames);
    else this.#host.send(1, { ...peer, key: peer.key.slice(MANAGER.length) }, frames);
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
        this.#send(effect.peer, encodeNfp(effect.command));
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

/** The endpoint for all, and the one for management: each has keys of its own, should there be any. */
function socketPlans(settings: NfpBrokerSettings): SocketPlan<NfpBrokerEvent>[] {
  const { endpoint, managementEndpoint, managementCurve } = settings;
  const plans = [socketPlan(settings, endpoint)];
  if (managementEndpoint !== undefined) {
    const plan = managementPlan(socketPlan(settings, managementEndpoint));
    plans.push({ ...plan, port: { ...plan.port, ...serverCurve(managementCurve) } });
  }
  return plans;
}

/** The same; what comes is counted before it is looked at. */
function counted(plan: SocketPlan<NfpBrokerEvent>, traffic: Traffic): SocketPlan<NfpBrokerEvent> {
  return {
    ...plan,
    onMessage: (peer, frames) => {
      traffic.received(frames);
      return plan.onMessage(peer, frames);
    },
  };
}

function publisherPlans({ publish, subscriberQueueMax, lingerMs }: NfpBrokerSettings): PublisherPlan<NfpBrokerEvent>[] {
  if (publish === undefined) return [];
  return [{ bind: [publish].flat(), port: { highWaterMark: subscriberQueueMax, lingerMs }, hears: 'request' }];
}

function socketPlan(settings: NfpBrokerSettings, endpoint: string | readonly string[]): SocketPlan<NfpBrokerEvent> {
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

/** The same, with peers that are nobody else's. */
function managementPlan(plan: SocketPlan<NfpBrokerEvent>): SocketPlan<NfpBrokerEvent> {
  return {
    ...plan,
    onMessage: (peer, frames) => ({
      kind: 'message',
      peer: manager(peer),
      command: decodeNfpAtBroker(frames),
      at: 'management',
    }),
    onPeerGone: () => undefined,
    onUndeliverable: (peer, frames, reason) => plan.onUndeliverable?.(manager(peer), frames, reason),
    onRejected: (peer, reason) => plan.onRejected?.(manager(peer), reason),
  };
}

function manager(peer: Peer): Peer {
  return { ...peer, key: MANAGER + peer.key };
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
