/**
 * NFP broker: a client's call on its way to workers, and the broker's own word about it. Rules 9 to 13; which peer may say
 * what is `engine.ts`.
 */
import { parseNfpTarget } from '@proj/frames/nfp';
import type { NfpBody, NfpClientCall, NfpTarget } from '@proj/frames/nfp';
import type { Peer } from '@proj/transport';
import type { Books } from './books.js';
import type { Gathers } from './gathers.js';
import type { Job } from './jobs.js';
import { BROKER_FSS, BROKER_SID, isReserved, WORKER_MMI } from './names.js';
import type { NfpBrokerSettings } from './options.js';
import type { Asked, Output } from './output.js';
import type { Service } from './services.js';
import { chooseWorkers, markUsed } from './targets.js';
import type { Worker } from './workers.js';

/** Rule 13: a POST for `any` is sent to so many workers after the first one. */
const REDISPATCH_MAX = 3;

const NOBODY = 'no worker of the service is meant by the target';
/** Services of the broker that it offers only where it has what they are about. */
const UNSERVED: ReadonlyMap<string, string> = new Map([
  [BROKER_SID, 'the broker has no inventory'],
  [BROKER_FSS, 'the broker has no files'],
]);
const BAD_TARGET = 'target: begins as a JSON array and is none of names';
const TOO_MUCH = 'too much waits for services without workers';
const TOO_MUCH_OPEN = 'too much is asked of workers at a time: ask again later';

const ALL: NfpTarget = { kind: 'all' };

/** Relays calls, lets POSTs wait, and sends those again whose worker was lost. */
export class Calls {
  readonly #settings: NfpBrokerSettings;
  readonly #books: Books;
  readonly #out: Output;
  readonly #gathers: Gathers;
  #used = 0;

  constructor(settings: NfpBrokerSettings, books: Books, out: Output, gathers: Gathers) {
    this.#settings = settings;
    this.#books = books;
    this.#out = out;
    this.#gathers = gathers;
  }

