/** What one `subscribe` of a client gives: messages for a reader that may be slower than the network. No protocol. */
import { Fifo } from '@proj/transport/adapter';

/** What is read of a subscription has this besides what it says. */
export interface Heard {
  /** How many messages right before this one were dropped because the reader was too slow; 0 as a rule. */
  readonly missed: number;
}

/** Bounds of what waits for the reader. */
export interface SubscriptionLimits {
  readonly bufferMax: number;
  /** A single message is taken whatever its size: sockets have a limit of their own. */
  readonly bufferMaxBytes: number;
}

/** What a subscription tells its client. */
export interface SubscriptionListener {
  /** A message was dropped; `first` unless nothing was read since the last one was. */
  onMissed(first: boolean): void;
  /** It is over: the socket is to be closed. Once. */
  onEnd(): void;
}

type Result<Message> = IteratorResult<Message & Heard, undefined>;

interface Waiter<Message> {
  readonly resolve: (result: Result<Message>) => void;
  readonly reject: (error: unknown) => void;
}

const DONE = { done: true, value: undefined } as const;

/**
 * An async iterator over what was published since. It ends when the reader leaves the loop or calls `return`, with the client, or
 * with the signal's reason. Publishers cannot be held back, so the oldest of too many messages that wait is dropped; the next one
 * read says how many.
 */
export class Subscription<Message extends object>
  implements AsyncIterableIterator<Message & Heard, undefined>, AsyncDisposable
{
  readonly #limits: SubscriptionLimits;
  readonly #listener: SubscriptionListener;
  readonly #buffer = new Fifo<{ readonly message: Message; readonly bytes: number }>();
  readonly #waiters: Waiter<Message>[] = [];
  #bytes = 0;
  #missed = 0;
  #failure: { readonly error: Error } | undefined;
  #over = false;

  /** @internal Use `subscribe` of a client. */
  constructor(limits: SubscriptionLimits, listener: SubscriptionListener) {
    this.#limits = limits;
    this.#listener = listener;
  }

  /** True once nothing more will come. */
  get over(): boolean {
    return this.#over;
  }

  next(): Promise<Result<Message>> {
    const waiting = this.#buffer.shift();
    if (waiting !== undefined) {
      this.#bytes -= waiting.bytes;
      return Promise.resolve(this.#heard(waiting.message));
    }
    if (this.#failure !== undefined) {
      const { error } = this.#failure;
      this.#failure = undefined;
      return Promise.reject(error);
    }
    if (this.#over) return Promise.resolve(DONE);
    return new Promise((resolve, reject) => this.#waiters.push({ resolve, reject }));
  }

  /** Ends it. */
  return(): Promise<Result<Message>> {
    this.end();
    return Promise.resolve(DONE);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** The same as `return`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.return();
  }

  /** @internal Takes a message of so many bytes. */
  deliver(message: Message, bytes: number): void {
    if (this.#over) return;
    const waiter = this.#waiters.shift();
    if (waiter !== undefined) {
      waiter.resolve(this.#heard(message));
      return;
    }
    this.#buffer.push({ message, bytes });
    this.#bytes += bytes;
    while (this.#isFull()) this.#dropOldest();
  }

  /** @internal Nothing more comes, and what waits is dropped; with an error, the next read rejects. */
  end(failure?: { readonly error: unknown }): void {
    if (this.#over) return;
    this.#over = true;
    while (this.#buffer.shift() !== undefined);
    const [first, ...others] = this.#waiters.splice(0);
    if (failure !== undefined && first !== undefined) first.reject(failure.error);
    else {
      // Rejected with as it is, whatever it is.
      this.#failure = failure as { readonly error: Error } | undefined;
      first?.resolve(DONE);
    }
    for (const waiter of others) waiter.resolve(DONE);
    this.#listener.onEnd();
  }

  #isFull(): boolean {
    const { bufferMax, bufferMaxBytes } = this.#limits;
    const { length } = this.#buffer;
    return length > bufferMax || (length > 1 && this.#bytes > bufferMaxBytes);
  }

  #dropOldest(): void {
    const dropped = this.#buffer.shift();
    if (dropped === undefined) return;
    this.#bytes -= dropped.bytes;
    this.#listener.onMissed(this.#missed++ === 0);
  }

  #heard(message: Message): Result<Message> {
    const missed = this.#missed;
    this.#missed = 0;
    return { done: false, value: { ...message, missed } };
  }
}
