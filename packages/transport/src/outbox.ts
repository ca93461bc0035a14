/**
 * What a socket has been given and the transport has not yet taken: one attempt per peer at a time, order per peer kept, a peer
 * that does not read delays nobody else. See docs/adr/0002-congestion-is-parked-by-the-port.md. Holds no socket and no policy.
 */
import { compactAll } from '@proj/frames';
import type { Clock, Timer } from '@proj/heartbeat';
import { Fifo } from './fifo.js';
import { assertFrames } from './limits.js';
import type { MemoryBudget } from './memory-budget.js';
import type { Peer, UndeliverableReason } from './port.js';

const FIRST_RETRY_MS = 10;
const LONGEST_RETRY_MS = 200;
/** Memory of a message besides its bytes: a few objects. */
const MESSAGE_BYTES = 256;
/** The most attempts whose outcomes are open: as many as one peer's messages cause, and few enough to search. */
const ATTEMPTS_MAX = 16;

/** How one attempt to hand over a message ended. */
export type SendOutcome = 'sent' | UndeliverableReason;

/** What an outbox needs of its socket. */
export interface OutboxHost {
  readonly clock: Clock;
  /** Told of what begins to wait. */
  readonly memory?: Pick<MemoryBudget, 'moved'> | undefined;
  /**
   * Tries to hand over one message. Returns the outcome, or `undefined` when {@link Outbox.settle} will tell it, never before
   * this has returned. Messages to other peers may be tried meanwhile.
   */
  transmit(peer: Peer, frames: readonly Uint8Array[]): SendOutcome | undefined;
  onUndeliverable(peer: Peer, frames: readonly Uint8Array[], reason: UndeliverableReason): void;
  /** The transport has taken the message over. Absent without a listener. */
  onSent?: ((peer: Peer, frames: readonly Uint8Array[]) => void) | undefined;
}

/** Bounds of an outbox; the fields of the same name in `PortOptions`. */
export interface OutboxLimits {
  readonly peerQueueMax: number;
  readonly peerQueueMaxBytes: number;
  readonly queueMax: number;
  readonly queueMaxBytes: number;
}

interface Message {
  readonly peer: Peer;
  readonly frames: readonly Uint8Array[];
  readonly bytes: number;
}

/** A message that is being tried. */
interface Attempt {
  readonly peer: Peer;
  readonly frames: readonly Uint8Array[];
  /** Where it is the head. */
  readonly lane: Lane | undefined;
}

/** The waiting messages of one congested peer, oldest first. Without a timer it is on its turn or being tried. */
class Lane {
  readonly peer: Peer;
  readonly messages = new Fifo<Message>();
  /** True while its head is being tried. */
  trying = false;
  bytes = 0;
  retryMs = FIRST_RETRY_MS;
  timer: Timer | undefined;
  lost = false;

  constructor(peer: Peer) {
    this.peer = peer;
  }
}

/**
 * Bounded outbox of one socket. A message goes to {@link OutboxHost.transmit} at once when nothing waits and no attempt for its
 * peer is under way, else in its turn. After `congested` the peer's messages are parked: tried again after 10 ms, doubling to 200 ms, or when
 * {@link resume} is called; messages to others overtake them. At a bound the message and whatever is parked for the same
 * peer are reported undeliverable as `congested`, oldest first; with a `peerQueueMax` of 0 that is at once.
 */
export class Outbox {
  readonly #host: OutboxHost;
  readonly #limits: OutboxLimits;
  /** Messages, and congested peers that may be tried again, in the order of their turns. */
  readonly #turns = new Fifo<Message | Lane>();
  readonly #parked = new Map<string, Lane>();
  #waiting = 0;
  #waitingBytes = 0;
  #pending = 0;
  /** Oldest first, one per peer. */
  readonly #attempts: Attempt[] = [];
  /** True while turns are given and outcomes dealt with, which may cause messages: those wait. */
  #busy = false;
  #closing: Promise<void> | undefined;
  #stopped = false;
  #onStop: (() => void) | undefined;

  constructor(limits: OutboxLimits, host: OutboxHost) {
    this.#limits = limits;
    this.#host = host;
  }

  /** Messages accepted and neither sent nor reported. */
  get pending(): number {
    return this.#pending;
  }

  /** Bytes of messages that wait here, parked ones included. */
  get waitingBytes(): number {
    return this.#waitingBytes;
  }

  /** Memory of all waiting messages. */
  get heldBytes(): number {
    return this.#waitingBytes + this.#waiting * MESSAGE_BYTES;
  }

  /** Bytes parked for this peer. */
  bytesFor(peer: Peer): number {
    return this.#parked.get(peer.key)?.bytes ?? 0;
  }

