/** Several protocols on one ROUTER, distinguished by their frames. Knows no protocol: each member recognizes its own frames. */
import { deriveTransport } from './derive-transport.js';
import { ProjError } from './errors.js';
import type { CurveOptions, Peer, PortListener, SocketPort, Transport } from './port.js';

/** The suffix of an endpoint that means any free port. Two such endpoints are never the same. */
const WILDCARD = /(:\*|:0|:\/\/\*)$/;

/** True for frames, sent or received, of this protocol. Called once per message; must not throw. */
export type Claim = (frames: readonly Uint8Array[]) => boolean;

/** A socket and its members. */
interface Shared {
  readonly port: SocketPort;
  readonly curve: CurveOptions | undefined;
  /** Its members in the order they bound it, each with its listener once started. */
  readonly members: Map<MemberPort, PortListener | undefined>;
  started: boolean;
  /** Bound endpoints, by the requested endpoint and by the actual one. */
  readonly endpoints: Map<string, string>;
}

/**
 * Lets brokers of different protocols bind the same endpoint. Each gets its own transport from {@link SharedRouters.member}. The first to bind
 * an endpoint opens the socket, with its own options; the others join it. A message goes to the member that claims it, otherwise to the first
 * one. Events without frames, such as a peer that has gone, go to all.
 *
 * A member joins one socket with all its endpoints. Messages for a member that has not started yet go to the first one.
 */
export class SharedRouters {
  readonly #transport: Transport;
  readonly #shared = new Set<Shared>();

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** A transport for one protocol. Its routers share sockets with those of other members, but not with each other. */
  member(claim: Claim): Transport {
    const own = new Set<MemberPort>();
    return deriveTransport(this.#transport, {
      router: (options) => {
        const port = new MemberPort(this.#transport.router(options), options?.curve, claim, this.#shared, own);
        own.add(port);
        return port;
      },
    });
  }
}

/** One member's view of a socket. */
class MemberPort implements SocketPort {
  readonly claim: Claim;
  paused = false;
  readonly #registry: Set<Shared>;
  readonly #siblings: ReadonlySet<MemberPort>;
  readonly #curve: CurveOptions | undefined;
  #shared: Shared;
  #closing: Promise<void> | undefined;

  constructor(
    port: SocketPort,
    curve: CurveOptions | undefined,
    claim: Claim,
    registry: Set<Shared>,
    siblings: ReadonlySet<MemberPort>,
  ) {
    this.claim = claim;
    this.#registry = registry;
    this.#siblings = siblings;
    this.#curve = curve;
    this.#shared = { port, curve, members: new Map(), started: false, endpoints: new Map() };
    this.#shared.members.set(this, undefined);
  }

  get pending(): number {
    return this.#shared.port.pending;
  }

  pendingFor(peer: Peer): number {
    return this.#shared.port.pendingFor(peer);
  }

