/**
 * Checker of rules 9, 10, 12 and 13 of docs/protocols/nfp.md, for POSTs that name workers or are for all. No job for all is sent while the broker settles. About
 * each named worker the client is told once: in a 202, in the `errors` of a 202 or 400, or by a 408. No worker gets a job that no 202 has given it. An unknown
 * worker is refused at once. A job that waits, or whose worker was lost, waits no longer than allowed.
 */
import { parseNfpTarget } from '@proj/frames/nfp';
import type { NfpClientAnswer, NfpClientCall, NfpDispatch, NfpWorkerAnswer } from '@proj/frames/nfp';
import type { Excuses } from '../kit/excuses.js';
import { ROUNDING_MS } from '../kit/worker-patience.js';
import { answeredFor, BROKER, dispatchIn } from './sight.js';
import type { Checker, Sight } from './sight.js';

/** Settings of the broker. */
export interface WaitingTerms {
  readonly queueForService: boolean | 'known';
  readonly requestTtlMs: number;
  readonly returnMs: number;
  readonly settleMs: number;
}

/**
 * State of a worker's part in a job. The client has not been told about it, and the worker may come (`waits`), may be there (`perhaps`) or is unknown
 * (`unknown`); a 202 has named it (`named`); it was sent the job (`sent`), and has said something about it (`taken`).
 */
type State = 'waits' | 'perhaps' | 'unknown' | 'named' | 'sent' | 'taken';

interface Standing {
  state: State;
  readonly since: number;
}

/** What is known of one uuid. */
interface Job {
  readonly service: string;
  readonly isForAny: boolean;
  /** Workers whose last word the client has not received. */
  readonly workers: Map<string, Standing>;
  /** Since when it waits to go to all present workers. */
  allSince: number | undefined;
}

/** A call, and what was expected of it when it came. */
interface Asked {
  readonly call: NfpClientCall;
  readonly at: number;
  /** By named worker. */
  readonly prospects: ReadonlyMap<string, 'waits' | 'perhaps' | 'unknown'>;
  /** What must happen to it if it is a POST for all. */
  readonly fate: 'goes' | 'waits' | 'is refused' | undefined;
}

const OK = 200;

/** Keeps its own records of which workers are there, which were, and what each client was told about them. */
export class BroadcastsChecker implements Checker {
  readonly #terms: WaitingTerms;
  readonly #excuses: Excuses;
  readonly #clock: { now(): number };
  readonly #jobs = new Map<string, Job>();
  /** Service of each registered worker. */
  readonly #services = new Map<string, string>();
  /** Workers that are no longer registered. */
  readonly #lost = new Map<string, { readonly service: string; readonly at: number }>();
  #settlesAt = -Infinity;
  /** Until the next broker starts. */
  #isClosing = false;
  /** The client's call that has no answer yet. */
  #asked: Asked | undefined;
  /** The message of a worker that was not registered. */
  #said: { readonly worker: string; readonly answer: NfpWorkerAnswer } | undefined;
  /** What a worker's arrival has triggered: it must be sent before the broker reads on. */
  #due: readonly (() => string | undefined)[] = [];

  constructor(terms: WaitingTerms, excuses: Excuses, clock: { now(): number }) {
    this.#terms = terms;
    this.#excuses = excuses;
    this.#clock = clock;
  }

