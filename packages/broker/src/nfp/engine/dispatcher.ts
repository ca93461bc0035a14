/**
 * NFP broker: what a client's call comes to. Rules 9 to 12; which peer may say what is `engine.ts`, who may wait `waiting.ts`, what follows a loss
 * `returns.ts`.
 */
import { parseNfpTarget } from '@proj/frames/nfp';
import type { NfpClientCall, NfpTarget } from '@proj/frames/nfp';
import type { Peer } from '@proj/transport';
import type { BrokerState } from './state.js';
import { STRANGER, TOO_MUCH } from './job-sender.js';
import type { JobSender } from './job-sender.js';
import type { Gathers } from './gathers.js';
import type { Holder, Part } from './holders.js';
import type { Job } from './job-table.js';
import { BROKER_FSS, BROKER_SID, WORKER_MMI } from './names.js';
import type { Output } from './output.js';
import { chooseOther, chooseWorkers, type Meant, namesOf } from './targets.js';
import { NOBODY, type Waiting } from './waiting.js';
import type { Worker } from './workers.js';

/** Services of the broker that it offers only where it has what they are about. */
const UNSERVED: ReadonlyMap<string, string> = new Map([
  [BROKER_SID, 'the broker has no inventory'],
  [BROKER_FSS, 'the broker has no files'],
]);
const TOO_MUCH_OPEN = 'too much is asked of workers at a time: ask again later';
const BAD_TARGET = 'target: begins as a JSON array and is none of names';

const ALL: NfpTarget = { kind: 'all' };

/** Whom a call about a job is for: those who can be asked, and those whose answer has to wait. */
interface Asked {
  readonly present: readonly Worker[];
  /** By name. */
  readonly absent: readonly string[];
  /** They are all there are: nobody's turn is over. */
  readonly isForAll: boolean;
}

/** Relays calls, lets POSTs wait, or refuses. */
export class Dispatcher {
  readonly #books: BrokerState;
  readonly #out: Output;
  readonly #dispatch: JobSender;
  readonly #waiting: Waiting;
  readonly #gathers: Gathers;

  constructor(books: BrokerState, out: Output, dispatch: JobSender, waiting: Waiting, gathers: Gathers) {
    this.#books = books;
    this.#out = out;
    this.#dispatch = dispatch;
    this.#waiting = waiting;
    this.#gathers = gathers;
  }

