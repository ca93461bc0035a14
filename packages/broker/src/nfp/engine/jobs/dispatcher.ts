/**
 * NFP broker: handles clients' calls. Rules 9 to 13 and 24. `../legality.ts` says which calls are legal, `waiting.ts` which may wait,
 * `lost-workers.ts` what follows the loss of a worker.
 */
import { parseNfpTarget } from '@proj/frames/nfp';
import type { NfpClientCall, NfpTarget } from '@proj/frames/nfp';
import type { Peer } from '@proj/transport';
import type { Gathers } from './gathers.js';
import { NOT_KNOWN, TOO_MUCH, type JobSender } from './job-sender.js';
import { CALLS, type JobState } from '../legality.js';
import { BROKER_FSS, BROKER_SID, WORKER_MMI } from '../management/reserved-names.js';
import type { Output } from '../output.js';
import type { Holder, Job, Part, Worker } from '../records.js';
import type { BrokerState } from '../state.js';
import { chooseForJob, chooseOther, chooseWorkers, isAnyone, namesOf, type TargetWorkers } from './targets.js';
import { NOBODY, type Waiting } from './waiting.js';

/** Services that the broker has only if configured. */
const UNSERVED: ReadonlyMap<string, string> = new Map([
  [BROKER_SID, 'the broker has no inventory'],
  [BROKER_FSS, 'the broker has no files'],
]);
const TOO_MUCH_OPEN = 'too much is asked of workers at a time: ask again later';
const BAD_TARGET = 'target: begins as a JSON array and is none of names';
const DUPLICATE = 'the uuid is that of a job which waits for another service';

const ALL: NfpTarget = { kind: 'all' };

/** The workers to ask about a job. */
interface Recipients {
  readonly present: readonly Worker[];
  /** Names of those that cannot be asked now. */
  readonly absent: readonly string[];
  /** All there are: asking them uses up nobody's turn. */
  readonly isForAll: boolean;
}

/** Relays calls, lets POSTs wait, or refuses. */
export class Dispatcher {
  readonly #state: BrokerState;
  readonly #out: Output;
  readonly #sender: JobSender;
  readonly #waiting: Waiting;
  readonly #gathers: Gathers;

  constructor(state: BrokerState, out: Output, sender: JobSender, waiting: Waiting, gathers: Gathers) {
    this.#state = state;
    this.#out = out;
    this.#sender = sender;
    this.#waiting = waiting;
    this.#gathers = gathers;
  }

  /** Performs the verdict of the call table. */
  accept(peer: Peer, call: NfpClientCall): void {
    const job = this.#state.jobs.find(call.uuid);
    const isElsewhere = job !== undefined && job.service !== call.service;
    const event = !isElsewhere ? call.command : call.command === 'post' ? 'post-elsewhere' : 'ask-elsewhere';
    const [verdict] = CALLS[jobState(job)][event];
    switch (verdict) {
      case 'pending':
        this.#pending(job as Job, peer, call);
        break;
      case 'cancel':
        this.#cancel(job as Job, peer, call);
        break;
      case 'refuse':
        if (isElsewhere) this.#out.refuse('duplicate', peer, call, DUPLICATE);
        else this.#refuse(peer, call);
        break;
      case 'post':
      case 'relay': {
        const target = parseNfpTarget(call.target);
        if (target === undefined) this.#out.refuse('target', peer, call, BAD_TARGET);
        else if (verdict === 'post' && call.service !== WORKER_MMI) this.#post(peer, call, target, job);
        else this.#relay(peer, call, target, job);
      }
    }
  }

