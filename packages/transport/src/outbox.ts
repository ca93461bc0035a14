/**
 * Messages that a socket was given and the transport has not taken yet: one attempt per peer at a time, in order per peer. A peer that does not
 * read delays nobody else. See docs/adr/0002-congestion-is-parked-by-the-port.md. Contains no socket and no policy.
 */
import { compactAll, totalBytes } from '@proj/frames';
import type { Clock, Timer } from '@proj/heartbeat';
import { Backlog } from './backlog.js';
import { Fifo } from './fifo.js';
import { assertFrames } from './limits.js';
import type { MemoryBudget } from './memory-budget.js';
import type { Peer, UndeliverableReason } from './port.js';

const FIRST_RETRY_MS = 10;
const LONGEST_RETRY_MS = 200;
/** Memory of a message besides its bytes: a few objects. */
const MESSAGE_BYTES = 256;
/** Up to this size, a message for many peers is kept once for all but the first: the last one stays in memory. */
const SHARED_BYTES = 4096;
/** Limit of attempts without an outcome: as many as one peer's messages cause, and few enough to search. */
const ATTEMPTS_MAX = 16;

/** The outcome of one attempt to hand over a message. */
export type SendOutcome = 'sent' | UndeliverableReason;

/** What an outbox needs from its socket. */
export interface OutboxHost {
  readonly clock: Clock;
  /** Called when a message begins to wait. */
  readonly memory?: Pick<MemoryBudget, 'moved'> | undefined;
  /**
   * Tries to hand over one message. Returns the outcome, or `undefined` if {@link Outbox.settle} will report it later. Messages to other peers
   * may be tried meanwhile.
   */
  transmit(peer: Peer, frames: readonly Uint8Array[]): SendOutcome | undefined;
  onUndeliverable(peer: Peer, frames: readonly Uint8Array[], reason: UndeliverableReason, others: number): void;
  /** The transport has taken the message. Absent without a listener. */
  onSent?: ((peer: Peer, frames: readonly Uint8Array[]) => void) | undefined;
}

/** Bounds of an outbox; the fields of the same name in `PortOptions`. */
export interface OutboxLimits {
  readonly peerQueueMax: number;
  readonly peerQueueMaxBytes: number;
  readonly peerReportsMax: number;
  readonly queueMax: number;
  readonly queueMaxBytes: number;
}

interface Message {
  readonly peer: Peer;
  readonly frames: readonly Uint8Array[];
  readonly bytes: number;
}

/** A message being tried. */
interface Attempt {
  readonly peer: Peer;
  readonly frames: readonly Uint8Array[];
  /** The queue whose head it is. */
  readonly lane: Lane | undefined;
}

/**
 * The waiting messages of one congested peer, oldest first. They hold no memory of other messages, and not a peer each, which libzmq makes for
 * every message. Without a timer, its turn has come or it is being tried.
 */
class Lane {
  readonly peer: Peer;
  messages = new Backlog();
  /** True while its head is being tried. */
  trying = false;
  bytes = 0;
  retryMs = FIRST_RETRY_MS;
  timer: Timer | undefined;
  /** When its head was refused last. */
  refusedAt = 0;
  lost = false;

  constructor(peer: Peer) {
    this.peer = peer;
  }
}

/**
 * Bounded outbox of one socket. A message goes to {@link OutboxHost.transmit} at once if nothing waits and no attempt for its peer is under way,
 * otherwise in turn. After `congested` the peer's messages are parked: they are retried after 10 ms, doubling to 200 ms, or on {@link resume},
 * and messages to other peers overtake them. At a limit, the message and everything parked for the same peer are reported undeliverable as
 * `congested`, oldest first; with a `peerQueueMax` of 0, at once.
 */
export class Outbox {
  readonly #host: OutboxHost;
  readonly #limits: OutboxLimits;
  /** Messages, and congested peers that may be retried, in the order of their turns. */
  readonly #turns = new Fifo<Message | Lane>();
  readonly #parked = new Map<string, Lane>();
  #waiting = 0;
  #waitingBytes = 0;
  #pending = 0;
  /** The message parked last, and what is kept of it if several peers wait for it. */
  #last: readonly Uint8Array[] = [];
  #lastKept: readonly Uint8Array[] | undefined;
  /** Oldest first, one per peer. */
  readonly #attempts: Attempt[] = [];
  /** True while turns are given and outcomes handled. Messages sent from within wait. */
  #busy = false;
  #closing: Promise<void> | undefined;
  #stopped = false;
  #onStop: (() => void) | undefined;

  constructor(limits: OutboxLimits, host: OutboxHost) {
    this.#limits = limits;
    this.#host = host;
  }

  /** Messages accepted but neither sent nor reported. */
  get pending(): number {
    return this.#pending;
  }

  /** Bytes of waiting messages, including parked ones. */
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

  /** Number of peers with parked messages. While it is 0, {@link resume} and {@link heard} have nothing to do. */
  get congestedPeers(): number {
    return this.#parked.size;
  }

  /** Messages parked for this peer. */
  pendingFor(peer: Peer): number {
    return this.#parked.get(peer.key)?.messages.length ?? 0;
  }

