/** NFP broker: everything it remembers, in one place. Who may change it: the engine and its policies. */
import { Errands } from '../../shared/errands.js';
import { KnownClients } from './clients.js';
import { Holders } from './holders.js';
import type { NfpInventory } from './inventory.js';
import { JobTable } from './job-table.js';
import type { NfpBrokerSettings } from '../options.js';
import { Services } from './services.js';
import { type Terms, Workers } from './workers.js';

/** The broker's state between two steps. */
export interface BrokerState {
  readonly workers: Workers;
  readonly services: Services;
  readonly clients: KnownClients;
  readonly jobs: JobTable;
  /** Names of workers, there or not. */
  readonly holders: Holders;
  /** Work about the jobs of one worker, or what waits for one service, that is not done yet. */
  readonly errands: Errands;
  /** What peers have agreed by OPEN that have not said READY yet, by routing id. */
  readonly terms: Map<string, Terms>;
  /** What workers are told about themselves. */
  inventory: NfpInventory | undefined;
}

/** Peers whose OPEN is remembered before their READY; the earliest leave first. */
export const TERMS_MAX = 10_000;

/** Empty books. */
export function newBrokerState(settings: NfpBrokerSettings): BrokerState {
  const holders = new Holders(settings);
  return {
    workers: new Workers(),
    services: new Services(settings),
    clients: new KnownClients(settings),
    jobs: new JobTable(settings, holders),
    holders,
    errands: new Errands(),
    terms: new Map(),
    inventory: settings.inventory,
  };
}
