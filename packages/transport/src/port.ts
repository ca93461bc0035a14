/** The socket contract: what every transport offers to facades, and what it reports. Knows no protocol. */
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
  /** The CURVE key that it has proved to own, 32 bytes. Absent without CURVE, and on transports that cannot tell (libzmq). */
  readonly publicKey?: Uint8Array;
  /** The connection that it shares with other sockets, by a name of its own. Absent on connections of one socket, and where a transport cannot tell (libzmq). */
  readonly carrier?: string;
  /** Whether its socket is a REQ, which accepts one reply to each request and nothing else. Absent on transports that cannot tell (libzmq). */
  readonly isReq?: boolean;
}

/** Why a message that was accepted for sending did not go out. */
export type UndeliverableReason =
  /** There is no connection to that peer. */
  | 'unreachable'
  /** The peer does not read: its high-water mark and its waiting queue are full. */
  | 'congested';

/** Why a received message was dropped before decoding. */
export type RejectReason = 'too-many-frames' | 'too-large' | 'no-frames';

/** A CURVE key pair (RFC 26), 32 bytes each. */
export interface CurveKeys {
  readonly publicKey: Uint8Array;
  readonly secretKey: Uint8Array;
}

/** A list of keys that may connect, and notice of its changes: what `authorizedKeys` returns. */
export interface KeyList {
  /** Whether the owner of this key, 32 bytes, may connect. Never throws. */
  has(publicKey: Uint8Array): boolean;
  /** Calls `listener` whenever the answers of `has` may have changed, until the returned function is called. */
  onChange(listener: () => void): () => void;
}

/** CURVE on one socket: which end of RFC 26 it plays is independent of who binds. */
export type CurveOptions =
  | {
      readonly role: 'server';
      readonly keys: CurveKeys;
      /** Tells whether the client with this key may connect; called once per handshake. Absent: any key may. Never throws. */
      readonly authorize?: (publicKey: Uint8Array) => boolean;
      /** Calls `listener` whenever the answers of `authorize` may have changed, until the returned function is called. */
      readonly onAuthorizeChange?: (listener: () => void) => () => void;
    }
  | {
      readonly role: 'client';
      readonly keys: CurveKeys;
      /** The public key that the server must prove to own. */
      readonly serverKey: Uint8Array;
    };

/** A connection that was refused, or that failed its handshake. */
export interface HandshakeRefusal {
  /** `key`: `authorize` refused it. `handshake`: wrong server key, another mechanism, or broken bytes; also where the transport cannot tell. */
  readonly reason: 'key' | 'handshake';
  /** The client's key, if the handshake got that far. */
  readonly publicKey?: Uint8Array;
  /** The peer's address, if the transport tells it. */
  readonly address?: string;
  /** The likely cause of a failed `handshake`: the client has another server key, or one side does not use CURVE. */
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
   * The peer's connection ended; messages parked for it have been reported before. The peer may return at once on a new connection, where it
   * must introduce itself again. Messages that the transport has taken over by the time it drops the connection are lost without a report.
   * Never called where a transport cannot tell: neither ZeroMQ nor the network in memory tells a dealer that binds or a router that connects.
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
  /** A peer failed the CURVE handshake. */
  onRefused?(refusal: HandshakeRefusal): void;
  /**
   * Sockets that connect, where the transport can tell: a connection is established (`undefined`), or an attempt failed for this reason.
   * Refusals that {@link onRefused} reports are not reported here.
   */
  onConnection?(reason: string | undefined): void;
  /** A peer has connected. Only dealers with `tellsPeers` report it, where the transport can. */
  onPeerCame?(peer: Peer): void;
  /** The socket failed for good (not a peer's doing); nothing more will be received. */
  onBroken(error: Error): void;
}

