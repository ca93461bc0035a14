/** Majordomo broker: everything it remembers, in one place. Who may change it: `engine.ts` and `jobs.ts`. */
import { Budget } from '../../shared/budget.js';
import { ClientTable } from '../../shared/clients.js';
import { Listings } from '../../shared/listings.js';
import { WorkerTable } from '../../shared/worker-table.js';
import { Slack } from '../../shared/slack.js';
import { ClientEntry } from './clients.js';
import type { MdpBrokerSettings } from '../options.js';
import { OwnServices } from './own-services.js';
import { RequestExpiry } from './request-expiry.js';
import { Services } from './services.js';
import type { Worker } from './workers.js';

/** The broker's state between two steps. */
export interface BrokerState {
  readonly workers: WorkerTable<Worker>;
  readonly services: Services;
  readonly clients: ClientTable<ClientEntry>;
  /** Rule 18: bytes of all open requests. */
  readonly bytes: Budget;
  /** And what those that wait hold beyond themselves. */
  readonly slack: Slack;
  readonly ttl: RequestExpiry;
  /** Rule 26: answers of MMI that are kept for a moment. */
  readonly listings: Listings<Uint8Array[]>;
  readonly own: OwnServices;
  /** Rule 18: the process has no room for what would have to wait. */
  isTight: boolean;
}

/** Empty books. */
export function newBrokerState(settings: MdpBrokerSettings): BrokerState {
  const bytes = new Budget(settings.requestQueueMaxBytes);
  return {
    workers: new WorkerTable(settings),
    services: new Services(settings),
    clients: new ClientTable(ClientEntry),
    bytes,
    slack: new Slack(bytes),
    ttl: new RequestExpiry(settings),
    listings: new Listings(),
    own: new OwnServices(),
    isTight: false,
  };
}
