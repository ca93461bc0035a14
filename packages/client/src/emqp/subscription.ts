/** What one `subscribe` of an EventMQ client gives: messages for a reader that may be slower than the network. */
import { Fifo } from '@proj/transport/adapter';

/** A message of the pub-sub device. */
export interface EmqpPublication {
  readonly topic: Buffer;
  readonly body: Buffer;
  /** How many messages right before this one were dropped because the reader was too slow; 0 as a rule. */
  readonly missed: number;
}

/** Bounds of what waits for the reader. */
export interface EmqpSubscriptionLimits {
  readonly bufferMax: number;
  /** A single message is taken whatever its size: sockets have a limit of their own. */
  readonly bufferMaxBytes: number;
}

/** What a subscription tells its client. */
export interface EmqpSubscriptionListener {
  /** A message was dropped; `first` unless nothing was read since the last one was. */
  onMissed(first: boolean): void;
  /** It is over: the socket is to be closed. Once. */
  onEnd(): void;
}

type Result = IteratorResult<EmqpPublication, undefined>;

interface Waiter {
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

const DONE: Result = { done: true, value: undefined };

/**
 * An async iterator over what was published since. It ends when the reader leaves the loop or calls `return`, with the client, or
 * with the signal's reason. Publishers cannot be held back, so the oldest of too many messages that wait is dropped; the next one
 * read says how many.
 */
export class EmqpSubscription implements AsyncIterableIterator<EmqpPublication, undefined>, AsyncDisposable {
  readonly #limits: EmqpSubscriptionLimits;
  readonly #listener: EmqpSubscriptionListener;
  readonly #buffer = new Fifo<readonly [Buffer, Buffer]>();
  readonly #waiters: Waiter[] = [];
  #bytes = 0;
  #missed = 0;
  #failure: { readonly error: Error } | undefined;
  #over = false;

  /** @internal Use `client.subscribe`. */
  constructor(limits: EmqpSubscriptionLimits, listener: EmqpSubscriptionListener) {
    this.#limits = limits;
    this.#listener = listener;
  }

  /** True once nothing more will come. */
  get over(): boolean {
    return this.#over;
  }

  next(): Promise<Result> {
    const message = this.#buffer.shift();
    if (message !== undefined) {
      this.#bytes -= sizeOf(message);
      return Promise.resolve(this.#publication(message));
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
  return(): Promise<Result> {
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

  /** @internal Takes a message. */
  deliver(topic: Buffer, body: Buffer): void {
    if (this.#over) return;
    const waiter = this.#waiters.shift();
    if (waiter !== undefined) {
      waiter.resolve(this.#publication([topic, body]));
      return;
    }
    this.#buffer.push([topic, body]);
    this.#bytes += topic.length + body.length;
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
    this.#bytes -= sizeOf(dropped);
    this.#listener.onMissed(this.#missed++ === 0);
  }

  #publication([topic, body]: readonly [Buffer, Buffer]): Result {
    const missed = this.#missed;
    this.#missed = 0;
    return { done: false, value: { topic, body, missed } };
  }
}

function sizeOf([topic, body]: readonly [Buffer, Buffer]): number {
  return topic.length + body.length;
}
