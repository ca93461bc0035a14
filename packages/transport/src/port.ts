/** The socket contract: what every transport offers to facades, and what it reports. Knows no protocol. */
import type { Clock } from '@proj/heartbeat';
import type { Engine, Entropy } from './engine/engine.js';
import type { MemoryBudget } from './memory-budget.js';

/**
 * The other end of a connection, as the socket names it. Two values with the same `key` are the same peer. Ports may make a new value per
 * message, so compare keys, not references.
 */
export interface Peer {
  /** The routing id as latin1 text: one character per byte, so that no two ids share a key. */
  readonly key: string;
  /** The routing id as bytes, 1 to 255 of them. Do not modify. */
  readonly id: Uint8Array;
  /** Its proven CURVE key, 32 bytes. Absent without CURVE, and on transports that do not know it (libzmq). */
  readonly publicKey?: Uint8Array;
  /** Identifies the connection that it shares with other sockets. Absent on unshared connections, and on transports that do not know it (libzmq). */
  readonly carrier?: string;
  /** Whether its socket is a REQ, which accepts exactly one reply per request. Absent on transports that do not know it (libzmq). */
  readonly isReq?: boolean;
}

/** Why a message accepted for sending was not delivered. */
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

/** A list of authorized keys that reports its changes: the result of `authorizedKeys`. */
export interface KeyList {
  /** Whether the owner of this 32-byte key may connect. Never throws. */
  has(publicKey: Uint8Array): boolean;
  /** Calls `listener` when the answers of `has` may have changed, until the returned function is called. */
  onChange(listener: () => void): () => void;
}

/** CURVE on one socket. Its role in RFC 26 is independent of which side binds. */
export type CurveOptions =
  | {
      readonly role: 'server';
      readonly keys: CurveKeys;
      /** Whether the client with this key may connect; called once per handshake. Absent: any key may. Never throws. */
      readonly authorize?: (publicKey: Uint8Array) => boolean;
      /** Calls `listener` when the answers of `authorize` may have changed, until the returned function is called. */
      readonly onAuthorizeChange?: (listener: () => void) => () => void;
    }
  | {
      readonly role: 'client';
      readonly keys: CurveKeys;
      /** The public key that the server must prove. */
      readonly serverKey: Uint8Array;
    };

/** A connection that was refused, or that failed its handshake. */
export interface HandshakeRefusal {
  /** `key`: `authorize` refused it. `handshake`: wrong server key, another mechanism, or invalid bytes; also if the transport does not know. */
  readonly reason: 'key' | 'handshake';
  /** The client's key, if the handshake got that far. */
  readonly publicKey?: Uint8Array;
  /** The peer's address, if the transport reports it. */
  readonly address?: string;
  /** The likely cause of a failed `handshake`: the client expects another server key, or one side does not use CURVE. */
  readonly cause?: 'server-key' | 'mechanism';
}

