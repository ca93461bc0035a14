/** One run of a handler: the context it gets, and the limits and the end that its runner sets. */
import { EMPTY_FRAME, totalBytes } from '@proj/frames';
import type { BodyInput } from '../body.js';
import { ProjError } from '../errors.js';
import { settle, toFrames } from './handler.js';
import type { FrameHandler, HandlerContext } from './handler.js';

/** The largest reply that a broker can be expected to accept, without its envelope. */
export interface ReplyLimits {
  readonly frames: number;
  readonly bytes: number;
}

/** Sends a partial reply; resolves when the next one may follow. `undefined` if the protocol has no partial replies. */
export type SendPartial = ((job: HandlerRun, body: readonly Uint8Array[]) => Promise<void>) | undefined;

/** The context of one handler run. Rarely used fields are created on demand. */
export class HandlerRun implements HandlerContext {
  readonly id: number;
  readonly #limits: ReplyLimits;
  readonly #send: SendPartial;
  /** Partial replies to be sent together with the last one. */
  readonly #kept: Uint8Array[] = [];
  #keptBytes = 0;
  #controller: AbortController | undefined;
  #cancelled: Error | undefined;
  #over = false;

  constructor(id: number, limits: ReplyLimits, send: SendPartial) {
    this.id = id;
    this.#limits = limits;
    this.#send = send;
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#cancelled !== undefined) this.#controller.abort(this.#cancelled);
    return this.#controller.signal;
  }

  get partial(): (reply: BodyInput) => Promise<void> {
    return (reply) => this.#partial(reply);
  }

  /** True once the result is no longer wanted. */
  get isCancelled(): boolean {
    return this.#cancelled !== undefined;
  }

  /** Runs the handler and returns the body of the last reply, at least one frame. Rejects as the handler does. */
  async run(handler: FrameHandler, body: readonly Uint8Array[]): Promise<readonly Uint8Array[]> {
    try {
      const frames = toFrames(await settle(handler(body, this), this.partial));
      this.#check(frames);
      return orEmpty(this.#kept.length === 0 ? frames : [...this.#kept, ...frames]);
    } finally {
      this.#over = true;
    }
  }

  /** The body to send instead of a missing reply; kept partial replies are dropped. */
  substitute(reply: BodyInput): readonly Uint8Array[] {
    this.#kept.length = this.#keptBytes = 0;
    const frames = toFrames(reply);
    this.#check(frames);
    return orEmpty(frames);
  }

  /** Tells the handler that nobody wants its result any more. */
  cancel(reason: Error): void {
    this.#cancelled = reason;
    this.#controller?.abort(reason);
  }

  async #partial(reply: BodyInput): Promise<void> {
    this.#throwIfCancelled();
    if (this.#over) throw new ProjError('PROTOCOL_LOCAL', 'partial reply: the handler has already ended');
    const frames = toFrames(reply);
    const bytes = this.#check(frames);
    if (this.#send === undefined) {
      this.#kept.push(...frames);
      this.#keptBytes += bytes;
      return;
    }
    await this.#send(this, orEmpty(frames));
    this.#throwIfCancelled();
  }

  #throwIfCancelled(): void {
    if (this.#cancelled !== undefined) throw this.#cancelled;
  }

  /** A broker would drop such a reply unread and wait for ever, because heartbeats continue. */
  #check(frames: readonly Uint8Array[]): number {
    const bytes = totalBytes(frames);
    const allFrames = this.#kept.length + frames.length;
    const allBytes = this.#keptBytes + bytes;
    if (allFrames <= this.#limits.frames && allBytes <= this.#limits.bytes) return bytes;
    const allowed = `${this.#limits.frames} frames and ${this.#limits.bytes} bytes`;
    throw new ProjError(
      'PROTOCOL_LOCAL',
      `reply of ${allFrames} frames and ${allBytes} bytes: the limits are ${allowed}`,
    );
  }
}

/** A reply has at least one frame. */
function orEmpty(frames: readonly Uint8Array[]): readonly Uint8Array[] {
  return frames.length === 0 ? [EMPTY_FRAME] : frames;
}
