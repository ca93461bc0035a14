/** The dealers of a worker, client or scheduler: opened, used and closed by the numbers its session gives them. */
import { Departures } from './departures.js';
import { ROUTER_PEER } from './port.js';
import type { PortListener, PortOptions, SocketPort, Transport } from './port.js';

/** How a dealer is made. */
export interface DealerPlan {
  readonly endpoint: string;
  readonly options: PortOptions;
  readonly listener: PortListener;
}

/** Dealers by number. A number is never used again. */
export class Dealers {
  readonly #ports = new Map<number, SocketPort>();
  readonly #departures: Departures;

  /** `departures`: where the sockets go that are closed, if others leave there too. */
  constructor(departures = new Departures()) {
    this.#departures = departures;
  }

  /** Messages that wait in the one where most of them do. */
  get pending(): number {
    let most = 0;
    for (const port of this.#ports.values()) most = Math.max(most, port.pending);
    return most;
  }

  /** Connects a new one. Returns what the transport has against it, `undefined` for nothing; then none is left open. */
  open(socket: number, transport: Transport, { endpoint, options, listener }: DealerPlan): unknown {
    let port: SocketPort | undefined;
    try {
      port = transport.dealer(options);
      port.connect(endpoint);
      port.start(listener);
      this.#ports.set(socket, port);
      return undefined;
    } catch (error) {
      if (port !== undefined) this.#departures.add(port, 0);
      return error;
    }
  }

  /**
   * Binds a new one, once those that are leaving have given their endpoints back; send to it from then on. Resolves to what the
   * transport has against it, `undefined` for nothing, also if it was closed meanwhile; then none is left open.
   */
  async bind(socket: number, transport: Transport, { endpoint, options, listener }: DealerPlan): Promise<unknown> {
    try {
      const port = transport.dealer(options);
      this.#ports.set(socket, port);
      await this.#departures.over();
      if (this.#ports.get(socket) === port) await port.bind(endpoint);
      if (this.#ports.get(socket) === port) port.start(listener);
      return undefined;
    } catch (error) {
      this.close(socket, false);
      return error;
    }
  }

  /** Sends to whoever it is connected to. Does nothing for one that is not open. */
  send(socket: number, frames: readonly Uint8Array[]): void {
    this.#ports.get(socket)?.send(ROUTER_PEER, frames);
  }

  /** Closes one. What it has not sent yet gets its `lingerMs` with `flush`, else it is discarded. Does nothing for one that is not open. */
  close(socket: number, flush: boolean): void {
    const port = this.#ports.get(socket);
    this.#ports.delete(socket);
    if (port !== undefined) this.#departures.add(port, flush ? undefined : 0);
  }

  /** Resolves when those that are leaving now have left. */
  over(): Promise<void> {
    return this.#departures.over();
  }
}