/** Called by a port. Calls come one at a time, never from inside `bind`, `connect` or `start`, and never after `close` was called. */
export interface PortListener {
  /** A message. The listener owns the frames. Large ones share memory with the socket, so do not modify them. */
  onMessage(peer: Peer, frames: Uint8Array[]): void;
  /**
   * The peer's connection has ended; messages parked for it were reported before. The peer may return at once on a new connection, where it must
   * introduce itself again. Messages already taken by the transport are lost without a report. Never called if a transport does not know:
   * neither ZeroMQ nor the in-memory network reports it to a dealer that binds or a router that connects.
   */
  onPeerGone(peer: Peer): void;
  /**
   * A message given to `send` did not go out, nor did `others`, which waited behind it: only with `peerReportsMax`, otherwise 0. May be called
   * from inside `send`.
   */
  onUndeliverable(peer: Peer, frames: readonly Uint8Array[], reason: UndeliverableReason, others: number): void;
  /**
   * The transport has taken this message: it is queued at a connection, or at an endpoint that this socket connects to. For each message given
   * to `send`, either this or `onUndeliverable` is called, once, unless it is one of the `others` there, or the port has closed or failed by then.
   * May be called from inside `send`. Looked up once, at `start`; if absent, it costs nothing.
   */
  onSent?(peer: Peer, frames: readonly Uint8Array[]): void;
  /** A message over the limits was dropped before decoding. */
  onRejected(peer: Peer, reason: RejectReason): void;
  /** A peer failed the CURVE handshake. */
  onRefused?(refusal: HandshakeRefusal): void;
  /**
   * For sockets that connect, if the transport knows: a connection was established (`undefined`), or an attempt failed for this reason. Refusals
   * reported by {@link onRefused} are not reported here.
   */
  onConnection?(reason: string | undefined): void;
  /** A peer has connected. Only for dealers with `tellsPeers`, if the transport supports it. */
  onPeerCame?(peer: Peer): void;
  /** The socket failed permanently (not because of a peer); nothing more will be received. */
  onBroken(error: Error): void;
}

/** Limits and timings of one socket. All have defaults; see each field. */
export interface PortOptions {
  /** Time limit for `close` to hand over pending messages. Milliseconds; default 1000. */
  readonly lingerMs?: number;
  /** Largest message, in frames without the routing id; default 1024. */
  readonly maxMessageFrames?: number;
  /** Largest message, in bytes over all frames; default 64 MiB. A single frame far over it also ends the connection. */
  readonly maxMessageBytes?: number;
  /** Messages queued by the transport per peer and direction before it reports congestion; default 1000. */
  readonly highWaterMark?: number;
  /** The same for unread incoming messages; default: `highWaterMark`. TCP's own buffers come on top. */
  readonly receiveHighWaterMark?: number;
  /**
   * Dealers: how long one attempt to send may wait for a connection with room; later messages wait behind it. Routers never wait, because one
   * peer would delay all others. Milliseconds; default 0.
   */
  readonly sendWaitMs?: number;
  /** Waiting messages of one congested peer before it counts as lost; default 1000. */
  readonly peerQueueMax?: number;
  /** Waiting bytes of one congested peer before it counts as lost; default 64 MiB. */
  readonly peerQueueMaxBytes?: number;
  /** Reports of what one lost peer leaves behind; the last one counts the rest, however many. Default: one per message. */
  readonly peerReportsMax?: number;
  /** Waiting messages of all peers together; default 100,000. */
  readonly queueMax?: number;
  /** Waiting bytes of all peers together; default 256 MiB. */
  readonly queueMaxBytes?: number;
  /** Interval of connection heartbeats (ZMTP's own, or TCP keep-alive in whole seconds on libzmq); 0 for none. Milliseconds; default 2000. */
  readonly connectionHeartbeatMs?: number;
  /** How long a heartbeat may stay unanswered before the connection is cut. Milliseconds; default 6000. */
  readonly connectionTimeoutMs?: number;
  /**
   * Routers that bind: whether a second connection with a known routing id takes it over. If true: at once on libzmq, and on ZMTP as soon as the
   * first is silent. If false, the second is ignored until the first ends, on libzmq for ever. Default false.
   */
  readonly handover?: boolean;
  /** Dealers: the routing id to announce to routers, 1 to 255 bytes, not starting with 0x00. Default: the router picks one. */
  readonly routingId?: Uint8Array;
  /**
   * Dealers that bind: treats each connection as a separate peer. Its connecting, messages, accepted messages (`onSent`) and leaving are
   * reported, and it can be held with {@link SocketPort.hold}. Default false; ignored if the transport does not support it.
   */
  readonly tellsPeers?: boolean;
  /** Publishers: acts as an XPUB, which reports subscriptions: `PublisherListener.onSubscription`. Default false. */
  readonly tellsSubscriptions?: boolean;
  /** Encrypts and authenticates every connection of this socket. Default: none, the mechanism NULL. */
  readonly curve?: CurveOptions;
}

