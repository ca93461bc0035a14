/** NFP broker: which POSTs wait for workers that are not there, for how long, and what becomes of them. Rule 12 of docs/protocols/nfp.md. */
import { isNfpName } from '@proj/frames/nfp';
import type { NfpBody, NfpClientCall, NfpCommandForm } from '@proj/frames/nfp';
import type { Peer } from '@proj/transport';
import type { BrokerState } from './state.js';
import { complaintsOf, TOO_MUCH } from './job-sender.js';
import type { JobSender } from './job-sender.js';
import type { Job } from './job-table.js';
import { EVERY_SERVICE, isReserved } from './names.js';
import type { NfpBrokerSettings } from '../options.js';
import type { Output } from './output.js';
import type { Service } from './services.js';
import { chooseOther, chooseWorkers } from './targets.js';

/** What a call is told that means nobody. */
export const NOBODY = 'no worker of the service is meant by the target';
const LOST = 'its worker was lost, and the service has no other';

/** Lets POSTs wait, and sends those on whose wait is over. */
export class Waiting {
  readonly #settings: NfpBrokerSettings;
  readonly #books: BrokerState;
  readonly #out: Output;
  readonly #dispatch: JobSender;
  #settlesAt = -Infinity;

  constructor(settings: NfpBrokerSettings, books: BrokerState, out: Output, dispatch: JobSender) {
    this.#settings = settings;
    this.#books = books;
    this.#out = out;
    this.#dispatch = dispatch;
  }

  /** When {@link settle} has something to do. */
  get deadline(): number {
    return this.#settlesAt === -Infinity ? Infinity : this.#settlesAt;
  }

  /** The broker has started a moment ago: who is not there may be on the way back. */
  get isSettling(): boolean {
    return this.#settlesAt > this.#out.now;
  }

  /** The broker begins to listen. */
  begin(): void {
    const { queueForService, keepaliveIntervalMs, settleMs = 2 * keepaliveIntervalMs } = this.#settings;
    if (queueForService !== false && settleMs > 0) this.#settlesAt = this.#out.now + settleMs;
  }

