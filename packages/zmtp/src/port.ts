/** What routers and dealers share: the outbox and the listener's notifications. */
import type { HandshakeRefusal, Peer, PortListener, RejectReason, SocketPort } from '@proj/transport';
import { Outbox } from '@proj/transport/adapter';
import type { OutboxHost, ResolvedPortOptions, SendOutcome } from '@proj/transport/adapter';
import type { Connection } from './connection.js';
import type { SocketType } from './engine/framing/commands.js';
import { giveBack } from './fast.js';
import { ZmtpSocket } from './socket.js';
import type { World } from './world.js';

/** Base of the two socket types that both send and receive. */
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
      onUndeliverable: (peer, frames, reason, others) => {
        this.#hearing()?.onUndeliverable(peer, frames, reason, others);
      },
    };
    this.outbox = new Outbox(options, this.#outboxHost);
  }

  /** Puts a message into a pipe with room, if there is one. */
  protected abstract transmit(peer: Peer, frames: readonly Uint8Array[]): SendOutcome | undefined;
  /** The outbox sends nothing more. */
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
    if (this.#listener !== undefined) throw new Error('start: the port was already started');
    this.#listener = listener;
    this.#outboxHost.onSent = this.sentTo(listener);
    this.begin();
  }

  send(peer: Peer, frames: readonly Uint8Array[]): void {
    if (this.#listener === undefined) throw new Error('send: call start() first');
    this.outbox.send(peer, frames);
  }

  release(frames: readonly Uint8Array[]): void {
    // They may still be waiting here; then the garbage collector frees them.
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

  /** How the listener learns what was sent. */
  protected sentTo(listener: PortListener): OutboxHost['onSent'] {
    return listener.onSent?.bind(listener);
  }

  /** Tells the listener that a peer has connected. */
  protected reportCame(peer: Peer): void {
    this.#hearing()?.onPeerCame?.(peer);
  }

  /** Reports that a peer is gone, after the messages parked for it. */
  protected reportGone(peer: Peer): void {
    this.outbox.forget(peer);
    this.#hearing()?.onPeerGone(peer);
  }

  /** The listener, until `close` is called. */
  #hearing(): PortListener | undefined {
    return this.isClosing ? undefined : this.#listener;
  }
}

/** The peer, with its proven key if any. */
export function withKey(peer: Peer, publicKey: Uint8Array | undefined): Peer {
  return publicKey === undefined ? peer : { ...peer, publicKey };
}
