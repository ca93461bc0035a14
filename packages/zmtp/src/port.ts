/** What routers and dealers have in common: the outbox, and what the listener hears. */
import type { HandshakeRefusal, Peer, PortListener, RejectReason, SocketPort } from '@proj/transport';
import { Outbox } from '@proj/transport/adapter';
import type { OutboxHost, ResolvedPortOptions, SendOutcome } from '@proj/transport/adapter';
import type { Connection } from './connection.js';
import type { SocketType } from './engine/commands.js';
import { giveBack } from './fast.js';
import { ZmtpSocket } from './socket.js';
import type { World } from './world.js';

/** Base of the two socket kinds that both send and receive. */
export abstract class ZmtpPort extends ZmtpSocket implements SocketPort {
  protected readonly outbox: Outbox;
  readonly #outboxHost: OutboxHost;
  #listener: PortListener | undefined;

  constructor(world: World, options: ResolvedPortOptions, socketType: SocketType, identity?: Uint8Array) {
    super(world, options, socketType, identity);
    this.#outboxHost = {
      clock: world.clock,
      memory: world.memory,
      transmit: (peer, frames) => this.transmit(peer, frames),
      onUndeliverable: (peer, frames, reason) => {
        this.#hearing()?.onUndeliverable(peer, frames, reason);
      },
    };
    this.outbox = new Outbox(options, this.#outboxHost);
  }

  /** Hands a message to a pipe, if there is one with room. */
  protected abstract transmit(peer: Peer, frames: readonly Uint8Array[]): SendOutcome | undefined;
  /** Nothing more is sent from the outbox. */
  protected onSendingEnds(): void {}

  get pending(): number {
    return this.outbox.pending;
  }

  override get heldBytes(): number {
    return super.heldBytes + this.outbox.heldBytes;
  }

  override waitingFor({ pipe }: Connection): number {
    return pipe?.peer === undefined ? 0 : this.outbox.bytesFor(pipe.peer);
  }

  pendingFor(peer: Peer): number {
    return this.outbox.pendingFor(peer);
  }

  start(listener: PortListener): void {
    if (this.#listener !== undefined) throw new Error('start: the port was started before');
    this.#listener = listener;
    this.#outboxHost.onSent = this.sentTo(listener);
    this.begin();
  }

  send(peer: Peer, frames: readonly Uint8Array[]): void {
    if (this.#listener === undefined) throw new Error('send: the port was not started');
    this.outbox.send(peer, frames);
  }

  release(frames: readonly Uint8Array[]): void {
    // They may be among what waits; then they are left to the garbage collector.
    if (this.outbox.pending === 0) giveBack(frames);
  }

  override onMessage(link: Connection, frames: Uint8Array[]): void {
    const peer = link.pipe?.peer;
    if (peer !== undefined) this.#hearing()?.onMessage(peer, frames);
  }

  override onRejected(link: Connection, reason: RejectReason): void {
    const peer = link.pipe?.peer;
    if (peer !== undefined) this.#hearing()?.onRejected(peer, reason);
  }

  protected onRefused(refusal: HandshakeRefusal): void {
    this.#hearing()?.onRefused?.(refusal);
  }

  protected override onConnection(reason: string | undefined): void {
    this.#hearing()?.onConnection?.(reason);
  }

  protected override async onClosing(deadline: number, now: boolean): Promise<void> {
    if (now) this.outbox.stop();
    await this.outbox.close(deadline);
    this.onSendingEnds();
  }

  /** How the listener hears what was sent. */
  protected sentTo(listener: PortListener): OutboxHost['onSent'] {
    return listener.onSent?.bind(listener);
  }

  /** Tells the listener that a peer has connected. */
  protected reportCame(peer: Peer): void {
    this.#hearing()?.onPeerCame?.(peer);
  }

  /** Tells the listener that a peer is gone, after what was parked for it. */
  protected reportGone(peer: Peer): void {
    this.outbox.forget(peer);
    this.#hearing()?.onPeerGone(peer);
  }

  /** The listener, until `close` was called. */
  #hearing(): PortListener | undefined {
    return this.isClosing ? undefined : this.#listener;
  }
}

/** The peer with the key that it proved to own, if any. */
export function withKey(peer: Peer, publicKey: Uint8Array | undefined): Peer {
  return publicKey === undefined ? peer : { ...peer, publicKey };
}
