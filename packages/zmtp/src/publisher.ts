/** The PUB and XPUB of 29/PUBSUB: sends each message to its subscribers, and drops it for those that do not read. */
import type { HandshakeRefusal, Peer, PublisherListener, PublisherPort } from '@proj/transport';
import { assertFrames, Fifo } from '@proj/transport/adapter';
import type { ResolvedPortOptions } from '@proj/transport/adapter';
import type { Connection } from './connection.js';
import { Prefixes } from './engine/prefixes.js';
import { SegmentedSet } from './engine/segmented-set.js';
import { Pipe, SharedMessage } from './pipe.js';
import { ZmtpSocket } from './socket.js';
import type { Reading } from './turn.js';
import type { World } from './world.js';

/** Overhead of a subscription besides its bytes. */
const SUBSCRIPTION_BYTES = 64;
/** Subscriptions of departed subscribers removed per turn: a millisecond. */
const FORGOTTEN_PER_TURN = 512;

/** One connection and its subscriptions. */
class Subscriber {
  readonly pipe: Pipe;
  /** The proven key, if any. */
  readonly peer: Pick<Peer, 'publicKey'>;
  /** Prefixes as Latin-1. */
  readonly prefixes = new SegmentedSet<string>();
  bytes = 0;
  /** The last message sent to it. */
  round = 0;
  isGone = false;

  constructor(pipe: Pipe, publicKey: Uint8Array | undefined) {
    this.pipe = pipe;
    this.peer = publicKey === undefined ? {} : { publicKey };
  }
}

/** A publisher over ZMTP. Peers are SUB and XSUB of ZMTP 3.0 and 3.1. */
export class ZmtpPublisher extends ZmtpSocket implements PublisherPort, Reading {
  readonly #prefixes = new Prefixes<Subscriber>();
  readonly #subscribers = new Map<Pipe, Subscriber>();
  /** Departed subscribers whose subscriptions remain. */
  readonly #leaving = new Fifo<Subscriber>();
  #listener: PublisherListener | undefined;
  #round = 0;
  #frames: readonly Uint8Array[] = [];
  #shared = new SharedMessage();
  #mayHear: ((peer: Pick<Peer, 'publicKey'>) => boolean) | undefined;

  constructor(world: World, options: ResolvedPortOptions) {
    super(world, options, options.tellsSubscriptions ? 'XPUB' : 'PUB');
  }

  start(listener: PublisherListener): void {
    this.begin();
    this.#listener = listener;
  }

  publish(frames: readonly Uint8Array[], mayHear?: (peer: Pick<Peer, 'publicKey'>) => boolean): void {
    assertFrames(frames);
    if (this.isClosing) return;
    if (this.#listener === undefined) throw new Error('publish: call start() first');
    this.#round++;
    this.#frames = frames;
    this.#mayHear = mayHear;
    this.#prefixes.match(frames[0] as Uint8Array, this.#deliver);
    this.#frames = [];
    this.#shared = new SharedMessage();
  }

  onReady(link: Connection, _identity: Uint8Array, publicKey: Uint8Array | undefined): void {
    const pipe = new Pipe(false, this.pipeLimits);
    this.#subscribers.set(pipe, new Subscriber(pipe, publicKey));
    link.join(pipe);
  }

  /** A prefix counts once per connection, as with libzmq, whose subscribers repeat SUBSCRIBE but send CANCEL once. */
  override onSubscription(link: Connection, prefix: Uint8Array, wanted: boolean): void {
    const subscriber = link.pipe && this.#subscribers.get(link.pipe);
    if (subscriber === undefined) return;
    if (this.#prefixes.has(prefix, subscriber) === wanted) return;
    const key = Buffer.from(prefix.buffer, prefix.byteOffset, prefix.byteLength).toString('latin1');
    const bytes = SUBSCRIPTION_BYTES + prefix.length;
    if (!wanted) {
      subscriber.prefixes.delete(key);
      subscriber.bytes -= bytes;
      if (this.#prefixes.remove(prefix, subscriber)) this.#tell(prefix, false);
    } else if (subscriber.bytes + bytes > this.world.subscriptionBytesMax) {
      const text = `subscriptions take more than ${this.world.subscriptionBytesMax} bytes`;
      link.cut({ code: 'too-large', text });
    } else {
      subscriber.prefixes.add(key);
      subscriber.bytes += bytes;
      if (this.#prefixes.add(prefix, subscriber)) this.#tell(prefix, true);
    }
  }

  protected override onLost(pipe: Pipe): void {
    const subscriber = this.#subscribers.get(pipe);
    if (subscriber === undefined) return;
    this.#subscribers.delete(pipe);
    subscriber.isGone = true;
    this.#leaving.push(subscriber);
    if (this.#leaving.length === 1) this.onRead();
  }

  /** Removes the subscriptions of departed subscribers in slices: one may have tens of thousands. */
  onRead(): void {
    let left = FORGOTTEN_PER_TURN;
    for (let one = this.#leaving.peek(); one !== undefined; one = this.#leaving.peek()) {
      for (const key of one.prefixes) {
        if (left-- === 0) {
          this.turns.readLater(this, 'busy');
          return;
        }
        one.prefixes.delete(key);
        const prefix = Buffer.from(key, 'latin1');
        if (this.#prefixes.remove(prefix, one)) this.#tell(prefix, false);
      }
      this.#leaving.shift();
    }
  }

  #tell(prefix: Uint8Array, wanted: boolean): void {
    if (this.options.tellsSubscriptions && !this.isClosing) this.#listener?.onSubscription?.(prefix.slice(), wanted);
  }

  protected onRefused(refusal: HandshakeRefusal): void {
    this.#listener?.onRefused?.(refusal);
  }

  readonly #deliver = (subscriber: Subscriber): void => {
    if (subscriber.round === this.#round || subscriber.isGone) return;
    subscriber.round = this.#round;
    if (subscriber.pipe.hasRoom && this.#mayHear?.(subscriber.peer) !== false)
      subscriber.pipe.push(this.#frames, this.#shared);
  };
}
