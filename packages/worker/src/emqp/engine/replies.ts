/** EventMQ job manager: chooses the connection for each result, and which connections stay open for results. */
import type { EmqpResult } from '@proj/frames/emqp';
import type { Entropy } from '@proj/transport';
import type { Check } from '../../shared/invariants.js';
import type { SessionOutput } from '../../shared/output.js';
import type { EmqpFromJobManager, EmqpJobEffect, EmqpJobManagerNote } from './events.js';
import { toResult, wantsReply } from './state.js';
import type { Job } from './state.js';

/** Receives the effects of a step. */
export type Output = SessionOutput<EmqpFromJobManager, EmqpJobManagerNote, EmqpJobEffect>;

/** A result and the request it answers. */
type Reply = Pick<EmqpResult, 'result' | 'of'>;

/**
 * Sends results. A result goes to the connection that delivered the job as long as a broker that left still listens there, otherwise to the
 * current one. Without a registered connection it waits.
 */
export class Replies {
  /** True while the current connection accepts results. */
  isRegistered = false;
  /** Number of replies sent to a broker. */
  sent = 0;
  readonly #out: Output;
  readonly #entropy: Entropy;
  readonly #maxBytes: number;
  /** Current jobs by the connection that delivered them. */
  readonly #jobsOf = new Map<number, number>();
  /** Connections whose broker said farewell; they stay open for the results of their jobs. */
  readonly #closing = new Set<number>();
  readonly #held: Reply[] = [];

  /** `maxBytes`: largest result; a broker would drop a larger one unread. */
  constructor(out: Output, entropy: Entropy, maxBytes: number) {
    this.#out = out;
    this.#entropy = entropy;
    this.#maxBytes = maxBytes;
  }

  /** Results waiting for a broker. */
  get held(): number {
    return this.#held.length;
  }

  /** The current connection has delivered a job. */
  taken(): void {
    const { socket } = this.#out;
    this.#jobsOf.set(socket, (this.#jobsOf.get(socket) ?? 0) + 1);
  }

  finished(job: Job, result: Uint8Array): void {
    this.#settle(job, wantsReply(job) ? this.#fitting(result) : undefined);
  }

  /** A job with `guarantee` or `retry-count` gets no reply: the broker gives it to another worker. */
  abandoned(job: Job): void {
    const { replyRequested, guarantee, retryCount } = job.headers;
    const text = 'the job manager stopped before the job had ended';
    this.#settle(job, replyRequested && !guarantee && retryCount === 0 ? toResult(text) : undefined);
  }

  /** A reply was not delivered, and its connection is lost. */
  unsent(reply: Reply): void {
    this.sent--;
    this.#sendOrHold(reply);
  }

  /** A broker has accepted us: held results are sent to it. */
  sendHeld(): void {
    for (const reply of this.#held.splice(0)) this.#send(this.#out.socket, reply);
  }

  dropHeld(): void {
    this.#held.length = 0;
  }

  /** Keeps the current connection open if its jobs have not ended. */
  keepOpen(): boolean {
    const { socket } = this.#out;
    if (!this.#jobsOf.has(socket)) return false;
    this.#closing.add(socket);
    return true;
  }

  /** A connection that was kept open has become useless. */
  lost(socket: number): void {
    if (this.#closing.delete(socket)) this.#out.close(false, socket);
  }

  assertInvariants(check: Check, inHand: number): void {
    check(this.#held.length === 0 || !this.isRegistered, 'a result is held back');
    let jobs = 0;
    for (const [socket, count] of this.#jobsOf) {
      check(count > 0 && socket <= this.#out.socket, `socket ${socket} has ${count} jobs`);
      jobs += count;
    }
    check(jobs === inHand, 'jobs in hand are miscounted');
    for (const socket of this.#closing) check(this.#jobsOf.has(socket), `socket ${socket} is open for nobody`);
  }

  #settle({ socket, id }: Job, result: Uint8Array | undefined): void {
    if (result !== undefined) {
      if (this.#closing.has(socket)) this.#send(socket, { result, of: id });
      else this.#sendOrHold({ result, of: id });
    }
    const left = (this.#jobsOf.get(socket) ?? 0) - 1;
    if (left > 0) {
      this.#jobsOf.set(socket, left);
      return;
    }
    this.#jobsOf.delete(socket);
    if (this.#closing.delete(socket)) this.#out.close(true, socket);
  }

  #fitting(result: Uint8Array): Uint8Array {
    if (result.length <= this.#maxBytes) return result;
    return toResult(`result of ${result.length} bytes: the limit is ${this.#maxBytes}`);
  }

  #sendOrHold({ result, of }: Reply): void {
    if (this.isRegistered) this.#send(this.#out.socket, { result, of });
    else this.#held.push({ result, of });
  }

  #send(socket: number, { result, of }: Reply): void {
    this.sent++;
    this.#out.send({ kind: 'result', id: this.#entropy.uuid(), result, of }, socket);
  }
}
