/** NFP broker: sends jobs to workers and informs clients. Rules 9, 12 and 13; `dispatcher.ts`, `waiting.ts` and `lost-workers.ts` decide. */
import { fromLatin1 } from '@proj/frames';
import { parseNfpTarget } from '@proj/frames/nfp';
import type { NfpBody, NfpClientCall } from '@proj/frames/nfp';
import type { Peer } from '@proj/transport';
import type { BrokerState } from '../state.js';
import type { NfpRefusal } from '../counters.js';
import { WORKER_MMI } from '../management/reserved-names.js';
import type { NfpBrokerSettings } from '../../options.js';
import type { Asked, Output } from '../output.js';
import type { Holder, Job, Part, Worker } from '../records.js';
import { markUsed } from './targets.js';

/** Why a name is not waited for. */
export const NOT_KNOWN = 'no worker of the service, and has not been one lately';
export const TOO_MUCH = 'too much waits for workers that are not there';
/** After so many workers of a job for all that there is no room to wait for, no more are tried: thousands may be away. */
const REFUSED_MAX = 16;

/** The workers a job goes to. */
export interface Addressees {
  readonly present: readonly Worker[];
  /** Registered, to get it when they are connected again. */
  readonly away?: Iterable<Holder>;
  /** Names of workers that get it if they come. */
  readonly absent?: readonly string[];
  /** The answer's explanation for names that get nothing. */
  readonly errors?: readonly string[];
  /** For all there are: this uses up nobody's turn. */
  readonly isForAll?: boolean;
  /** The POST to answer; absent if it has been answered. */
  readonly asked?: Asked;
}

const NOTHING: NfpBody = [fromLatin1('{}')];
const NONE: readonly never[] = [];

/** Sends jobs, relays calls, and sends the broker's own words about both. */
export class JobSender {
  readonly #settings: NfpBrokerSettings;
  readonly #state: BrokerState;
  readonly #out: Output;
  #used = 0;

  constructor(settings: NfpBrokerSettings, state: BrokerState, out: Output) {
    this.#settings = settings;
    this.#state = state;
    this.#out = out;
  }

