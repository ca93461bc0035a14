/** NFP broker: bodies of jobs that may have to be sent (again), within the byte budget and each client's share of it (rules 11, 13, 19). */
import type { NfpBody } from '@proj/frames/nfp';
import { keepOneOfMany } from '@proj/transport/engine';
import { requestCost } from '../../../shared/cost.js';
import { RemovableQueue, QueueSlot } from '../../../shared/removable-queue.js';
import { Shares } from '../../../shared/shares.js';
import { Slack } from '../../../shared/slack.js';
import { type Job, NO_BODY } from '../records.js';

/** Bodies that wait for their job to be sent, and spare ones, kept only in case a worker is lost: these give way when the budget is used up. */
export class KeptBodies {
  /** The process is short of memory: nothing more is kept. */
  isTight = false;
  readonly #bytes: Shares;
  readonly #slack: Slack;
  readonly #spare = new RemovableQueue<Job>();

  constructor(options: { readonly requestQueueMaxBytes: number }) {
    this.#bytes = new Shares(options.requestQueueMaxBytes);
    this.#slack = new Slack(this.#bytes);
  }

  get bytes(): number {
    return this.#bytes.used;
  }

  /** Memory that bodies hold beyond their own bytes. */
  get slackBytes(): number {
    return this.#slack.used;
  }

  /** Keeps the body if the budget, the client's share and memory allow, and returns whether it does. Spare bodies give way, the client's own first. */
  keep(job: Job, body: NfpBody): boolean {
    const { owner, target } = job;
    const cost = requestCost(body) + target.length;
    if (this.isTight || cost > this.#bytes.max) return false;
    while (!this.#bytes.take(owner.bytes, cost)) {
      const spare = owner.spare.first ?? (this.#bytes.mayHold(owner.bytes, cost) ? this.#spare.first : undefined);
      if (spare === undefined) return false;
      this.claim(spare);
      this.release(spare);
    }
    const slack = this.#slack.take(body);
    job.kept = slack === undefined ? keepOneOfMany(body) : body;
    job.slack = slack ?? 0;
    job.cost = cost;
    return true;
  }

  /** Takes more bytes for a job that is kept; false, without any effect, if there are none. */
  grow(job: Job, cost: number): boolean {
    if (!this.#bytes.take(job.owner.bytes, cost)) return false;
    job.cost += cost;
    return true;
  }

  release(job: Job): void {
    this.#bytes.give(job.owner.bytes, job.cost);
    this.#slack.give(job.slack);
    job.kept = NO_BODY;
    job.cost = job.slack = 0;
  }

  /** A worker has the job: its body is spare from now on. */
  spare(job: Job): void {
    if (job.cost === 0 || job.place !== undefined) return;
    this.#spare.push((job.place = new QueueSlot(job)));
    job.owner.spare.push((job.ownSpare = new QueueSlot(job)));
  }

  /** The body is needed, or about to be released: it is not spare. */
  claim(job: Job): void {
    const { place, ownSpare } = job;
    if (place === undefined || ownSpare === undefined || !this.#spare.remove(place)) return;
    job.owner.spare.remove(ownSpare);
    job.place = job.ownSpare = undefined;
  }
}
