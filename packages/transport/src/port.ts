/** The socket contract: what every transport offers to facades, and what it reports. Holds no policy of any protocol. */
import type { Clock } from '@proj/heartbeat';
import type { Engine, Entropy } from './engine/engine.js';
import type { MemoryBudget } from './memory-budget.js';

/**
 * The other end of a connection, as the socket names it. Two values with the same `key` are the same peer; ports may make
 * a new value per message, so compare keys, not references.
 */
export interface Peer {
  /** The routing id as latin1 text: one character per byte, so that no two ids share a key. */
  readonly key: string;
  /** The routing id as bytes, 1 to 255 of them. Never written to. */
  readonly id: Uint8Array;
  /** The CURVE key it proved to have, 32 bytes. Absent without CURVE, and where the transport cannot tell (libzmq). */
  readonly publicKey?: Uint8Array;
  /** Whether its socket is a REQ, which takes one reply to each request and nothing else. Absent where the transport cannot tell (libzmq). */
  readonly isReq?: boolean;
}

/** Why a message that was accepted for sending did not go out. */
export type UndeliverableReason =
  /** No connection to that peer exists. */
  | 'unreachable'
  /** The peer does not read: its high-water mark and its waiting queue are full. */
  | 'congested';

/** Why a received message was dropped before decoding. */
export type RejectReason = 'too-many-frames' | 'too-large' | 'no-frames';

/** A pair of keys for CURVE (RFC 26), 32 bytes each. */
export interface CurveKeys {
  readonly publicKey: Uint8Array;
  readonly secretKey: Uint8Array;
}

/** Keys that may come in, and word of its changes: what `authorizedKeys` returns. */
export interface KeyList {
  /** Whether the owner of this key, 32 bytes, may come in. Never throws. */
  has(publicKey: Uint8Array): boolean;
  /** Calls `listener` whenever `has` may answer otherwise than before, until the returned function is called. */
  onChange(listener: () => void): () => void;
}

/** CURVE on one socket: which end of RFC 26 it plays is independent of who binds. */
export type CurveOptions =
  | {
      readonly role: 'server';
      readonly keys: CurveKeys;
      /** Asked once per handshake whether the client of this key may come in. Absent: any key may. Never throws. */
      readonly authorize?: (publicKey: Uint8Array) => boolean;
      /** Calls `listener` whenever `authorize` may answer otherwise than before, until the returned function is called. */
      readonly onAuthorizeChange?: (listener: () => void) => () => void;
    }
  | {
      readonly role: 'client';
      readonly keys: CurveKeys;
      /** The public key the server must prove to own. */
      readonly serverKey: Uint8Array;
    };

/** A connection that was not let in, or that could not prove what it must. */
export interface HandshakeRefusal {
  /** `key`: `authorize` said no. `handshake`: wrong server key, other mechanism, or broken bytes; transports that cannot tell say this. */
  readonly reason: 'key' | 'handshake';
  /** The key of the client, where it got that far. */
  readonly publicKey?: Uint8Array;
  /** Address of the peer as the transport names it, if it does. */
  readonly address?: string;
  /** What most likely is wrong with a `handshake`: the client's idea of the server's key, or that one side does not use CURVE. */
  readonly cause?: 'server-key' | 'mechanism';
}

/**
 * What a port calls. All calls come one at a time, never from inside `bind`, `connect` or `start`, and none comes once
 * `close` was called.
 */
