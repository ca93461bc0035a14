/** One of the streams that a carrier multiplexes, with the interface of a socket. */
import { Fifo } from '@proj/transport/adapter';
import { KIND } from '../engine/framing/lane-frames.js';
import type { ControlKind } from '../engine/framing/lane-frames.js';
import type { LaneState } from './legality.js';
import type { ReadQueue } from '../turn.js';
import type { ByteSink, SharedConnection, Wire, Written } from '../wire.js';

/** Unread bytes in flight in one direction of a lane. */
export const WINDOW_BYTES = 2 ** 21;

/**
 * The error for unfinished writes. Shared, because an error with its own stack costs more than a lane: a peer that opened thousands of lanes
 * kept a broker busy making errors.
 */
const CLOSED = new Error('the lane was closed');

/** The connection that carries a lane. */
export interface LaneCarrier extends SharedConnection {
  readonly remoteAddress: string | undefined;
  /** As {@link Wire.stalledUntil}. */
  readonly stalledUntil: number;
  /** As {@link Wire.readers}. */
  readonly readers: ReadQueue;
  /** The lane has output. */
  wake(lane: Lane): void;
  /** Sends a frame without payload, after all earlier output. */
  control(kind: ControlKind, lane: number, size: number): void;
  /** The unread bytes changed by this much. */
  held(bytes: number): void;
  /** The lane has ended in both directions. */
  forget(lane: Lane): void;
}

/** Bytes to write. */
interface Part {
  bytes: Uint8Array;
  readonly done: Written | undefined;
}

type Listener = (value?: never) => void;

/** See {@link Wire}. Its output goes out with the carrier's next write. If it does not read, only its own sender has to wait. */
export class Lane implements Wire {
  readonly number: number;
  readonly #carrier: LaneCarrier;
  readonly #listeners = new Map<string, Listener>();
  #taker: ByteSink | undefined;
  readonly #waiting = new Fifo<Part>();
  /** Bytes that the other side still accepts. */
  #credit = WINDOW_BYTES;
  /** How our direction ends once all output is written. */
  #ending: 'end' | 'reset' | undefined;
  #ended = false;
  readonly #unread = new Fifo<Uint8Array>();
  /** Bytes that the other side may still send. */
  #allowance = WINDOW_BYTES;
  /** Bytes read since the last grant. */
  #read = 0;
  #paused = false;
  #theirEnd: 'none' | 'end' | 'reset' | 'told' = 'none';
  #over = false;

  constructor(number: number, carrier: LaneCarrier) {
    this.number = number;
    this.#carrier = carrier;
  }

