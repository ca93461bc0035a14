/** A PUB or XPUB socket of zeromq.js as a {@link PublisherPort}. */
import type { Clock } from '@proj/heartbeat';
import type { Publisher, XPublisher } from 'zeromq';
import { ProjError } from '../errors.js';
import { assertFrames } from '../limits.js';
import type { Peer, PublisherListener, PublisherPort } from '../port.js';
import type { ResolvedPortOptions } from '../port-options.js';
import type { CurveGuard } from './curve-guard.js';
import { BoundEndpoints } from './endpoints.js';
import { untilLetGo } from './let-go.js';
import { MessageReader } from './reader.js';

/** First byte of a message that an XPUB reads: whether the prefix after it is subscribed or canceled. */
const SUBSCRIBE = 1;
const UNSUBSCRIBE = 0;

/**
 * Needs no outbox: with a send timeout of 0 zeromq.js hands each message to libzmq synchronously, and libzmq drops it for peers whose pipes are
 * full. So no two sends overlap, and nothing waits here.
 */
export class ZmqPublisher implements PublisherPort {
  readonly #socket: Publisher | XPublisher;
  readonly #clock: Clock;
  readonly #lingerMs: number;
  readonly #endpoints: BoundEndpoints;
  readonly #guard: CurveGuard | undefined;
  /** For an XPUB. */
  readonly #reader: MessageReader | undefined;
  #reading: Promise<void> = Promise.resolve();
  #listener: PublisherListener | undefined;
  #closing: Promise<void> | undefined;
  /** False once `close` was called or the socket has failed. */
  #live = true;

  constructor(socket: Publisher | XPublisher, options: ResolvedPortOptions, clock: Clock, guard?: CurveGuard) {
    this.#socket = socket;
    this.#clock = clock;
    this.#lingerMs = options.lingerMs;
    this.#guard = guard;
    this.#reader = 'receive' in socket ? new MessageReader(socket, clock) : undefined;
    this.#endpoints = new BoundEndpoints(
      socket,
      clock,
      (endpoint) => {
        if (!this.#live) throw new ProjError('CLOSED', `endpoint ${endpoint}: the port was closed`);
        if (this.#listener !== undefined) throw new Error(`endpoint ${endpoint}: bind before start()`);
      },
      guard,
    );
  }

  bind(endpoint: string): Promise<string> {
    return this.#endpoints.bind(endpoint);
  }

  start(listener: PublisherListener): void {
    if (this.#listener !== undefined) throw new Error('start: the port was already started');
    this.#listener = listener;
    if (!this.#live) return;
    this.#guard?.start(listener);
    if (this.#reader === undefined) return;
    this.#reading = this.#reader.read(([first, ...rest]) => {
      // An XSUB may send other messages too.
      if (rest.length > 0 || (first?.[0] !== SUBSCRIBE && first?.[0] !== UNSUBSCRIBE)) return;
      listener.onSubscription?.(first.subarray(1), first[0] === SUBSCRIBE);
    }, this.#onFailed);
  }

  publish(frames: readonly Uint8Array[], mayHear?: (peer: Pick<Peer, 'publicKey'>) => boolean): void {
    if (this.#listener === undefined) throw new Error('publish: call start() first');
    assertFrames(frames);
    // libzmq does not report whose subscription it is.
    if (!this.#live || mayHear?.({}) === false) return;
    try {
      this.#socket.send(frames as Uint8Array[]).catch(this.#onFailed);
    } catch (error) {
      this.#onFailed(error);
    }
  }

  close({ lingerMs = this.#lingerMs }: { readonly lingerMs?: number } = {}): Promise<void> {
    return (this.#closing ??= this.#close(lingerMs));
  }

  readonly #onFailed = (error: unknown): void => {
    if (!this.#live) return;
    this.#live = false;
    this.#reader?.stop();
    this.#listener?.onBroken(error instanceof Error ? error : new Error(String(error)));
  };

  async #close(lingerMs: number): Promise<void> {
    this.#live = false;
    this.#guard?.stop();
    this.#reader?.stop();
    const deadline = this.#clock.now() + lingerMs;
    await this.#endpoints.settled();
    this.#socket.linger = Math.max(0, Math.ceil(deadline - this.#clock.now()));
    // A guard reads the events itself, to their end.
    const letGo = this.#socket.linger > 0 && this.#guard === undefined ? untilLetGo(this.#socket) : undefined;
    this.#socket.close();
    await this.#reading;
    await this.#guard?.close();
    await letGo;
    await this.#endpoints.released();
  }
}
