/** A listener that records what it gets, for tests on real sockets. */
import { ROUTER_PEER } from '@proj/transport';
import type { HandshakeRefusal, Peer, PortListener, SocketPort } from '@proj/transport';

interface Waiter {
  readonly condition: () => boolean;
  readonly resolve: () => void;
}

/** A port and its listener's records. Conditions are checked after each call of the port; the test runner has the time limits. */
export class TestPeer implements PortListener {
  readonly port: SocketPort;
  readonly messages: { readonly peer: Peer; readonly frames: readonly Uint8Array[] }[] = [];
  readonly gone: string[] = [];
  readonly undeliverable: string[] = [];
  readonly rejected: string[] = [];
  onEach: ((peer: Peer, frames: Uint8Array[]) => void) | undefined;
  onRefused?: (refusal: HandshakeRefusal) => void;
  #waiters: Waiter[] = [];

  /** Starts the port. */
  constructor(port: SocketPort) {
    this.port = port;
    port.start(this);
  }

  /** The messages as text, with frames joined by `|`. */
  get texts(): readonly string[] {
    return this.messages.map(({ frames }) => frames.map((frame) => Buffer.from(frame).toString('latin1')).join('|'));
  }

  /** Sends one message per text, frames separated by `|`. */
  say(peer: Peer, ...texts: readonly string[]): void {
    for (const text of texts)
      this.port.send(
        peer,
        text.split('|').map((frame) => Buffer.from(frame, 'latin1')),
      );
  }

  /** The same to the router of a dealer. */
  tell(...texts: readonly string[]): void {
    this.say(ROUTER_PEER, ...texts);
  }

  /** Resolves with the message at this index once it has arrived. */
  async message(index: number): Promise<{ readonly peer: Peer; readonly text: string }> {
    await this.received(index + 1);
    return { peer: this.messages[index]!.peer, text: this.texts[index]! };
  }

  received(count: number): Promise<void> {
    return this.until(() => this.messages.length >= count);
  }

  until(condition: () => boolean): Promise<void> {
    if (condition()) return Promise.resolve();
    return new Promise((resolve) => this.#waiters.push({ condition, resolve }));
  }

  onMessage(peer: Peer, frames: Uint8Array[]): void {
    this.messages.push({ peer, frames });
    this.onEach?.(peer, frames);
    this.#wake();
  }

  onPeerGone(peer: Peer): void {
    this.gone.push(peer.key);
    this.#wake();
  }

  onUndeliverable(_peer: Peer, frames: readonly Uint8Array[], reason: string): void {
    this.undeliverable.push(`${reason} ${Buffer.from(frames[0]!).toString('latin1')}`);
    this.#wake();
  }

  onRejected(_peer: Peer, reason: string): void {
    this.rejected.push(reason);
    this.#wake();
  }

  onBroken(error: Error): void {
    throw error;
  }

  #wake(): void {
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const waiter of waiters) {
      if (waiter.condition()) waiter.resolve();
      else this.#waiters.push(waiter);
    }
  }
}