  /** Number of peers whose messages are parked: while it is 0, {@link resume} has nothing to do. */
  get congestedPeers(): number {
    return this.#parked.size;
  }

  /** Messages parked for this peer. */
  pendingFor(peer: Peer): number {
    return this.#parked.get(peer.key)?.messages.length ?? 0;
  }

  /**
   * Accepts a message; does nothing once closed. Throws `TypeError` for anything but one or more `Uint8Array`s: libzmq's
   * bindings would turn it into text and send that.
   */
  send(peer: Peer, frames: readonly Uint8Array[]): void {
    assertFrames(frames);
    if (this.#closing !== undefined || this.#stopped) return;
    this.#pending++;
    if (this.#busy || this.#turns.length > 0 || this.#mustWait(peer)) {
      this.#wait(peer, frames);
      return;
    }
    this.#busy = true;
    this.#offer(peer, frames);
    this.#pump();
  }

  /** Tells the outcome of the oldest attempt under way. */
  settle(outcome: SendOutcome): void {
    if (this.#stopped) return;
    const attempt = this.#attempts.shift();
    if (attempt === undefined) throw new Error(`outcome ${outcome} without an attempt`);
    this.#busy = true;
    this.#conclude(attempt.peer, attempt.frames, attempt.lane, outcome);
    this.#pump();
  }

  /** The peer shows signs of life or has room: its parked messages are tried now. */
  resume(peer: Peer): void {
    const lane = this.#parked.get(peer.key);
    if (lane?.timer !== undefined) this.#retry(lane);
  }

  /**
   * Memory is short: gives up what is parked for peers that hold most of it, as `congested`, until it was so many bytes; returns how many.
   */
  relieve(bytes: number): number {
    const before = this.#waitingBytes;
    for (const lane of [...this.#parked.values()].sort((one, other) => other.bytes - one.bytes)) {
      if (before - this.#waitingBytes >= bytes) break;
      this.#lose(lane, 'congested');
    }
    return before - this.#waitingBytes;
  }

  /** The peer's connection is over: parked messages must not reach a successor with the same name. */
  forget(peer: Peer): void {
    const lane = this.#parked.get(peer.key);
    if (lane !== undefined) this.#lose(lane, 'unreachable');
  }

  /**
   * Accepts and reports nothing from now on, goes on sending until `deadline` or until nothing is pending, then stops.
   * Idempotent; the first deadline counts.
   */
  close(deadline: number): Promise<void> {
    return (this.#closing ??= new Promise((resolve) => {
      const timer = this.#host.clock.at(deadline, () => {
        this.stop();
      });
      this.#onStop = () => {
        timer.cancel();
        resolve();
      };
      if (this.#stopped) this.#onStop();
      else if (this.#pending === 0) this.stop();
    }));
  }

  /** Drops everything without a report. */
  stop(): void {
    if (this.#stopped) return;
    this.#stopped = true;
    for (const lane of this.#parked.values()) lane.timer?.cancel();
    this.#parked.clear();
    this.#pending = 0;
    this.#onStop?.();
  }

  /** Gives turns until none is left, or until the next one must wait for an outcome. */
  #pump(): void {
    this.#busy = true;
    for (let turn = this.#turns.peek(); turn !== undefined && !this.#stopped; turn = this.#turns.peek()) {
      if (this.#mustWait(turn.peer)) break;
      this.#turns.shift();
      if (turn instanceof Lane) this.#tryLane(turn);
      else this.#tryMessage(turn);
    }
    this.#busy = false;
    if (this.#pending === 0 && this.#closing !== undefined) this.stop();
  }

  /** Two attempts for a peer at once could change places: the first refused, the second taken. */
  #mustWait({ key }: Peer): boolean {
    const attempts = this.#attempts;
    if (attempts.length === ATTEMPTS_MAX) return true;
    for (let index = 0; index < attempts.length; index++) if (attempts[index]?.peer.key === key) return true;
    return false;
  }

  #tryMessage({ peer, frames, bytes }: Message): void {
    this.#waiting--;
    this.#waitingBytes -= bytes;
    this.#offer(peer, frames);
  }

  /** The head stays in its lane until the outcome is known; a lane lost meanwhile is empty. */
  #tryLane(lane: Lane): void {
    const head = lane.messages.peek();
    if (head === undefined) return;
    lane.trying = true;
    this.#attempt(head.peer, head.frames, lane);
  }

  #offer(peer: Peer, frames: readonly Uint8Array[]): void {
    const lane = this.#parked.size === 0 ? undefined : this.#parked.get(peer.key);
    if (lane === undefined) this.#attempt(peer, frames, undefined);
    else this.#park(lane, peer, frames);
  }

