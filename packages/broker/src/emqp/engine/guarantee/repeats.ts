/** EventMQ broker, rule 36: which guaranteed job a REQUEST asks for again. No protocol decisions. */
import { equalBytes } from '@proj/frames';
import type { EmqpRequest } from '@proj/frames/emqp';
import type { EmqpParty } from '../events.js';
import type { Job } from '../jobs/job.js';

/** Some clients use one id for everything; a UUID never repeats. */
const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;
/** Bodies of the same length are compared up to here, to limit the time. */
const COMPARED_BYTES = 65_536;

/** Guaranteed jobs by the ids of their REQUESTs, if these are UUIDs; including jobs being stored. */
export class Repeats {
  readonly #jobs = new Map<string, Job>();

  get size(): number {
    return this.#jobs.size;
  }

  /** Of two jobs with one id only the first is known. */
  add(job: Job): void {
    if (job.guarantee && UUID.test(job.id) && !this.#jobs.has(job.id)) this.#jobs.set(job.id, job);
  }

  remove(job: Job): void {
    if (job.guarantee && this.#jobs.get(job.id) === job) this.#jobs.delete(job.id);
  }

  has(job: Job): boolean {
    return this.#jobs.get(job.id) === job;
  }

  /** The job that this REQUEST asks for again: it must have the same public key or, like the first, none. */
  find({ peer }: EmqpParty, request: EmqpRequest): Job | undefined {
    const job = this.#jobs.get(request.id);
    const first = job?.request;
    if (job === undefined || first === undefined) return undefined;
    const { publicKey } = job.client.peer;
    const isSameKey =
      publicKey === undefined || peer.publicKey === undefined
        ? publicKey === peer.publicKey
        : equalBytes(publicKey, peer.publicKey);
    return isSameKey && isSame(first, request) ? job : undefined;
  }

  values(): IterableIterator<Job> {
    return this.#jobs.values();
  }
}

function isSame(one: EmqpRequest, other: EmqpRequest): boolean {
  return (
    one.queue === other.queue &&
    equalBytes(one.headers, other.headers) &&
    one.body.length === other.body.length &&
    equalBytes(one.body.subarray(0, COMPARED_BYTES), other.body.subarray(0, COMPARED_BYTES))
  );
}
