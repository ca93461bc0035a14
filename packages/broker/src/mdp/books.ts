/** Majordomo broker: everything it remembers, in one place. Who may change it: `engine.ts` and `jobs.ts`. */
import { Budget } from '../parts/budget.js';
import { Clients } from '../parts/clients.js';
import { Listings } from '../parts/listings.js';
import { Roster } from '../parts/roster.js';
import { Slack } from '../parts/slack.js';
import { Asker } from './clients.js';
import type { MdpBrokerSettings } from './options.js';
import { OwnServices } from './own-services.js';
import { RequestTtl } from './request-ttl.js';
import { Services } from './services.js';
import type { Worker } from './workers.js';

/** The broker's state between two steps. */
export interface Books {
  readonly workers: Roster<Worker>;
  readonly services: Services;
  readonly clients: Clients<Asker>;
  /** Rule 18: bytes of all open requests. */
  readonly bytes: Budget;
  /** And what those that wait hold beyond themselves. */
  readonly slack: Slack;
  readonly ttl: RequestTtl;
  /** Rule 26: answers of MMI that are kept for a moment. */
  readonly listings: Listings<Uint8Array[]>;
  readonly own: OwnServices;
  /** Rule 18: the process has no room for what would have to wait. */
  isTight: boolean;
}

/** Empty books. */
export function newBooks(settings: MdpBrokerSettings): Books {
  const bytes = new Budget(settings.requestQueueMaxBytes);
  return {
    workers: new Roster(settings),
    services: new Services(settings),
    clients: new Clients(Asker),
    bytes,
    slack: new Slack(bytes),
    ttl: new RequestTtl(settings),
    listings: new Listings(),
    own: new OwnServices(),
    isTight: false,
  };
}
