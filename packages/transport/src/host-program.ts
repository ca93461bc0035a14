/** What the server of one protocol gives its `EngineHost`: its engine, its sockets, and what to do with effects. */
import type { Access, AccessRight } from './access.js';
import type { Emitter } from './emitter.js';
import type { Engine } from './engine/engine.js';
import type { CurveOptions, HandshakeRefusal, Peer, PortOptions, RejectReason, UndeliverableReason } from './port.js';

/** One socket of a server, and the events it makes for the engine. A handler that is absent or returns `undefined` makes none. */
export interface SocketPlan<Event> {
  readonly kind: 'router' | 'dealer';
  /** Endpoints to bind; port `*` is allowed. Default: none. */
  readonly bind?: readonly string[];
  /** Endpoints to connect to. Default: none. */
  readonly connect?: readonly string[];
  /** Default: the transport's defaults. */
  readonly port?: PortOptions;
  /** Dealers that bind only: the service a peer must be allowed to serve before it is let in. Default: none. */
  readonly serves?: string;
  /** How long closing it may take after a drain, in milliseconds. Default: `lingerMs` of the port. */
  readonly drainLingerMs?: number;
  onMessage(peer: Peer, frames: Uint8Array[]): Event | undefined;
  onPeerGone?(peer: Peer): Event | undefined;
  onUndeliverable?(peer: Peer, frames: readonly Uint8Array[], reason: UndeliverableReason): Event | undefined;
  onRejected?(peer: Peer, reason: RejectReason): Event | undefined;
  /** Dealers whose port `tellsPeers` only. */
  onPeerCame?(peer: Peer): Event | undefined;
  /** When absent, the port does not report it, which costs nothing. */
  onSent?(peer: Peer, frames: readonly Uint8Array[]): Event | undefined;
}

/** One PUB socket of a server, or an XPUB where its port `tellsSubscriptions`. */
export interface PublisherPlan<Event> {
  /** Endpoints to bind; port `*` is allowed. */
  readonly bind: readonly string[];
  readonly port: PortOptions;
  /** The right that a subscriber needs to receive a message, for the name it is published under. Default: none. */
  readonly hears?: AccessRight;
  /** The first subscriber has come for this prefix, or the last one has left. */
  onSubscription?(prefix: Uint8Array, wanted: boolean): Event | undefined;
}

/** What every server reports besides what its engine does. */
export interface HostEvents {
  /** A peer failed the handshake or was refused; the same key or address, for the same cause, at most once a minute. */
  refused: HandshakeRefusal;
  /** A socket failed for good and receives nothing more. Close this server and start another. */
  broken: Error;
}

/** What a server of one protocol plugs in. */
export interface HostProgram<Event, Effect> {
  /** Name of the facade, for error messages. */
  readonly name: string;
  readonly engine: Engine<Event, Effect>;
  readonly sockets: readonly SocketPlan<Event>[];
  /** PUB and XPUB sockets. Default: none. */
  readonly publishers?: readonly PublisherPlan<Event>[];
  /** CURVE for every socket whose own options have none. */
  readonly curve?: CurveOptions;
  /** Access rules from the start; needs {@link onAccess}. Default: no restrictions. */
  readonly access?: Access | undefined;
  /** Makes the event that gives the engine its access rules: the very first one, and one with each `EngineHost.setAccess`. */
  readonly onAccess?: (access: Access) => Event;
  /** Makes the event that tells the engine whether memory is short: one with each change, where the transport has a budget. */
  readonly onMemory?: (isTight: boolean) => Event;
  /** The first event, delivered before any from a socket. Default: none. */
  readonly started?: Event;
  /** Tells the engine to end. It answers with an effect, on which `perform` calls `EngineHost.drained`. Default: a drain closes at once. */
  readonly drain?: Event;
  perform(effect: Effect): void;
  /** The facade's emitter. Default: one of the host's own, see `EngineHost.on`. */
  readonly events?: Pick<Emitter<HostEvents>, 'emit'>;
}

/** How many CURVE handshakes have failed, by reason. */
export interface RefusalCounts {
  readonly refused: Readonly<Record<HandshakeRefusal['reason'], number>>;
}