  /** Rule 12: POST or GET of a job that waits for its service. */
  #pending(job: Job, peer: Peer, call: NfpClientCall): void {
    this.#state.jobs.touch(job, peer);
    if (call.command === 'get') {
      this.#sender.notYet(peer, call);
    } else {
      job.poster = peer;
      this.#sender.pending(peer, call);
    }
  }

  /** Rule 12: DELETE of a job that waits for its service. */
  #cancel(job: Job, peer: Peer, call: NfpClientCall): void {
    const { waitingAt } = job;
    this.#state.jobs.close(job);
    if (waitingAt !== undefined) this.#state.services.tidy(waitingAt);
    job.meter?.ended('cancelled');
    this.#out.dispatch(peer, call, 200, { workers: [], status: 'CANCELLED' });
  }

  #post(peer: Peer, call: NfpClientCall, target: NfpTarget, before: Job | undefined): void {
    if (target.kind === 'any' && before?.current !== undefined && before.service === call.service) {
      this.#repost(peer, call, before, before.current);
      return;
    }
    const { service, form, body } = call;
    const isForAll = target.kind === 'all';
    const workers = this.#recipientsOfPost(target, call, before);
    const { present, away, missing } = workers;
    const absent: string[] = [];
    const errors: string[] = [];
    for (const name of missing)
      if (this.#isWith(before, service, name) || this.#waiting.mayWaitForName(name, service, form)) absent.push(name);
      else errors.push(`${name}: ${NOT_KNOWN}`);
    // A broker that has just started does not know all workers yet.
    const isEarly = isForAll && this.#waiting.isSettling;
    const isForSome = absent.length > 0 || isAnyone(workers);
    if (isForSome && before?.service === service && !this.#state.jobs.widen(before, call.target))
      this.#out.refuse('queue-full', peer, call, TOO_MUCH);
    else if (isForSome && !isEarly)
      this.#sender.post(this.#jobOf(peer, call, before), body, {
        present,
        away,
        absent,
        errors,
        isForAll,
        asked: call,
      });
    else if (target.kind !== 'names' && this.#waiting.mayWaitFor(service, form))
      this.#waiting.wait(this.#jobOf(peer, call, before), body);
    else this.#refuse(peer, call);
  }

  /** A POST of a job that workers have is the same job again: a worker that was too busy may be offered it again. */
  #jobOf(peer: Peer, call: NfpClientCall, before: Job | undefined): Job {
    const { jobs } = this.#state;
    const isAgain = before?.service === call.service && before.partCount > 0;
    return isAgain ? jobs.renew(before, peer, call.target) : jobs.add(peer, call, before);
  }

  #partAt(job: Job, name: string): Part | undefined {
    const holder = this.#state.holders.named(name);
    return holder && job.partAt(holder);
  }

  /** Whether an absent worker has the job, or the job waits for it. */
  #isWith(job: Job | undefined, service: string, name: string): boolean {
    const part = job?.service === service ? this.#partAt(job, name) : undefined;
    return part !== undefined && part.state !== 'moved';
  }

  /** A job for any worker goes to none of those that had it before and must drop it. */
  #recipientsOfPost(target: NfpTarget, call: NfpClientCall, before: Job | undefined): TargetWorkers {
    const { service } = call;
    if (target.kind !== 'any' || before?.service !== service || before.partCount === 0)
      return chooseForJob(target, call, this.#state, this.#out.now);
    const other = chooseOther(before, service, this.#state);
    return { present: other === undefined ? [] : [other], away: [], missing: [] };
  }

  /** The worker that has the job gets it again: it recognizes the uuid. */
  #repost(peer: Peer, call: NfpClientCall, job: Job, { holder }: Part): void {
    job.poster = peer;
    this.#state.jobs.touch(job, peer);
    this.#sender.dispatched(peer, call, [holder.name]);
    if (holder.worker !== undefined) this.#sender.relay(peer, call, [holder.worker]);
  }

  /** Rule 9: everything but POST is relayed and forgotten; PUT and MMI have no 202. */
  #relay(peer: Peer, call: NfpClientCall, target: NfpTarget, job: Job | undefined): void {
    const { jobs } = this.#state;
    const { command, service } = call;
    const isManagement = command === 'mmi' || service === WORKER_MMI;
    const isGathered = this.#isGathered(peer, call);
    const { present, absent, isForAll } = isManagement
      ? this.#recipientsOfManagement(isGathered && target.kind === 'any' ? ALL : target, service)
      : this.#recipientsOf(target, call, job, isGathered);
    // Not all workers are known yet: a client that asks them all about a job of an earlier broker must ask again.
    const isEarly = !isManagement && target.kind === 'all' && this.#waiting.isSettling && (job?.partCount ?? 0) === 0;
    const isNobody = present.length + absent.length === 0;
    if (isNobody && !(isEarly && command !== 'put')) {
      this.#refuse(peer, call);
      return;
    }
    // Rule 24: one answer of all has to wait until all can be asked. DELETE is relayed anyway: it may be sent only once.
    const isPending =
      present.length === 0 ||
      (isEarly && (isGathered || command !== 'delete')) ||
      (isGathered && command === 'get' && absent.length > 0);
    if (isGathered && !isPending && !this.#gathers.open(peer, call, present)) {
      this.#out.refuse('queue-full', peer, call, TOO_MUCH_OPEN, 500);
      return;
    }
    // Rule 17: the command of the call decides how the answer is framed.
    if (isManagement && job?.waitingAt === undefined) jobs.add(peer, { ...call, target: '' }, job);
    else if (job !== undefined) jobs.touch(job, peer);
    const isDropped = command === 'delete' && job !== undefined && this.#drop(job, present, absent);
    if (isPending) {
      if (command === 'put') this.#out.dropMessage('put-unserved', peer);
      else if (isDropped) this.#out.dispatch(peer, call, 200, { workers: absent, status: 'CANCELLED' });
      else this.#sender.notYet(peer, call);
      return;
    }
    if (command !== 'put' && command !== 'mmi' && !isGathered)
      this.#sender.dispatched(peer, call, [...present.map(nameOf), ...absent]);
    this.#sender.relay(peer, call, present, isForAll);
  }

  /**
   * Rule 24: GET and DELETE of a job in one-byte form. Management of workers only for clients that take one answer to each call: its answers do
   * not say whose they are.
   */
  #isGathered(peer: Peer, { form, command, service }: NfpClientCall): boolean {
    if (form !== 'byte' || command === 'put') return false;
    if (service === WORKER_MMI) return this.#state.clients.find(peer.key)?.takesOne === true;
    return command === 'get' || command === 'delete';
  }

  #recipientsOfManagement(target: NfpTarget, service: string): Recipients {
    const { present } = chooseWorkers(target, service, this.#state, this.#out.now);
    return { present, absent: [], isForAll: target.kind === 'all' };
  }

  /** The workers that have the job now, instead of those that had it; of the absent ones, those that have it or may return. */
  #recipientsOf(target: NfpTarget, { service }: NfpClientCall, job: Job | undefined, isGathered: boolean): Recipients {
    const { holders } = this.#state;
    const { now } = this.#out;
    const mine = job?.service === service ? job : undefined;
    const current = mine?.current?.holder;
    // Rule 13: a worker that had the job before is ignored.
    const isMoved = (holder: Holder | undefined): boolean =>
      holder !== undefined && job?.partAt(holder)?.state === 'moved';
    if (target.kind === 'any' && current !== undefined)
      return current.worker === undefined
        ? { present: [], absent: [current.name], isForAll: false }
        : { present: [current.worker], absent: [], isForAll: false };
    if (target.kind !== 'names') {
      // Rule 24: the one answer must come from the worker that has the job, which need not be the one whose turn it is.
      const { present, away } = chooseWorkers(isGathered ? ALL : target, service, this.#state, now);
      const asked = present.filter(({ holder }) => !isMoved(holder));
      const absent = new Set<Holder>();
      for (const holder of away) if (!isMoved(holder)) absent.add(holder);
      if (target.kind === 'all')
        for (const { holder, state } of mine?.parts ?? [])
          if (holder.worker === undefined && state !== 'moved') absent.add(holder);
      const isForAll = target.kind === 'all' && asked.length === present.length;
      return { present: asked, absent: [...absent].map(nameOf), isForAll };
    }
    const names = new Set<string>();
    for (const name of namesOf(target, this.#state, now))
      if (!isMoved(holders.named(name))) names.add(name);
      else if (current !== undefined) names.add(current.name);
    const { present, away, missing } = chooseWorkers({ kind: 'names', names: [...names] }, service, this.#state, now);
    const isExpected = (name: string): boolean =>
      (mine !== undefined && this.#partAt(mine, name) !== undefined) || this.#waiting.mayBeBack(name, service);
    return { present, absent: [...[...away].map(nameOf), ...missing.filter(isExpected)], isForAll: false };
  }

  /** DELETE: the job has ended at these workers. True if part of it had not left the broker, or was kept for an absent worker. */
  #drop(job: Job, present: readonly Worker[], absent: readonly string[]): boolean {
    const { jobs, figures } = this.#state;
    let isOurs = false;
    for (const { holder } of present) {
      const part = job.partAt(holder);
      if (part === undefined || part.state === 'moved') continue;
      figures.ended(part, 'cancelled');
      jobs.settle(part);
    }
    for (const name of absent) {
      const part = this.#partAt(job, name);
      if (part === undefined || part.state === 'moved') continue;
      isOurs = true;
      figures.ended(part, 'cancelled');
      if (part.state === 'held') jobs.settle(part);
      else jobs.move(part);
    }
    jobs.review(job);
    return isOurs;
  }

  /** Rule 11: PUT has no answer; everything else is refused. */
  #refuse(peer: Peer, call: NfpClientCall): void {
    if (call.command === 'put') this.#out.dropMessage('put-unserved', peer);
    else this.#out.refuse('no-worker', peer, call, UNSERVED.get(call.service) ?? NOBODY);
  }
}

function jobState(job: Job | undefined): JobState {
  if (job === undefined) return 'unknown';
  return job.waitingAt === undefined ? 'dispatched' : 'waiting';
}

function nameOf({ name }: { readonly name: string }): string {
  return name;
}