  onSight(sight: Sight): void {
    const now = this.#clock.now();
    if (sight.kind === 'started') {
      this.#isClosing = false;
      if (this.#terms.queueForService !== false) this.#settlesAt = now + this.#terms.settleMs;
    } else if (sight.kind === 'crashed' && sight.process === BROKER) this.#forget();
    else if (!this.#isClosing) this.#follow(sight, now);
  }

  #forget(): void {
    for (const each of [this.#jobs, this.#services, this.#lost]) each.clear();
    this.#settlesAt = -Infinity;
    this.#isClosing = false;
    this.#asked = this.#said = undefined;
    this.#due = [];
  }

  #follow(sight: Sight, now: number): void {
    switch (sight.kind) {
      case 'worker-ready':
        this.#arrive(sight.peer.key, sight.service);
        break;
      case 'worker-lost':
        this.#services.delete(sight.peer.key);
        this.#lost.set(sight.peer.key, { service: sight.service, at: now });
        break;
      case 'closing':
        this.#forget();
        this.#isClosing = true;
        break;
      case 'received': {
        this.#before(now);
        const { command } = sight;
        if (command.kind === 'worker-answer') this.#hear(sight.peer.key, command);
        else if (command.kind === 'client-call' && !command.service.endsWith('.broker')) this.#called(command, now);
        break;
      }
      case 'sent': {
        const { command } = sight;
        if (command.kind === 'worker-call') this.#given(sight.peer.key, command.command, command.uuid);
        else if (command.kind === 'client-answer' && command.command === 'response') this.#told(command, now);
        break;
      }
      default:
        break;
    }
  }

  /** What must be done when the broker reads on. */
  #before(now: number): void {
    const said = this.#said;
    this.#said = undefined;
    if (said !== undefined && this.#services.has(said.worker)) this.#hear(said.worker, said.answer);
    for (const complaint of this.#due) {
      const error = complaint();
      if (error !== undefined) throw new Error(error);
    }
    this.#due = [];
    this.#begin();
    if (this.#excuses.has(BROKER, this.#terms.requestTtlMs, now)) return;
    for (const [uuid, job] of this.#jobs) if (!job.isForAny) this.#requirePatience(uuid, job, now);
  }

  #requirePatience(uuid: string, { service, workers, allSince }: Job, now: number): void {
    const { requestTtlMs, returnMs } = this.#terms;
    const isOver = (since: number, ms: number): boolean => now - since > ms + ROUNDING_MS;
    if (allSince !== undefined) {
      if (isOver(allSince, requestTtlMs)) throw new Error(`${uuid} for all has waited for too long`);
      const isThere = [...this.#services.values()].includes(service);
      if (isThere && isOver(this.#settlesAt, 0)) throw new Error(`${uuid} for all waits, and there are workers`);
    }
    for (const [worker, { state, since }] of workers) {
      const isSent = state === 'sent' || state === 'taken';
      const lostAt = this.#services.has(worker) ? Infinity : (this.#lost.get(worker)?.at ?? Infinity);
      if (isSent ? isOver(lostAt, returnMs) : isOver(since, requestTtlMs))
        throw new Error(`${uuid}: nothing was said of ${worker} for too long (${state})`);
    }
  }

  #arrive(worker: string, service: string): void {
    this.#services.set(worker, service);
    this.#lost.delete(worker);
    const due: (() => string | undefined)[] = [];
    for (const [uuid, job] of this.#jobs) {
      if (job.service !== service || job.isForAny) continue;
      const standing = job.workers.get(worker);
      if (standing?.state === 'waits' || standing?.state === 'named')
        due.push(() =>
          job.workers.get(worker) === standing && standing.state !== 'sent' && standing.state !== 'taken'
            ? `${uuid} waits for ${worker}, which has come`
            : undefined,
        );
      if (job.allSince !== undefined && !this.#isSettling)
        due.push(() => (job.allSince === undefined ? undefined : `${uuid} for all waits, and ${worker} has come`));
    }
    this.#due = due;
  }

  /** A worker speaks: after its last word the broker no longer follows the job there. */
  #hear(worker: string, answer: NfpWorkerAnswer): void {
    if (!this.#services.has(worker)) {
      this.#said = { worker, answer };
      return;
    }
    const { command, status, uuid } = answer;
    const job = this.#jobs.get(uuid);
    const standing = job?.workers.get(worker);
    if (job === undefined || job.isForAny || standing === undefined || command === 'mmi') return;
    if (standing.state !== 'sent' && standing.state !== 'taken') return;
    const isLast = command === 'response' && (status === OK || (status >= 400 && standing.state === 'sent'));
    if (isLast) this.#end(uuid, worker);
    else standing.state = 'taken';
  }

  #called(call: NfpClientCall, now: number): void {
    const { command, uuid, target: text } = call;
    const target = parseNfpTarget(text);
    if (target === undefined || command === 'put' || command === 'mmi') return;
    const names = target.kind === 'names' ? target.names : [];
    const prospects = new Map(names.map((name) => [name, this.#prospects(name, call)]));
    this.#asked = { call, at: now, prospects, fate: target.kind === 'all' ? this.#fateOf(call) : undefined };
    const job = this.#jobs.get(uuid);
    if (command === 'post' && (job === undefined || job.isForAny !== (target.kind === 'any'))) {
      const isForAny = target.kind === 'any';
      this.#jobs.set(uuid, { service: call.service, isForAny, workers: new Map(), allSince: undefined });
    }
    if (command !== 'delete' || job === undefined) return;
    // A job that waits for all is deleted as a whole.
    if (target.kind !== 'names' || job.allSince !== undefined) this.#jobs.delete(uuid);
    else for (const name of target.names) this.#end(uuid, name);
  }

  /** A POST got no answer, or 300: it waits. */
  #begin(): void {
    const asked = this.#asked;
    this.#asked = undefined;
    if (asked?.call.command !== 'post') return;
    const { uuid } = asked.call;
    const job = this.#jobs.get(uuid);
    // A job that waits for all stays that job, whichever workers a repeated POST names.
    if (job === undefined || job.isForAny || job.allSince !== undefined) return;
    if (asked.prospects.size > 0) {
      this.#expect(job, asked);
      if (![...asked.prospects.keys()].some((name) => job.workers.get(name)?.state === 'waits'))
        throw new Error(`${uuid} waits, and for nobody who may come`);
    } else if (asked.fate !== 'waits') throw new Error(`${uuid} for all waits, and ${asked.fate ?? 'is not'}`);
    else job.allSince = asked.at;
  }

  /** A POST names them: each gets one answer, or one more. */
  #expect(job: Job, { prospects, at }: Asked): void {
    for (const [name, state] of prospects) if (!job.workers.has(name)) job.workers.set(name, { state, since: at });
  }

  #prospects(name: string, { service, form }: NfpClientCall): 'waits' | 'perhaps' | 'unknown' {
    const there = this.#services.get(name);
    if (there !== undefined) return there === service ? 'waits' : 'unknown';
    if (this.#mayWaitForAnything(form)) return 'waits';
    if (this.#lost.get(name)?.service !== service) return 'unknown';
    // Its registration may have outlived its connection.
    return this.#terms.queueForService === false ? 'perhaps' : 'waits';
  }

  #fateOf({ service, form }: NfpClientCall): Asked['fate'] {
    if (this.#isSettling) return 'waits';
    if ([...this.#services.values()].includes(service)) return 'goes';
    const isKnown = [...this.#lost.values()].some((lost) => lost.service === service);
    // Without waiting it may still go to workers whose registration has outlived their connection.
    return this.#mayWaitForAnything(form) || (isKnown && this.#terms.queueForService !== false)
      ? 'waits'
      : 'is refused';
  }

  #given(worker: string, command: string, uuid: string): void {
    const asked = this.#asked;
    // To clients in one-byte form GET and DELETE have no 202 (rule 24).
    if (asked?.call.uuid === uuid && asked.call.command === command && command !== 'post') this.#asked = undefined;
    if (command !== 'post') return;
    const standing = this.#jobs.get(uuid)?.workers.get(worker);
    if (standing?.state !== 'named' && standing?.state !== 'sent' && standing?.state !== 'taken')
      throw new Error(`${uuid} is given to ${worker}, which no 202 has named`);
    standing.state = 'sent';
  }

  #told({ form, uuid, status, body }: NfpClientAnswer, now: number): void {
    const said = dispatchIn(body);
    if (said === undefined) {
      const worker = answeredFor('response', status, body);
      if (worker !== undefined) this.#isLate(uuid, worker, form === 'byte');
      return;
    }
    const asked = this.#asked?.call.uuid === uuid ? this.#asked : undefined;
    if (asked !== undefined && asked.call.command !== 'post') {
      this.#asked = undefined;
      return;
    }
    const job = this.#jobs.get(uuid);
    if (said.status === 'PENDING') {
      if (asked !== undefined) this.#begin();
      return;
    }
    this.#asked = asked === undefined ? this.#asked : undefined;
    if (job === undefined) {
      if (said.service.endsWith('.broker')) return;
      throw new Error(`${uuid} is not open, and its client is told ${status}`);
    }
    if (said.status === 'DISPATCHED') this.#dispatched(job, said, asked, now);
    else if (asked === undefined) this.#givenUp(job, said);
    else this.#refused(job, said, asked);
  }

  /** A 202 contains each worker that the client has not been told about, once. */
  #dispatched(job: Job, said: NfpDispatch, asked: Asked | undefined, now: number): void {
    const { uuid } = said;
    const named = new Set(said.workers ?? []);
    const isAllAsked = asked?.fate !== undefined;
    if (isAllAsked && this.#isSettling) throw new Error(`${uuid} goes to those alone that were back first`);
    const isForAll = job.isForAny || isAllAsked || (job.allSince !== undefined && !this.#isSettling);
    if (asked !== undefined) this.#expect(job, asked);
    let isNews = asked !== undefined || isForAll;
    const all = parseNfpTarget(said.target);
    const isMeant = (name: string): boolean => isForAll || (all?.kind === 'names' && all.names.includes(name));
    for (const name of named) {
      const standing = job.workers.get(name);
      if (standing === undefined && !isForAll)
        throw new Error(`${uuid} was not posted for ${name}, which the 202 names`);
      if (!isMeant(name)) throw new Error(`${uuid} is for ${name} too, and the 202 says ${said.target}`);
      if (standing?.state === 'unknown') throw new Error(`${uuid} waits for ${name}, of which nobody has heard`);
      if (standing === undefined) job.workers.set(name, { state: 'named', since: now });
      else if (standing.state === 'waits' || standing.state === 'perhaps') {
        standing.state = 'named';
        isNews = true;
      }
    }
    for (const [name, { state }] of job.workers) {
      if (state !== 'waits' && state !== 'perhaps' && state !== 'unknown') {
        if (complainsOf(said, name)) throw new Error(`${uuid}: ${name} is in errors, and has it or is waited for`);
        continue;
      }
      if (!complainsOf(said, name)) throw new Error(`${uuid}: the 202 says nothing of ${name}`);
      if (state === 'waits') throw new Error(`${uuid}: ${name} is in errors, and may come`);
      if (!isMeant(name)) throw new Error(`${uuid} is for ${name} too, and the 202 says ${said.target}`);
      job.workers.delete(name);
      isNews = true;
    }
    if (!isNews) throw new Error(`${uuid} has a 202 too many`);
    if (isForAll) job.allSince = undefined;
  }

  /** A POST is answered with 400: no named worker may come, or has it. */
  #refused(job: Job, { uuid }: NfpDispatch, { prospects, fate }: Asked): void {
    if (job.isForAny) return;
    for (const [name, prospect] of prospects)
      if (prospect === 'waits' || job.workers.has(name))
        throw new Error(`${uuid} is refused, and ${name} has it or may come`);
    if (fate !== undefined && fate !== 'is refused') throw new Error(`${uuid} for all is refused, and ${fate}`);
    if (job.workers.size === 0 && job.allSince === undefined) this.#jobs.delete(uuid);
  }

  /** A 400 after a wait: no worker has come. */
  #givenUp(job: Job, said: NfpDispatch): void {
    const { uuid } = said;
    this.#jobs.delete(uuid);
    if (job.isForAny || job.allSince !== undefined) return;
    for (const [name, { state }] of job.workers) {
      if (state === 'named' || state === 'sent' || state === 'taken')
        throw new Error(`${uuid} is given up, and a 202 has named ${name}`);
      if (!complainsOf(said, name)) throw new Error(`${uuid}: the 400 says nothing of ${name}`);
    }
    if (job.workers.size === 0) throw new Error(`${uuid} does not wait, and is given up`);
  }

  /**
   * A 408 instead of a worker's last word. A client in one-byte form may also get it as the answer to a GET (rule 24).
   */
  #isLate(uuid: string, worker: string, mayBeAnswer: boolean): void {
    const job = this.#jobs.get(uuid);
    const state = job?.workers.get(worker)?.state;
    const isAwaited = state === 'named' || ((state === 'sent' || state === 'taken') && !this.#services.has(worker));
    if (isAwaited) this.#end(uuid, worker);
    else if (!mayBeAnswer) throw new Error(`${uuid}: 408 for ${worker}, which is not awaited (${state ?? 'over'})`);
  }

  #end(uuid: string, worker: string): void {
    const job = this.#jobs.get(uuid);
    if (job?.isForAny !== false) return;
    job.workers.delete(worker);
    if (job.workers.size === 0 && job.allSince === undefined) this.#jobs.delete(uuid);
  }

  get #isSettling(): boolean {
    return this.#settlesAt > this.#clock.now();
  }

  #mayWaitForAnything(form: NfpClientCall['form']): boolean {
    const { queueForService } = this.#terms;
    return queueForService !== false && (queueForService === true || form === 'byte' || this.#isSettling);
  }
}

/** Whether the broker's message says that a worker gets nothing. */
function complainsOf({ errors = [] }: NfpDispatch, worker: string): boolean {
  return errors.some((error) => error.startsWith(`${worker}: `) || error.startsWith(`${worker} `));
}