export interface PortListener {
  /** A message. The frames belong to the listener; large ones share memory with the socket, so they are never written to. */
  onMessage(peer: Peer, frames: Uint8Array[]): void;
  /**
   * The peer's connection ended; messages parked for it have been reported before. It may be back at once on a new
   * connection, as a peer that must open itself again. What the transport had taken over, or takes over before it has let
   * go of the connection, is lost without a report. Where a transport cannot tell, this never comes: neither ZeroMQ nor the
   * network in memory tells a dealer that binds or a router that connects.
   */
  onPeerGone(peer: Peer): void;
  /** A message given to `send` did not go out. May be called from inside `send`. */
  onUndeliverable(peer: Peer, frames: readonly Uint8Array[], reason: UndeliverableReason): void;
  /**
   * The transport has taken this message over: it is queued at a connection, or at an endpoint this socket connects to. Of
   * each message given to `send` comes either this or `onUndeliverable`, once, unless the port is closed or broken by then.
   * May be called from inside `send`. Absent, it costs nothing; looked up once, at `start`.
   */
  onSent?(peer: Peer, frames: readonly Uint8Array[]): void;
  /** A message over the limits was dropped before decoding. */
  onRejected(peer: Peer, reason: RejectReason): void;
  /** A peer did not get through the handshake of CURVE. Absent: nobody is told. */
  onRefused?(refusal: HandshakeRefusal): void;
  /**
   * Of a socket that connects, where the transport tells: a connection stands (`undefined`), or an attempt came to nothing, and why. What
   * {@link onRefused} tells of is not told here.
   */
  onConnection?(reason: string | undefined): void;
  /** A peer has connected. Dealers with `tellsPeers`, where the transport can; others never say so. */
  onPeerCame?(peer: Peer): void;
  /** The socket failed for good (not a peer's doing); nothing more will be received. */
  onBroken(error: Error): void;
}

/** Limits and timings of one socket. All have defaults; see each field. */
export interface PortOptions {
  /** How long `close` may take to hand over what is pending. Milliseconds; default 1000. */
  readonly lingerMs?: number;
  /** Largest message, in frames without the routing id; default 1024. */
  readonly maxMessageFrames?: number;
  /** Largest message, in bytes over all frames; default 64 MiB. A single frame far over it also ends the connection. */
  readonly maxMessageBytes?: number;
  /** Messages queued by the transport per peer and direction before it reports congestion; default 1000. */
  readonly highWaterMark?: number;
  /** The same for messages that come in and were not read yet; default: `highWaterMark`. What TCP holds comes on top of it. */
  readonly receiveHighWaterMark?: number;
  /**
   * Dealers: how long one attempt to send may wait for a connection with room; what is sent meanwhile waits behind it.
   * Routers never wait: one peer would hold up all others. Milliseconds; default 0.
   */
  readonly sendWaitMs?: number;
  /** Messages that wait for one congested peer before it counts as lost; default 1000. */
  readonly peerQueueMax?: number;
  /** Bytes that wait for one congested peer before it counts as lost; default 64 MiB. */
  readonly peerQueueMaxBytes?: number;
  /** Messages that may wait in the port for all peers together; default 100,000. */
  readonly queueMax?: number;
  /** Bytes that may wait in the port for all peers together; default 256 MiB. */
  readonly queueMaxBytes?: number;
  /** Heartbeats of a connection (TCP keep-alive on libzmq, in whole seconds; else those of ZMTP): interval, 0 for none. Milliseconds; default 2000. */
  readonly connectionHeartbeatMs?: number;
  /** How long such a heartbeat may stay unanswered before the connection is cut. Milliseconds; default 6000. */
  readonly connectionTimeoutMs?: number;
  /**
   * Routers that bind: a second connection with a known routing id may take it over (true): at once on libzmq, whether the first lives or
   * not; on ZMTP when the first is found to be silent. Otherwise (false) it stays mute until the first ends, on libzmq for good. Default false.
   */
  readonly handover?: boolean;
  /** Dealers: the routing id to announce to routers, 1 to 255 bytes, not starting with 0x00. Default: the router picks one. */
  readonly routingId?: Uint8Array;
  /**
   * Dealers that bind: each connection is a peer of its own, which comes, sends, takes messages (`onSent`) and goes, and can be held
   * with {@link SocketPort.hold}. Default false; ignored where the transport cannot.
   */
  readonly tellsPeers?: boolean;
  /** Publishers: be an XPUB, which tells what is subscribed to: `PublisherListener.onSubscription`. Default false. */
  readonly tellsSubscriptions?: boolean;
  /** Encrypts and authenticates every connection of this socket. Default: none, the mechanism NULL. */
  readonly curve?: CurveOptions;
}