  #attempt(peer: Peer, frames: readonly Uint8Array[], lane: Lane | undefined): void {
    const outcome = this.#host.transmit(peer, frames);
    if (outcome === undefined) this.#attempts.push({ peer, frames, lane });
    else this.#conclude(peer, frames, lane, outcome);
  }

  #conclude(peer: Peer, frames: readonly Uint8Array[], lane: Lane | undefined, outcome: SendOutcome): void {
    if (lane !== undefined) lane.trying = false;
    if (lane !== undefined && !lane.lost) this.#concludeLane(lane, peer, frames, outcome);
    else if (outcome === 'sent') this.#confirm(peer, frames);
    else if (outcome === 'congested' && lane === undefined) this.#congest(peer, frames);
    else this.#report(peer, frames, outcome);
  }

  #concludeLane(lane: Lane, peer: Peer, frames: readonly Uint8Array[], outcome: SendOutcome): void {
    if (outcome === 'unreachable') this.#lose(lane, outcome);
    else if (outcome === 'congested') this.#rest(lane);
    else {
      this.#takeHead(lane);
      lane.retryMs = FIRST_RETRY_MS;
      if (lane.messages.length > 0) this.#turns.push(lane);
      else this.#parked.delete(lane.peer.key);
      this.#confirm(peer, frames);
    }
  }

  #congest(peer: Peer, frames: readonly Uint8Array[]): void {
    const lane = new Lane(peer);
    this.#parked.set(peer.key, lane);
    this.#park(lane, peer, frames);
    if (!lane.lost) this.#rest(lane);
  }

  #rest(lane: Lane): void {
    const { clock } = this.#host;
    lane.timer = clock.at(clock.now() + lane.retryMs, () => {
      this.#retry(lane);
    });
    lane.retryMs = Math.min(lane.retryMs * 2, LONGEST_RETRY_MS);
  }

  #retry(lane: Lane): void {
    lane.timer?.cancel();
    lane.timer = undefined;
    this.#turns.push(lane);
    if (!this.#busy) this.#pump();
  }

  #wait(peer: Peer, frames: readonly Uint8Array[]): void {
    const bytes = byteLength(frames);
    if (this.#isFull(bytes)) this.#overflow(this.#parked.get(peer.key), peer, frames);
    else {
      this.#count(bytes);
      this.#turns.push({ peer, frames, bytes });
    }
  }

  #park(lane: Lane, peer: Peer, frames: readonly Uint8Array[]): void {
    const bytes = byteLength(frames);
    const { peerQueueMax, peerQueueMaxBytes } = this.#limits;
    const full = lane.messages.length >= peerQueueMax || lane.bytes + bytes > peerQueueMaxBytes;
    if (full || this.#isFull(bytes)) this.#overflow(lane, peer, frames);
    else {
      this.#count(bytes);
      lane.bytes += bytes;
      // It stays for a while, so it must not keep its neighbours' memory.
      lane.messages.push({ peer, frames: compactAll(frames), bytes });
    }
  }

  #count(bytes: number): void {
    this.#waiting++;
    this.#waitingBytes += bytes;
    this.#host.memory?.moved(bytes + MESSAGE_BYTES);
  }

  #isFull(bytes: number): boolean {
    return this.#waiting >= this.#limits.queueMax || this.#waitingBytes + bytes > this.#limits.queueMaxBytes;
  }

  #overflow(lane: Lane | undefined, peer: Peer, frames: readonly Uint8Array[]): void {
    if (lane !== undefined) this.#lose(lane, 'congested');
    this.#report(peer, frames, 'congested');
  }

  /** Reports parked messages, except one that is being tried: its outcome decides. */
  #lose(lane: Lane, reason: UndeliverableReason): void {
    this.#parked.delete(lane.peer.key);
    lane.lost = true;
    lane.timer?.cancel();
    lane.timer = undefined;
    if (lane.trying) this.#takeHead(lane);
    for (let message = this.#takeHead(lane); message !== undefined; message = this.#takeHead(lane))
      this.#report(message.peer, message.frames, reason);
  }

  #takeHead(lane: Lane): Message | undefined {
    const message = lane.messages.shift();
    if (message === undefined) return undefined;
    this.#waiting--;
    this.#waitingBytes -= message.bytes;
    lane.bytes -= message.bytes;
    return message;
  }

  #confirm(peer: Peer, frames: readonly Uint8Array[]): void {
    this.#pending--;
    if (this.#host.onSent !== undefined && this.#closing === undefined) this.#host.onSent(peer, frames);
  }

  #report(peer: Peer, frames: readonly Uint8Array[], reason: UndeliverableReason): void {
    this.#pending--;
    if (this.#closing === undefined) this.#host.onUndeliverable(peer, frames, reason);
  }
}

function byteLength(frames: readonly Uint8Array[]): number {
  let bytes = 0;
  for (const frame of frames) bytes += frame.length;
  return bytes;
}
