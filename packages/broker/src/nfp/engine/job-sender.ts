/** NFP broker: a job on its way to workers, and the broker's own word about it. Rules 9, 12 and 13; who decides is `calls.ts`, `waiting.ts` and `returns.ts`. */
import { fromLatin1 } from '@proj/frames';
import { parseNfpTarget } from '@proj/frames/nfp';
import type { NfpBody, NfpClientCall } from '@proj/frames/nfp';
import type { Peer } from '@proj/transport';
import type { BrokerState } from './state.js';
import type { NfpRefusal } from './events.js';
import type { Holder, Part } from './holders.js';
import type { Job } from './job-table.js';
import { WORKER_MMI } from './names.js';
import type { NfpBrokerSettings } from '../options.js';
import type { Asked, Output } from './output.js';
import { markUsed } from './targets.js';
import type { Worker } from './workers.js';

/** What is told of a name that is not waited for. */
export const STRANGER = 'no worker of the service, and has not been one lately';
export const TOO_MUCH = 'too much waits for workers that are not there';

/** To whom a job goes. */
export interface Addressees {
  readonly present: readonly Worker[];
  /** Registered, and to get it when their connection is there again. */
  readonly away?: readonly Holder[];
  /** Names of those that get it should they come. */
  readonly absent?: readonly string[];
  /** What the answer says of those that get nothing. */
  readonly errors?: readonly string[];
  /** It is for all there are: nobody's turn is over. */
  readonly isForAll?: boolean;
  /** The POST that is to be answered; it was answered before without. */
  readonly asked?: Asked;
}

const NOTHING: NfpBody = [fromLatin1('{}')];

/** Sends jobs, and says so. */
export class JobSender {
  readonly #settings: NfpBrokerSettings;
  readonly #books: BrokerState;
  readonly #out: Output;
  #used = 0;

  constructor(settings: NfpBrokerSettings, books: BrokerState, out: Output) {
    this.#settings = settings;
    this.#books = books;
    this.#out = out;
  }

  /** Rule 9: the 202, then the POST to each who is there. Nobody registered: no word yet, or 300 to who understands it. */
  post(
    job: Job,
    body: NfpBody,
    {
      present,
      away = [],
      absent = [],
      errors = [],
      isForAll = false,
      asked = { ...askedBy(job), isUnasked: true },
    }: Addressees,
  ): void {
    const { jobs, holders } = this.#books;
    const { now } = this.#out;
    // Nobody has been sent it, and earlier POSTs of it wait: their names are in its 202, too.
    const isJoined = job.attempts === 0 && job.held > 0;
    // A full budget costs the second try, not the job.
    const kept = job.cost > 0 || jobs.keep(job, body);
    const refused: string[] = [];
    for (const worker of present) this.#give(job, worker);
    const holds = (holder: Holder | undefined): boolean => kept && holder !== undefined && jobs.hold(job, holder, now);
    const names = present.map(({ name }) => name);
    for (const holder of away)
      if (holds(holder)) names.push(holder.name);
      else refused.push(holder.name);
    // Whoever is to come is told in a 202 as soon as there is, or has been, one.
    const isTold = job.attempts > 0 || names.length > 0;
    for (const name of absent) {
      const holder = holders.expect(name, job.service);
      if (holds(holder)) {
        names.push(name);
        continue;
      }
      refused.push(name);
      if (holder !== undefined) holders.tidy(holder);
    }
    const untold = [...errors, ...refused.map((name) => `${name}: ${TOO_MUCH}`)];
    if (isTold && names.length > 0) {
      job.attempts++;
      if (isJoined) this.#dispatched(job, isForAll ? asked : { ...asked, target: job.target }, refused);
      else this.dispatched(job.poster, asked, names, untold);
      if (!kept && job.current === undefined) job.target = '';
      this.relay(job.poster, { command: 'post', service: job.service, uuid: job.uuid, body }, present, isForAll);
    } else if (names.length > 0) {
      this.#out.counters.queued++;
      this.pending(job.poster, asked);
    } else if (job.parts.size > 0) {
      this.#out.refuse('queue-full', job.poster, asked, untold);
    } else {
      this.giveUp('queue-full', job, untold, asked.isUnasked);
    }
  }