  /** Rules 9 to 12: answers and relays, or lets wait, or refuses. */
  accept(peer: Peer, call: NfpClientCall): void {
    const { jobs } = this.#books;
    const job = jobs.find(call.uuid);
    if (job?.waitingAt !== undefined) {
      if (job.service === call.service) {
        this.#onWaiting(job, job.waitingAt, peer, call);
        return;
      }
      if (call.command === 'post') {
        this.#out.refuse('duplicate', peer, call, 'the uuid is that of a job which waits for another service');
        return;
      }
    }
    const named = parseNfpTarget(call.target);
    if (named === undefined) {
      this.#out.refuse('target', peer, call, BAD_TARGET);
      return;
    }
    const isGathered = this.#isGathered(peer, call);
    // Rule 24: one answer must come from whoever has the job, and that need not be the one whose turn it is.
    const target = isGathered && named.kind === 'any' ? ALL : named;
    const workers = chooseWorkers(target, call.service, this.#books);
    if (workers.length === 0) this.#onNobody(peer, call);
    else if (isGathered) this.#gather(peer, call, target, workers);
    else if (call.command === 'post') this.#post(jobs.add(peer, call), call.body, target, workers);
    else this.#relay(peer, call, target, workers);
  }

  /** Rule 12: the first worker of a service takes what has waited for it, in order. */
  serve(service: Service): void {
    for (const job of service.queue.values()) {
      const { body } = job;
      this.#books.jobs.leave(job);
      this.#books.jobs.release(job);
      this.#again(job, body);
    }
  }

  /** Rule 13: what lost workers had for `any` and said nothing about goes to the next one, or the client is told. */
  recover(lost: readonly Worker[]): void {
    for (const worker of lost) this.#resend(worker);
  }

  /** Rule 13: what a worker that was started again had for `any` and said nothing about goes to it once more. */
  repeat(worker: Worker): void {
    this.#resend(worker, [worker]);
  }

  /** The broker answers no longer for what these workers have. */
  letGo(workers: readonly Worker[]): void {
    for (const worker of workers) {
      for (const job of worker.unanswered.values()) this.#books.jobs.settle(job);
    }
  }

  /** Rule 12: gives up what has waited for too long. */
  expire(): void {
    const { jobs } = this.#books;
    const error = `expired after ${this.#settings.requestTtlMs} ms`;
    for (let job = jobs.takeExpired(this.#out.now); job !== undefined; job = jobs.takeExpired(this.#out.now))
      this.#giveUp('expired', job, error);
  }

  /** Rule 14: gives up all that waits. */
  abandonWaiting(): void {
    for (const service of this.#books.services.values())
      for (const job of service.queue.values()) this.#giveUp('drained', job, 'the broker is closing');
  }

  /** Rule 9: the 202, then the POST to each. */
  #post(job: Job, body: NfpBody, target: NfpTarget, workers: readonly Worker[]): void {
    const { jobs } = this.#books;
    const [worker] = workers;
    job.attempts++;
    // The broker answers for it as long as the body is kept: a full budget costs the second try, not the job.
    if (target.kind === 'any' && this.#settings.redispatchAny && worker !== undefined && jobs.keep(job, body))
      jobs.assign(job, worker);
    this.#dispatched(job.poster, job, workers);
    const { service, uuid } = job;
    if (job.worker === undefined) job.target = '';
    this.#send(job.poster, { command: 'post', service, uuid, body }, target, workers);
  }

  /** Rule 9: what is no POST is relayed and forgotten; PUT and MMI have no 202. */
  #relay(
    peer: Peer,
    call: NfpClientCall,
    target: NfpTarget,
    workers: readonly Worker[],
    dispatches = call.command !== 'put' && call.command !== 'mmi',
  ): void {
    const { jobs } = this.#books;
    const { command, uuid, service } = call;
    const job = jobs.find(uuid);
    // Rule 17: how it was called decides how the answer is framed.
    const isNews = command === 'mmi' || service === WORKER_MMI;
    if (isNews && job?.waitingAt === undefined) jobs.add(peer, { ...call, target: '' });
    else if (job !== undefined) jobs.touch(job, peer);
    // Rule 13: nobody wants to have it done any more.
    if (command === 'delete' && job?.worker !== undefined && workers.includes(job.worker)) jobs.settle(job);
    if (dispatches) this.#dispatched(peer, call, workers);
    this.#send(peer, call, target, workers);
  }

  /** Rule 24: GET and DELETE of a job; the management of workers for those alone who take no second answer, since its answers are not signed. */
  #isGathered(peer: Peer, { form, command, service }: NfpClientCall): boolean {
    if (form !== 'byte' || command === 'put') return false;
    if (service === WORKER_MMI) return this.#books.clients.find(peer.key)?.takesOne === true;
    return command === 'get' || command === 'delete';
  }

  /** Rule 24. */
  #gather(peer: Peer, call: NfpClientCall, target: NfpTarget, workers: readonly Worker[]): void {
    if (!this.#gathers.open(peer, call, workers)) this.#out.refuse('queue-full', peer, call, TOO_MUCH_OPEN, 500);
    else this.#relay(peer, call, target, workers, false);
  }

  #send(
    client: Peer,
    call: Pick<NfpClientCall, 'command' | 'service' | 'uuid' | 'body'>,
    target: NfpTarget,
    workers: readonly Worker[],
  ): void {
    const command = call.service === WORKER_MMI ? 'mmi' : call.command;
    if (target.kind !== 'all') for (const worker of workers) markUsed(worker, ++this.#used);
    this.#out.relay(workers, command, client, call.uuid, call.body);
  }

  /** Rules 11 and 12: POST may wait, PUT has no answer, everything else is refused. */
  #onNobody(peer: Peer, call: NfpClientCall): void {
    if (call.command === 'put') this.#out.dropMessage('put-unserved', peer);
    else if (call.command === 'post' && this.#mayWait(call.service))
      this.#wait(this.#books.jobs.add(peer, call), call.body);
    else this.#out.refuse('no-worker', peer, call, UNSERVED.get(call.service) ?? NOBODY);
  }

  #mayWait(service: string): boolean {
    if (!this.#settings.queueForService || isReserved(service)) return false;
    return (this.#books.services.find(service)?.workers.size ?? 0) === 0;
  }

  #wait(job: Job, body: NfpBody): void {
    const { services, jobs } = this.#books;
    const known = services.find(job.service);
    if (known === undefined && services.full) {
      this.#giveUp('queue-full', job, 'too many services');
      return;
    }
    const service = known ?? services.add(job.service);
    if (jobs.keep(job, body) && jobs.wait(job, service, this.#out.now)) {
      this.#out.counters.queued++;
      this.#pending(job.poster, job);
    } else {
      this.#giveUp('queue-full', job, TOO_MUCH);
      services.tidy(service);
    }
  }

  /** Rule 12: a job that waits is the broker's to answer for. */
  #onWaiting(job: Job, service: Service, peer: Peer, call: NfpClientCall): void {
    const { jobs, services } = this.#books;
    switch (call.command) {
      case 'post':
        job.poster = peer;
        jobs.touch(job, peer);
        this.#pending(peer, call);
        break;
      case 'get':
        jobs.touch(job, peer);
        this.#pending(peer, call);
        break;
      case 'delete':
        jobs.forget(job);
        services.tidy(service);
        this.#out.dispatch(peer, call, 200, { workers: [], status: 'CANCELLED' });
        break;
      case 'put':
      case 'mmi':
        this.#onNobody(peer, call);
    }
  }

  /** What the worker has not answered goes to another one, or to `heirs`. */
  #resend(worker: Worker, heirs?: readonly Worker[]): void {
    // A snapshot: the heir may be the worker itself.
    for (const job of [...worker.unanswered.values()]) {
      const { body } = job;
      this.#books.jobs.settle(job);
      if (job.attempts > REDISPATCH_MAX) this.#giveUp('worker-lost', job, `${job.attempts} workers with it were lost`);
      else this.#again(job, body, heirs);
    }
  }

  /** A job of old goes to those its target means now, or to `heirs`. */
  #again(job: Job, body: NfpBody, heirs?: readonly Worker[]): void {
    const target = parseNfpTarget(job.target);
    const workers = target === undefined ? [] : (heirs ?? chooseWorkers(target, job.service, this.#books));
    if (target !== undefined && workers.length > 0) {
      if (job.attempts > 0) this.#out.counters.redispatches++;
      this.#post(job, body, target, workers);
    } else if (job.attempts > 0 && this.#mayWait(job.service)) {
      this.#wait(job, body);
    } else if (job.attempts > 0) {
      this.#giveUp('worker-lost', job, 'its worker was lost, and the service has no other');
    } else {
      this.#giveUp('no-worker', job, NOBODY);
    }
  }

  #giveUp(reason: 'expired' | 'worker-lost' | 'no-worker' | 'queue-full' | 'drained', job: Job, error: string): void {
    const { waitingAt } = job;
    this.#books.jobs.forget(job);
    if (waitingAt !== undefined) this.#books.services.tidy(waitingAt);
    this.#out.refuse(reason, job.poster, job, error);
  }

  #dispatched(peer: Peer, asked: Asked, workers: readonly Worker[]): void {
    this.#out.dispatch(peer, asked, 202, { workers: workers.map(({ name }) => name), status: 'DISPATCHED' });
  }

  #pending(peer: Peer, asked: Asked): void {
    this.#out.dispatch(peer, asked, 300, { workers: [], status: 'PENDING' });
  }
}