/**
 * One socket: one reader, one outbox. `send` may be called at any time after `start` and never throws because of a peer; its outcome is `onSent`
 * (optional) or `onUndeliverable`.
 *
 * Usually routers bind and dealers connect. The other way round, a dealer that binds gives each message to the next connection with room, in
 * turn; without connections it has no room. A router that connects knows a peer by its routing id from its first connection on, as long as the
 * socket lives: messages sent while that connection is away wait for the next one, up to the high-water mark.
 */
export interface SocketPort {
  /** Binds; resolves to the endpoint with any wildcard port filled in. Rejects with `ADDRESS_IN_USE` or `OPTIONS_INVALID`. Before `start`. */
  bind(endpoint: string): Promise<string>;
  /** Connects in the background. Throws `OPTIONS_INVALID` for an endpoint that cannot be parsed. Before `start`. */
  connect(endpoint: string): void;
  /** Starts receiving and sending. Call it once. */
  start(listener: PortListener): void;
  /**
   * Queues a message of at least one frame. Keeps the order per peer. Do not change the frames afterwards. Dealers ignore the peer; pass {@link
   * ROUTER_PEER}.
   */
  send(peer: Peer, frames: readonly Uint8Array[]): void;
  /**
   * Returns received frames, so that their memory can be reused. The caller must not use them any more; sends under way still may. Optional:
   * frames that are never returned are garbage-collected. Absent if it would have no effect.
   */
  release?(frames: readonly Uint8Array[]): void;
  /**
   * Stops receiving, so that the transport's queues fill up and slow the peers down; sending continues. One message already on its way to the
   * listener may still arrive, and `onPeerGone` may be late. One `resume` ends any number of calls.
   */
  pause(): void;
  /** Receives again. No effect unless paused. */
  resume(): void;
  /**
   * Calls `authorize` again for each connected peer, and ends the connections that it now refuses. Absent if the transport does not support it:
   * then an admitted peer stays.
   */
  recheck?(): void;
  /**
   * Dealers with `tellsPeers`: sends this peer no message while it is held; others get its turns. No effect for a peer that has gone. Absent if
   * the transport does not support it.
   */
  hold?(peer: Peer, held: boolean): void;
  /** Messages accepted by `send` and not yet taken by the transport. */
  readonly pending: number;
  /** Bytes held by the port: outgoing messages, and incoming ones not yet delivered. Cheap to read. Absent if the transport does not report it. */
  readonly heldBytes?: number;
  /** Pending messages that wait because this peer is congested. */
  pendingFor(peer: Peer): number;
  /**
   * Stops receiving at once, hands over pending messages within `lingerMs`, closes. Idempotent; the promise is shared. `lingerMs` overrides the
   * option: 0 discards pending messages, for example when a peer was given up and must get nothing more.
   */
  close(options?: { readonly lingerMs?: number }): Promise<void>;
}

/** Called by a publisher. */
export interface PublisherListener {
  /** The first subscriber of this prefix has arrived, or the last one has left. Needs `tellsSubscriptions`. The listener owns the bytes. */
  onSubscription?(prefix: Uint8Array, wanted: boolean): void;
  /** As `PortListener.onRefused`. */
  onRefused?(refusal: HandshakeRefusal): void;
  /** The socket failed permanently; nothing more will be sent. */
  onBroken(error: Error): void;
}

