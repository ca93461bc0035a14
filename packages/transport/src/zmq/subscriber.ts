/** A SUB socket of zeromq.js as a {@link SubscriberPort}. */
import type { Clock } from '@proj/heartbeat';
import type { Subscriber } from 'zeromq';
import { ProjError } from '../errors.js';
import { overLimits } from '../limits.js';
import type { SubscriberListener, SubscriberPort } from '../port.js';
import type { ResolvedPortOptions } from '../port-options.js';
import type { CurveGuard } from './curve-guard.js';
import { BoundEndpoints } from './endpoints.js';
import { MessageReader } from './reader.js';

/** libzmq keeps the subscriptions and sends them again on each new connection. */
export class ZmqSubscriber implements SubscriberPort {
  readonly #socket: Subscriber;
  readonly #options: ResolvedPortOptions;
  readonly #endpoints: BoundEndpoints;
  readonly #guard: CurveGuard | undefined;
  readonly #reader: MessageReader;
  #reading: Promise<void> = Promise.resolve();
  #listener: SubscriberListener | undefined;
  #closing: Promise<void> | undefined;
  /** False once `close` was called or the socket has failed. */
  #live = true;

  constructor(socket: Subscriber, options: ResolvedPortOptions, clock: Clock, guard?: CurveGuard) {
    this.#socket = socket;
    this.#options = options;
    this.#guard = guard;
    this.#reader = new MessageReader(socket, clock);
    this.#endpoints = new BoundEndpoints(
      socket,
      clock,
      (endpoint) => {
        if (!this.#live) throw new ProjError('CLOSED', `endpoint ${endpoint}: the port was closed`);
        if (this.#listener !== undefined) throw new Error(`endpoint ${endpoint}: connect before start()`);
      },
      guard,
    );
  }

  connect(endpoint: string): void {
    this.#endpoints.connect(endpoint);
  }

  subscribe(prefix: Uint8Array): void {
    if (this.#live) this.#socket.subscribe(asBuffer(prefix));
  }

  unsubscribe(prefix: Uint8Array): void {
    if (this.#live) this.#socket.unsubscribe(asBuffer(prefix));
  }

  start(listener: SubscriberListener): void {
    if (this.#listener !== undefined) throw new Error('start: the port was already started');
    this.#listener = listener;
    if (!this.#live) return;
    this.#guard?.start(listener);
    this.#reading = this.#reader.read((frames) => {
      const reason = overLimits(frames, this.#options);
      if (reason === undefined) listener.onMessage(frames);
      else listener.onRejected(reason);
    }, this.#onFailed);
  }

  pause(): void {
    this.#reader.pause();
  }

  resume(): void {
    this.#reader.resume();
  }

  close(): Promise<void> {
    return (this.#closing ??= this.#close());
  }

  readonly #onFailed = (error: unknown): void => {
    this.#live = false;
    this.#reader.stop();
    this.#listener?.onBroken(error instanceof Error ? error : new Error(String(error)));
  };

  async #close(): Promise<void> {
    this.#live = false;
    this.#guard?.stop();
    this.#reader.stop();
    this.#socket.linger = 0;
    this.#socket.close();
    await this.#reading;
    await this.#guard?.close();
  }
}

/** zeromq.js accepts no other bytes for an option. */
function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