  /**
   * Accepts a message; no effect once closed. Throws `TypeError` for anything but one or more `Uint8Array`s: libzmq's bindings would convert it
   * to text and send that.
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

  /** Reports the outcome of the oldest attempt under way. */
  settle(outcome: SendOutcome): void {
    if (this.#stopped) return;
    const attempt = this.#attempts.shift();
    if (attempt === undefined) throw new Error(`outcome ${outcome} without an attempt`);
    this.#busy = true;
    this.#conclude(attempt.peer, attempt.frames, attempt.lane, outcome);
    this.#pump();
  }

  /** The peer has room: retries its parked messages now. */
  resume(peer: Peer): void {
    const lane = this.#parked.get(peer.key);
    if (lane?.timer !== undefined) this.#retry(lane);
  }

  /** The peer has sent something, so it may have read, too: the same, unless it was tried just now. A refusal costs more than a message. */
  heard(peer: Peer): void {
    const lane = this.#parked.get(peer.key);
    if (lane?.timer !== undefined && this.#host.clock.now() - lane.refusedAt >= FIRST_RETRY_MS) this.#retry(lane);
  }

  /** Memory is short: gives up parked messages as `congested`, from the peers that hold most, until this many bytes are freed; returns how many. */
  relieve(bytes: number): number {
    const before = this.#waitingBytes;
    for (const lane of [...this.#parked.values()].sort((one, other) => other.bytes - one.bytes)) {
      if (before - this.#waitingBytes >= bytes) break;
      this.#lose(lane, 'congested');
    }
    return before - this.#waitingBytes;
  }

  /** The peer's connection has ended: parked messages must not reach a successor with the same name. */
  forget(peer: Peer): void {
    const lane = this.#parked.get(peer.key);
    if (lane !== undefined) this.#lose(lane, 'unreachable');
  }

  /**
   * Accepts and reports nothing from now on, keeps sending until `deadline` or until nothing is pending, then stops. Idempotent; the first
   * deadline counts.
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

  /** Drops everything without reporting it. */
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

  /** Two simultaneous attempts for a peer could swap: the first refused, the second taken. */
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

  /** The head stays until the outcome is known; a queue lost meanwhile is empty. */
  #tryLane(lane: Lane): void {
    const head = lane.messages.peek();
    if (head === undefined) return;
    lane.trying = true;
    this.#attempt(lane.peer, head, lane);
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
    lane.refusedAt = clock.now();
    lane.timer = clock.at(lane.refusedAt + lane.retryMs, () => {
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
    const bytes = totalBytes(frames);
    if (this.#isFull(bytes)) this.#overflow(this.#parked.get(peer.key), peer, frames);
    else {
      this.#count(bytes);
      this.#turns.push({ peer, frames, bytes });
    }
  }

  #park(lane: Lane, peer: Peer, frames: readonly Uint8Array[]): void {
    const bytes = totalBytes(frames);
    const { peerQueueMax, peerQueueMaxBytes } = this.#limits;
    const full = lane.messages.length >= peerQueueMax || lane.bytes + bytes > peerQueueMaxBytes;
    if (full || this.#isFull(bytes)) this.#overflow(lane, peer, frames);
    else {
      this.#count(bytes);
      lane.bytes += bytes;
      this.#keep(lane.messages, frames, bytes);
    }
  }

  /** A message for many peers shows at the second one that waits. */
  #keep(messages: Backlog, frames: readonly Uint8Array[], bytes: number): void {
    if (frames === this.#last) {
      messages.push((this.#lastKept ??= compactAll(frames)));
      return;
    }
    this.#last = bytes > SHARED_BYTES ? [] : frames;
    this.#lastKept = undefined;
    if (!messages.pack(frames)) messages.push(compactAll(frames));
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

  /** Reports parked messages, except one being tried: its outcome decides. The last of the reports allowed counts the rest. */
  #lose(lane: Lane, reason: UndeliverableReason): void {
    this.#parked.delete(lane.peer.key);
    lane.lost = true;
    lane.timer?.cancel();
    lane.timer = undefined;
    if (lane.trying) this.#takeHead(lane);
    let reports = this.#limits.peerReportsMax;
    for (let message = this.#takeHead(lane); message !== undefined; message = this.#takeHead(lane))
      this.#report(lane.peer, message, reason, --reports > 0 ? 0 : this.#dropRest(lane));
  }

  /** Returns how many messages were left. */
  #dropRest(lane: Lane): number {
    const { length } = lane.messages;
    this.#pending -= length;
    this.#waiting -= length;
    this.#waitingBytes -= lane.bytes;
    lane.messages = new Backlog();
    lane.bytes = 0;
    return length;
  }

  #takeHead(lane: Lane): readonly Uint8Array[] | undefined {
    const message = lane.messages.shift();
    if (message === undefined) return undefined;
    const bytes = totalBytes(message);
    this.#waiting--;
    this.#waitingBytes -= bytes;
    lane.bytes -= bytes;
    return message;
  }

  #confirm(peer: Peer, frames: readonly Uint8Array[]): void {
    this.#pending--;
    if (this.#host.onSent !== undefined && this.#closing === undefined) this.#host.onSent(peer, frames);
  }

  #report(peer: Peer, frames: readonly Uint8Array[], reason: UndeliverableReason, others = 0): void {
    this.#pending--;
    if (this.#closing === undefined) this.#host.onUndeliverable(peer, frames, reason, others);
  }
}
