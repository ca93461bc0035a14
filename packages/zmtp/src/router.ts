/** The ROUTER of 28/REQREP: names its peers by routing ids and sends each message to the one that is named. */
import type { Peer } from '@proj/transport';
import type { ResolvedPortOptions, SendOutcome } from '@proj/transport/adapter';
import type { Link } from './link.js';
import { Pipe } from './pipe.js';
import { withKey, ZmtpPort } from './port.js';
import type { World } from './socket.js';

const AUTOMATIC_ID_BYTES = 5;
const TWO_TO_32 = 2 ** 32;

/** A router over ZMTP. */
export class RouterPort extends ZmtpPort {
  readonly #pipes = new Map<string, Pipe>();
  #lastId: number;

  constructor(world: World, options: ResolvedPortOptions) {
    super(world, options, 'ROUTER');
    // Anywhere, so that a peer of an earlier socket is not taken for one of this.
    this.#lastId = Math.floor(world.entropy.random() * TWO_TO_32);
  }

  onReady(link: Link, identity: Uint8Array, publicKey: Uint8Array | undefined): void {
    const { connector } = link;
    connector?.up();
    if (connector?.pipe.peer !== undefined) {
      const { pipe } = connector;
      pipe.peer = withKey(connector.pipe.peer, publicKey);
      link.join(pipe);
      return;
    }
    const peer = withKey(identity.length === 0 ? this.#automatic() : peerOf(identity), publicKey);
    const holder = this.#pipes.get(peer.key);
    if (holder !== undefined && !this.#handOver(holder, peer)) {
      link.rivalOf = holder;
      holder.rivals.add(link);
      return;
    }
    const pipe = connector?.pipe ?? new Pipe(false, this.options);
    pipe.peer = peer;
    this.#pipes.set(peer.key, pipe);
    link.join(pipe);
  }

  protected onPipe(): void {
    // Nobody can name it yet.
  }

  protected transmit(peer: Peer, frames: readonly Uint8Array[]): SendOutcome {
    const pipe = this.#pipes.get(peer.key);
    if (pipe === undefined) return 'unreachable';
    if (!pipe.hasRoom) return 'congested';
    pipe.push(frames);
    return 'sent';
  }

  protected onSendingEnds(): void {
    // No attempt of a router waits.
  }

  protected onRoom({ peer }: Pipe): void {
    if (peer !== undefined && this.outbox.congestedPeers > 0) this.outbox.resume(peer);
  }

  protected onLost(pipe: Pipe): void {
    if (pipe.lasting) this.onRoom(pipe);
    else if (pipe.peer !== undefined) this.#forget(pipe, pipe.peer);
  }

  /**
   * True when the newcomer takes the routing id over. What the socket connected to itself cannot be taken away, nor what
   * belongs to somebody with another key.
   */
  #handOver(holder: Pipe, peer: Peer): boolean {
    if (holder.lasting || !this.options.handover || !sameKey(holder.peer, peer)) return false;
    const { link } = holder;
    holder.detach();
    link?.destroy();
    this.#forget(holder, peer);
    return true;
  }

  #forget(pipe: Pipe, peer: Peer): void {
    this.#pipes.delete(peer.key);
    this.reportGone(peer);
    for (const rival of pipe.rivals) rival.destroy();
  }

  /** 0x00 and four bytes, as libzmq makes them. */
  #automatic(): Peer {
    for (;;) {
      this.#lastId = (this.#lastId + 1) % TWO_TO_32;
      const id = new Uint8Array(AUTOMATIC_ID_BYTES);
      new DataView(id.buffer).setUint32(1, this.#lastId);
      const peer = peerOf(id);
      if (!this.#pipes.has(peer.key)) return peer;
    }
  }
}

function sameKey(one: Peer | undefined, other: Peer): boolean {
  if (one?.publicKey === undefined || other.publicKey === undefined) return one?.publicKey === other.publicKey;
  return Buffer.compare(one.publicKey, other.publicKey) === 0;
}

function peerOf(id: Uint8Array): Peer {
  return { key: Buffer.from(id).toString('latin1'), id };
}