  /** A part whose worker is there now, or there again: the POST, with a 202 if there has been none. */
  repeat(part: Part, worker: Worker): void {
    const { job } = part;
    const isFirst = job.attempts === 0;
    const { body } = job;
    this.#give(job, worker);
    if (isFirst || job.current !== undefined) job.attempts++;
    if (isFirst || job.current !== undefined) this.#dispatched(job);
    this.relay(job.poster, { command: 'post', service: job.service, uuid: job.uuid, body }, [worker]);
  }

  /** Passes a call on. */
  relay(
    client: Peer,
    call: Pick<NfpClientCall, 'command' | 'service' | 'uuid' | 'body'>,
    workers: readonly Worker[],
    isForAll = false,
  ): void {
    const command = call.service === WORKER_MMI ? 'mmi' : call.command;
    if (!isForAll) for (const worker of workers) markUsed(worker, ++this.#used);
    this.#out.relay(workers, command, client, call.uuid, call.body);
  }

  /** Tells a worker to drop a job that another one has. */
  drop(part: Part, worker: Worker): void {
    const { job } = part;
    part.isTold = true;
    this.#out.relay([worker], 'delete', job.poster, job.uuid, NOTHING);
  }

  /** 202. */
  dispatched(peer: Peer, asked: Asked, workers: readonly string[], errors: readonly string[] = []): void {
    this.#out.dispatch(peer, asked, 202, { workers, status: 'DISPATCHED', ...(errors.length > 0 ? { errors } : {}) });
  }

  /** 300 to a POST: only peers in the form of the text are known to understand it. */
  pending(peer: Peer, asked: Asked): void {
    if (this.#out.formOf(peer) === 'byte') this.notYet(peer, asked);
  }

  /** 300 to who asks about a job that waits, or whose workers are not there. */
  notYet(peer: Peer, asked: Asked): void {
    this.#out.dispatch(peer, asked, 300, { workers: [], status: 'PENDING' });
  }

  /** 400; what workers say about the job from now on is not passed on. */
  giveUp(reason: NfpRefusal, job: Job, errors: readonly string[], isUnasked = true): void {
    const { waitingAt } = job;
    const asked = askedBy(job);
    this.#books.jobs.close(job);
    if (waitingAt !== undefined) this.#books.services.tidy(waitingAt);
    this.#out.refuse(reason, job.poster, { ...asked, isUnasked }, errors);
  }

  #give(job: Job, worker: Worker): void {
    const part = this.#books.jobs.give(job, worker.holder);
    if (job.target === 'any' && this.#settings.redispatchAny) job.current = part;
  }

  /** 202 to all the POSTs that have made the job what it is. `refused`: names that there is no room to wait for. */
  #dispatched(job: Job, asked: Asked = { ...askedBy(job), isUnasked: true }, refused: readonly string[] = []): void {
    const names = new Set<string>();
    for (const { state, holder } of job.parts) if (state !== 'moved') names.add(holder.name);
    const strangers = complaintsOf(job, new Set([...names, ...refused]));
    const errors = [...strangers, ...refused.map((name) => `${name}: ${TOO_MUCH}`)];
    this.dispatched(job.poster, asked, [...names], errors);
  }
}

/** What is told of those in a job's list who are none of `others`, in the order of the list. */
export function complaintsOf({ target: text }: Job, others: ReadonlySet<string>): string[] {
  const target = text === 'any' ? undefined : parseNfpTarget(text);
  if (target?.kind !== 'names' || (target.exact !== undefined && others.has(target.exact))) return [];
  return target.names.filter((name) => !others.has(name)).map((name) => `${name}: ${STRANGER}`);
}

function askedBy({ uuid, service, target }: Job): Asked {
  return { uuid, service, target };
}