/** Limits and timings of one socket. All have defaults; see each field. */
export interface PortOptions {
  /** How long `close` may take to hand over pending messages. Milliseconds; default 1000. */
  readonly lingerMs?: number;
  /** Largest message, in frames without the routing id; default 1024. */
  readonly maxMessageFrames?: number;
  /** Largest message, in bytes over all frames; default 64 MiB. A single frame far over it also ends the connection. */
  readonly maxMessageBytes?: number;
  /** Messages queued by the transport per peer and direction before it reports congestion; default 1000. */
  readonly highWaterMark?: number;
  /** The same for incoming messages that are not read yet; default: `highWaterMark`. TCP's own buffers come on top. */
  readonly receiveHighWaterMark?: number;
  /**
   * Dealers: how long one attempt to send may wait for a connection with room; later messages wait behind it.
   * Routers never wait, since one peer would delay all others. Milliseconds; default 0.
   */
  readonly sendWaitMs?: number;
  /** Waiting messages of one congested peer before it counts as lost; default 1000. */
  readonly peerQueueMax?: number;
  /** Waiting bytes of one congested peer before it counts as lost; default 64 MiB. */
  readonly peerQueueMaxBytes?: number;
  /** Waiting messages of all peers together; default 100,000. */
  readonly queueMax?: number;
  /** Waiting bytes of all peers together; default 256 MiB. */
  readonly queueMaxBytes?: number;
  /** Heartbeats of a connection (TCP keep-alive on libzmq, in whole seconds; else those of ZMTP): interval, 0 for none. Milliseconds; default 2000. */
  readonly connectionHeartbeatMs?: number;
  /** How long such a heartbeat may stay unanswered before the connection is cut. Milliseconds; default 6000. */
  readonly connectionTimeoutMs?: number;
  /**
   * Routers that bind: whether a second connection with a known routing id takes it over. With true it does: at once on libzmq, and on ZMTP
   * as soon as the first is silent. With false the second is ignored until the first ends, on libzmq for good. Default false.
   */
  readonly handover?: boolean;
  /** Dealers: the routing id to announce to routers, 1 to 255 bytes, not starting with 0x00. Default: the router picks one. */
  readonly routingId?: Uint8Array;
  /**
   * Dealers that bind: treats each connection as a peer of its own, which is reported when it comes, sends, takes messages (`onSent`) and
   * goes, and can be held with {@link SocketPort.hold}. Default false; ignored where the transport cannot.
   */
  readonly tellsPeers?: boolean;
  /** Publishers: be an XPUB, which reports subscriptions: `PublisherListener.onSubscription`. Default false. */
  readonly tellsSubscriptions?: boolean;
  /** Encrypts and authenticates every connection of this socket. Default: none, the mechanism NULL. */
  readonly curve?: CurveOptions;
}

/**
 * One socket: one reader, one outbox. `send` may be called at any time after `start` and never throws because of a peer; its outcome is
 * `onSent` (optional to listen to) or `onUndeliverable`.
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
   * Returns received frames, so that their memory can be reused for the next ones. The caller must not use them any more; sends already
   * under way may. Optional: frames that are never returned are garbage-collected. Absent where it would change nothing.
   */
  release?(frames: readonly Uint8Array[]): void;
  /**
   * Stops receiving, so that the transport's queues fill up and slow the peers down; sending goes on. One message already on its way to
   * the listener may still come, and `onPeerGone` may be late. One `resume` ends any number of calls.
   */
  pause(): void;
  /** Receives again. Does nothing unless paused. */
  resume(): void;
  /**
   * Asks `authorize` again about each connected peer, and ends the connections that it now refuses. Absent where the transport cannot:
   * there a peer that was let in stays.
   */
  recheck?(): void;
  /**
   * Dealers with `tellsPeers`: gives this peer no message while it is held; others get its turns. Does nothing for a peer that is gone.
   * Absent where the transport cannot.
   */
  hold?(peer: Peer, held: boolean): void;
  /** Messages accepted by `send` and not yet taken over by the transport. */
  readonly pending: number;
  /**
   * Bytes that the port holds: of outgoing messages, and of incoming ones not yet delivered. Cheap to read. Absent where the transport
   * does not tell.
   */
  readonly heldBytes?: number;
  /** Pending messages that wait because this peer is congested. */
  pendingFor(peer: Peer): number;
  /**
   * Stops receiving at once, hands over what is pending within `lingerMs`, closes. Idempotent; the promise is shared.
   * `lingerMs` overrides the option: 0 discards pending messages, since a peer that was given up must get nothing more.
   */
  close(options?: { readonly lingerMs?: number }): Promise<void>;
}

/** What a publisher calls. */
export interface PublisherListener {
  /**
   * The first subscriber has come for this prefix, or the last one has left. Needs `tellsSubscriptions`. The bytes belong to the
   * listener.
   */
  onSubscription?(prefix: Uint8Array, wanted: boolean): void;
  /** As `PortListener.onRefused`. */
  onRefused?(refusal: HandshakeRefusal): void;
  /** The socket failed for good; nothing more will be sent. */
  onBroken(error: Error): void;
}

