/** NFP broker: its state between two steps, and the snapshot that users see. */
import { Errands } from '../../shared/errands.js';
import { Rates } from '../../shared/rates.js';
import type { NfpBrokerSettings } from '../options.js';
import { copyCounters, type NfpBrokerCounters } from './counters.js';
import { KnownClients } from './peers/clients.js';
import { Figures } from './figures.js';
import { Holders } from './jobs/worker-names.js';
import type { NfpInventory } from './management/inventory.js';
import { JobTable } from './jobs/job-table.js';
import type { Terms } from './records.js';
import { Services } from './peers/services.js';
import { Workers } from './peers/workers.js';

/** The tables that all policies share. */
export interface BrokerState {
  readonly workers: Workers;
  readonly services: Services;
  /** How often each peer may register. */
  readonly registrations: Rates;
  readonly clients: KnownClients;
  readonly jobs: JobTable;
  /** Names of workers, connected or not. */
  readonly holders: Holders;
  /** Unfinished work on the jobs of one worker, or on the queue of one service. */
  readonly errands: Errands;
  /** Terms from OPEN with peers that have not sent READY yet, by routing id. */
  readonly terms: Map<string, Terms>;
  inventory: NfpInventory | undefined;
  readonly figures: Figures;
}

/** Limit of `terms`; the oldest are dropped first. */
export const TERMS_MAX = 10_000;

/** The state of a new broker. */
export function newBrokerState(settings: NfpBrokerSettings): BrokerState {
  const holders = new Holders(settings);
  const figures = new Figures();
  return {
    workers: new Workers(),
    services: new Services(settings, figures),
    registrations: new Rates(settings.registrationsPerSecondMax),
    clients: new KnownClients(settings),
    jobs: new JobTable(settings, holders, figures),
    holders,
    errands: new Errands(),
    terms: new Map(),
    inventory: settings.inventory,
    figures,
  };
}

/** One service now. */
export interface NfpServiceStats {
  readonly name: string;
  readonly workers: number;
  /** POSTs that wait for it. */
  readonly waiting: number;
}

/** A snapshot. Plain data; nothing in it changes afterwards. */
export interface NfpBrokerStats {
  readonly counters: Readonly<NfpBrokerCounters>;
  readonly services: readonly NfpServiceStats[];
  readonly workers: number;
  /** Clients remembered. */
  readonly clients: number;
  /** Jobs remembered, done or not. */
  readonly jobs: number;
  /** POSTs that wait for a service or a worker. */
  readonly waiting: number;
  /** Kept bodies, as `requestQueueMaxBytes` counts them. */
  readonly keptBytes: number;
}

/** Takes the snapshot. */
export function statsOf(
  { workers, services, clients, jobs }: BrokerState,
  counters: NfpBrokerCounters,
): NfpBrokerStats {
  return {
    counters: copyCounters(counters),
    services: Array.from(services.values(), ({ name, workers: members, queue }) => ({
      name,
      workers: members.size,
      waiting: queue.size,
    })),
    workers: workers.size,
    clients: clients.size,
    jobs: jobs.size,
    waiting: jobs.waiting,
    keptBytes: jobs.bodies.bytes,
  };
}
