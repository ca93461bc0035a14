/** Paranoid Pirate: what is known of a registered worker beyond its life (rule 16). */
import { Deadline } from '@proj/heartbeat';
import { WorkerEntry } from '../../shared/worker-table.js';

/** A registered worker. All workers of a queue or pool do the same work. */
export class Worker<Request> extends WorkerEntry<Request> {
  /** When its job has lasted too long. */
  readonly patience = new Deadline<this>(this);
}
