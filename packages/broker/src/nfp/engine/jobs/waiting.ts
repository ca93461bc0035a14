/** NFP broker: which POSTs wait for absent workers, how long, and what happens to them. Rule 12 of docs/protocols/nfp.md. */
import { isNfpName } from '@proj/frames/nfp';
import type { NfpBody, NfpCommandForm } from '@proj/frames/nfp';
import { sharerOf } from '../../../shared/names.js';
import type { BrokerState } from '../state.js';
import { complaintsOf, type JobSender, TOO_MUCH } from './job-sender.js';
import { EVERY_SERVICE, isReserved } from '../management/reserved-names.js';
import type { NfpBrokerSettings } from '../../options.js';
import type { Output } from '../output.js';
import type { Job, Service } from '../records.js';
import { chooseForJob, chooseOther, isAnyone } from './targets.js';

/** Why a call whose target matches nobody is refused. */
export const NOBODY = 'no worker of the service is meant by the target';
const LOST = 'its worker was lost, and the service has no other';

/** Lets POSTs wait, and sends them when workers come. */
export class Waiting {
  readonly #settings: NfpBrokerSettings;
  readonly #state: BrokerState;
  readonly #out: Output;
  readonly #sender: JobSender;
  #settlesAt = -Infinity;

  constructor(settings: NfpBrokerSettings, state: BrokerState, out: Output, sender: JobSender) {
    this.#settings = settings;
    this.#state = state;
    this.#out = out;
    this.#sender = sender;
  }

  /** When {@link settle} is due. */
  get deadline(): number {
    return this.#settlesAt === -Infinity ? Infinity : this.#settlesAt;
  }

  /** The broker has just started: an absent worker may be on its way back. */
  get isSettling(): boolean {
    return this.#settlesAt > this.#out.now;
  }

  /** The broker has started to listen. */
  begin(): void {
    const { queueForService, keepaliveIntervalMs, settleMs = 2 * keepaliveIntervalMs } = this.#settings;
    if (queueForService !== false && settleMs > 0) this.#settlesAt = this.#out.now + settleMs;
  }

