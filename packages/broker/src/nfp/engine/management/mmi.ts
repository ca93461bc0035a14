/** NFP "Broker Management Interface": the answers of `mmi.service.broker` (rule 17). Read-only. */
import { totalBytes } from '@proj/frames';
import type { NfpLogBook, NfpLogFilter, NfpTask } from '@proj/frames/nfp';
import type { MemoryStats } from '@proj/transport';
import { list } from '../../../shared/listings.js';
import type { BrokerState } from '../state.js';
import type { KnownClient } from '../peers/clients.js';
import { outlineOf } from './inventory.js';
import { EVERY_SERVICE } from './reserved-names.js';
import type { NfpBrokerSettings } from '../../options.js';
import type { Service, Worker } from '../records.js';

/** Security mechanism of a ZMTP connection. */
export type NfpMechanism = 'NULL' | 'CURVE';

/** What the broker's ROUTERs have received and sent: running totals; bytes of all frames except the routing id. */
export interface NfpTraffic {
  readonly messagesIn: number;
  readonly bytesIn: number;
  readonly messagesOut: number;
  readonly bytesOut: number;
}

/** Counts messages as they pass. */
export class Traffic implements NfpTraffic {
  messagesIn = 0;
  bytesIn = 0;
  messagesOut = 0;
  bytesOut = 0;

  received(frames: readonly Uint8Array[]): void {
    this.messagesIn++;
    this.bytesIn += totalBytes(frames);
  }

  sent(frames: readonly Uint8Array[]): void {
    this.messagesOut++;
    this.bytesOut += totalBytes(frames);
  }
}

/** What the engine cannot know but is asked about the broker. */
export interface NfpBrokerAbout {
  /** Versions of what it runs on, by name: `show_broker_version`. */
  readonly versions: Readonly<Record<string, string>>;
  readonly endpoint: string;
  /** Name of the served folder, without its path. Default: none. */
  readonly folder?: string;
  /** Security of the main endpoint. Default: NULL. */
  readonly mechanism?: NfpMechanism;
  /** Security of the management endpoint. Default: there is none. */
  readonly managementMechanism?: NfpMechanism;
  /** Read for each question. Default: omitted. */
  readonly traffic?: NfpTraffic;
  /** What the process holds for peers. If absent, or if it returns `undefined`: omitted. */
  readonly memory?: () => MemoryStats | undefined;
  /** Recent notes. Default: none. */
  readonly logs?: NfpLogBook;
}

/** Default number of records of `get_logs`, as in NORFAB. */
const LOGS_LAST = 100;

/** Longest word that `get_logs` searches for, in characters: no level, logger or time is longer. */
const LOG_WORD_MAX = 100;

/** Tasks that act on the broker. */
export const MANAGEMENT = ['restart', 'shutdown', 'disconnect'] as const;

/** How many items a task has to read. */
export function linesOf(
  { task }: NfpTask,
  { workers, clients, services }: BrokerState,
  { logs }: NfpBrokerAbout,
): number {
  switch (task) {
    case 'get_logs':
      return logs?.size ?? 0;
    case 'show_workers':
      return workers.size;
    case 'show_clients':
      return clients.size;
    case 'show_services':
      return services.size;
    default:
      return 0;
  }
}

/** The result of a task that shows something; for any other, a text, as real brokers answer. */
export function show(
  { task, kwargs }: NfpTask,
  state: BrokerState,
  settings: NfpBrokerSettings,
  about: NfpBrokerAbout,
  now: number,
): unknown {
  switch (task) {
    case 'show_broker':
      return showBroker(state, settings, about);
    case 'show_workers':
      return showWorkers(kwargs, state, now);
    case 'show_clients':
      return showClients(kwargs, state, now);
    case 'show_services':
      return showServices(kwargs, state);
    case 'show_broker_version':
      return { norfab: '', ...about.versions };
    case 'show_broker_inventory':
      return outlineOf(state.inventory ?? { broker: {}, topology: null, workers: [] });
    case 'get_logs':
      return about.logs?.list(logFilterOf(kwargs)) ?? [];
    default:
      return `Unsupported task '${task}'`;
  }
}

/** Equal for tasks with equal answers. */
export function questionOf({ task, kwargs }: NfpTask): string {
  const { service, status, skip } = kwargs;
  return JSON.stringify(task === 'get_logs' ? [task, logFilterOf(kwargs)] : [task, service, status, skip]);
}