/**
 * One socket: one reader, one outbox. `send` may be called at any time after `start` and never throws for a peer's
 * doing; its outcome is `onSent`, which need not be listened to, or `onUndeliverable`.
 *
 * Usually routers bind and dealers connect. The other way round, a dealer that binds hands each message to the next
 * connection that has room, in turn, and has none while nobody is connected; a router that connects, to one endpoint or
 * several, knows a peer by a routing id from when the first connection stands, for as long as the socket lives: what is sent
 * while that connection is away waits for the next, up to the high-water mark.
 */
export interface SocketPort {
  /** Binds, resolving to the endpoint with any wildcard port filled in. Rejects with `ADDRESS_IN_USE` or `OPTIONS_INVALID`. Before `start`. */
  bind(endpoint: string): Promise<string>;
  /** Connects in the background. Throws `OPTIONS_INVALID` for an endpoint that cannot be parsed. Before `start`. */
  connect(endpoint: string): void;
  /** Starts receiving and sending. Once. */
  start(listener: PortListener): void;
  /**
   * Queues a message of at least one frame. Order per peer is kept. From here on the frames must not change.
   * Dealers ignore the peer; pass {@link ROUTER_PEER}.
   */
  send(peer: Peer, frames: readonly Uint8Array[]): void;
  /**
   * Gives received frames back, whose memory may then be used for what is received next: from here on nobody reads or sends them, but
   * for this port what it was given to send before. Never needed: what is not given back is the garbage collector's. Absent where it
   * would change nothing.
   */
  release?(frames: readonly Uint8Array[]): void;
  /**
   * Takes no more messages in, so that the transport's queues fill up and hold the peers back; sending goes on. One message that
   * is on its way to the listener may still come, and `onPeerGone` may come late. Any number of calls is ended by one `resume`.
   */
  pause(): void;
  /** Takes messages in again. Does nothing unless paused. */
  resume(): void;
  /**
   * Asks `authorize` again about each peer that came in by its key, and ends the connections of those it refuses by now. Absent
   * where the transport cannot: then a peer that was let in stays.
   */
  recheck?(): void;
  /**
   * Dealers with `tellsPeers`: hands no message to this peer while it is held, whose turn others get; nothing of a peer that is gone.
   * Absent where the transport cannot.
   */
  hold?(peer: Peer, held: boolean): void;
  /** Messages accepted by `send` and not yet taken over by the transport. */
  readonly pending: number;
  /**
   * Bytes that the port holds: of messages that are on their way out, and of what came and was not delivered. Cheap to ask. Absent
   * where the transport does not tell.
   */
  readonly heldBytes?: number;
  /** Those of them that wait for this peer, which is congested. */
  pendingFor(peer: Peer): number;
  /**
   * Stops receiving at once, hands over what is pending within `lingerMs`, closes. Idempotent; the promise is shared.
   * `lingerMs` here overrides the option: 0 discards what is pending, as a peer that was given up must get nothing more.
   */
  close(options?: { readonly lingerMs?: number }): Promise<void>;
}

/** What a publisher calls. */
export interface PublisherListener {
  /**
   * The first subscriber has asked for this prefix, or the last one has taken it back or is gone. Needs `tellsSubscriptions`. The
   * bytes belong to the listener.
   */
  onSubscription?(prefix: Uint8Array, wanted: boolean): void;
  /** As `PortListener.onRefused`. */
  onRefused?(refusal: HandshakeRefusal): void;
  /** The socket failed for good; nothing more will be sent. */
  onBroken(error: Error): void;
}

