/** A SUB: sends its subscriptions to each publisher it connects to, again on every new connection, and reads what matches. */
import { overLimits } from '../limits.js';
import { ROUTER_PEER } from '../port.js';
import type { HandshakeRefusal, SubscriberListener, SubscriberPort } from '../port.js';
import type { ConnectionEnd } from './connection.js';
import { VirtualConnector } from './connector.js';
import type { ConnectorOwner } from './connector.js';
import { checkEndpoint } from './endpoint.js';
import type { Farewell } from './hub.js';
import { VirtualSocket } from './socket.js';
import { subscription, Subscriptions } from './subscriptions.js';

/** Does not distinguish peers: it reads messages of all its publishers alike. */
export class VirtualSubscriber extends VirtualSocket<SubscriberListener> implements SubscriberPort, ConnectorOwner {
  readonly socket = 'subscriber';
  readonly #connectors: VirtualConnector[] = [];
  readonly #subscriptions = new Subscriptions();

  connect(endpoint: string): void {
    checkEndpoint(endpoint, 'connect');
    this.#connectors.push(new VirtualConnector(this, endpoint));
  }

  subscribe(prefix: Uint8Array): void {
    if (this.closing === undefined && this.#subscriptions.add(prefix)) this.#tell(subscription(prefix, true));
  }

  unsubscribe(prefix: Uint8Array): void {
    if (this.closing === undefined && this.#subscriptions.remove(prefix)) this.#tell(subscription(prefix, false));
  }

  close(): Promise<void> {
    return (this.closing ??= this.#leave());
  }

  onConnection(): void {
    // Subscribers do not report connections.
  }

  onConnected(_connector: VirtualConnector, end: ConnectionEnd): void {
    for (const prefix of this.#subscriptions.prefixes()) end.send(subscription(prefix, true));
  }

  onConnectionLost(end: ConnectionEnd): void {
    this.hub.forget(end.connection);
    this.#connectors.find((connector) => connector.end === end)?.onConnectionLost();
  }

  onFrames(end: ConnectionEnd, frames: readonly Uint8Array[]): void {
    if (this.closing !== undefined || !this.#subscriptions.fit(frames)) return;
    const { maxMessageBytes } = this.options;
    if (frames.some(({ length }) => length > maxMessageBytes)) {
      end.abort();
      this.onConnectionLost(end);
      return;
    }
    const reason = overLimits(frames, this.options);
    this.record(reason === undefined ? 'delivered' : 'rejected', ROUTER_PEER, frames);
    if (reason === undefined) this.listener?.onMessage([...frames]);
    else this.listener?.onRejected(reason);
  }

  onRoom(): void {
    // Publishers accept any number of subscriptions.
  }

  onRefused(_refusal: HandshakeRefusal | undefined): void {
    // Keeps trying.
  }

  wake(): void {
    for (const connector of this.#connectors) connector.wake();
  }

  vanish(silent: boolean): void {
    this.closing ??= Promise.resolve();
    this.#end(silent ? 'vanish' : 'abort');
  }

  /** If there is no connection yet, everything is sent once there is one. */
  #tell(frames: Uint8Array[]): void {
    for (const { end } of this.#connectors) end?.send(frames);
  }

  #leave(): Promise<void> {
    this.#end('close');
    this.process.resources.delete(this);
    return Promise.resolve();
  }

  #end(farewell: Farewell): void {
    for (const connector of this.#connectors) connector.disconnect(farewell);
  }
}