/** A field of the wrong type counts as absent. */
function logFilterOf({ last, level, logger, since, until }: NfpTask['kwargs']): NfpLogFilter {
  const wordOf = (value: unknown) =>
    typeof value === 'string' && value !== '' ? value.slice(0, LOG_WORD_MAX) : undefined;
  return {
    last: Number.isSafeInteger(last) && (last as number) >= 0 ? (last as number) : LOGS_LAST,
    level: wordOf(level),
    logger: wordOf(logger),
    since: wordOf(since),
    until: wordOf(until),
  };
}

function showBroker(
  { workers, services }: BrokerState,
  settings: NfpBrokerSettings,
  { endpoint, folder, mechanism = 'NULL', managementMechanism, traffic, memory }: NfpBrokerAbout,
): unknown {
  const { keepaliveIntervalMs: interval, keepaliveMultiplier: multiplier } = settings;
  const held = memory?.();
  return {
    endpoint,
    status: 'active',
    keepalives: { interval, multiplier },
    'workers count': workers.size,
    'services count': services.size,
    directories: { 'base-dir': folder ?? null, 'private-keys-dir': null, 'public-keys-dir': null },
    security: {
      'broker-private-key-file': null,
      'broker-public-key-file': null,
      'zmq-auth': mechanism === 'CURVE',
      mechanism,
      ...(managementMechanism === undefined ? {} : { 'management-mechanism': managementMechanism }),
    },
    ...(traffic === undefined ? {} : { traffic: showTraffic(traffic) }),
    ...(held === undefined ? {} : { memory: showMemory(held) }),
  };
}

function showMemory({ maxBytes, heldBytes, level, relievedBytes }: MemoryStats): unknown {
  return { 'max bytes': maxBytes, 'held bytes': heldBytes, level, 'relieved bytes': relievedBytes };
}

function showTraffic({ messagesIn, bytesIn, messagesOut, bytesOut }: NfpTraffic): unknown {
  return { 'messages in': messagesIn, 'bytes in': bytesIn, 'messages out': messagesOut, 'bytes out': bytesOut };
}

function showWorkers({ service, status, skip }: NfpTask['kwargs'], { workers }: BrokerState, now: number): unknown {
  const isMeant = (worker: Worker) =>
    typeof service !== 'string' || service === EVERY_SERVICE || worker.service.name === service;
  const rowOf = (worker: Worker) => ({
    name: worker.name,
    service: worker.service.name,
    status: 'alive',
    holdtime: (Math.max(0, worker.lastSeen + worker.holdMs - now) / 1000).toFixed(1),
    'keepalives tx/rx': `${worker.keepalivesSent} / ${worker.keepalivesReceived}`,
    'alive (s)': seconds(now - worker.since),
  });
  // Dead workers are not kept.
  return rows(status === 'dead' ? [] : workers.values(), {
    rowOf,
    nothing: { service: '', status: '' },
    skip,
    isMeant,
  });
}

/** How a list is shown. */
interface Shown<Item> {
  readonly rowOf: (item: Item) => object;
  /** The columns of a row without a name. */
  readonly nothing: object;
  readonly skip: unknown;
  readonly isMeant?: (item: Item) => boolean;
}

/** One row per item; a nameless row if there is none, or to count in `more` what one answer has no room for. */
function rows<Item>(items: Iterable<Item>, { rowOf, nothing, skip, isMeant }: Shown<Item>): object[] {
  const { lines, more } = list(items, rowOf, isMeant, typeof skip === 'number' && skip > 0 ? skip : 0);
  if (more > 0) return [...lines, { name: '', ...nothing, more }];
  return lines.length > 0 ? lines : [{ name: '', ...nothing }];
}

function showClients({ skip }: NfpTask['kwargs'], { clients }: BrokerState, now: number): unknown {
  const rowOf = ({ name, since, lastSeen, sent, received, jobs }: KnownClient) => ({
    name,
    'alive (s)': seconds(now - since),
    'idle (s)': seconds(now - lastSeen),
    'messages tx/rx': `${sent} / ${received}`,
    jobs,
  });
  const nothing = { 'alive (s)': '', 'idle (s)': '', 'messages tx/rx': '', jobs: 0 };
  return rows(clients.values(), { rowOf, nothing, skip });
}

function showServices({ skip }: NfpTask['kwargs'], { services }: BrokerState): unknown {
  const rowOf = ({ name, workers, queue }: Service) => ({
    name,
    workers: workers.size,
    'workers alive': workers.size,
    queued: queue.size,
  });
  const nothing = { workers: 0, 'workers alive': 0, queued: 0 };
  return rows(services.values(), { rowOf, nothing, skip });
}

function seconds(ms: number): string {
  return Math.floor(ms / 1000).toString();
}
