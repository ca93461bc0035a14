/** Majordomo broker: what it knows of a client. Books only, no protocol decisions. */
import { Client } from '../parts/clients.js';
import type { Lane } from '../parts/fair-queue.js';
import { Line } from '../parts/line.js';
import type { Run } from './own-services.js';
import type { Request } from './requests.js';

/** A client with open requests. Which of them run is known to the workers. */
export class Asker extends Client {
  /** Its open requests, those that run included. */
  open = 0;
  /** Those that wait, in the queues of all services. */
  readonly waiting = new Line<Lane<Request>>();
  /** Those that handlers inside the broker work at; `undefined` as long as there was none. */
  runs: Set<Run> | undefined;
}
