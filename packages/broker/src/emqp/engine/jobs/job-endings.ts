/** EventMQ broker: how a job ends, done or lost, and what its client learns. Rules 8, 10, 15, 20, 27 and 35. */
import { fromLatin1 } from '@proj/frames';
import { encodeEmqpJson, type EmqpRequest } from '@proj/frames/emqp';
import { requestCost } from '../../../shared/cost.js';
import type { EmqpRequestLoss } from '../counters.js';
import type { EmqpParty } from '../events.js';
import type { Job } from './job.js';
import type { Output } from '../output.js';
import type { Worker } from '../peers/peers.js';
import type { Queue } from './queues.js';
import type { BrokerState } from '../state.js';

/** Ends jobs. Each accepted job ends here, once. */
export class JobEndings {
  /** Requests accepted and neither done nor lost. */
  open = 0;
  /** Queues that may have lost their purpose in this step. */
  readonly #perhapsEmpty: Queue[] = [];
  readonly #state: BrokerState;
  readonly #out: Output;

  constructor(state: BrokerState, out: Output) {
    this.#state = state;
    this.#out = out;
  }

  /** The job was done. */
  processed(job: Job, worker: Worker | undefined): void {
    this.#out.counters.processed++;
    job.queue.totals.processed++;
    if (job.holder === undefined) job.queue.meter.ended('ok');
    else job.queue.meter.finished(job, this.#out.now);
    if (worker !== undefined) worker.processed++;
    this.#close(job);
  }

  /** The job was probably done; nothing confirms it. */
  unconfirmed(job: Job): void {
    this.#out.counters.unconfirmed++;
    job.queue.meter.ended('unconfirmed');
    this.#close(job);
  }

  /** Rule 20: a client that waits for the result learns that there will be none. */
  lose(job: Job, reason: EmqpRequestLoss): void {
    if (job.awaited)
      this.answer(job, this.#out.newId(), fromLatin1(encodeEmqpJson({ value: lossMessage(job, reason) })));
    this.#out.dropRequest(reason, job.client, job.name);
    job.queue.meter.ended(reason);
    this.#close(job);
  }

  /** Rule 27: no open job will have a result any more. */
  abandonAll(): void {
    const { errands, peers, queues } = this.#state;
    errands.clear();
    for (const open of [...peers.open()]) for (const job of open.values()) this.#abandon(job);
    peers.lost.clear();
    for (const queue of queues.values()) for (const job of queue.waiting.values()) this.#abandon(job);
  }

  /** Rules 8 and 10: sends the result, unless the client has said farewell or must find out that it is unknown. */
  answer({ client, id: of }: Job, id: string, result: Uint8Array): void {
    if (this.#state.silenced.why(client) === undefined) this.#out.send(client, { kind: 'result', id, result, of });
    else this.#out.dropReply('reply-undeliverable', client);
  }

  /** Clients that wait for a result. */
  *awaiters(): IterableIterator<EmqpParty> {
    const { peers, queues } = this.#state;
    for (const open of peers.open()) for (const { awaited, client } of open.values()) if (awaited) yield client;
    for (const { waiting } of queues.values())
      for (const { awaited, client } of waiting.values()) if (awaited) yield client;
  }

  /** Whether a job has ended, or left its worker, in this step. */
  get hasEnded(): boolean {
    return this.#perhapsEmpty.length > 0;
  }

  /** Removes the job from its worker, if any. */
  detach(job: Job): void {
    const { holder } = job;
    this.reviewLater(job.queue);
    this.#state.releases.remove(job.release);
    if (holder === undefined) return;
    holder.remove(job, this.#out.now);
    job.queue.inFlight--;
    const { leaver } = holder;
    if (leaver === undefined || holder.size > 0) return;
    leaver.departures.delete(holder);
    if (leaver.departures.size === 0) this.#state.peers.forget(leaver);
  }

  /** Charges a request that came back. It was accepted, so it is kept even if no bytes are left. */
  charge(job: Job, request: EmqpRequest): void {
    const cost = costOf(request);
    if (this.#state.bytes.take(cost)) job.cost = cost;
  }

  /** The broker need not send the job again: drops the request. */
  discharge(job: Job): void {
    this.#state.queues.backlogs.release(job);
    this.#state.bytes.give(job.cost);
    job.leave(this.#state.slack);
    job.cost = 0;
    job.request = undefined;
  }

  /** The queue may be forgotten at the end of the step; not earlier, because a job may return to it. */
  reviewLater(queue: Queue): void {
    if (queue.isReviewed) return;
    queue.isReviewed = true;
    this.#perhapsEmpty.push(queue);
  }

  /** Ends a step: forgets queues without purpose. */
  tidy(): void {
    for (let queue = this.#perhapsEmpty.pop(); queue !== undefined; queue = this.#perhapsEmpty.pop()) {
      queue.isReviewed = false;
      if (queue.waiting.size === 0) this.#state.patience.remove(queue.patience);
      this.#state.queues.tidy(queue);
    }
  }

  /** Rule 35: a job in the store is left to the next broker. */
  #abandon(job: Job): void {
    if (job.record === undefined) {
      this.lose(job, 'drained');
      return;
    }
    job.record = undefined;
    this.#out.counters.leftInStore++;
    job.queue.meter.ended('left-in-store');
    this.#close(job);
  }

  #close(job: Job): void {
    this.#state.keeper.remove(job);
    this.detach(job);
    job.queue.withdraw(job);
    this.#state.routes.remove(job.route);
    if (job.kept) this.#state.kept.remove(job);
    this.#state.repeats.remove(job);
    this.discharge(job);
    this.open--;
  }
}

/** What keeping the request costs, in bytes. */
export function costOf({ headers, body }: EmqpRequest): number {
  return requestCost([headers, body]);
}

/** What a client gets instead of a result. */
function lossMessage({ guarantee, attempts }: Job, reason: EmqpRequestLoss): string {
  if (reason === 'drained') return 'job lost: the broker has stopped';
  if (reason === 'displaced') return 'job lost: too many of its client were waiting';
  if (reason === 'purged') return 'job lost: an operator has purged its queue';
  const workers = attempts === 1 ? 'its worker' : `${attempts} workers`;
  return `${guarantee ? 'guaranteed job' : 'job'} lost with ${workers}`;
}
