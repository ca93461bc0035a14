/** A message in a consumer's hands. Rule 24 of docs/protocols/pzq.md. */
import { latin1 } from '@proj/frames';
import { toBuffers } from '@proj/transport';
import type { PzqHanded, PzqVerdict } from './engine/session-consumer.js';

/** What a {@link PzqMessage} needs of its consumer. */
export interface PzqMessageOwner {
  settle(handed: PzqHanded, verdict: PzqVerdict): void;
  extend(handed: PzqHanded): void;
}

/**
 * A message that was delivered. It is the consumer's until its acknowledgement timeout, counted from `sentMicros`, has passed;
 * then the queue gives it to somebody again, here or elsewhere. The first of `ack`, `nack` and `leave` counts, later calls do
 * nothing; none of them can fail, for a queue does not answer.
 */
export class PzqMessage {
  /** One Buffer per frame, as they were produced; at least one. */
  readonly body: Buffer[];
  readonly #handed: PzqHanded;
  readonly #owner: PzqMessageOwner;
  #verdict: PzqVerdict | undefined;

  /** @internal Messages come from a `PzqConsumer`. */
  constructor(handed: PzqHanded, owner: PzqMessageOwner) {
    this.#handed = handed;
    this.#owner = owner;
    this.body = toBuffers(handed.delivery.body);
  }

  /** The queue's name for the message, the same at every delivery of it; Latin-1, mostly 53 characters of ASCII. */
  get key(): string {
    return latin1(this.#handed.delivery.key);
  }

  /** When the queue sent it, by its own clock: microseconds since 1970. */
  get sentMicros(): number {
    return this.#handed.delivery.sentMicros;
  }

  /** How long after that the queue waits for an acknowledgement, in milliseconds. */
  get ackTimeoutMs(): number {
    return this.#handed.delivery.ackTimeoutMicros / 1000;
  }

  /** Which of the queues it came from: the same text for all of one queue's messages while this consumer lives. */
  get server(): string {
    return Buffer.from(this.#handed.peer.id).toString('hex');
  }

  /** What was decided; `undefined` while nothing is. */
  get verdict(): PzqVerdict | undefined {
    return this.#verdict;
  }

  /** Done: the queue deletes it, also after its timeout. */
  ack(): void {
    this.#settle('ack');
  }

  /** Not done: the queue gives it to somebody again, at once. */
  nack(): void {
    this.#settle('nack');
  }

  /** Says nothing: the queue gives it to somebody again when its timeout has passed. */
  leave(): void {
    this.#settle('leave');
  }

  /** Still at it: the timeout starts anew, with a queue of ours that has option `extendLease`; others ignore it. */
  extend(): void {
    if (this.#verdict === undefined) this.#owner.extend(this.#handed);
  }

  #settle(verdict: PzqVerdict): void {
    if (this.#verdict !== undefined) return;
    this.#verdict = verdict;
    this.#owner.settle(this.#handed, verdict);
  }
}