/** A PUB socket (RFC 29): sends to its subscribers. */
export interface PublisherPort {
  /** As {@link SocketPort.bind}. Before `start`. */
  bind(endpoint: string): Promise<string>;
  /** Starts accepting subscriptions and sending. Call it once. */
  start(listener: PublisherListener): void;
  /**
   * Sends a message of at least one frame to every subscriber with a prefix of its first frame. Never waits: a subscriber that does not read
   * misses messages once `highWaterMark` of them wait for it. Do not change the frames afterwards.
   *
   * `mayHear` is called synchronously for each of these subscribers and must not throw; those it refuses get nothing. If the transport does not
   * report keys, it is called once for all, without a key.
   */
  publish(frames: readonly Uint8Array[], mayHear?: (peer: Pick<Peer, 'publicKey'>) => boolean): void;
  /** As {@link SocketPort.heldBytes}. */
  readonly heldBytes?: number;
  /** As {@link SocketPort.close}. */
  close(options?: { readonly lingerMs?: number }): Promise<void>;
}

/** Called by a subscriber, until `close` is called. */
export interface SubscriberListener {
  /** A message that matches a subscription. The listener owns the frames but must not modify them. */
  onMessage(frames: Uint8Array[]): void;
  /** A message over the limits was dropped. Not reported if a frame far over them ended the connection. */
  onRejected(reason: RejectReason): void;
  /** As `PortListener.onRefused`. */
  onRefused?(refusal: HandshakeRefusal): void;
  /** The socket failed permanently; nothing more will be received. */
  onBroken(error: Error): void;
}

/** A SUB socket (RFC 29). Restores all its subscriptions after a lost connection. */
export interface SubscriberPort {
  /** As {@link SocketPort.connect}. Before `start`. */
  connect(endpoint: string): void;
  /** Subscribes to messages whose first frame begins with this prefix; an empty one means all. Calls are counted. Any time before `close`. */
  subscribe(prefix: Uint8Array): void;
  /** Undoes one `subscribe` of this prefix. No effect if there is none. */
  unsubscribe(prefix: Uint8Array): void;
  /** Starts receiving. Call it once. */
  start(listener: SubscriberListener): void;
  /** As {@link SocketPort.pause}: messages wait up to the high-water mark; further ones are lost. */
  pause(): void;
  /** As {@link SocketPort.resume}. */
  resume(): void;
  /** Stops receiving at once and closes. Idempotent; the promise is shared. */
  close(): Promise<void>;
}

/** The one peer of a dealer, even of a dealer that binds, which does not distinguish its peers. */
export const ROUTER_PEER: Peer = { key: '', id: new Uint8Array(0) };

/** What the sockets will need from their {@link Transport}. */
export interface LoadOptions {
  /** Some have CURVE. Default true. */
  readonly curve?: boolean;
}

/** A family of sockets and their time. One object serves any number of brokers, workers and clients. */
export interface Transport {
  readonly clock: Clock;
  readonly entropy: Entropy;
  /**
   * Makes the sockets available; rejects with `UNAVAILABLE` if they cannot run here. Idempotent; must have resolved before the first socket is
   * created.
   */
  load(options?: LoadOptions): Promise<void>;
  /** A socket that talks to many peers by routing id. After `load`. */
  router(options?: PortOptions): SocketPort;
  /** A socket that talks to one router, or that distributes messages among the peers that connect to it. After `load`. */
  dealer(options?: PortOptions): SocketPort;
  /** A socket that sends to its subscribers. After `load`. */
  publisher(options?: PortOptions): PublisherPort;
  /** A socket that receives what it subscribes to. After `load`. */
  subscriber(options?: PortOptions): SubscriberPort;
  /** Whether messages carry their peer's CURVE key, if it has one: `Peer.publicKey`. Default: no. */
  readonly tellsKeys?: boolean;
  /** Whether its sockets are encrypted without the port option `curve`. Default: no. */
  readonly encrypts?: boolean;
  /** Bounds everything the process holds for peers. The transport's sockets join it, and so do the engines that run on it. Default: none. */
  readonly memory?: MemoryBudget | undefined;
  /** Called by the driver with the engine after each step: tests and the simulator check invariants. Absent in production. */
  readonly probe?: (engine: Engine<never, unknown>) => void;
}