  /** Once settled, waiting jobs for `all` go to all workers there are. */
  settle(): void {
    if (this.#settlesAt === -Infinity || this.isSettling) return;
    this.#settlesAt = -Infinity;
    const { services, workers } = this.#state;
    for (const service of [...services.values()])
      if (service.workers.size > 0 || (service.name === EVERY_SERVICE && workers.size > 0)) this.#serve(service);
  }

  /** A service has workers: they get its waiting jobs in order, and then those waiting for service `all`. */
  serve(service: Service): void {
    this.#serve(service);
    const every = this.#state.services.find(EVERY_SERVICE);
    if (every !== undefined) this.#serve(every);
  }

  /** Whether a POST may wait for a service without workers. */
  mayWaitFor(service: string, form: NfpCommandForm): boolean {
    if (isReserved(service) && service !== EVERY_SERVICE) return false;
    if (this.#waitsForAnything(form)) return true;
    // Rule 25: if all its workers are leaving, others will come.
    const isDeserted = this.#state.services.find(service)?.workers.first?.isLeaving === true;
    return this.#isOn && (isDeserted || this.#state.holders.knows(service, this.#out.now));
  }

  /** Whether a POST may wait for an absent worker of that name. */
  mayWaitForName(name: string, service: string, form: NfpCommandForm): boolean {
    if (isReserved(service) && service !== EVERY_SERVICE) return false;
    const { holders } = this.#state;
    const holder = holders.named(name);
    // A worker that is present serves something else.
    if (!isNfpName(name) || holder?.worker !== undefined) return false;
    if (this.#waitsForAnything(form)) return true;
    return this.#isOn && holder !== undefined && holders.knowsName(holder, service, this.#out.now);
  }

  /** Whether an absent worker of that name may return and report what happened to a job. */
  mayBeBack(name: string, service: string): boolean {
    if (!this.#isOn || isReserved(service)) return false;
    const holder = this.#state.holders.named(name);
    return this.isSettling || (holder !== undefined && this.#state.holders.knowsName(holder, service, this.#out.now));
  }

  /** Lets the job wait for a first worker of its service, or refuses it if too much waits. */
  wait(job: Job, body: NfpBody, isUnasked = false): void {
    const { services, jobs } = this.#state;
    const known = services.find(job.service);
    const sharer = sharerOf(job.poster);
    // A job that was accepted before needs no share.
    if (known === undefined && !services.mayAsk(isUnasked ? undefined : sharer)) {
      this.#sender.giveUp('queue-full', job, ['too many services'], isUnasked);
      return;
    }
    const service = known ?? services.add(job.service, sharer);
    if ((job.cost > 0 || jobs.bodies.keep(job, body)) && jobs.wait(job, service, this.#out.now)) {
      const { uuid, service: name, target } = job;
      this.#out.counters.queued++;
      this.#sender.pending(job.poster, { uuid, service: name, target, isUnasked });
    } else {
      this.#sender.giveUp('queue-full', job, [TOO_MUCH], isUnasked);
      services.tidy(service);
    }
  }

  /** A job that waited, or lost its worker, goes to the workers its target matches now, or waits. */
  again(job: Job): void {
    const { body, service } = job;
    const isOld = job.attempts + job.partCount > 0;
    const isForAll = job.target !== 'any';
    const other = isForAll ? undefined : chooseOther(job, service, this.#state);
    const workers = isForAll
      ? chooseForJob({ kind: 'all' }, job, this.#state, this.#out.now)
      : { present: other === undefined ? [] : [other], away: [] };
    if (isAnyone(workers)) {
      const { present, away } = workers;
      if (isOld) this.#out.resent(job);
      this.#sender.post(job, body, { present, away, isForAll });
    } else if (isOld && this.mayWaitFor(service, this.#out.formOf(job.poster))) {
      this.wait(job, body, true);
    } else {
      this.#sender.giveUp(isOld ? 'worker-lost' : 'no-worker', job, [isOld ? LOST : NOBODY]);
    }
  }

  /** Gives up what has waited too long: the job, or the parts whose workers have never come. */
  expire(): void {
    const { jobs } = this.#state;
    const { requestTtlMs } = this.#settings;
    for (const job of jobs.takeExpired(this.#out.now)) {
      const held = [...job.parts].filter(({ state }) => state === 'held');
      const errors = held.map(({ holder }) => `${holder.name} did not come within ${requestTtlMs} ms`);
      if (job.waitingAt !== undefined) this.#sender.giveUp('expired', job, [`expired after ${requestTtlMs} ms`]);
      else if (job.attempts === 0) {
        const names = new Set(held.map(({ holder }) => holder.name));
        this.#sender.giveUp('expired', job, [...errors, ...complaintsOf(job, names)]);
      } else {
        const { poster, uuid, service } = job;
        for (const part of held) jobs.settle(part);
        for (const [at, { holder }] of held.entries())
          this.#out.late('expired', poster, { uuid, service }, holder.name, errors[at] as string);
      }
    }
  }

  /** Rule 14: gives up all waiting jobs. */
  abandon(): void {
    for (const job of [...this.#state.jobs.values()])
      if (job.patience !== undefined) this.#sender.giveUp('drained', job, ['the broker is closing']);
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
    this.#state.errands.begin(service, this.#serving(service), this.#out.now);
  }

  /** One pass over the queue, a slice at a time; jobs that may not go yet keep their order. */
  *#serving(service: Service): Generator<number, void, void> {
    const { queue, name } = service;
    for (let left = queue.size; left > 0 && this.#isServed(service); left--) {
      const job = queue.first;
      if (job?.place === undefined) break;
      const isForAny = job.target === 'any';
      let sent = 1;
      if (isForAny ? chooseOther(job, name, this.#state) === undefined : this.isSettling) {
        queue.remove(job.place);
        queue.push(job.place);
      } else {
        this.#state.jobs.leave(job);
        this.again(job);
        sent += job.partCount;
      }
      yield sent;
    }
    service.isServing = false;
    this.#state.services.tidy(service);
  }

  /** Rule 25: workers that are leaving get no waiting jobs. */
  #isServed({ name, staying }: Service): boolean {
    return (name === EVERY_SERVICE ? this.#state.services.staying : staying) > 0;
  }
}
