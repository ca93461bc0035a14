/** Partial replies on their way to a reader that may be slower than the network. No protocol. */
import { totalBytes } from '@proj/frames';

/** Bounds of a {@link ReplyBuffer}. */
export interface ReplyBufferOptions {
  /** Most replies that wait to be read, at least 1. */
  readonly repliesMax: number;
  /** Most bytes in them. A single reply is taken whatever its size: sockets have a limit of their own. */
  readonly bytesMax: number;
}

type End = { readonly final: Buffer[] } | { readonly error: unknown };

/**
 * The replies to one call, for one reader: partial ones, then the final one or the failure. A socket cannot be told to pause,
 * so a full buffer refuses rather than holds back.
 */
export class ReplyBuffer {
  readonly #options: ReplyBufferOptions;
  readonly #partials: Buffer[][] = [];
  #bytes = 0;
  #end: End | undefined;
  #wake: (() => void) | undefined;

  constructor(options: ReplyBufferOptions) {
    this.#options = options;
  }

  /** Takes a partial reply; false when there is no room for it. */
  partial(frames: Buffer[]): boolean {
    const { repliesMax, bytesMax } = this.#options;
    const bytes = this.#bytes + totalBytes(frames);
    const waiting = this.#partials.length;
    if (waiting > 0 && (waiting >= repliesMax || bytes > bytesMax)) return false;
    this.#partials.push(frames);
    this.#bytes = bytes;
    this.#wake?.();
    return true;
  }

  /** Takes the final reply. Nothing comes after it. */
  final(frames: Buffer[]): void {
    this.#end = { final: frames };
    this.#wake?.();
  }

  /** Takes the failure. Nothing comes after it; earlier replies can still be read. */
  fail(error: unknown): void {
    this.#end = { error };
    this.#wake?.();
  }

  /** The next partial reply, or with `done` the final one, once there is one. Rejects where the call failed. One reader at a time. */
  async next(): Promise<IteratorResult<Buffer[], Buffer[]>> {
    while (this.#partials.length === 0 && this.#end === undefined) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    const partial = this.#partials.shift();
    if (partial !== undefined) {
      this.#bytes -= totalBytes(partial);
      return { done: false, value: partial };
    }
    const end = this.#end as End;
    if ('error' in end) throw end.error;
    return { done: true, value: end.final };
  }
}