  /** The state for the table in legality.ts. */
  get state(): LaneState {
    if (this.#over) return 'over';
    if (this.#theirEnd === 'reset') return 'reset by them';
    if (this.#theirEnd !== 'none') return 'ended by them';
    return this.#ended ? 'ended by us' : 'open';
  }

  get remoteAddress(): string | undefined {
    return this.#carrier.remoteAddress;
  }

  get stalledUntil(): number {
    return this.#carrier.stalledUntil;
  }

  get readers(): ReadQueue {
    return this.#carrier.readers;
  }

  get carrier(): SharedConnection {
    return this.#carrier;
  }

  get hasUnsent(): boolean {
    return this.#waiting.length > 0;
  }

  on(event: string, listener: (value: never) => void): void {
    this.#listeners.set(event, listener as Listener);
  }

  feed(taker: ByteSink): void {
    this.#taker = taker;
  }

  send(parts: readonly Uint8Array[], done: Written): void {
    if (this.#over || this.#ending !== undefined) return;
    const last = parts.length - 1;
    for (let index = 0; index <= last; index++) {
      const bytes = parts[index] as Uint8Array;
      this.#waiting.push({ bytes, done: index === last ? done : undefined });
    }
    this.#carrier.wake(this);
  }

  end(): void {
    this.#endWith('end');
  }

  destroySoon(): void {
    this.#endWith('reset');
  }

  destroy(): void {
    if (this.#over) return;
    if (this.#theirEnd !== 'reset') this.#carrier.control(KIND.reset, this.number, 0);
    this.#finish();
  }

  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    this.#paused = false;
    while (!this.#isHeld()) {
      const bytes = this.#unread.shift();
      if (bytes === undefined) break;
      this.#carrier.held(-bytes.length);
      this.#deliver(bytes);
    }
    this.#tellEnd();
  }

  /** No-op: both ends know PING, so heartbeats keep the connection alive. */
  setKeepAlive(): void {}

  /** @internal For the carrier: true if there is output that may be written. */
  get writable(): boolean {
    return !this.#over && this.#waiting.length > 0 && this.#credit > 0;
  }

  /** @internal For the carrier: the next bytes, at most `max`, and the callback for when they are written. */
  take(atMost: number): Part | undefined {
    const part = this.#waiting.peek();
    if (part === undefined) return undefined;
    const { bytes } = part;
    const size = Math.min(bytes.length, atMost, this.#credit);
    this.#credit -= size;
    if (size === bytes.length) return this.#waiting.shift();
    part.bytes = bytes.subarray(size);
    return { bytes: bytes.subarray(0, size), done: undefined };
  }

  /** @internal For the carrier: it has taken what it could. */
  taken(): void {
    if (this.#waiting.length === 0 && this.#ending !== undefined && !this.#ended) this.#sayEnd();
  }

  /** @internal The other side accepts more. */
  grant(bytes: number): void {
    // Capped at a window, so that a dishonest peer cannot grow our credit for ever.
    this.#credit = Math.min(this.#credit + bytes, WINDOW_BYTES);
    if (this.writable) this.#carrier.wake(this);
  }

  /** @internal As {@link ByteSink.room}. */
  get room(): Uint8Array | undefined {
    return this.#isHeld() || this.#unread.length > 0 ? undefined : this.#taker?.room;
  }

  /** @internal Bytes arrived. False if they exceed the window. */
  receive(bytes: Uint8Array): boolean {
    this.#allowance -= bytes.length;
    if (this.#allowance < 0) return false;
    if (this.#isHeld() || this.#unread.length > 0) {
      this.#unread.push(bytes);
      this.#carrier.held(bytes.length);
    } else this.#deliver(bytes);
    return true;
  }

  /** @internal The other side ended its direction, or the whole lane. */
  onTheirEnd(how: 'end' | 'reset'): void {
    // The end was already reported: only the close is due.
    if (this.#theirEnd === 'told') this.#finish();
    else {
      this.#theirEnd = how;
      this.#tellEnd();
    }
  }

  /** @internal The carrier is gone. */
  break(error: Error | undefined): void {
    if (this.#over) return;
    if (error !== undefined) this.#emit('error', error);
    this.#finish();
  }

  #isHeld(): boolean {
    return this.#paused || this.#over;
  }

  #endWith(how: 'end' | 'reset'): void {
    if (this.#over || this.#ended) return;
    this.#ending = how;
    if (this.#waiting.length === 0) this.#sayEnd();
  }

  #sayEnd(): void {
    this.#ended = true;
    this.#carrier.control(this.#ending === 'reset' ? KIND.reset : KIND.end, this.number, 0);
    if (this.#ending === 'reset' || this.#theirEnd !== 'none') this.#finish();
  }

  #deliver(bytes: Uint8Array): void {
    this.#read += bytes.length;
    if (this.#read >= WINDOW_BYTES / 2 && this.#theirEnd === 'none') {
      this.#carrier.control(KIND.window, this.number, this.#read);
      this.#allowance += this.#read;
      this.#read = 0;
    }
    this.#taker?.onBytes(bytes);
  }

  /** After everything that arrived before it. */
  #tellEnd(): void {
    const how = this.#theirEnd;
    if (how === 'none' || how === 'told' || this.#unread.length > 0 || this.#isHeld()) return;
    this.#theirEnd = 'told';
    if (how === 'end') this.#emit('end');
    if (how === 'reset' || this.#ended) this.#finish();
  }

  #finish(): void {
    if (this.#over) return;
    this.#over = true;
    this.#carrier.forget(this);
    for (let bytes = this.#unread.shift(); bytes !== undefined; bytes = this.#unread.shift())
      this.#carrier.held(-bytes.length);
    for (let part = this.#waiting.shift(); part !== undefined; part = this.#waiting.shift()) part.done?.(CLOSED);
    // As with sockets: never from inside the call that closes it.
    process.nextTick(() => {
      this.#emit('close');
    });
  }

  #emit(event: string, value?: unknown): void {
    this.#listeners.get(event)?.(value as never);
  }
}