  /** Answers and relays, or lets wait, or refuses. */
  accept(peer: Peer, call: NfpClientCall): void {
    const job = this.#books.jobs.find(call.uuid);
    if (job?.waitingAt !== undefined) {
      if (job.service === call.service) {
        if (!this.#waiting.takes(job, job.waitingAt, peer, call)) this.#refuse(peer, call);
        return;
      }
      if (call.command === 'post') {
        this.#out.refuse('duplicate', peer, call, 'the uuid is that of a job which waits for another service');
        return;
      }
    }
    const target = parseNfpTarget(call.target);
    if (target === undefined) this.#out.refuse('target', peer, call, BAD_TARGET);
    else if (call.command === 'post' && call.service !== WORKER_MMI) this.#post(peer, call, target, job);
    else this.#relay(peer, call, target, job);
  }

  #post(peer: Peer, call: NfpClientCall, target: NfpTarget, before: Job | undefined): void {
    if (target.kind === 'any' && before?.current !== undefined && before.service === call.service) {
      this.#repost(peer, call, before, before.current);
      return;
    }
    const { service, form, body } = call;
    const isForAll = target.kind === 'all';
    const { present, away, missing } = this.#whomToGive(target, call, before);
    const absent: string[] = [];
    const errors: string[] = [];
    for (const name of missing)
      if (this.#isWith(before, service, name) || this.#waiting.mayWaitForName(name, service, form)) absent.push(name);
      else errors.push(`${name}: ${STRANGER}`);
    // A broker that has just started does not know yet who all are.
    const isEarly = isForAll && this.#waiting.isSettling;
    const isForSome = present.length + away.length + absent.length > 0;
    if (isForSome && before?.service === service && !this.#books.jobs.widen(before, call.target))
      this.#out.refuse('queue-full', peer, call, TOO_MUCH);
    else if (isForSome && !isEarly)
      this.#dispatch.post(this.#jobOf(peer, call, before), body, {
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

  /** One that workers have is the same once more: who was too busy for it may be offered it again, alone. */
  #jobOf(peer: Peer, call: NfpClientCall, before: Job | undefined): Job {
    const { jobs } = this.#books;
    const isAgain = before?.service === call.service && before.parts.size > 0;
    return isAgain ? jobs.renew(before, peer, call.target) : jobs.add(peer, call);
  }

  /** A worker that is not there has the job, or is waited for with it: it is no stranger to it. */
  #isWith(job: Job | undefined, service: string, name: string): boolean {
    const part = job?.service === service ? this.#books.holders.named(name)?.parts.get(job.uuid) : undefined;
    return part !== undefined && part.state !== 'moved';
  }

  /** A job that was at other workers before, which are to drop it, goes to none of them. */
  #whomToGive(target: NfpTarget, { service, uuid }: NfpClientCall, before: Job | undefined): Meant {
    if (target.kind !== 'any' || before?.service !== service || before.parts.size === 0)
      return chooseWorkers(target, service, this.#books, this.#out.now);
    const other = chooseOther(uuid, service, this.#books);
    return { present: other === undefined ? [] : [other], away: [], missing: [] };
  }

  /** Whoever has the job gets it once more: workers know by the uuid what they have. */
  #repost(peer: Peer, call: NfpClientCall, job: Job, { holder }: Part): void {
    job.poster = peer;
    this.#books.jobs.touch(job, peer);
    this.#dispatch.dispatched(peer, call, [holder.name]);
    if (holder.worker !== undefined) this.#dispatch.relay(peer, call, [holder.worker]);
  }

  /** Rule 9: what is no POST is relayed and forgotten; PUT and MMI have no 202. */
  #relay(peer: Peer, call: NfpClientCall, target: NfpTarget, job: Job | undefined): void {
    const { jobs } = this.#books;
    const { command, service } = call;
    const isManagement = command === 'mmi' || service === WORKER_MMI;
    const isGathered = this.#isGathered(peer, call);
    const { present, absent, isForAll } = isManagement
      ? {
          ...chooseWorkers(isGathered && target.kind === 'any' ? ALL : target, service, this.#books, this.#out.now),
          absent: [],
          isForAll: target.kind === 'all',
        }
      : this.#whomToAsk(target, call, job, isGathered);
    // What all is, nobody knows yet: who asks everybody about a job of an earlier broker asks again.
    const isEarly = !isManagement && target.kind === 'all' && this.#waiting.isSettling && (job?.parts.size ?? 0) === 0;
    const isNobody = present.length + absent.length === 0;
    if (isNobody && !(isEarly && command !== 'put')) {
      this.#refuse(peer, call);
      return;
    }
    // Rule 24: who waits for one answer of all asks again as long as one cannot be asked. A DELETE may be said only once.
    const isPending =
      present.length === 0 ||
      (isEarly && (isGathered || command !== 'delete')) ||
      (isGathered && command === 'get' && absent.length > 0);
    if (isGathered && !isPending && !this.#gathers.open(peer, call, present)) {
      this.#out.refuse('queue-full', peer, call, TOO_MUCH_OPEN, 500);
      return;
    }
    // Rule 17: how it was called decides how the answer is framed.
    if (isManagement && job?.waitingAt === undefined) jobs.add(peer, { ...call, target: '' });
    else if (job !== undefined) jobs.touch(job, peer);
    const isDropped = command === 'delete' && job !== undefined && this.#drop(job, present, absent);
    if (isPending) {
      if (command === 'put') this.#out.dropMessage('put-unserved', peer);
      else if (isDropped) this.#out.dispatch(peer, call, 200, { workers: absent, status: 'CANCELLED' });
      else this.#dispatch.notYet(peer, call);
      return;
    }
    if (command !== 'put' && command !== 'mmi' && !isGathered)
      this.#dispatch.dispatched(peer, call, [...present.map(nameOf), ...absent]);
    this.#dispatch.relay(peer, call, present, isForAll);
  }

  /** Rule 24: GET and DELETE of a job; the management of workers for those alone who take no second answer, since its answers are not signed. */
  #isGathered(peer: Peer, { form, command, service }: NfpClientCall): boolean {
    if (form !== 'byte' || command === 'put') return false;
    if (service === WORKER_MMI) return this.#books.clients.find(peer.key)?.takesOne === true;
    return command === 'get' || command === 'delete';
  }

