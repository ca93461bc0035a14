/** A message in a consumer's hands. Rule 24 of docs/protocols/pzq.md. */
import { latin1 } from '@proj/frames';
import { toBuffers } from '@proj/transport';
import { withoutTraceFrame } from '@proj/transport/tracing';
import type { TracedCall, TracingContext } from '@proj/transport/tracing';
import type { PzqHanded, PzqVerdict } from './engine/consumer-events.js';

/** What a {@link PzqMessage} needs from its consumer. */
export interface PzqMessageOwner {
  settle(handed: PzqHanded, verdict: PzqVerdict): void;
  extend(handed: PzqHanded): void;
}

/**
 * A delivered message. It belongs to the consumer until its acknowledgement timeout, counted from `sentMicros`, has passed; then the queue
 * delivers it again, here or elsewhere. The first of `ack`, `nack` and `leave` counts, later calls have no effect. None of them can fail,
 * because a queue does not answer.
 */
export class PzqMessage {
  /** One Buffer per frame, as produced; at least one. */
  readonly body: Buffer[];
  readonly #handed: PzqHanded;
  readonly #owner: PzqMessageOwner;
  readonly #trace: TracedCall | undefined;
  #verdict: PzqVerdict | undefined;

  /** @internal Messages come from a `PzqConsumer`. */
  constructor(handed: PzqHanded, owner: PzqMessageOwner, trace?: TracedCall) {
    this.#handed = handed;
    this.#owner = owner;
    this.#trace = trace;
    this.body = toBuffers(withoutTraceFrame(handed.delivery.body));
  }

  /** The queue's name for the message, the same at each delivery; Latin-1, usually 53 characters of ASCII. */
  get key(): string {
    return latin1(this.#handed.delivery.key);
  }

  /** When the queue sent it, by the queue's clock: microseconds since 1970. */
  get sentMicros(): number {
    return this.#handed.delivery.sentMicros;
  }

  /** How long after that the queue waits for an acknowledgement, in milliseconds. */
  get ackTimeoutMs(): number {
    return this.#handed.delivery.ackTimeoutMicros / 1000;
  }

  /** The queue it came from: the same text for all messages of one queue as long as this consumer lives. */
  get server(): string {
    return Buffer.from(this.#handed.peer.id).toString('hex');
  }

  /** The verdict; `undefined` until there is one. */
  get verdict(): PzqVerdict | undefined {
    return this.#verdict;
  }

  /**
   * The OpenTelemetry context of this message's span, with option `tracing`: `api.context.with(message.traceContext, work)` makes the spans of
   * `work` its children. `run` does this by itself.
   */
  get traceContext(): TracingContext | undefined {
    return this.#trace?.context;
  }

  /** Done: the queue deletes it, even after its timeout. */
  ack(): void {
    this.#settle('ack');
  }

  /** Not done: the queue delivers it again at once. */
  nack(): void {
    this.#settle('nack');
  }

  /** Tells the queue nothing: it delivers the message again after its timeout. */
  leave(): void {
    this.#settle('leave');
  }

  /** Not done yet: restarts the timeout, if the queue is ours and has option `extendLease`; others ignore it. */
  extend(): void {
    if (this.#verdict !== undefined) return;
    this.#trace?.event('lease extended');
    this.#owner.extend(this.#handed);
  }

  #settle(verdict: PzqVerdict): void {
    if (this.#verdict !== undefined) return;
    this.#verdict = verdict;
    this.#owner.settle(this.#handed, verdict);
    this.#trace?.event(verdict);
    this.#trace?.end();
  }
}
