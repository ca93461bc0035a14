/** Producers and consumers at full speed, with a record of every message. */
import { PzqConsumer, PzqProducer } from '@proj/client';
import { decodePzqKey } from '@proj/frames/pzq';
import { isProjError } from '@proj/transport';
import { transport } from '../../transport.js';

const PRODUCERS = 2;
/** Messages that each producer has in flight. */
const WINDOW = 50;
const CONSUMERS = 2;
const CONCURRENCY = 25;
/** Stored messages that no consumer has handled yet; at this many, producers wait: a longer backlog proves nothing more. */
const BACKLOG_MAX = 1000;

/** Where a queue listens. */
export interface QueueEndpoints {
  readonly receive: string;
  readonly send: string;
  readonly monitor: string;
}

interface Progress {
  readonly stored: number;
  readonly handled: number;
  readonly resolve: () => void;
}

/** Endless messages, each body once, until {@link Load.finish}; as fast as producers and consumers can. */
export class Load implements AsyncDisposable {
  /** Bodies that the queue has acknowledged as stored. */
  readonly stored = new Set<string>();
  /** Bodies that consumers have acknowledged. */
  readonly handled = new Set<string>();
  /** Bodies that are in the first set but not in the second, which may be very large. */
  readonly #outstanding = new Set<string>();
  /** Sequences that consumers have acknowledged. */
  readonly acked = new Set<number>();
  /** Sequences that consumers have acknowledged and the store no longer holds. */
  readonly settled = new Set<number>();
  /** Settled messages that came again: there must be none. */
  readonly resurrected: number[] = [];
  /** Bodies that were refused. */
  refused = 0;
  /** Deliveries of messages acknowledged before: their acknowledgements were not flushed when the queue died. */
  repeated = 0;
  readonly #producers: PzqProducer[];
  readonly #consumers: PzqConsumer[];
  readonly #sending: Promise<unknown>;
  #progress: Progress | undefined;
  /** Producers that wait for a shorter backlog. */
  #blocked: (() => void)[] = [];
  #isEnding = false;

  constructor({ receive, send }: Pick<QueueEndpoints, 'receive' | 'send'>) {
    this.#producers = Array.from(
      { length: PRODUCERS },
      () => new PzqProducer({ transport, endpoints: [receive], window: WINDOW }),
    );
    this.#consumers = Array.from(
      { length: CONSUMERS },
      // Every delivery must be recorded.
      () => new PzqConsumer({ transport, endpoints: [send], prefetch: CONCURRENCY, dedupeMax: 0, dropExpired: false }),
    );
    for (const consumer of this.#consumers)
      void consumer.run(({ key, body }) => this.#handle(key, String(body[0])), { concurrency: CONCURRENCY });
    this.#sending = Promise.all(
      this.#producers.flatMap((producer, number) =>
        Array.from({ length: WINDOW }, (_, line) => this.#send(producer, `${number}-${line}`)),
      ),
    );
  }

  /** Resolves when this many more were stored, and this many more handled. */
  progress(count: number): Promise<void> {
    return new Promise((resolve) => {
      this.#progress = { stored: this.stored.size + count, handled: this.handled.size + count, resolve };
    });
  }

  /**
   * Records what a dead queue has left, bodies by sequence: acknowledged messages that are missing are settled for good. Returns
   * those that were acknowledged to their producer but are nowhere.
   */
  settle(left: ReadonlyMap<number, string>): string[] {
    for (const seq of this.acked) if (!left.has(seq)) this.settled.add(seq);
    const bodies = new Set(left.values());
    return this.lost().filter((text) => !bodies.has(text));
  }

  /** Stops sending; resolves when every sent message has its answer, and every stored one was handled. */
  async finish(): Promise<void> {
    this.#end();
    await this.#sending;
    while (this.#outstanding.size > 0) await this.#next();
  }

  /** Messages that were acknowledged to their producer but have not reached a consumer. */
  lost(): string[] {
    return [...this.#outstanding];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#end();
    await Promise.all([...this.#producers, ...this.#consumers].map((one) => one.close()));
    await this.#sending;
  }

  async #send(producer: PzqProducer, line: string): Promise<void> {
    for (let number = 0; !this.#isEnding;) {
      if (this.#outstanding.size >= BACKLOG_MAX) {
        await new Promise<void>((resolve) => this.#blocked.push(resolve));
        continue;
      }
      const text = `${line}-${number++}`;
      try {
        await producer.send(text);
        this.stored.add(text);
        if (!this.handled.has(text)) this.#outstanding.add(text);
        this.#advance();
      } catch (error) {
        if (isProjError(error, 'CLOSED')) return;
        if (!isProjError(error, 'REJECTED')) throw error;
        this.refused++;
      }
    }
  }

  #handle(key: string, text: string): void {
    const { seq } = decodePzqKey(Buffer.from(key, 'latin1')) ?? { seq: 0 };
    if (this.settled.has(seq)) this.resurrected.push(seq);
    if (this.acked.has(seq)) this.repeated++;
    this.acked.add(seq);
    this.handled.add(text);
    this.#outstanding.delete(text);
    if (this.#outstanding.size < BACKLOG_MAX) this.#unblock();
    this.#advance();
  }

  #end(): void {
    this.#isEnding = true;
    this.#unblock();
  }

  #unblock(): void {
    for (const resolve of this.#blocked.splice(0)) resolve();
  }

  /** Resolves with the next handled message. */
  #next(): Promise<void> {
    return new Promise((resolve) => {
      this.#progress = { stored: 0, handled: 0, resolve };
    });
  }

  #advance(): void {
    const goal = this.#progress;
    if (goal === undefined || this.stored.size < goal.stored || this.handled.size < goal.handled) return;
    this.#progress = undefined;
    goal.resolve();
  }
}
