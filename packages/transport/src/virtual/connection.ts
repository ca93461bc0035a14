/** A connection between a connecting socket and a bound one: two pipes, with an end for each socket. */
import type { Clock, Timer } from '@proj/heartbeat';
import type { CurveOptions, Peer } from '../port.js';
import type { VirtualWire } from './virtual-wire.js';
import { VirtualPipe } from './pipe.js';
import type { PipeReader, PipeWorld } from './pipe.js';
import type { Process } from './process.js';

/** The socket at either end, as a connection needs it. */
export interface ConnectionOwner {
  readonly process: Process;
  /** Limit of messages in flight from this socket, per connection. */
  readonly highWaterMark: number;
  /** Its CURVE identity, and what it requires of the other side. */
  readonly curve: CurveOptions | undefined;
  /** Limit of messages in flight to it. */
  readonly receiveHighWaterMark: number;
  /** ZMTP heartbeats of this side; an interval of 0 turns them off. */
  readonly connectionHeartbeatMs: number;
  readonly connectionTimeoutMs: number;
  /** False until the socket is started: arrived messages wait. A closing socket keeps reading, to learn what happens to its connections. */
  readonly reading: boolean;
  onFrames(end: ConnectionEnd, frames: readonly Uint8Array[]): void;
  /** The connection has ended. Called once, but not if the owner closed its own end. */
  onConnectionLost(end: ConnectionEnd): void;
  /** The outgoing pipe was full and has room again. */
  onRoom(end: ConnectionEnd): void;
}

/** Where a socket puts its messages: a connection, or an endpoint it connects to. */
export interface MessageTarget {
  /** False if there is no room; the owner's `onRoom` reports when there is. */
  send(frames: readonly Uint8Array[]): boolean;
}

/** One side of a connection, as its socket holds it. */
export class ConnectionEnd implements PipeReader, MessageTarget {
  readonly owner: ConnectionOwner;
  readonly connection: VirtualConnection;
  readonly #clock: Clock;
  readonly #establishedAt: number;
  #outgoing: VirtualPipe | undefined;
  #incoming: VirtualPipe | undefined;
  #open = true;
  #silence: Timer | undefined;

  constructor(owner: ConnectionOwner, connection: VirtualConnection, clock: Clock) {
    this.owner = owner;
    this.connection = connection;
    this.#clock = clock;
    this.#establishedAt = clock.now();
  }

  /** @internal Completes construction: the two ends need each other's pipes. */
  attach(incoming: VirtualPipe, outgoing: VirtualPipe): void {
    this.#incoming = incoming;
    this.#outgoing = outgoing;
  }

  /** The peer, with its proven key if any. */
  identified(peer: Peer): Peer {
    const { curve } = this.connection.across(this).owner;
    return curve?.role === 'client' ? { ...peer, publicKey: curve.keys.publicKey } : peer;
  }

  get open(): boolean {
    return this.#open;
  }

  get ready(): boolean {
    return this.owner.reading && this.owner.process.state === 'running';
  }

  send(frames: readonly Uint8Array[]): boolean {
    return this.#outgoing?.send(frames) ?? false;
  }

  /** Closes in order: sent messages arrive, then the other side learns of the end. */
  close(): void {
    this.#shut();
    this.#outgoing?.finish();
  }

  /** Closes at once: some sent messages are lost, and the other side learns of the end. */
  abort(): void {
    this.#shut();
    this.#outgoing?.sever();
  }

  /** The line breaks: both sides lose messages in flight, and learn of it in due course. */
  breakLine(): void {
    this.#outgoing?.sever();
    this.#incoming?.sever();
  }

  /** The machine vanishes silently: the other side has only its heartbeats to notice. */
  vanish(): void {
    this.#shut();
    this.#outgoing?.discard();
  }

  /** Lets messages through that this side's process or socket held up. */
  wake(): void {
    this.#incoming?.kick();
  }

  /**
   * The other side has gone silent, or is back. ZMTP heartbeats notice silence one timeout after the first unanswered ping; then this side cuts
   * the connection.
   */
  watch(silent: boolean): void {
    if (!silent) {
      this.#silence?.cancel();
      this.#silence = undefined;
      return;
    }
    const { connectionHeartbeatMs: interval, connectionTimeoutMs: timeout } = this.owner;
    if (this.#silence !== undefined || !this.#open || interval === 0) return;
    const now = this.#clock.now();
    const pings = Math.ceil((now - this.#establishedAt) / interval);
    this.#silence = this.#clock.at(this.#establishedAt + pings * interval + timeout, () => {
      this.abort();
      this.owner.onConnectionLost(this);
    });
  }

  onMessage(frames: readonly Uint8Array[]): void {
    this.owner.onFrames(this, frames);
  }

  onEnd(): void {
    this.#shut();
    this.#outgoing?.finish();
    this.owner.onConnectionLost(this);
  }

  #shut(): void {
    this.#open = false;
    this.#incoming?.discard();
    this.watch(false);
  }
}

/** Both ends, for the network's faults. */
export class VirtualConnection {
  /** The end of the connecting socket. */
  readonly active: ConnectionEnd;
  /** The end of the bound socket. */
  readonly passive: ConnectionEnd;
  readonly link: VirtualWire;

  constructor(active: ConnectionOwner, passive: ConnectionOwner, world: PipeWorld) {
    const { clock, link } = world;
    this.link = link;
    this.active = new ConnectionEnd(active, this, clock);
    this.passive = new ConnectionEnd(passive, this, clock);
    const toPassive = pipe(world, this.active, this.passive, passive.receiveHighWaterMark);
    // A bound socket's queue for a peer is lost with the connection, so its high-water mark can count as part of the pipe.
    const toActive = pipe(world, this.passive, this.active, passive.highWaterMark + active.receiveHighWaterMark);
    this.active.attach(toActive, toPassive);
    this.passive.attach(toPassive, toActive);
  }

  /** The end at the other side. */
  across(end: ConnectionEnd): ConnectionEnd {
    return end === this.active ? this.passive : this.active;
  }

  /** True once both sides have seen the end. */
  get over(): boolean {
    return !this.active.open && !this.passive.open;
  }

  /** Tells both ends whether they can still reach each other, and lets waiting messages through. */
  refresh(): void {
    watch(this.active, this.passive, this.link);
    watch(this.passive, this.active, this.link);
    this.active.wake();
    this.passive.wake();
  }
}

function pipe(world: PipeWorld, from: ConnectionEnd, to: ConnectionEnd, capacity: number): VirtualPipe {
  return new VirtualPipe(world, to, capacity, () => {
    from.owner.onRoom(from);
  });
}

/** A process that is stopped measures nothing; when it resumes, it starts listening anew. */
function watch(observer: ConnectionEnd, other: ConnectionEnd, link: VirtualWire): void {
  const listening = observer.owner.process.state === 'running';
  observer.watch(listening && (link.partitioned || other.owner.process.state !== 'running'));
}
