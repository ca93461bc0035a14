/**
 * Checker of broker rules 10, 12, 16 to 18, 20 and 36 of docs/protocols/emqp.md: a job is at one registered worker at a time. It goes to another
 * only if it came back, or if its worker is gone and it may have another one. Its client gets what one of its workers has answered, byte by byte,
 * or learns with how many workers it was lost.
 */
import { latin1 } from '@proj/frames';
import { decodeEmqpHeaders } from '@proj/frames/emqp';
import type { EmqpRequest, EmqpResult } from '@proj/frames/emqp';
import { jobName } from './sight.js';
import type { BrokerChecker, BrokerSight } from './sight.js';

interface Job {
  readonly name: string;
  client: string;
  readonly guarantee: boolean;
  /** How many workers may lose it; 1 if it may not go to another one. */
  readonly attemptsMax: number;
  readonly wantsResult: boolean;
  /** Everything that must be forwarded unchanged. */
  readonly text: string;
  /** The worker that got it last, unless it came back. */
  holder: string | undefined;
  attempts: number;
  /** How many of these workers the broker may not know about, since it has forgotten them. */
  forgotten: number;
  /** It is from an earlier life of the broker, which may have lost the fact that it was over. */
  mayBeBack: boolean;
  /** An earlier life of the broker may have ended it without telling anyone. */
  mayHaveEnded: boolean;
  /** The answers of workers: the client may get them. */
  readonly answers: string[];
  isOver: boolean;
  /** It was requested again when only the broker knew whether it was over, so it may have started anew. */
  mayBeNew: boolean;
}

/** What clients get for all remaining jobs when the broker stops cleanly. */
const STOPPED = '{"value": "job lost: the broker has stopped"}';

/** Keeps its own records of which worker has which job. */
export class JobsChecker implements BrokerChecker {
  readonly #attemptsMax: number;
  readonly #isStored: boolean;
  readonly #jobs = new Map<string, Job>();
  readonly #workers = new Set<string>();
  /** The job whose result must be forwarded before the broker reads on. */
  #owed: Job | undefined;
  /** REQUESTs that were not accepted, perhaps because their client gets no answers (rule 6). */
  readonly #asked = new Map<string, EmqpRequest & { readonly client: string }>();
  readonly #members = new Set<string>();
  /** Peers that said goodbye, or that send heartbeats without being registered: they need no answer (rules 6 and 8). */
  readonly #silenced = new Set<string>();
  /** How often jobs were given to workers, whatever happened to them. */
  readonly dispatches = new Map<string, number>();
  /** Jobs that were given up. */
  readonly givenUp = new Set<string>();

  /** `attemptsMax`: how many workers may lose a guaranteed job. `isStored`: such jobs outlive the broker. */
  constructor(attemptsMax: number, isStored = false) {
    this.#attemptsMax = attemptsMax;
    this.#isStored = isStored;
  }

