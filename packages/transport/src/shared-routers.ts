/** Several protocols on one ROUTER, told apart by their frames. No protocol; who owns which frames is said by those who share. */
import { ProjError } from './errors.js';
import type { CurveOptions, Peer, PortListener, PortOptions, SocketPort, Transport } from './port.js';

/** The end of an endpoint that stands for any free port: nobody else can mean the same. */
const WILDCARD = /(:\*|:0|:\/\/\*)$/;

/** True for the frames, sent or received, of one protocol. Called once for each message; must not throw. */
export type Claim = (frames: readonly Uint8Array[]) => boolean;

/** A socket, and who shares it. */
interface Shared {
  readonly port: SocketPort;
  readonly curve: CurveOptions | undefined;
  /** Who has bound it, in the order they came, with what they listen with once they do. */
  readonly members: Map<MemberPort, PortListener | undefined>;
  started: boolean;
  /** Endpoints by the names under which they can be joined, as asked for and as bound. */
  readonly endpoints: Map<string, string>;
}

/**
 * Lets brokers of different protocols bind the same endpoint. Each gets a transport of its own by {@link SharedRouters.member};
 * whichever of them binds an endpoint first opens the socket, with its own options, and the others join it. A message goes to
 * the member that claims it, or to the first one; that a peer is gone, and all else without frames, is told to all.
 *
 * Members join one socket with all their endpoints. What arrives for a member that has not started yet goes to the first one.
 */
export class SharedRouters {
  readonly #transport: Transport;
  readonly #shared = new Set<Shared>();

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** The transport for one protocol: its routers may share sockets with those of other members, never with one another. */
  member(claim: Claim): Transport {
    const { clock, entropy, probe, memory, tellsKeys = false, encrypts = false } = this.#transport;
    const own = new Set<MemberPort>();
    return {
      clock,
      entropy,
      tellsKeys,
      encrypts,
      load: () => this.#transport.load(),
      router: (options) => {
        const port = new MemberPort(this.#transport.router(options), options?.curve, claim, this.#shared, own);
        own.add(port);
        return port;
      },
      dealer: (options?: PortOptions) => this.#transport.dealer(options),
      publisher: (options?: PortOptions) => this.#transport.publisher(options),
      subscriber: (options?: PortOptions) => this.#transport.subscriber(options),
      ...(memory === undefined ? {} : { memory }),
      ...(probe === undefined ? {} : { probe }),
    };
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
    if (started && listensToSent) throw new Error('onSent: only the first to start can listen to what was sent');
    members.set(this, listener);
    this.#shared.started = true;
    if (!started) port.start(fanOut(members, listensToSent));
  }

  send(peer: Peer, frames: readonly Uint8Array[]): void {
    if (this.#closing === undefined) this.#shared.port.send(peer, frames);
  }

  recheck(): void {
    this.#shared.port.recheck?.();
  }

  /** One socket is one reader: while one member pauses, all do. */
  pause(): void {
    this.paused = true;
    this.#shared.port.pause();
  }

  resume(): void {
    this.paused = false;
    if (![...this.#shared.members.keys()].some(({ paused }) => paused)) this.#shared.port.resume();
  }

  /** Leaves; whoever leaves last closes the socket. Until then what this member has sent goes out all the same. */
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

  /** True when a router of the same member has it: then it is in use, not to be shared. */
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
    // Whoever has left meanwhile hears nothing any more.
    for (const [member, listener] of [...members]) if (listener !== undefined && members.has(member)) tell(listener);
  };
  return {
    onMessage: (peer, frames) => claimant(frames)?.onMessage(peer, frames),
    onUndeliverable: (peer, frames, reason) => claimant(frames)?.onUndeliverable(peer, frames, reason),
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

/** Whoever joins a socket takes it as it is: without the protection that was asked for, this must not happen in silence. */
function isSameCurve(one: CurveOptions | undefined, other: CurveOptions | undefined): boolean {
  if (one?.role !== 'server' || other?.role !== 'server') return one === other;
  return one.authorize === other.authorize && one.keys.secretKey.join() === other.keys.secretKey.join();
}

function otherKeys(endpoint: string): ProjError {
  return new ProjError(
    'OPTIONS_INVALID',
    `endpoint ${JSON.stringify(endpoint)}: is shared with a protocol of another option curve; one socket has one pair of keys and one list`,
  );
}

function apart(endpoint: string): ProjError {
  return new ProjError(
    'OPTIONS_INVALID',
    `endpoint ${JSON.stringify(endpoint)}: is beside an endpoint shared with another protocol; share all endpoints of a socket or none`,
  );
}
