/** Closing sockets, so that a `close` can wait for them. */
import type { SocketPort, SubscriberPort } from './port.js';

/** The ports that were told to close and are not closed yet. */
export class Departures {
  readonly #leaving = new Set<Promise<void>>();

  /** Closes a port, which gets `lingerMs` for what it has not sent yet; default: its own. */
  add(port: Pick<SocketPort | SubscriberPort, 'close'>, lingerMs?: number): void {
    const options = lingerMs === undefined ? {} : { lingerMs };
    const left: Promise<void> = port.close(options).finally(() => this.#leaving.delete(left));
    this.#leaving.add(left);
  }

  /** Resolves when those that are leaving now have left. */
  async over(): Promise<void> {
    await Promise.all(this.#leaving);
  }
}
