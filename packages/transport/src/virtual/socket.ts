/** What all virtual sockets share: their process, options and number, a listener, and an end. */
import { resolvePortOptions } from '../port-options.js';
import type { ResolvedPortOptions } from '../port-options.js';
import type { CurveOptions, Peer, PortOptions } from '../port.js';
import { checkEndpoint } from './endpoint.js';
import type { MessageEvent, SocketKind } from './events.js';
import type { BoundSide, Hub } from './hub.js';
import type { Process, ProcessResource } from './process.js';

/** Base of the four kinds. */
export abstract class VirtualSocket<Listener> implements ProcessResource {
  abstract readonly socket: SocketKind;
  readonly process: Process;
  readonly hub: Hub;
  protected readonly options: ResolvedPortOptions;
  protected listener: Listener | undefined;
  protected closing: Promise<void> | undefined;
  readonly #number: number;
  #isPaused = false;

  constructor(hub: Hub, process: Process, options: PortOptions) {
    this.hub = hub;
    this.process = process;
    this.options = resolvePortOptions(options);
    this.#number = ++process.socketsMade;
    if (process.state !== 'dead') process.resources.add(this);
  }

  abstract wake(): void;
  abstract vanish(silent: boolean): void;

  get highWaterMark(): number {
    return this.options.highWaterMark;
  }

  get receiveHighWaterMark(): number {
    return this.options.receiveHighWaterMark;
  }

  get connectionHeartbeatMs(): number {
    return this.options.connectionHeartbeatMs;
  }

  get connectionTimeoutMs(): number {
    return this.options.connectionTimeoutMs;
  }

  get routingId(): Uint8Array | undefined {
    return this.options.routingId;
  }

  get curve(): CurveOptions | undefined {
    return this.options.curve;
  }

  get reading(): boolean {
    return (this.listener !== undefined && !this.#isPaused) || this.closing !== undefined;
  }

  start(listener: Listener): void {
    if (this.listener !== undefined) throw new Error('start: the port was already started');
    this.listener = listener;
    this.wake();
  }

  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
    this.wake();
  }

  protected bindTo(endpoint: string, port: BoundSide): Promise<string> {
    // A dead process gets no answers.
    if (this.process.state === 'dead') return new Promise(() => undefined);
    return new Promise((resolve) => {
      checkEndpoint(endpoint, 'bind');
      resolve(this.hub.bind(endpoint, port));
    });
  }

  protected record(kind: MessageEvent['kind'], peer: Peer, frames: readonly Uint8Array[]): void {
    const { process, socket } = this;
    this.hub.record({ kind, process: process.name, socket, socketNumber: this.#number, peer, frames });
  }
}
