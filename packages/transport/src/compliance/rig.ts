/** Shared by the cases: sockets that are closed afterwards, listeners that record what they receive, and plain checks. */
import { ROUTER_PEER } from '../port.js';
import type {
  HandshakeRefusal,
  Peer,
  PortListener,
  PortOptions,
  RejectReason,
  SocketPort,
  UndeliverableReason,
} from '../port.js';
import { SocketRig, TestListener } from './socket-rig.js';
import type { SocketSubject } from './socket-rig.js';

/** What the suite needs from an implementation. */
export interface PortSubject extends SocketSubject {
  /** The implementation's features; a case that needs more does not apply. */
  readonly capabilities: PortCapabilities;
}

/** Features that not every implementation has. */
export interface PortCapabilities {
  /** Routers are notified when a dealer's connection ends. */
  readonly peerGone: boolean;
  /** Dealers are notified when the connection to their router ends. */
  readonly routerGone: boolean;
  /** Routers keep a routing id for a live connection, and give it to a waiting one when that ends. */
  readonly keepsHolder: boolean;
}

/** A port and everything its listener got. */
export class PortPeer extends TestListener implements PortListener {
  readonly port: SocketPort;
  readonly endpoint: string;
  readonly messages: { readonly peer: Peer; readonly frames: readonly Uint8Array[] }[] = [];
  readonly gone: Peer[] = [];
  readonly sent: (readonly Uint8Array[])[] = [];
  readonly undeliverable: {
    readonly frames: readonly Uint8Array[];
    readonly reason: UndeliverableReason;
    readonly others: number;
  }[] = [];
  readonly rejected: RejectReason[] = [];
  readonly refused: HandshakeRefusal[] = [];
  /** Called with each message, after it was recorded. */
  onEach: ((peer: Peer, frames: Uint8Array[]) => void) | undefined;
  /** Called with each sent message, after it was recorded. */
  onEachSent: (() => void) | undefined;

  constructor(port: SocketPort, endpoint: string) {
    super();
    this.port = port;
    this.endpoint = endpoint;
  }

  /** The messages as text, frames joined by `|`. */
  get texts(): readonly string[] {
    return this.messages.map(({ frames }) => textOf(frames));
  }

  onMessage(peer: Peer, frames: Uint8Array[]): void {
    this.messages.push({ peer, frames });
    this.onEach?.(peer, frames);
    this.wake();
  }

  onPeerGone(peer: Peer): void {
    this.gone.push(peer);
    this.wake();
  }

  onUndeliverable(_peer: Peer, frames: readonly Uint8Array[], reason: UndeliverableReason, others: number): void {
    this.undeliverable.push({ frames, reason, others });
    this.wake();
  }

  onSent(_peer: Peer, frames: readonly Uint8Array[]): void {
    this.sent.push(frames);
    this.onEachSent?.();
    this.wake();
  }

  onRejected(_peer: Peer, reason: RejectReason): void {
    this.rejected.push(reason);
    this.wake();
  }

  onRefused(refusal: HandshakeRefusal): void {
    this.refused.push(refusal);
    this.wake();
  }

  /** Resolves when `count` messages have arrived. */
  received(count: number): Promise<void> {
    return this.until(() => this.messages.length >= count);
  }

  /** Sends one message per text to a peer; a dealer sends to its router. */
  say(peer: Peer, ...texts: string[]): void {
    for (const text of texts) this.port.send(peer, framesOf(text));
  }

  /** Sends one message and resolves to its outcome; a dealer must have nothing else pending. */
  async offer(frames: readonly Uint8Array[]): Promise<'sent' | UndeliverableReason> {
    const { sent, undeliverable } = this;
    const before = [sent.length, undeliverable.length] as const;
    this.port.send(ROUTER_PEER, frames);
    await this.until(() => sent.length > before[0] || undeliverable.length > before[1]);
    return sent.length > before[0] ? 'sent' : (undeliverable.at(-1)?.reason ?? 'congested');
  }
}

/** The sockets of one case. */
export class PortRig extends SocketRig<PortSubject> {
  /** A router port, neither bound nor started. */
  async bareRouter(options: PortOptions = {}): Promise<SocketPort> {
    return this.keep((await this.transport()).router({ lingerMs: 0, ...options }));
  }

  /** A dealer port, neither connected nor started. */
  async bareDealer(options: PortOptions = {}): Promise<SocketPort> {
    return this.keep((await this.transport()).dealer({ lingerMs: 0, ...options }));
  }

  /** A router, bound and started. */
  async router(options?: PortOptions, endpoint = this.subject.endpoint): Promise<PortPeer> {
    const port = await this.bareRouter(options);
    return start(port, await port.bind(endpoint));
  }

