/** The ROUTER of 28/REQREP: names its peers by routing ids and sends each message to the named peer. */
import type { Peer } from '@proj/transport';
import type { ResolvedPortOptions, SendOutcome } from '@proj/transport/adapter';
import type { Connection } from './connection.js';
import { Pipe } from './pipe.js';
import { withKey, ZmtpPort } from './port.js';
import type { World } from './world.js';

const AUTOMATIC_ID_BYTES = 5;
const TWO_TO_32 = 2 ** 32;

/** A router over ZMTP. */
export class RouterPort extends ZmtpPort {
  readonly #pipes = new Map<string, Pipe>();
  #lastId: number;

  constructor(world: World, options: ResolvedPortOptions) {
    super(world, options, 'ROUTER');
    // Starts at a random number, so that a peer of an earlier socket is not mistaken for one of this socket.
    this.#lastId = Math.floor(world.entropy.random() * TWO_TO_32);
  }

  onReady(link: Connection, identity: Uint8Array, publicKey: Uint8Array | undefined): void {
    const { connector } = link;
    connector?.up();
    if (connector?.pipe.peer !== undefined) {
      const { pipe } = connector;
      pipe.peer = { ...withKey(connector.pipe.peer, publicKey), isReq: link.isReq };
      link.join(pipe);
      return;
    }
    const named = identity.length === 0 ? this.#automatic() : peerOf(identity);
    const { carrier, isReq } = link;
    this.#admit(link, {
      ...withKey(named, publicKey),
      isReq,
      ...(carrier === undefined ? {} : { carrier: carrier.name }),
    });
  }

  protected transmit(peer: Peer, frames: readonly Uint8Array[]): SendOutcome {
    const pipe = this.#pipes.get(peer.key);
    if (pipe === undefined) return 'unreachable';
    if (!pipe.hasRoom) return 'congested';
    pipe.push(frames);
    return 'sent';
  }

  protected override onRoom({ peer }: Pipe): void {
    if (peer !== undefined && this.outbox.congestedPeers > 0) this.outbox.resume(peer);
  }

  protected override onLost(pipe: Pipe): void {
    if (pipe.lasting) this.onRoom(pipe);
    else if (pipe.peer !== undefined) this.#forget(pipe, pipe.peer);
  }

  /** Assigns the routing id that the connection asks for, or makes it wait. */
  #admit(link: Connection, peer: Peer, rivals?: Set<Connection>): void {
    const holder = this.#pipes.get(peer.key);
    if (holder !== undefined) {
      link.wait({ rivals: holder.rivals, peer });
      this.#contest(holder, peer);
      return;
    }
    const pipe = link.connector?.pipe ?? new Pipe(false, this.pipeLimits);
    pipe.peer = peer;
    if (rivals !== undefined) pipe.rivals = rivals;
    this.#pipes.set(peer.key, pipe);
    link.join(pipe);
  }

  /** The routing id is free: gives it to the next waiting connection, preferring those with the last holder's key. */
  #forget(pipe: Pipe, peer: Peer): void {
    this.#pipes.delete(peer.key);
    this.reportGone(peer);
    const { rivals } = pipe;
    const next = heir(rivals, peer);
    if (next === undefined) return;
    const heritage = next.claim?.peer ?? peer;
    rivals.delete(next);
    // The others keep their queue. If thousands claim one id, moving them all each time a holder ends would be quadratic.
    this.#admit(next, heritage, rivals);
    const holder = this.#pipes.get(peer.key);
    const rival = holder?.rivals === rivals ? heir(rivals, heritage)?.claim?.peer : undefined;
    if (holder !== undefined && rival !== undefined) this.#contest(holder, rival);
  }

  /** Another connection claims this holder's id. The holder loses it if it does not answer a probe. */
  #contest(holder: Pipe, peer: Peer): void {
    // An endpoint that the socket connected to cannot lose its id, nor can a holder with another key.
    if (this.options.handover && !holder.lasting && sameKey(holder.peer, peer)) holder.link?.probe();
  }

  /** 0x00 and four bytes, as in libzmq. */
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

/** The first waiting connection with this peer's key, or else the first. */
function heir(rivals: ReadonlySet<Connection>, peer: Peer): Connection | undefined {
  let first: Connection | undefined;
  for (const link of rivals) {
    if (link.claim === undefined || sameKey(peer, link.claim.peer)) return link;
    first ??= link;
  }
  return first;
}

function sameKey(one: Peer | undefined, other: Peer): boolean {
  if (one?.publicKey === undefined || other.publicKey === undefined) return one?.publicKey === other.publicKey;
  return Buffer.compare(one.publicKey, other.publicKey) === 0;
}

function peerOf(id: Uint8Array): Peer {
  return { key: Buffer.from(id).toString('latin1'), id };
}
