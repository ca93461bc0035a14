/** An endpoint that a socket connects to: one connection after the other, with growing pauses. */
import { connect } from 'node:net';
import { Backoff } from '@proj/heartbeat';
import type { BackoffOptions } from '@proj/heartbeat';
import { connectOptions } from './endpoint.js';
import type { Target } from './endpoint.js';
import { Link } from './link.js';
import type { LinkHost } from './link.js';
import type { Pipe } from './pipe.js';
import { deadlineOf } from './watch.js';
import type { Watched } from './watch.js';

/** What a connector needs of its socket. */
export interface ConnectorHost extends LinkHost {
  readonly backoff: BackoffOptions;
  /** Uniform in [0, 1). */
  random(): number;
  /** A connection is being made. */
  onOpened(link: Link): void;
}

/** Keeps one connection to one endpoint, from its construction until {@link stop}. */
export class Connector implements Watched {
  readonly endpoint: string;
  /** What goes out to this endpoint; it outlives the connections. */
  readonly pipe: Pipe;
  readonly #host: ConnectorHost;
  readonly #target: Target;
  readonly #backoff: Backoff;
  readonly #retry = deadlineOf(this);
  #link: Link | undefined;
  #mode: 'running' | 'finishing' | 'stopped' = 'running';

  constructor(host: ConnectorHost, endpoint: string, target: Target, pipe: Pipe) {
    this.#host = host;
    this.endpoint = endpoint;
    this.#target = target;
    this.pipe = pipe;
    this.#backoff = new Backoff(host.backoff, () => host.random());
    this.#open();
  }

  /** True when no connection stands and none will be made. */
  get idle(): boolean {
    return this.#link === undefined && this.#retry.at === Infinity;
  }

  /** The connection completed its handshake. */
  up(): void {
    this.#backoff.up(this.#host.watch.now());
  }

  /** Its connection is over. */
  down(): void {
    this.#link = undefined;
    const { watch } = this.#host;
    const now = watch.now();
    if (this.#wants()) watch.set(this.#retry, now + this.#backoff.down(now));
  }

  /** Goes on only until its pipe is empty. */
  finish(): void {
    this.#mode = 'finishing';
    if (!this.#wants()) this.#host.watch.set(this.#retry, Infinity);
  }

  /** Ends at once. */
  stop(): void {
    this.#mode = 'stopped';
    this.#host.watch.set(this.#retry, Infinity);
    this.#link?.destroy();
  }

  /** @internal Called by the watch: it is time for another attempt. */
  onDeadline(): void {
    this.#open();
  }

  #wants(): boolean {
    return this.#mode === 'running' || (this.#mode === 'finishing' && !this.pipe.isEmpty);
  }

  #open(): void {
    this.#link = new Link(this.#host, connect(connectOptions(this.#target)), this);
    if (this.#mode === 'finishing') this.#link.finish();
    this.#host.onOpened(this.#link);
  }
}
