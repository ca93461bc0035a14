/** A DEALER with one endpoint: it connects in the background, and again whenever the connection ends. */
import type { Timer } from '@proj/heartbeat';
import { ProjError } from '../errors.js';
import { Fifo } from '../fifo.js';
import type { SendOutcome } from '../outbox.js';
import { ROUTER_PEER } from '../port.js';
import type { Peer } from '../port.js';
import type { Connection, ConnectionEnd } from './connection.js';
import { checkEndpoint } from './endpoint.js';
import { VirtualPort } from './port.js';
import type { Farewell, RouterSide } from './port.js';

/** The connecting side of the network. */
export class DealerPort extends VirtualPort {
  protected readonly socket = 'dealer';
  /** Taken over by the transport and on no connection yet; like libzmq's pipe it survives the loss of a connection. */
  readonly #queue = new Fifo<readonly Uint8Array[]>();
  #endpoint: string | undefined;
  #connection: Connection | undefined;
  #attempt: Timer | undefined;
  #onHandedOver: (() => void) | undefined;

  bind(endpoint: string): Promise<string> {
    const text = `endpoint ${JSON.stringify(endpoint)}: virtual dealers only connect`;
    return Promise.reject(new ProjError('OPTIONS_INVALID', text));
  }

  connect(endpoint: string): void {
    checkEndpoint(endpoint, 'connect');
    if (this.#endpoint !== undefined) {
      const text = `endpoint ${JSON.stringify(endpoint)}: this dealer has one already, ${this.#endpoint}`;
      throw new ProjError('OPTIONS_INVALID', text);
    }
    this.#endpoint = endpoint;
    this.#tryAfter(0);
  }

  onRoom(): void {
    this.#flush();
  }

  onConnectionLost(): void {
    if (this.#connection !== undefined) this.hub.forget(this.#connection);
    this.#connection = undefined;
    this.#retry();
    this.reportGone(ROUTER_PEER);
  }

  wake(): void {
    this.#connection?.dealer.wake();
  }

  protected peerOf(_end: ConnectionEnd): Peer {
    return ROUTER_PEER;
  }

  protected transmit(_peer: Peer, frames: readonly Uint8Array[]): SendOutcome {
    if (this.#queue.length === 0 && this.#connection?.dealer.send(frames) === true) return 'sent';
    if (this.#queue.length >= this.options.highWaterMark) return 'congested';
    this.#queue.push(frames);
    return 'sent';
  }

  protected stopAccepting(): void {
    // Nothing to refuse: a dealer goes on trying to connect while it lingers.
  }

  protected handOver(deadline: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = this.process.clock.at(deadline, resolve);
      this.#onHandedOver = () => {
        timer.cancel();
        resolve();
      };
      if (this.#queue.length === 0) this.#onHandedOver();
    });
  }

  protected disconnect(farewell: Farewell): void {
    this.#attempt?.cancel();
    if (this.#connection === undefined) return;
    this.#connection.dealer[farewell]();
    this.hub.forget(this.#connection);
  }

  #flush(): void {
    const end = this.#connection?.dealer;
    for (let next = this.#queue.peek(); next !== undefined && end?.send(next) === true; next = this.#queue.peek())
      this.#queue.shift();
    if (this.#queue.length < this.options.highWaterMark) this.outbox.resume(ROUTER_PEER);
    if (this.#queue.length === 0) this.#onHandedOver?.();
  }

  /** libzmq waits between one and two intervals. */
  #retry(): void {
    const interval = this.hub.reconnectIntervalMs;
    this.#tryAfter(interval * (1 + this.process.random.next()));
  }

  #tryAfter(ms: number): void {
    const { clock } = this.process;
    this.#attempt = clock.at(clock.now() + ms, () => {
      const router = this.hub.lookup(this.#endpoint ?? '');
      if (router === undefined) this.#retry();
      else this.#shakeHands(router);
    });
  }

  /** The handshake takes one trip over the link and succeeds if the router can still answer by then. */
  #shakeHands(router: RouterSide): void {
    const { clock, random } = this.process;
    const link = this.hub.link(this.process, router.process);
    this.#attempt = clock.at(clock.now() + link.delay(random), () => {
      const present = this.hub.lookup(this.#endpoint ?? '') === router && router.process.state === 'running';
      if (!present || link.partitioned) {
        this.#retry();
        return;
      }
      this.#connection = this.hub.connect(this, router);
      router.accept(this.#connection, this.options.routingId);
      this.#flush();
    });
  }
}
