/** A subscriber that records messages, for tests of publishers. */
import { fromLatin1, latin1 } from '@proj/frames';
import type { SubscriberPort, Transport } from '@proj/transport';

/** One connection to one publisher. */
export class RawSubscriber {
  readonly port: SubscriberPort;
  /** The messages, frames as latin1 text joined by `|`. */
  readonly heard: string[] = [];
  #wake: () => void = () => {};

  private constructor(port: SubscriberPort) {
    this.port = port;
  }

  /** Connects and asks for these prefixes; the transport must be loaded. */
  static connect(transport: Transport, endpoint: string, ...prefixes: string[]): RawSubscriber {
    const port = transport.subscriber();
    const subscriber = new RawSubscriber(port);
    for (const prefix of prefixes) port.subscribe(fromLatin1(prefix));
    port.connect(endpoint);
    port.start({
      onMessage: (frames) => {
        subscriber.heard.push(frames.map(latin1).join('|'));
        subscriber.#wake();
      },
      onRejected: () => {},
      onBroken: () => {},
    });
    return subscriber;
  }

  /** Resolves when the condition holds, which is checked after each message. */
  async until(condition: () => boolean): Promise<void> {
    while (!condition())
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
  }

  close(): Promise<void> {
    return this.port.close();
  }
}