/** A PUB socket (RFC 29): sends to whoever subscribed, and to nobody else. */
export interface PublisherPort {
  /** As {@link SocketPort.bind}. Before `start`. */
  bind(endpoint: string): Promise<string>;
  /** Starts taking subscriptions and sending. Once. */
  start(listener: PublisherListener): void;
  /**
   * Sends a message of at least one frame to every subscriber one of whose prefixes begins the first frame. Never waits: who does
   * not read misses messages, once `highWaterMark` of them wait for it. From here on the frames must not change.
   *
   * `mayHear`, if given, is asked within the call about each of them, and who may not does not get it; where the transport does
   * not tell keys it is asked once, about somebody without one, for all. Never throws.
   */
  publish(frames: readonly Uint8Array[], mayHear?: (peer: Pick<Peer, 'publicKey'>) => boolean): void;
  /** As {@link SocketPort.heldBytes}. */
  readonly heldBytes?: number;
  /** As {@link SocketPort.close}. */
  close(options?: { readonly lingerMs?: number }): Promise<void>;
}

/** What a subscriber calls; none of it comes once `close` was called. */
export interface SubscriberListener {
  /** A message one of whose prefixes fits. The frames belong to the listener, which never writes to them. */
  onMessage(frames: Uint8Array[]): void;
  /** A message over the limits was dropped. Where a frame far over them ends the connection, nobody is told. */
  onRejected(reason: RejectReason): void;
  /** As `PortListener.onRefused`. */
  onRefused?(refusal: HandshakeRefusal): void;
  /** The socket failed for good; nothing more will be received. */
  onBroken(error: Error): void;
}

/** A SUB socket (RFC 29). Connects, and comes back with all its subscriptions after a lost connection. */
export interface SubscriberPort {
  /** As {@link SocketPort.connect}. Before `start`. */
  connect(endpoint: string): void;
  /** Asks for messages whose first frame begins with this; empty asks for all. May be asked twice, then it is left twice. Any time before `close`. */
  subscribe(prefix: Uint8Array): void;
  /** Takes one `subscribe` of this prefix back. Does nothing when there is none. */
  unsubscribe(prefix: Uint8Array): void;
  /** Starts receiving. Once. */
  start(listener: SubscriberListener): void;
  /** As {@link SocketPort.pause}: what comes meanwhile waits up to the high-water mark, and is lost beyond it. */
  pause(): void;
  /** As {@link SocketPort.resume}. */
  resume(): void;
  /** Stops receiving at once and closes. Idempotent; the promise is shared. */
  close(): Promise<void>;
}

/** The peer of a dealer: whoever it is connected to. Also of one that binds, which does not tell its peers apart. */
export const ROUTER_PEER: Peer = { key: '', id: new Uint8Array(0) };

/** A family of sockets and the time they live in. One object serves any number of brokers, workers and clients. */
export interface Transport {
  readonly clock: Clock;
  readonly entropy: Entropy;
  /** Makes the socket implementation available; rejects with `UNAVAILABLE` when it cannot run here. Idempotent. */
  load(): Promise<void>;
  /** A socket that talks to many peers by routing id. After `load`. */
  router(options?: PortOptions): SocketPort;
  /** A socket for one conversation with one router, or one that deals out to whoever connects. After `load`. */
  dealer(options?: PortOptions): SocketPort;
  /** A socket that sends to whoever subscribed. After `load`. */
  publisher(options?: PortOptions): PublisherPort;
  /** A socket that receives what it subscribes to. After `load`. */
  subscriber(options?: PortOptions): SubscriberPort;
  /** Whether messages tell the CURVE key of their peer, where there is one: see `Peer.publicKey`. Absent: they do not. */
  readonly tellsKeys?: boolean;
  /** Whether its sockets use CURVE without the option `curve` of a port. Default: no. */
  readonly encrypts?: boolean;
  /** What all of the process may hold for peers; its sockets have joined it, and engines that run on this transport do. Absent: no bound in total. */
  readonly memory?: MemoryBudget | undefined;
  /** Called by the driver with the engine after each step: how tests and the simulator check invariants. Absent in production. */
  readonly probe?: (engine: Engine<never, unknown>) => void;
}
