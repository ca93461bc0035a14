/** An endpoint that a socket connects to: keeps one connection, with growing pauses between attempts. */
import { Backoff } from '@proj/heartbeat';
import type { BackoffOptions } from '@proj/heartbeat';
import type { Target } from './endpoint.js';
import type { Dialer } from './lanes/dialer.js';
import { Connection } from './connection.js';
import type { ConnectionHost } from './connection-host.js';
import type { Pipe } from './pipe.js';
import { deadlineOf } from './watch.js';
import type { Watched } from './watch.js';

/** The socket of a connector. */
export interface ConnectorHost extends ConnectionHost {
  readonly backoff: BackoffOptions;
  readonly dialer: Dialer;
  /** Uniform in [0, 1). */
  random(): number;
  /** A connection attempt has begun. */
  onOpened(link: Connection): void;
}

/** Keeps one connection to one endpoint, from its construction until {@link stop}. */
export class Connector implements Watched {
  readonly endpoint: string;
  /** The outgoing messages for this endpoint; it outlives the connections. */
  readonly pipe: Pipe;
  readonly #host: ConnectorHost;
  readonly #target: Target;
  readonly #backoff: Backoff;
  readonly #retry = deadlineOf(this);
  #link: Connection | undefined;
  /** Cancels the connection attempt under way. */
  #cancel: (() => void) | undefined;
  #mode: 'running' | 'finishing' | 'stopped' = 'running';

  constructor(host: ConnectorHost, endpoint: string, target: Target, pipe: Pipe) {
    this.#host = host;
    this.endpoint = endpoint;
    this.#target = target;
    this.pipe = pipe;
    this.#backoff = new Backoff(host.backoff, () => host.random());
    this.#open();
  }

  /** True if there is no connection and no further attempt. */
  get idle(): boolean {
    return this.#link === undefined && this.#cancel === undefined && this.#retry.at === Infinity;
  }

  /** The connection has completed its handshake. */
  up(): void {
    this.#backoff.up(this.#host.watch.now());
  }

  /** Reports whether the other side accepts lanes. */
  met(hasLanes: boolean): void {
    this.#host.dialer.onReady(this.endpoint, hasLanes);
  }

  /** The connection has ended. */
  down(): void {
    this.#link = undefined;
    this.#host.dialer.onEnded(this.endpoint);
    const { watch } = this.#host;
    const now = watch.now();
    if (this.#wants()) watch.set(this.#retry, now + this.#backoff.down(now));
  }

  /** Continues until its pipe is empty. */
  finish(): void {
    this.#mode = 'finishing';
    if (this.#wants()) return;
    this.#host.watch.set(this.#retry, Infinity);
    this.#giveUp();
  }

  /** Stops at once. */
  stop(): void {
    this.#mode = 'stopped';
    this.#host.watch.set(this.#retry, Infinity);
    this.#giveUp();
    this.#link?.destroy();
  }

  onDeadline(): void {
    this.#open();
  }

  #wants(): boolean {
    return this.#mode === 'running' || (this.#mode === 'finishing' && !this.pipe.isEmpty);
  }

  #giveUp(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }

  #open(): void {
    const cancel = this.#host.dialer.dial(this.endpoint, this.#target, (wire) => {
      this.#cancel = undefined;
      this.#link = new Connection(this.#host, wire, this);
      if (this.#mode === 'finishing') this.#link.finish();
      this.#host.onOpened(this.#link);
    });
    if (cancel !== undefined) this.#cancel = cancel;
  }
}