  /** Once settled, what is for all goes to all there are. */
  settle(): void {
    if (this.#settlesAt === -Infinity || this.isSettling) return;
    this.#settlesAt = -Infinity;
    const { services, workers } = this.#books;
    for (const service of [...services.values()])
      if (service.workers.size > 0 || (service.name === EVERY_SERVICE && workers.size > 0)) this.#serve(service);
  }

  /** A service has workers: what has waited for it goes to them, in order, and so does what waited for any service at all. */
  serve(service: Service): void {
    this.#serve(service);
    const every = this.#books.services.find(EVERY_SERVICE);
    if (every !== undefined) this.#serve(every);
  }

  /** Whether a POST may wait for the service, which has nobody. */
  mayWaitFor(service: string, form: NfpCommandForm): boolean {
    if (isReserved(service) && service !== EVERY_SERVICE) return false;
    return this.#waitsForAnything(form) || (this.#isOn && this.#books.holders.knows(service, this.#out.now));
  }

  /** Whether a POST may wait for a worker of that name, which is not there. */
  mayWaitForName(name: string, service: string, form: NfpCommandForm): boolean {
    if (isReserved(service) && service !== EVERY_SERVICE) return false;
    const { holders } = this.#books;
    const holder = holders.named(name);
    // It is there, for another service.
    if (!isNfpName(name) || holder?.worker !== undefined) return false;
    if (this.#waitsForAnything(form)) return true;
    return this.#isOn && holder !== undefined && holders.knowsName(holder, service, this.#out.now);
  }

  /** Whether somebody of that name, who is not there, may yet say what became of a job. */
  mayBeBack(name: string, service: string): boolean {
    if (!this.#isOn || isReserved(service)) return false;
    const holder = this.#books.holders.named(name);
    return this.isSettling || (holder !== undefined && this.#books.holders.knowsName(holder, service, this.#out.now));
  }

  /** The job waits for a first worker of its service, or is refused when too much does. */
  wait(job: Job, body: NfpBody, isUnasked = false): void {
    const { services, jobs } = this.#books;
    const known = services.find(job.service);
    const asker = job.poster.key;
    // What was accepted before needs no share.
    if (known === undefined && !services.mayAsk(isUnasked ? undefined : asker)) {
      this.#dispatch.giveUp('queue-full', job, ['too many services'], isUnasked);
      return;
    }
    const service = known ?? services.add(job.service, asker);
    if ((job.cost > 0 || jobs.keep(job, body)) && jobs.wait(job, service, this.#out.now)) {
      const { uuid, service: name, target } = job;
      this.#out.counters.queued++;
      this.#dispatch.pending(job.poster, { uuid, service: name, target, isUnasked });
    } else {
      this.#dispatch.giveUp('queue-full', job, [TOO_MUCH], isUnasked);
      services.tidy(service);
    }
  }

  /** A call about a job that waits for its service: the broker's to answer for. False where workers are to be asked all the same. */
  takes(job: Job, service: Service, peer: Peer, call: NfpClientCall): boolean {
    const { jobs, services } = this.#books;
    switch (call.command) {
      case 'post':
        job.poster = peer;
        jobs.touch(job, peer);
        this.#dispatch.pending(peer, call);
        return true;
      case 'get':
        jobs.touch(job, peer);
        this.#dispatch.notYet(peer, call);
        return true;
      case 'delete':
        jobs.close(job);
        services.tidy(service);
        this.#out.dispatch(peer, call, 200, { workers: [], status: 'CANCELLED' });
        return true;
      case 'put':
      case 'mmi':
        return false;
    }
  }

  /** A job of old goes to those its target means now, or waits. */
  again(job: Job): void {
    const { body, service } = job;
    const isOld = job.attempts + job.parts.size > 0;
    const isForAll = job.target !== 'any';
    const other = isForAll ? undefined : chooseOther(job.uuid, service, this.#books);
    const { present, away } = isForAll
      ? chooseWorkers({ kind: 'all' }, service, this.#books, this.#out.now)
      : { present: other === undefined ? [] : [other], away: [] };
    if (present.length + away.length > 0) {
      if (isOld) this.#out.counters.redispatches++;
      this.#dispatch.post(job, body, { present, away, isForAll });
    } else if (isOld && this.mayWaitFor(service, this.#out.formOf(job.poster))) {
      this.wait(job, body, true);
    } else {
      this.#dispatch.giveUp(isOld ? 'worker-lost' : 'no-worker', job, [isOld ? LOST : NOBODY]);
    }
  }

  /** Gives up what has waited for too long: the job, or those of its workers that have never come. */
  expire(): void {
    const { jobs } = this.#books;
    const { requestTtlMs } = this.#settings;
    for (let job = jobs.takeExpired(this.#out.now); job !== undefined; job = jobs.takeExpired(this.#out.now)) {
      const held = [...job.parts].filter(({ state }) => state === 'held');
      const errors = held.map(({ holder }) => `${holder.name} did not come within ${requestTtlMs} ms`);
      if (job.waitingAt !== undefined) this.#dispatch.giveUp('expired', job, [`expired after ${requestTtlMs} ms`]);
      else if (job.attempts === 0) {
        const names = new Set(held.map(({ holder }) => holder.name));
        this.#dispatch.giveUp('expired', job, [...errors, ...complaintsOf(job, names)]);
      } else {
        const { poster, uuid, service } = job;
        for (const part of held) jobs.settle(part);
        for (const [at, { holder }] of held.entries())
          this.#out.late('expired', poster, { uuid, service }, holder.name, errors[at] as string);
      }
    }
  }

  /** Rule 14: gives up all that waits. */
  abandon(): void {
    for (const job of [...this.#books.jobs.values()])
      if (job.patience !== undefined) this.#dispatch.giveUp('drained', job, ['the broker is closing']);
  }

  get #isOn(): boolean {
    return this.#settings.queueForService !== false;
  }

  #waitsForAnything(form: NfpCommandForm): boolean {
    return this.#isOn && (this.#settings.queueForService === true || form === 'byte' || this.isSettling);
  }

  #serve(service: Service): void {
    if (service.queue.size === 0) return;
    service.isServing = true;
    this.#books.errands.begin(service, this.#serving(service), this.#out.now);
  }

  /** Each that waits now: those that may not go yet go on waiting in their order. */
  *#serving(service: Service): Generator<void, void, void> {
    const { queue, name } = service;
    for (let left = queue.size; left > 0 && this.#hasWorkers(service); left--) {
      const job = queue.first;
      if (job?.place === undefined) break;
      const isForAny = job.target === 'any';
      if (isForAny ? chooseOther(job.uuid, name, this.#books) === undefined : this.isSettling) {
        queue.remove(job.place);
        queue.push(job.place);
      } else {
        this.#books.jobs.leave(job);
        this.again(job);
      }
      yield;
    }
    service.isServing = false;
    this.#books.services.tidy(service);
  }

  #hasWorkers({ name, workers }: Service): boolean {
    return (name === EVERY_SERVICE ? this.#books.workers : workers).size > 0;
  }
}
