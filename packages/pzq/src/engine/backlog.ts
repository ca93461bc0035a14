/**
 * PZQ: what lies in the store beyond the messages in memory, and how it is fetched. Up to the cursor everything that is ready is
 * in memory; what is behind it is on disk only, so a long queue costs the memory of the window. Rules 10, 20 and 25.
 */
import type { PzqOutletName } from './events.js';
import type { ConsumerSide } from './consumer-side.js';
import type { Output } from './output.js';
import type { StoredMessage } from '../store/store.js';

/** Fetched at a time: a store reads that much at once, and the process does nothing else meanwhile. */
const LOAD_MAX = 1024;
const LOAD_MAX_BYTES = 4 * 2 ** 20;

/** What a shelf must be told. */
export interface ShelfSettings {
  readonly windowMax: number;
  readonly windowMaxBytes: number;
  /** Pause after a read that failed. */
  readonly probeIntervalMs: number;
}

/** Which read is under way; only one at a time, so that an answer can be told from what was settled meanwhile. */
type Reading = 'none' | 'load' | 'other';

/** The disk side of one outlet. O(1) per message. */
export class Backlog {
  readonly #settings: ShelfSettings;
  readonly #outlet: ConsumerSide;
  readonly #out: Output;
  #cursor: number;
  /** No message with a higher sequence is on the shelf. */
  #top: number;
  /** Settled or given up, while the store may still show them. */
  readonly #hidden = new Set<number>();
  /** Of those, the ones that are gone from the store: only the read under way may still show them. */
  readonly #flushed = new Set<number>();
  #reading: Reading = 'none';
  /** Cursor and top when the load under way was asked for. */
  #asked = { cursor: 0, top: 0 };
  #notBefore = -Infinity;

  /** `empty`: nothing is on the shelf up to `top`. */
  constructor(settings: ShelfSettings, top: number, empty: boolean, outlet: ConsumerSide, out: Output) {
    this.#settings = settings;
    this.#top = top;
    this.#cursor = empty ? top : 0;
    this.#outlet = outlet;
    this.#out = out;
  }

  get top(): number {
    return this.#top;
  }

  get cursor(): number {
    return this.#cursor;
  }

  get reading(): boolean {
    return this.#reading !== 'none';
  }

  /** When a load that failed may be tried again. */
  get deadline(): number {
    return this.#wantsMore() && this.#notBefore > this.#out.now ? this.#notBefore : Infinity;
  }

  hides(seq: number): boolean {
    return this.#hidden.has(seq);
  }

  /** The message is not to come back, whatever the store still shows. */
  hide(seq: number): void {
    this.#hidden.add(seq);
  }

  /** It is gone from this side of the store, durably. */
  flushed(seq: number): void {
    if (this.#reading === 'none') this.#hidden.delete(seq);
    else if (this.#hidden.has(seq)) this.#flushed.add(seq);
  }

  /** It is on this side of the store again, or was never gone: the next load finds it. */
  reveal(seq: number): void {
    this.#hidden.delete(seq);
    this.#flushed.delete(seq);
    this.#top = Math.max(this.#top, seq);
    this.#cursor = Math.min(this.#cursor, seq - 1);
  }

  /** A new message is in the store. It stays in memory when everything before it is there and there is room. */
  stored(message: StoredMessage, delayed: boolean): void {
    const caughtUp = this.#cursor === this.#top;
    this.#top = message.seq;
    if (!caughtUp || (!delayed && !this.#takes(message))) return;
    this.#cursor = message.seq;
    if (!delayed) this.#outlet.add(message);
  }

  /** Asks for more when half of the window is used up. */
  load(name: PzqOutletName): void {
    if (!this.#wantsMore() || this.#notBefore > this.#out.now) return;
    this.#reading = 'load';
    this.#asked = { cursor: this.#cursor, top: this.#top };
    const limit = Math.min(this.#settings.windowMax - this.#outlet.ready, LOAD_MAX);
    const maxBytes = Math.min(this.#settings.windowMaxBytes - this.#outlet.readyBytes, LOAD_MAX_BYTES);
    this.#out.push({ kind: 'load', outlet: name, after: this.#cursor, limit, maxBytes });
  }

  /** The answer to a load. What a commit has put there that is not yet known of is left for later. */
  loaded(messages: readonly StoredMessage[]): void {
    let seen = messages.length === 0 ? this.#asked.top : this.#asked.cursor;
    for (const message of messages) {
      if (message.seq > this.#top) {
        seen = this.#top;
        break;
      }
      seen = message.seq;
      this.put(message);
    }
    // A message that was revealed meanwhile has moved the cursor: then the next load looks again.
    if (this.#cursor === this.#asked.cursor) this.#cursor = Math.max(seen, this.#cursor);
    this.endRead();
  }

  loadFailed(): void {
    this.#notBefore = this.#out.now + this.#settings.probeIntervalMs;
    this.endRead();
  }

  /** A message the store has shown: into memory, unless it is there or on its way out. Tells whether it is there now. */
  put(message: StoredMessage): boolean {
    if (this.#hidden.has(message.seq)) return false;
    if (this.#outlet.find(message.seq) === undefined) this.#outlet.add(message);
    return true;
  }

  /** Another read of this side of the store begins; not while one is under way. */
  beginRead(): void {
    this.#reading = 'other';
  }

  endRead(): void {
    this.#reading = 'none';
    for (const seq of this.#flushed) this.#hidden.delete(seq);
    this.#flushed.clear();
  }

  #wantsMore(): boolean {
    if (this.#cursor >= this.#top || this.#reading !== 'none') return false;
    const { windowMax, windowMaxBytes } = this.#settings;
    return this.#outlet.ready * 2 < windowMax && this.#outlet.readyBytes * 2 < windowMaxBytes;
  }

  #takes({ bytes }: StoredMessage): boolean {
    const { windowMax, windowMaxBytes } = this.#settings;
    const { ready, readyBytes } = this.#outlet;
    return ready === 0 || (ready < windowMax && readyBytes + bytes <= windowMaxBytes);
  }
}