  /** A dealer, connected to the router and started. */
  async dealer(router: PortPeer, options?: PortOptions): Promise<PortPeer> {
    const port = await this.bareDealer(options);
    port.connect(router.endpoint);
    return start(port, router.endpoint);
  }

  /** A dealer, bound and started. */
  async boundDealer(options?: PortOptions, endpoint = this.subject.endpoint): Promise<PortPeer> {
    const port = await this.bareDealer(options);
    return start(port, await port.bind(endpoint));
  }

  /** A router, connected to these dealers and started. */
  async connectedRouter(dealers: readonly PortPeer[], options?: PortOptions): Promise<PortPeer> {
    const port = await this.bareRouter(options);
    for (const { endpoint } of dealers) port.connect(endpoint);
    return start(port, '');
  }

  /** A dealer whose first message, `hello`, has arrived, and the router's name for it. */
  async met(router: PortPeer, options?: PortOptions): Promise<{ dealer: PortPeer; peer: Peer }> {
    const dealer = await this.dealer(router, options);
    const before = router.messages.length;
    dealer.say(ROUTER_PEER, 'hello');
    await router.received(before + 1);
    const [message] = router.messages.splice(before);
    if (message === undefined) throw new Error('no message was kept');
    return { dealer, peer: message.peer };
  }

  /**
   * A connected dealer that does not read, and the router's name for it. The router has to try until it is known; the message that got through,
   * `knock`, is the first the dealer will read.
   */
  async deaf(router: PortPeer, id: string, options?: PortOptions): Promise<{ port: SocketPort; peer: Peer }> {
    const port = await this.bareDealer({ routingId: bytesOf(id), ...options });
    port.connect(router.endpoint);
    const peer: Peer = { key: id, id: bytesOf(id) };
    for (let known = false; !known;) {
      const refused = router.undeliverable.length;
      router.say(peer, 'knock');
      await this.pass(5);
      known = router.undeliverable.length === refused;
    }
    router.undeliverable.length = 0;
    return { port, peer };
  }

  /** Resolves when every message given to the port has been tried: what is pending is parked for this peer. */
  async tried({ port }: PortPeer, peer: Peer): Promise<void> {
    while (port.pending > port.pendingFor(peer)) await this.pass(1);
  }

  /**
   * Sends to a peer that has gone until the first message is refused. A transport may take a while to drop a connection after reporting its end,
   * and messages sent meanwhile are lost with it.
   */
  async refused(router: PortPeer, peer: Peer): Promise<UndeliverableReason | undefined> {
    while (router.undeliverable.length === 0) {
      router.say(peer, 'too late');
      await this.pass(5);
    }
    return router.undeliverable[0]?.reason;
  }

  /** Starts the dealer of {@link deaf}. */
  listen(port: SocketPort): PortPeer {
    return start(port, '');
  }
}

function start(port: SocketPort, endpoint: string): PortPeer {
  const station = new PortPeer(port, endpoint);
  port.start(station);
  return station;
}

/** Throws unless the condition holds. */
export function check(condition: boolean, text: string): asserts condition {
  if (!condition) throw new Error(text);
}

/** Throws unless both are the same text, number or list, compared as JSON. */
export function equal(actual: unknown, expected: unknown, what: string): void {
  const [have, want] = [JSON.stringify(actual), JSON.stringify(expected)];
  if (have !== want) throw new Error(`${what}: expected ${shorten(want)}, got ${shorten(have)}`);
}

function shorten(json: string): string {
  return json.length > 300 ? `${json.slice(0, 150)} ... ${json.slice(-150)} (${json.length} characters)` : json;
}

/** Calls the function and returns what it throws. */
export async function failure(action: () => unknown): Promise<unknown> {
  try {
    await action();
  } catch (error) {
    return error;
  }
  throw new Error('nothing was thrown');
}

/** The numbers 0 to `count` - 1 as text, with a prefix. */
export function numbered(count: number, prefix = ''): string[] {
  return Array.from({ length: count }, (_, index) => prefix + index.toString());
}

/** Latin1 bytes of a text. */
export function bytesOf(text: string): Uint8Array {
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}

/** A message with one frame per part between `|`. */
export function framesOf(text: string): Uint8Array[] {
  return text.split('|').map(bytesOf);
}

/** The inverse of {@link framesOf}; for short frames. */
export function textOf(frames: readonly Uint8Array[]): string {
  return frames.map((frame) => String.fromCharCode(...frame)).join('|');
}

/** True if the frames have the same bytes. */
export function sameFrames(a: readonly Uint8Array[], b: readonly Uint8Array[]): boolean {
  return a.length === b.length && a.every((frame, index) => sameBytes(frame, b[index]));
}

function sameBytes(a: Uint8Array, b: Uint8Array | undefined): boolean {
  return b !== undefined && a.length === b.length && a.every((byte, index) => byte === b[index]);
}
