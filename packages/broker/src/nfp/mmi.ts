/** NFP "Broker Management Interface": what `mmi.service.broker` tells (rule 17). Reads the books, changes nothing. */
import type { NfpTask } from '@proj/frames/nfp';
import type { Books } from './books.js';
import { outlineOf } from './inventory.js';
import { EVERY_SERVICE } from './names.js';
import type { NfpBrokerSettings } from './options.js';
import type { NfpTraffic } from './traffic.js';

/** Security mechanism of a ZMTP connection. */
export type NfpMechanism = 'NULL' | 'CURVE';

/** What the broker cannot know but is asked about itself. */
export interface NfpBrokerAbout {
  /** What it runs on, by name: `show_broker_version`. */
  readonly versions: Readonly<Record<string, string>>;
  /** Where it is to bind. */
  readonly endpoint: string;
  /** Name of the folder of files, without the path to it. Default: none is served. */
  readonly folder?: string;
  /** Security of the endpoint for all. Default: NULL. */
  readonly mechanism?: NfpMechanism;
  /** The same of the endpoint for management. Default: there is none. */
  readonly managementMechanism?: NfpMechanism;
  /** Read whenever somebody asks. Default: not told. */
  readonly traffic?: NfpTraffic;
}

/** Tasks that act on the broker; `engine.ts` performs them. */
export const MANAGEMENT = ['restart', 'shutdown', 'disconnect'] as const;

/** The result of a task that shows something; a text for any other, as real brokers have it. */
export function show(
  { task, kwargs }: NfpTask,
  books: Books,
  settings: NfpBrokerSettings,
  about: NfpBrokerAbout,
  now: number,
): unknown {
  switch (task) {
    case 'show_broker':
      return showBroker(books, settings, about);
    case 'show_workers':
      return showWorkers(kwargs, books, now);
    case 'show_clients':
      return showClients(books, now);
    case 'show_services':
      return showServices(books);
    case 'show_broker_version':
      return { norfab: '', ...about.versions };
    case 'show_broker_inventory':
      return outlineOf(books.inventory ?? { broker: {}, topology: null, workers: [] });
    default:
      return `Unsupported task '${task}'`;
  }
}

function showBroker(
  { workers, services }: Books,
  settings: NfpBrokerSettings,
  { endpoint, folder, mechanism = 'NULL', managementMechanism, traffic }: NfpBrokerAbout,
): unknown {
  const { keepaliveIntervalMs: interval, keepaliveMultiplier: multiplier } = settings;
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
  };
}

function showTraffic({ messagesIn, bytesIn, messagesOut, bytesOut }: NfpTraffic): unknown {
  return { 'messages in': messagesIn, 'bytes in': bytesIn, 'messages out': messagesOut, 'bytes out': bytesOut };
}

function showWorkers({ service, status }: NfpTask['kwargs'], { workers }: Books, now: number): unknown {
  const rows = [];
  for (const worker of workers.values()) {
    if (typeof service === 'string' && service !== EVERY_SERVICE && worker.service.name !== service) continue;
    // The dead are not kept.
    if (status === 'dead') continue;
    rows.push({
      name: worker.name,
      service: worker.service.name,
      status: 'alive',
      holdtime: (Math.max(0, worker.lastSeen + worker.holdMs - now) / 1000).toFixed(1),
      'keepalives tx/rx': `${worker.keepalivesSent} / ${worker.keepalivesReceived}`,
      'alive (s)': seconds(now - worker.since),
    });
  }
  return rows.length > 0 ? rows : [{ name: '', service: '', status: '' }];
}

function showClients({ clients }: Books, now: number): unknown {
  const rows = Array.from(clients.values(), ({ name, since, lastSeen, sent, received, jobs }) => ({
    name,
    'alive (s)': seconds(now - since),
    'idle (s)': seconds(now - lastSeen),
    'messages tx/rx': `${sent} / ${received}`,
    jobs,
  }));
  return rows.length > 0 ? rows : [{ name: '', 'alive (s)': '', 'idle (s)': '', 'messages tx/rx': '', jobs: 0 }];
}

function showServices({ services }: Books): unknown {
  const rows = Array.from(services.values(), ({ name, workers, queue }) => ({
    name,
    workers: workers.size,
    'workers alive': workers.size,
    queued: queue.size,
  }));
  return rows.length > 0 ? rows : [{ name: '', workers: 0, 'workers alive': 0, queued: 0 }];
}

function seconds(ms: number): string {
  return Math.floor(ms / 1000).toString();
}
