/** A PUB: receives subscriptions as ZMTP 3.0 messages, and sends each message to the subscribers it matches. */
import { assertFrames } from '../limits.js';
import { ROUTER_PEER } from '../port.js';
import type { HandshakeRefusal, Peer, PublisherListener, PublisherPort } from '../port.js';
import type { ConnectionEnd } from './connection.js';
import type { BoundSide, Farewell } from './hub.js';
import { VirtualSocket } from './socket.js';
import { Subscriptions } from './subscriptions.js';

/** Never waits: a full pipe loses the message, and the network records it as lost. */
export class VirtualPublisher extends VirtualSocket<PublisherListener> implements PublisherPort, BoundSide {
  readonly socket = 'publisher';
  readonly #subscribers = new Map<ConnectionEnd, Subscriptions>();
  /** The subscriptions of all of them. */
  readonly #wanted = new Subscriptions();

  /** Subscriptions are bounded by the subscribers. */
  override get receiveHighWaterMark(): number {
    return Infinity;
  }

  bind(endpoint: string): Promise<string> {
    return this.bindTo(endpoint, this);
  }

  publish(frames: readonly Uint8Array[], mayHear?: (peer: Peer) => boolean): void {
    if (this.listener === undefined) throw new Error('publish: call start() first');
    assertFrames(frames);
    if (this.process.state === 'dead' || this.closing !== undefined) return;
    this.record('sent', ROUTER_PEER, frames);
    for (const [end, subscriptions] of this.#subscribers) {
      if (!subscriptions.fit(frames) || mayHear?.(end.identified(ROUTER_PEER)) === false) continue;
      if (end.send(frames)) continue;
      const between = [end.connection.across(end).owner.process.name, this.process.name] as const;
      this.hub.record({ kind: 'lost', messages: 1, between });
    }
  }

  close({ lingerMs = this.options.lingerMs }: { readonly lingerMs?: number } = {}): Promise<void> {
    return (this.closing ??= this.#leave(lingerMs));
  }

  accept(end: ConnectionEnd): void {
    this.#subscribers.set(end, new Subscriptions());
  }

  onFrames(end: ConnectionEnd, frames: readonly Uint8Array[]): void {
    const change = this.#subscribers.get(end)?.take(frames);
    if (change !== undefined) this.#change(change.prefix, change.wanted);
  }

  onConnectionLost(end: ConnectionEnd): void {
    const subscriptions = this.#subscribers.get(end);
    if (subscriptions === undefined) return;
    this.#subscribers.delete(end);
    this.hub.forget(end.connection);
    for (const prefix of subscriptions.prefixes()) this.#change(prefix, false);
  }

  #change(prefix: Uint8Array, wanted: boolean): void {
    const isNews = wanted ? this.#wanted.add(prefix) : this.#wanted.remove(prefix);
    if (isNews && this.options.tellsSubscriptions && this.closing === undefined)
      this.listener?.onSubscription?.(prefix.slice(), wanted);
  }

  onRoom(): void {
    // Messages without room are lost.
  }

  onRefused(refusal: HandshakeRefusal | undefined): void {
    if (refusal !== undefined && this.closing === undefined) this.listener?.onRefused?.(refusal);
  }

  wake(): void {
    for (const end of this.#subscribers.keys()) end.wake();
  }

  vanish(silent: boolean): void {
    this.closing ??= Promise.resolve();
    this.#end(silent ? 'vanish' : 'abort');
  }

  #leave(lingerMs: number): Promise<void> {
    this.#end(lingerMs === 0 ? 'abort' : 'close');
    this.process.resources.delete(this);
    return Promise.resolve();
  }

  #end(farewell: Farewell): void {
    this.hub.unbind(this);
    for (const end of this.#subscribers.keys()) {
      end[farewell]();
      this.hub.forget(end.connection);
    }
    this.#subscribers.clear();
  }
}
