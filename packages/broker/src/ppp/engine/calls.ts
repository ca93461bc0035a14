/** Paranoid Pirate pool: requests of this process. Books only. */
import { encodePppCorrelation } from '@proj/frames/ppp';
import type { PppContent } from '@proj/frames/ppp';
import { HeapDeadline } from '@proj/heartbeat';
import { Request } from './requests.js';

/** A request of this process. Its correlation id stands where a client's address would. */
export class PoolCall extends Request {
  readonly id: number;
  /** When it has taken too long. */
  readonly patience = new HeapDeadline<PoolCall>(this);

  constructor(id: number, content: PppContent) {
    super([encodePppCorrelation(id)], content);
    this.id = id;
  }
}