/** A PUB socket (RFC 29): sends to its subscribers. */
export interface PublisherPort {
  /** As {@link SocketPort.bind}. Before `start`. */
  bind(endpoint: string): Promise<string>;
  /** Starts taking subscriptions and sending. Once. */
  start(listener: PublisherListener): void;
  /**
   * Sends a message of at least one frame to every subscriber with a prefix that the first frame begins with. Never waits: a subscriber
   * that does not read misses messages once `highWaterMark` of them wait for it. From here on the frames must not change.
   *
   * `mayHear` is called for each of these subscribers, within the call, and must not throw; those it refuses get nothing. Where the
   * transport does not tell keys, it is called once for all, with no key.
   */
  publish(frames: readonly Uint8Array[], mayHear?: (peer: Pick<Peer, 'publicKey'>) => boolean): void;
  /** As {@link SocketPort.heldBytes}. */
  readonly heldBytes?: number;
  /** As {@link SocketPort.close}. */
  close(options?: { readonly lingerMs?: number }): Promise<void>;
}

/** What a subscriber calls, until `close` is called. */
export interface SubscriberListener {
  /** A message that fits a subscription. The frames belong to the listener, which never writes to them. */
  onMessage(frames: Uint8Array[]): void;
  /** A message over the limits was dropped. Not reported when a frame far over them ended the connection. */
  onRejected(reason: RejectReason): void;
  /** As `PortListener.onRefused`. */
  onRefused?(refusal: HandshakeRefusal): void;
  /** The socket failed for good; nothing more will be received. */
  onBroken(error: Error): void;
}

/** A SUB socket (RFC 29). Restores all its subscriptions after a lost connection. */
export interface SubscriberPort {
  /** As {@link SocketPort.connect}. Before `start`. */
  connect(endpoint: string): void;
  /** Subscribes to messages whose first frame begins with this prefix; an empty one means all. Calls are counted. Any time before `close`. */
  subscribe(prefix: Uint8Array): void;
  /** Undoes one `subscribe` of this prefix. Does nothing if there is none. */
  unsubscribe(prefix: Uint8Array): void;
  /** Starts receiving. Once. */
  start(listener: SubscriberListener): void;
  /** As {@link SocketPort.pause}: meanwhile messages wait up to the high-water mark; further ones are lost. */
  pause(): void;
  /** As {@link SocketPort.resume}. */
  resume(): void;
  /** Stops receiving at once and closes. Idempotent; the promise is shared. */
  close(): Promise<void>;
}

/** The one peer of a dealer, also of a dealer that binds, which does not tell its peers apart. */
export const ROUTER_PEER: Peer = { key: '', id: new Uint8Array(0) };

/** What sockets will need of their {@link Transport}. */
export interface LoadOptions {
  /** Some have CURVE. Default true. */
  readonly curve?: boolean;
}

/** A family of sockets and the time they live in. One object serves any number of brokers, workers and clients. */
export interface Transport {
  readonly clock: Clock;
  readonly entropy: Entropy;
  /** Makes the socket implementation available; rejects with `UNAVAILABLE` when it cannot run here. Idempotent; must have resolved before the first socket is made. */
  load(options?: LoadOptions): Promise<void>;
  /** A socket that talks to many peers by routing id. After `load`. */
  router(options?: PortOptions): SocketPort;
  /** A socket that talks to one router, or that distributes messages among the peers that connect to it. After `load`. */
  dealer(options?: PortOptions): SocketPort;
  /** A socket that sends to its subscribers. After `load`. */
  publisher(options?: PortOptions): PublisherPort;
  /** A socket that receives what it subscribes to. After `load`. */
  subscriber(options?: PortOptions): SubscriberPort;
  /** Whether messages carry the CURVE key of their peer, if it has one: `Peer.publicKey`. Default: no. */
  readonly tellsKeys?: boolean;
  /** Whether its sockets are encrypted without the port option `curve`. Default: no. */
  readonly encrypts?: boolean;
  /** The bound on all that the process holds for peers. The transport's sockets join it, and so do the engines that run on it. Default: none. */
  readonly memory?: MemoryBudget | undefined;
  /** Called by the driver with the engine after each step: how tests and the simulator check invariants. Absent in production. */
  readonly probe?: (engine: Engine<never, unknown>) => void;
}