  /** Rule 9: 202, then POST to each worker present. If none is registered the client gets nothing yet, or 300 if it understands that. */
  post(
    job: Job,
    body: NfpBody,
    { present, away = NONE, absent = NONE, errors = NONE, isForAll = false, asked = unaskedBy(job) }: Addressees,
  ): void {
    const { jobs } = this.#state;
    // Earlier POSTs of the same job wait, and nobody has been sent it: its 202 names their workers too.
    const isJoined = job.attempts === 0 && job.held > 0;
    // If the budget is full, the job loses its second try, not its first.
    const kept = job.cost > 0 || jobs.bodies.keep(job, body);
    const names: string[] = [];
    const refused: string[] = [];
    for (const worker of present) {
      this.#give(job, worker);
      names.push(worker.name);
    }
    for (const holder of away) {
      if (isForAll && refused.length > REFUSED_MAX) break;
      (kept && this.#hold(job, holder) ? names : refused).push(holder.name);
    }
    // A 202 names absent workers only if there is, or was, one for this job.
    const hasAcceptance = job.attempts > 0 || names.length > 0;
    for (const name of absent) (kept && this.#expect(job, name) ? names : refused).push(name);
    const untold = refused.length === 0 ? errors : [...errors, ...tooMuch(refused, isForAll)];
    if (hasAcceptance && names.length > 0) {
      job.attempts++;
      if (isJoined) this.#dispatched(job, isForAll ? asked : { ...asked, target: job.target }, refused, isForAll);
      else this.dispatched(job.poster, asked, names, untold);
      if (!kept && job.current === undefined) job.target = '';
      this.relay(job.poster, { command: 'post', service: job.service, uuid: job.uuid, body }, present, isForAll);
    } else if (names.length > 0) {
      this.#out.counters.queued++;
      this.pending(job.poster, asked);
    } else if (job.partCount > 0) {
      this.#out.refuse('queue-full', job.poster, asked, untold);
    } else {
      this.giveUp('queue-full', job, untold, asked.isUnasked);
    }
  }

  /** The worker of a part is present now, or again: POST, with 202 if there has been none. */
  repeat(part: Part, worker: Worker): void {
    const { job } = part;
    const isFirst = job.attempts === 0;
    const { body } = job;
    this.#give(job, worker);
    if (isFirst || job.current !== undefined) {
      job.attempts++;
      this.#dispatched(job);
    }
    this.relay(job.poster, { command: 'post', service: job.service, uuid: job.uuid, body }, [worker]);
  }

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

  /** Tells a worker to drop a job that another worker has. */
  drop(part: Part, worker: Worker): void {
    const { job } = part;
    part.isTold = true;
    this.#out.relay([worker], 'delete', job.poster, job.uuid, NOTHING);
  }

  dispatched(peer: Peer, asked: Asked, workers: readonly string[], errors: readonly string[] = NONE): void {
    const said = { workers, status: 'DISPATCHED', errors: errors.length > 0 ? errors : undefined } as const;
    this.#out.dispatch(peer, asked, 202, said);
  }

  /** 300 to a POST, if the client writes commands as the specification does: no other is known to understand it. */
  pending(peer: Peer, asked: Asked): void {
    if (this.#out.formOf(peer) === 'byte') this.notYet(peer, asked);
  }

  /** 300: the job waits, or its workers are absent. */
  notYet(peer: Peer, asked: Asked): void {
    this.#out.dispatch(peer, asked, 300, { workers: [], status: 'PENDING' });
  }

  /** 400; nothing more that workers say about the job is forwarded. */
  giveUp(reason: NfpRefusal, job: Job, errors: readonly string[], isUnasked = true): void {
    const { waitingAt } = job;
    const asked = { ...unaskedBy(job), isUnasked };
    this.#state.jobs.close(job);
    if (waitingAt !== undefined) this.#state.services.tidy(waitingAt);
    this.#out.refuse(reason, job.poster, asked, errors);
  }

  /** Lets the job wait for a worker that is away. False if there is no room. */
  #hold(job: Job, holder: Holder): boolean {
    return this.#state.jobs.hold(job, holder, this.#out.now);
  }

  /** The same for one that may come. */
  #expect(job: Job, name: string): boolean {
    const { holders } = this.#state;
    const holder = holders.expect(name, job.service);
    if (holder === undefined) return false;
    const holds = this.#hold(job, holder);
    if (!holds) holders.tidy(holder);
    return holds;
  }

  #give(job: Job, worker: Worker): void {
    const part = this.#state.jobs.give(job, worker.holder);
    if (job.target === 'any' && this.#settings.redispatchAny) job.current = part;
  }

  /** 202 for all POSTs of the job together. `refused`: names that there is no room to wait for. */
  #dispatched(job: Job, asked: Asked = unaskedBy(job), refused: readonly string[] = NONE, isForAll = false): void {
    const names = new Set<string>();
    for (const { state, holder } of job.parts) if (state !== 'moved') names.add(holder.name);
    const strangers = complaintsOf(job, new Set([...names, ...refused]));
    const errors = [...strangers, ...tooMuch(refused, isForAll)];
    this.dispatched(job.poster, asked, [...names], errors);
  }
}

/** What the client learns about the names in a job's list that are not in `others`, in the order of the list. */
export function complaintsOf({ target: text }: Job, others: ReadonlySet<string>): string[] {
  const target = text === 'any' ? undefined : parseNfpTarget(text);
  if (target?.kind !== 'names' || (target.exact !== undefined && others.has(target.exact))) return [];
  return target.names.filter((name) => !others.has(name)).map((name) => `${name}: ${NOT_KNOWN}`);
}

function unaskedBy({ uuid, service, target }: Job): Asked {
  return { uuid, service, target, isUnasked: true };
}

/** One text per name of a client's list; of all there are, of which the client knows none, some. */
function tooMuch(names: readonly string[], isForAll: boolean): string[] {
  if (!isForAll || names.length <= REFUSED_MAX) return names.map((name) => `${name}: ${TOO_MUCH}`);
  return [...names.slice(0, REFUSED_MAX), 'and others'].map((name) => `${name}: ${TOO_MUCH}`);
}
