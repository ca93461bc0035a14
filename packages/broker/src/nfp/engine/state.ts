/** NFP broker: everything it remembers between two steps. */
import { Errands } from '../../shared/errands.js';
import { Rates } from '../../shared/rates.js';
import type { NfpBrokerSettings } from '../options.js';
import { KnownClients } from './peers/clients.js';
import { Figures } from './figures.js';
import { Holders } from './jobs/holders.js';
import type { NfpInventory } from './management/inventory.js';
import { JobTable } from './jobs/job-table.js';
import type { Terms } from './records.js';
import { Services } from './peers/services.js';
import { Workers } from './peers/workers.js';

/** The tables that all policies share. */
export interface BrokerState {
  readonly workers: Workers;
  readonly services: Services;
  /** How often each peer registers. */
  readonly registrations: Rates;
  readonly clients: KnownClients;
  readonly jobs: JobTable;
  /** Names of workers, connected or not. */
  readonly holders: Holders;
  /** Unfinished work on the jobs of one worker, or on the queue of one service. */
  readonly errands: Errands;
  /** What OPEN has agreed with peers that have not said READY yet, by routing id. */
  readonly terms: Map<string, Terms>;
  inventory: NfpInventory | undefined;
  readonly figures: Figures;
}

/** Bound on `terms`; the oldest go first. */
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