  /** Who has the job now, in place of who had it; and of those that are not there whoever is expected back, or has it. */
  #whomToAsk(target: NfpTarget, { service, uuid }: NfpClientCall, job: Job | undefined, isGathered: boolean): Asked {
    const { holders } = this.#books;
    const { now } = this.#out;
    const mine = job?.service === service ? job : undefined;
    const current = mine?.current?.holder;
    // Rule 13: who had it before is not listened to.
    const isMoved = (holder: Holder | undefined): boolean => holder?.parts.get(uuid)?.state === 'moved';
    if (target.kind === 'any' && current !== undefined)
      return current.worker === undefined
        ? { present: [], absent: [current.name], isForAll: false }
        : { present: [current.worker], absent: [], isForAll: false };
    if (target.kind !== 'names') {
      // Rule 24: one answer must come from whoever has the job, and that need not be the one whose turn it is.
      const { present, away } = chooseWorkers(isGathered ? ALL : target, service, this.#books, now);
      const asked = present.filter(({ holder }) => !isMoved(holder));
      const absent = new Set(away.filter((holder) => !isMoved(holder)));
      if (target.kind === 'all')
        for (const { holder, state } of mine?.parts ?? [])
          if (holder.worker === undefined && state !== 'moved') absent.add(holder);
      const isForAll = target.kind === 'all' && asked.length === present.length;
      return { present: asked, absent: [...absent].map(nameOf), isForAll };
    }
    const names = new Set<string>();
    for (const name of namesOf(target, this.#books, now))
      if (!isMoved(holders.named(name))) names.add(name);
      else if (current !== undefined) names.add(current.name);
    const { present, away, missing } = chooseWorkers({ kind: 'names', names: [...names] }, service, this.#books, now);
    const isExpected = (name: string): boolean =>
      (mine !== undefined && holders.named(name)?.parts.has(uuid) === true) || this.#waiting.mayBeBack(name, service);
    return { present, absent: [...away.map(nameOf), ...missing.filter(isExpected)], isForAll: false };
  }

  /** Nobody wants it done any more, there. True when some of it was the broker's alone. */
  #drop(job: Job, present: readonly Worker[], absent: readonly string[]): boolean {
    const { jobs, holders } = this.#books;
    let isOurs = false;
    for (const { holder } of present) {
      const part = holder.parts.get(job.uuid);
      if (part?.job === job && part.state !== 'moved') jobs.settle(part);
    }
    for (const name of absent) {
      const part = holders.named(name)?.parts.get(job.uuid);
      if (part?.job !== job || part.state === 'moved') continue;
      isOurs = true;
      if (part.state === 'held') jobs.settle(part);
      else jobs.move(part);
    }
    jobs.review(job);
    return isOurs;
  }

  /** Rule 11: PUT has no answer, everything else is refused. */
  #refuse(peer: Peer, call: NfpClientCall): void {
    if (call.command === 'put') this.#out.dropMessage('put-unserved', peer);
    else this.#out.refuse('no-worker', peer, call, UNSERVED.get(call.service) ?? NOBODY);
  }
}

function nameOf({ name }: { readonly name: string }): string {
  return name;
}