  /**
   * Guaranteed jobs that this life of the broker (or, with a store, any life) has accepted, and that are neither answered nor given
   * up.
   */
  get unfinished(): string[] {
    return [...this.#jobs.values()].filter((job) => job.guarantee && !this.#mayBeOver(job)).map(({ name }) => name);
  }

  onSight(sight: BrokerSight): void {
    switch (sight.kind) {
      case 'crashed':
        this.#onCrashed();
        break;
      case 'joined':
        this.#members.add(sight.peer);
        this.#silenced.delete(sight.peer);
        if (sight.role === 'worker') this.#workers.add(sight.peer);
        break;
      case 'left':
        this.#onLeft(sight.peer, sight.reason);
        break;
      case 'received':
        this.#onReceived(sight);
        break;
      case 'returned':
        if (sight.command.kind === 'request') this.#onReturned(sight.peer, sight.command);
        break;
      case 'sent':
        this.#onSent(sight);
        break;
      default:
        break;
    }
  }

  /** What is not on disk is forgotten. */
  #onCrashed(): void {
    for (const [id, { headers }] of this.#asked)
      if (!this.#isStored || !decodeEmqpHeaders(headers).guarantee) this.#asked.delete(id);
    for (const [id, job] of this.#jobs) {
      job.mayHaveEnded = this.#mayBeOver(job);
      job.holder = undefined;
      job.forgotten = job.attempts;
      job.mayBeBack = true;
      if (!this.#isStored || !job.guarantee) this.#jobs.delete(id);
    }
    for (const books of [this.#members, this.#silenced, this.#workers]) books.clear();
    this.#owed = undefined;
  }

  #onReceived({ peer, command }: BrokerSight & { kind: 'received' }): void {
    const owed = this.#owed;
    this.#owed = undefined;
    if (owed !== undefined) throw new Error(`the result of ${owed.name} was not forwarded`);
    if (command.kind === 'request') this.#asked.set(command.id, { ...command, client: peer });
    else if (command.kind === 'bye' || (command.kind === 'heartbeat' && !this.#members.has(peer)))
      this.#silenced.add(peer);
    else if (command.kind === 'result') this.#onResult(peer, command);
  }

  /** It was accepted, or given to a worker without an acceptance. */
  #onTaken(id: string): void {
    const request = this.#asked.get(id);
    if (request !== undefined) this.#onAccepted(request);
    this.#asked.delete(id);
  }

  #onAccepted({ id, queue, headers, body, client }: EmqpRequest & { readonly client: string }): void {
    const { guarantee, retryCount, replyRequested: wantsResult } = decodeEmqpHeaders(headers);
    const name = jobName(body);
    const text = textOf({ queue, headers, body });
    const known = this.#jobs.get(id);
    if (known !== undefined && known.text === text && guarantee && !known.isOver) {
      known.client = client;
      known.mayBeNew ||= this.#mayBeOver(known);
      return;
    }
    this.#jobs.set(id, {
      name,
      client,
      guarantee,
      attemptsMax: guarantee ? this.#attemptsMax : retryCount + 1,
      wantsResult,
      text,
      holder: undefined,
      attempts: 0,
      forgotten: 0,
      mayBeBack: false,
      mayHaveEnded: false,
      answers: [],
      isOver: false,
      mayBeNew: false,
    });
  }

  #onResult(worker: string, { of, result }: EmqpResult): void {
    const job = of === undefined ? undefined : this.#jobs.get(of);
    // What no client has requested, and what another worker has answered before.
    if (job === undefined || job.isOver || (job.holder !== worker && !(isKept(job) && job.attempts > 0))) return;
    job.answers.push(latin1(result));
    // The broker listens to a worker that has left for a while, which only the broker knows.
    if (!this.#workers.has(worker)) return;
    job.isOver = true;
    if (job.wantsResult && !this.#silenced.has(job.client)) this.#owed = job;
  }

  #onLeft(worker: string, reason: string): void {
    this.#members.delete(worker);
    this.#workers.delete(worker);
    if (reason !== 'expired' && reason !== 'gone') return;
    for (const job of this.#jobs.values())
      if (job.holder === worker && !isKept(job) && !job.wantsResult) job.isOver = true;
  }

  #onReturned(worker: string, { id }: EmqpRequest): void {
    const job = this.#jobs.get(id);
    if (job?.holder !== worker) return;
    job.holder = undefined;
    job.attempts--;
  }

  #onSent({ peer, command }: BrokerSight & { kind: 'sent' }): void {
    if (command.kind === 'request') this.#onDispatch(peer, command);
    else if (command.kind === 'result') this.#onAnswer(command);
    else if (command.kind === 'accepted') this.#onTaken(command.of);
  }

  #onDispatch(worker: string, request: EmqpRequest): void {
    const name = jobName(request.body);
    if (!this.#workers.has(worker)) throw new Error(`${name} went to a worker that is not registered`);
    this.#onTaken(request.id);
    const job = this.#jobs.get(request.id);
    if (job === undefined) throw new Error(`${name} went to a worker and nobody has asked for it`);
    if (textOf(request) !== job.text) throw new Error(`${name} was changed on its way`);
    if (job.isOver && !job.mayBeBack) throw new Error(`${name} is over and went to a worker`);
    job.isOver = job.mayBeBack = job.mayHaveEnded = false;
    if (
      job.mayBeNew &&
      (job.holder === undefined || this.#workers.has(job.holder) || job.attempts >= job.attemptsMax)
    ) {
      job.attempts = 0;
      job.holder = undefined;
    }
    job.mayBeNew = false;
    if (job.holder !== undefined) {
      if (this.#workers.has(job.holder)) throw new Error(`${name} went to a second worker while the first has it`);
      if (!isKept(job)) throw new Error(`${name} is not guaranteed and went to a second worker`);
    }
    if (job.attempts - job.forgotten >= job.attemptsMax)
      throw new Error(`${name} went to worker number ${job.attempts + 1}`);
    job.holder = worker;
    job.attempts++;
    this.dispatches.set(name, (this.dispatches.get(name) ?? 0) + 1);
  }

  #onAnswer({ of, result }: EmqpResult): void {
    const job = of === undefined ? undefined : this.#jobs.get(of);
    if (job === undefined) return;
    if (this.#owed === job) this.#owed = undefined;
    if (job.answers.includes(latin1(result))) {
      job.isOver = true;
      return;
    }
    if (latin1(result) === STOPPED) {
      job.isOver = true;
      return;
    }
    if (latin1(result) !== noticeOf(job))
      throw new Error(`${job.name} was answered with what no worker of it has said`);
    if (job.isOver || !this.#mayBeGivenUp(job)) throw new Error(`${job.name} was given up too early`);
    job.isOver = true;
    this.givenUp.add(job.name);
  }

  /**
   * If no result was requested, or the client gets no answers, nobody learns that the broker listened to a worker that had left, or that the job
   * was given up.
   */
  #mayBeOver(job: Job): boolean {
    const isQuiet = !job.wantsResult || this.#silenced.has(job.client);
    return job.isOver || job.mayHaveEnded || (isQuiet && (job.answers.length > 0 || this.#mayBeGivenUp(job)));
  }

  /** This many workers have had it, and the last of them is gone. */
  #mayBeGivenUp({ holder, attempts, attemptsMax }: Job): boolean {
    return attempts >= attemptsMax && holder !== undefined && !this.#workers.has(holder);
  }
}

/** May go to another worker. */
function isKept({ guarantee, attemptsMax }: Job): boolean {
  return guarantee || attemptsMax > 1;
}

/** What the client gets for a lost job. */
function noticeOf({ guarantee, attemptsMax }: Job): string {
  const workers = attemptsMax === 1 ? 'its worker' : `${attemptsMax} workers`;
  return `{"value": "${guarantee ? 'guaranteed job' : 'job'} lost with ${workers}"}`;
}

/** What a worker gets must equal this. */
function textOf({ queue, headers, body }: Pick<EmqpRequest, 'queue' | 'headers' | 'body'>): string {
  return JSON.stringify([queue, latin1(headers), latin1(body)]);
}
