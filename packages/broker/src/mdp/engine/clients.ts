/** Majordomo broker: what it knows of a client. Books only, no protocol decisions. */
import { ClientRecord } from '../../shared/clients.js';
import type { ClientQueue } from '../../shared/fair-queue.js';
import { RemovableQueue } from '../../shared/removable-queue.js';
import type { Run } from './own-services.js';
import type { Request } from './requests.js';

/** A client with open requests. Which of them run is known to the workers. */
export class ClientEntry extends ClientRecord {
  /** Its open requests, those that run included. */
  open = 0;
  /** Those that wait, in the queues of all services. */
  readonly waiting = new RemovableQueue<ClientQueue<Request>>();
  /** Those that handlers inside the broker work at; `undefined` as long as there was none. */
  runs: Set<Run> | undefined;
}
