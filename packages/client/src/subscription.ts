/** Subscriptions of a client: one SUB socket each, and a reader that may be slower than the network. Knows no protocol. */
import { totalBytes } from '@proj/frames';
import { BoundedBuffer, ProjError } from '@proj/transport';
import type { Departures, HandshakeRefusal, Legality, PortOptions, SubscriberPort, Transport } from '@proj/transport';
import { onAbort } from './shared/on-abort.js';

/** Added to a message's own fields when it is read. */
export interface Heard {
  /** Number of messages dropped just before this one because the reader was too slow; usually 0. */
  readonly missed: number;
}

/** Bounds of the unread messages. */
export interface SubscriptionLimits {
  readonly bufferMax: number;
  /** See `BufferBounds`. */
  readonly bufferMaxBytes: number;
}

interface SubscriptionListener {
  /** A message was dropped. `first`: the first since the last read. */
  onMissed(first: boolean): void;
  /** Nothing more will be delivered. Called once. */
  onEnd(): void;
}

/**
 * An async iterator over messages published from now on. Ends when the reader leaves the loop or calls `return`, when the client closes, or with
 * the signal's reason. Publishers cannot be slowed down: if too many messages are unread, the oldest is dropped, and the next one read has the
 * count.
 */
export class Subscription<Message extends object>
  implements AsyncIterableIterator<Message & Heard, undefined>, AsyncDisposable
{
  readonly #waiting: BoundedBuffer<Message>;
  readonly #listener: SubscriptionListener;
  #missed = 0;

  /** @internal Use the client's `subscribe`. */
  constructor({ bufferMax, bufferMaxBytes }: SubscriptionLimits, listener: SubscriptionListener) {
    this.#waiting = new BoundedBuffer({ itemsMax: bufferMax, bytesMax: bufferMaxBytes });
    this.#listener = listener;
  }

  /** True once nothing more will arrive. */
  get over(): boolean {
    return this.#waiting.over;
  }

  async next(): Promise<IteratorResult<Message & Heard, undefined>> {
    // While a reader waits nothing is dropped, so these were missed before the message it gets.
    const missed = this.#missed;
    this.#missed = 0;
    const { done, value } = await this.#waiting.next();
    return done === true ? { done, value } : { done: false, value: { ...value, missed } };
  }

  /** Ends it. */
  return(): Promise<IteratorResult<Message & Heard, undefined>> {
    this.end();
    return Promise.resolve({ done: true, value: undefined });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** Same as `return`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.return();
  }

  /** @internal Adds a message of this many bytes. */
  deliver(message: Message, bytes: number): void {
    for (let dropped = this.#waiting.displace(message, bytes); dropped > 0; dropped--)
      this.#listener.onMissed(this.#missed++ === 0);
  }

  /** @internal Ends it and drops unread messages; with an error, the next read rejects. */
  end(failure?: { readonly error: unknown }): void {
    if (this.over) return;
    this.#waiting.end(failure);
    this.#waiting.clear();
    this.#listener.onEnd();
  }
}

/** The state of a subscription, and what its client does about it. It ends when its reader leaves, its signal aborts or its client closes. */
export const SUBSCRIPTION_LEGALITY: Legality<
  'opening' | 'listening' | 'over',
  'transport loaded' | 'message' | 'socket failed' | 'end',
  'accept' | 'fail' | 'ignore'
> = {
  opening: {
    'transport loaded': ['accept', 'listening'],
    message: ['ignore'],
    'socket failed': ['ignore'],
    end: ['accept', 'over'],
  },
  listening: {
    'transport loaded': ['ignore'],
    message: ['accept'],
    'socket failed': ['fail', 'over'],
    end: ['accept', 'over'],
  },
  over: { 'transport loaded': ['ignore'], message: ['ignore'], 'socket failed': ['ignore'], end: ['ignore'] },
};

type SubscriptionEvent = keyof (typeof SUBSCRIPTION_LEGALITY)['over'];

/** A client's settings and callbacks for its subscriptions. */
export interface SubscriptionSource<Message extends object> {
  /** Its name in error messages. */
  readonly subject: string;
  readonly endpoints: readonly string[];
  readonly port: PortOptions;
  load(): Promise<Transport>;
  /** A published message; `undefined` if it is not valid. */
  read(frames: Uint8Array[]): Message | undefined;
  onRefused(refusal: HandshakeRefusal): void;
  /** A reader is too slow. Called once until it reads again. */
  onMissed(subscription: Subscription<Message>): void;
}

/** One call of `subscribe`. */
export interface SubscriptionRequest<Message extends object> {
  readonly prefixes: readonly Uint8Array[];
  readonly limits: SubscriptionLimits;
  readonly signal: AbortSignal | undefined;
  /** Whether the message is wanted, because a prefix also matches longer names. Default: all are. */
  wants?(message: Message): boolean;
}

/** All subscriptions of one client. Each has its own socket until it ends. */
export class ClientSubscriptions<Message extends object> {
  /** Totals since construction. */
  readonly totals = { received: 0, missed: 0, unreadable: 0 };
  readonly #source: SubscriptionSource<Message>;
  readonly #departures: Departures;
  /** Each with its socket, once it is open. */
  readonly #open = new Map<Subscription<Message>, SubscriberPort | undefined>();

  /** `departures`: takes over sockets that are no longer needed. */
  constructor(source: SubscriptionSource<Message>, departures: Departures) {
    this.#source = source;
    this.#departures = departures;
  }

  /** Subscribes from now on. */
  subscribe(request: SubscriptionRequest<Message>): Subscription<Message> {
    const { limits, signal } = request;
    let release: (() => void) | undefined;
    const subscription = new Subscription<Message>(limits, {
      onMissed: (first) => {
        this.totals.missed++;
        if (first) this.#source.onMissed(subscription);
      },
      onEnd: () => {
        release?.();
        const port = this.#open.get(subscription);
        this.#open.delete(subscription);
        if (port !== undefined) this.#departures.add(port, 0);
      },
    });
    this.#open.set(subscription, undefined);
    const abort = (): void => {
      this.#end(subscription, { error: signal?.reason });
    };
    if (signal?.aborted === true) abort();
    else if (signal !== undefined) release = onAbort(signal, abort);
    this.#listen(subscription, request).catch((error: unknown) => {
      this.#end(subscription, { error });
    });
    return subscription;
  }

  /** Ends all of them. */
  close(): void {
    for (const subscription of [...this.#open.keys()]) this.#end(subscription);
  }

  async #listen(subscription: Subscription<Message>, request: SubscriptionRequest<Message>): Promise<void> {
    const source = this.#source;
    const transport = await source.load();
    if (this.#verdict(subscription, 'transport loaded') === 'ignore') return;
    const port = transport.subscriber(source.port);
    this.#open.set(subscription, port);
    for (const prefix of request.prefixes) port.subscribe(prefix);
    for (const endpoint of source.endpoints) port.connect(endpoint);
    port.start({
      onMessage: (frames) => {
        this.#onMessage(subscription, frames, request);
      },
      onRejected: () => {
        this.totals.unreadable++;
      },
      onRefused: (refusal) => {
        source.onRefused(refusal);
      },
      onBroken: (cause) => {
        if (this.#verdict(subscription, 'socket failed') === 'ignore') return;
        const error = new ProjError('PEER_LOST', `${source.subject}: the socket failed; subscribe again`, { cause });
        subscription.end({ error });
      },
    });
  }

  #onMessage(subscription: Subscription<Message>, frames: Uint8Array[], request: SubscriptionRequest<Message>): void {
    const message = this.#source.read(frames);
    if (message === undefined) this.totals.unreadable++;
    else if (request.wants?.(message) !== false) {
      this.totals.received++;
      if (this.#verdict(subscription, 'message') === 'accept') subscription.deliver(message, totalBytes(frames));
    }
  }

  #end(subscription: Subscription<Message>, failure?: { readonly error: unknown }): void {
    if (this.#verdict(subscription, 'end') === 'accept') subscription.end(failure);
  }

  #verdict(subscription: Subscription<Message>, event: SubscriptionEvent): 'accept' | 'fail' | 'ignore' {
    const isOpen = this.#open.get(subscription) !== undefined;
    return SUBSCRIPTION_LEGALITY[subscription.over ? 'over' : isOpen ? 'listening' : 'opening'][event][0];
  }
}
