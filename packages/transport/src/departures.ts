/** Tracks closing sockets, so that a `close` can wait for them. */
import type { SocketPort, SubscriberPort } from './port.js';

/** The ports that are closing. */
export class Departures {
  readonly #leaving = new Set<Promise<void>>();

  /** Closes a port, which gets `lingerMs` for its unsent messages; default: its own option. */
  add(port: Pick<SocketPort | SubscriberPort, 'close'>, lingerMs?: number): void {
    const options = lingerMs === undefined ? {} : { lingerMs };
    const left: Promise<void> = port.close(options).finally(() => this.#leaving.delete(left));
    this.#leaving.add(left);
  }

  /** Resolves when the ports that are closing now are closed. */
  async over(): Promise<void> {
    await Promise.all(this.#leaving);
  }
}