  async bind(endpoint: string): Promise<string> {
    const there = [...this.#registry].find((shared) => shared.endpoints.has(endpoint));
    const isJoined = [...this.#shared.members.keys()][0] !== this;
    if (there !== undefined && (there === this.#shared ? isJoined : !this.#isTaken(there))) {
      await this.#join(there);
      return there.endpoints.get(endpoint) ?? endpoint;
    }
    if (isJoined) throw apart(endpoint);
    const bound = await this.#shared.port.bind(endpoint);
    this.#registry.add(this.#shared);
    this.#shared.endpoints.set(bound, bound);
    if (!WILDCARD.test(endpoint)) this.#shared.endpoints.set(endpoint, bound);
    return bound;
  }

  connect(endpoint: string): void {
    this.#shared.port.connect(endpoint);
  }

  start(listener: PortListener): void {
    const { port, members, started } = this.#shared;
    const listensToSent = listener.onSent !== undefined;
    if (members.get(this) !== undefined) throw new Error('start: only once');
    if (started && listensToSent) throw new Error('onSent: only the first member to start can use it');
    members.set(this, listener);
    this.#shared.started = true;
    if (!started) port.start(fanOut(members, listensToSent));
  }

  send(peer: Peer, frames: readonly Uint8Array[]): void {
    if (this.#closing === undefined) this.#shared.port.send(peer, frames);
  }

  release(frames: readonly Uint8Array[]): void {
    this.#shared.port.release?.(frames);
  }

  recheck(): void {
    this.#shared.port.recheck?.();
  }

  /** A socket has one reader: while one member is paused, all are. */
  pause(): void {
    this.paused = true;
    this.#shared.port.pause();
  }

  resume(): void {
    this.paused = false;
    if (![...this.#shared.members.keys()].some(({ paused }) => paused)) this.#shared.port.resume();
  }

  /** Leaves the socket; the last member to leave closes it. Until then this member's pending messages are still sent. */
  close(options?: { readonly lingerMs?: number }): Promise<void> {
    return (this.#closing ??= this.#close(options));
  }

  async #close(options?: { readonly lingerMs?: number }): Promise<void> {
    const { members, port } = this.#shared;
    members.delete(this);
    if (members.size > 0) {
      if (this.paused) this.resume();
      return;
    }
    this.#registry.delete(this.#shared);
    await port.close(options);
  }

  /** True if another router of the same member has it: then it is in use and cannot be shared. */
  #isTaken({ members }: Shared): boolean {
    return [...members.keys()].some((member) => this.#siblings.has(member));
  }

  async #join(there: Shared): Promise<void> {
    if (there === this.#shared) return;
    const { port, endpoints } = this.#shared;
    if (!isSameCurve(this.#curve, there.curve)) throw otherKeys([...there.endpoints.keys()].join(', '));
    if (endpoints.size > 0) throw apart([...there.endpoints.keys()].join(', '));
    there.members.set(this, undefined);
    this.#shared = there;
    await port.close({ lingerMs: 0 });
  }
}

function fanOut(members: Shared['members'], onSent: boolean): PortListener {
  const claimant = (frames: readonly Uint8Array[]): PortListener | undefined => {
    let first: PortListener | undefined;
    for (const [member, listener] of members) {
      if (listener === undefined) continue;
      if (member.claim(frames)) return listener;
      first ??= listener;
    }
    return first;
  };
  const all = (tell: (listener: PortListener) => void) => {
    // Members that have left meanwhile are not called.
    for (const [member, listener] of [...members]) if (listener !== undefined && members.has(member)) tell(listener);
  };
  return {
    onMessage: (peer, frames) => claimant(frames)?.onMessage(peer, frames),
    onUndeliverable: (peer, frames, reason, others) => claimant(frames)?.onUndeliverable(peer, frames, reason, others),
    onPeerGone: (peer) => {
      all((listener) => {
        listener.onPeerGone(peer);
      });
    },
    onRejected: (peer, reason) => {
      all((listener) => {
        listener.onRejected(peer, reason);
      });
    },
    onRefused: (refusal) => {
      [...members.values()].find((listener) => listener !== undefined)?.onRefused?.(refusal);
    },
    onBroken: (error) => {
      all((listener) => {
        listener.onBroken(error);
      });
    },
    ...(onSent
      ? { onSent: (peer: Peer, frames: readonly Uint8Array[]) => claimant(frames)?.onSent?.(peer, frames) }
      : {}),
  };
}

/** A member that joins a socket gets its CURVE settings. Joining one without the requested protection must be an error. */
function isSameCurve(one: CurveOptions | undefined, other: CurveOptions | undefined): boolean {
  if (one?.role !== 'server' || other?.role !== 'server') return one === other;
  return one.authorize === other.authorize && one.keys.secretKey.join() === other.keys.secretKey.join();
}

function otherKeys(endpoint: string): ProjError {
  return new ProjError(
    'OPTIONS_INVALID',
    `endpoint ${JSON.stringify(endpoint)}: shared with a protocol that has a different option curve; give both the same keys and the same list`,
  );
}

function apart(endpoint: string): ProjError {
  return new ProjError(
    'OPTIONS_INVALID',
    `endpoint ${JSON.stringify(endpoint)}: cannot be combined with an endpoint shared with another protocol; share all endpoints of a socket, or none`,
  );
}
