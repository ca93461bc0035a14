/** What one protocol's server gives its `EngineHost`: engine, sockets, and the handling of effects. */
import type { Access, AccessRight } from './access.js';
import type { Emitter } from './emitter.js';
import type { Engine } from './engine/engine.js';
import type { CurveOptions, HandshakeRefusal, Peer, PortOptions, RejectReason, UndeliverableReason } from './port.js';

/** One socket of a server, and the events it makes for the engine. A handler that is absent or returns `undefined` makes no event. */
export interface SocketPlan<Event> {
  readonly kind: 'router' | 'dealer';
  /** Endpoints to bind; port `*` is allowed. Default: none. */
  readonly bind?: readonly string[];
  /** Endpoints to connect to. Default: none. */
  readonly connect?: readonly string[];
  /** Default: the transport's defaults. */
  readonly port?: PortOptions;
  /** Only for dealers that bind: the service that a peer must be allowed to serve to be admitted. Default: none. */
  readonly serves?: string;
  /** Time limit for closing after a drain. Milliseconds. Default: the port's `lingerMs`. */
  readonly drainLingerMs?: number;
  onMessage(peer: Peer, frames: Uint8Array[]): Event | undefined;
  onPeerGone?(peer: Peer): Event | undefined;
  /** `others`: messages lost with this one and not reported; 0 without the port option `peerReportsMax`. */
  onUndeliverable?(
    peer: Peer,
    frames: readonly Uint8Array[],
    reason: UndeliverableReason,
    others: number,
  ): Event | undefined;
  onRejected?(peer: Peer, reason: RejectReason): Event | undefined;
  /** Only for dealers whose port has `tellsPeers`. */
  onPeerCame?(peer: Peer): Event | undefined;
  /** If absent, the port does not report it, which saves time. */
  onSent?(peer: Peer, frames: readonly Uint8Array[]): Event | undefined;
}

/** A PUB socket of a server, or an XPUB if its port has `tellsSubscriptions`. */
export interface PublisherPlan<Event> {
  /** Endpoints to bind; port `*` is allowed. */
  readonly bind: readonly string[];
  readonly port: PortOptions;
  /** The right that a subscriber needs to receive a message, for the name it is published under. Default: none. */
  readonly hears?: AccessRight;
  /** The first subscriber of this prefix has arrived, or the last one has left. */
  onSubscription?(prefix: Uint8Array, wanted: boolean): Event | undefined;
}

/** What every server reports, besides its engine's notes. */
export interface HostEvents {
  /** A peer failed the handshake or was refused. At most once a minute for the same key or address and cause. */
  refused: HandshakeRefusal;
  /** A socket failed permanently. Close this server and start another one. */
  broken: Error;
}

/** What one protocol's server supplies. */
export interface HostProgram<Event, Effect> {
  /** Name of the facade, for error messages. */
  readonly name: string;
  readonly engine: Engine<Event, Effect>;
  readonly sockets: readonly SocketPlan<Event>[];
  /** PUB and XPUB sockets. Default: none. */
  readonly publishers?: readonly PublisherPlan<Event>[];
  /** CURVE for every socket without its own option. */
  readonly curve?: CurveOptions;
  /** Initial access rules; need {@link onAccess}. Default: no restrictions. */
  readonly access?: Access | undefined;
  /** Makes the event that gives the engine its access rules: the very first event, and one for each `EngineHost.setAccess`. */
  readonly onAccess?: (access: Access) => Event;
  /** Makes the event that reports whether memory is short: one for each change, if the transport has a budget. */
  readonly onMemory?: (isTight: boolean) => Event;
  /** The first event, delivered before any from a socket. Default: none. */
  readonly started?: Event;
  /** Tells the engine to end. It answers with an effect for which `perform` calls `EngineHost.drained`. Default: a drain closes at once. */
  readonly drain?: Event;
  perform(effect: Effect): void;
  /** The facade's emitter. Default: the host's own, see `EngineHost.on`. */
  readonly events?: Pick<Emitter<HostEvents>, 'emit'>;
}

/** How many CURVE handshakes have failed, by reason. */
export interface RefusalCounts {
  readonly refused: Readonly<Record<HandshakeRefusal['reason'], number>>;
}
