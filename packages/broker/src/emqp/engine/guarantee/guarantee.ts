/** EventMQ broker: guaranteed jobs that are stored, restored, or asked for again. Rules 35 and 36. */
import { decodeEmqpHeaders, type EmqpRequest } from '@proj/frames/emqp';
import { setSince } from '@proj/transport/engine';
import type { Dispatcher } from '../jobs/dispatcher.js';
import type { EmqpParty } from '../events.js';
import { Job } from '../jobs/job.js';
import type { JobEndings } from '../jobs/job-endings.js';
import type { Output } from '../output.js';
import type { EmqpKeptJob } from './records.js';
import type { BrokerState } from '../state.js';

/** Connects guaranteed jobs with the store, and with clients that ask for them again. */
export class Guarantee {
  readonly #state: BrokerState;
  readonly #out: Output;
  readonly #dispatcher: Dispatcher;
  readonly #endings: JobEndings;

  constructor(state: BrokerState, out: Output, dispatcher: Dispatcher, endings: JobEndings) {
    this.#state = state;
    this.#out = out;
    this.#dispatcher = dispatcher;
    this.#endings = endings;
  }

  /** Rule 36: true if the job is open: it continues, and its client is now the peer that asked last. */
  repeat(client: EmqpParty, request: EmqpRequest): boolean {
    const job = this.#state.repeats.find(client, request);
    if (job === undefined) return false;
    this.#out.counters.repeats++;
    job.client = client;
    // A job that is being stored is not accepted yet.
    if (!job.isAccepted) return true;
    if (job.record !== undefined) this.#state.keeper.change(job);
    job.awaited = job.replyRequested;
    if (job.awaited && job.holder !== undefined) this.#dispatcher.awaitResult(job);
    this.#dispatcher.confirm(client, job.id);
    return true;
  }

  /** Rule 35: changes go to the store, once the previous write has ended. */
  store(): void {
    const write = this.#state.keeper.flush(this.#out.now);
    if (write !== undefined) this.#out.effects.push(write);
  }

  /** Rules 9 and 35: the new jobs of this write are on disk, or `error` says why not. */
  stored(write: number, error: string | undefined): void {
    const { keeper } = this.#state;
    if (error !== undefined) this.#out.storeFailed(error);
    for (const job of keeper.stored(write, error !== undefined, this.#out.now)) {
      job.queue.arrive(job);
      this.#endings.reviewLater(job.queue);
      if (error === undefined) {
        this.#dispatcher.taken(job);
        setSince(job, this.#out.now);
        this.#dispatcher.place(job, this.#dispatcher.route(job.name, job.client, { isStored: true }), 'back');
      } else {
        this.#out.dropRequest('store-failed', job.client, job.name);
        job.queue.meter.ended('store-failed');
        this.#state.repeats.remove(job);
        this.#endings.discharge(job);
      }
    }
  }

  /** Rule 35: jobs that an earlier broker had accepted. */
  restore(jobs: readonly EmqpKeptJob[]): void {
    if (jobs.length > 0) this.#out.effects.push({ kind: 'note', code: 'jobs-restored', jobs: jobs.length });
    for (const { record, client, request, attempts } of jobs) {
      const twin = this.#state.repeats.find(client, request);
      if (twin !== undefined) {
        // The first had ended, but could no longer be removed, when the client asked for it again.
        twin.client = client;
        this.#state.keeper.change(twin);
        this.#state.keeper.discard(record);
        continue;
      }
      const headers = decodeEmqpHeaders(request.headers);
      const queue = this.#dispatcher.route(request.queue, client, { isStored: true });
      const job = new Job(client, request, headers, queue, 0, this.#out.now);
      job.attempts = attempts;
      job.isRestored = true;
      this.#state.kept.add(job);
      this.#endings.charge(job, request);
      this.#state.keeper.restore(job, record);
      this.#state.repeats.add(job);
      job.isAccepted = true;
      this.#endings.open++;
      this.#out.counters.restored++;
      this.#dispatcher.place(job, queue, 'back');
    }
  }
}
