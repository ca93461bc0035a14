/**
 * PZQ: which ready messages are in memory, and how others are loaded. Up to the cursor every one is in memory; the rest is only on disk,
 * so a long queue takes only the memory of the window. Rules 10, 20 and 25 of docs/protocols/pzq.md.
 */
import { joinFrames, keptCount } from '@proj/transport/engine';
import type { PzqSettings } from '../../options.js';
import { memoryOfFrames } from '../../store/body.js';
import type { StoredMessage } from '../../store/store.js';
import type { ConsumerSide } from './consumer-side.js';
import type { HeldMessage } from './in-flight.js';
import type { Output } from '../output.js';

/** Loaded at a time: while a store reads that much, the process does nothing else. */
const LOAD_MAX = 1024;
const LOAD_MAX_BYTES = 4 * 2 ** 20;

type WindowSettings = Pick<PzqSettings, 'windowMax' | 'windowMaxBytes' | 'probeIntervalMs'>;

/** The pending read; one at a time, so that its answer can be distinguished from what was settled meanwhile. */
type Reading = 'none' | 'load' | 'other';

/** The window of one outlet into the store. O(1) per message. */
export class ReadyWindow {
  readonly #settings: WindowSettings;
  readonly #side: ConsumerSide;
  readonly #out: Output;
  #cursor: number;
  /** No message here has a higher sequence. */
  #top: number;
  /** Settled or given up, although the store may still show them. */
  readonly #hidden = new Set<number>();
  /** Hidden ones that are gone from the store: only the pending read may still show them. */
  readonly #flushed = new Set<number>();
  #reading: Reading = 'none';
  /** Cursor and top when the pending load began. */
  #asked = { cursor: 0, top: 0 };
  #notBefore = -Infinity;

  /** `isEmpty`: the store has nothing up to `top`. */
  constructor(settings: WindowSettings, top: number, isEmpty: boolean, side: ConsumerSide, out: Output) {
    this.#settings = settings;
    this.#top = top;
    this.#cursor = isEmpty ? top : 0;
    this.#side = side;
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

  /** When a failed load may be retried. */
  get deadline(): number {
    return this.#wantsMore() && this.#notBefore > this.#out.now ? this.#notBefore : Infinity;
  }

  hides(seq: number): boolean {
    return this.#hidden.has(seq);
  }

  /** Messages that must not return; empty once everything is on disk. */
  get hidden(): number {
    return this.#hidden.size;
  }

  /** The message must not return, whatever the store still shows. */
  hide(seq: number): void {
    this.#hidden.add(seq);
  }

  /** Its removal from this part of the store is on disk. */
  flushed(seq: number): void {
    if (this.#reading === 'none') this.#hidden.delete(seq);
    else if (this.#hidden.has(seq)) this.#flushed.add(seq);
  }

  /** It is in this part of the store again, or never left it: the next load finds it. */
  reveal(seq: number): void {
    this.#hidden.delete(seq);
    this.#flushed.delete(seq);
    this.#top = Math.max(this.#top, seq);
    this.#cursor = Math.min(this.#cursor, seq - 1);
  }

  /** A new message is in the store. It stays in memory if everything before it is there and there is room. */
  stored(message: HeldMessage, isDelayed: boolean): void {
    const caughtUp = this.#cursor === this.#top;
    this.#top = message.seq;
    if (!caughtUp || (!isDelayed && !this.#takes(message))) return;
    this.#cursor = message.seq;
    if (!isDelayed) this.#side.add(message);
  }

  /** Asks for more when half of the window is used up. */
  load(): void {
    if (!this.#wantsMore() || this.#notBefore > this.#out.now) return;
    this.#reading = 'load';
    this.#asked = { cursor: this.#cursor, top: this.#top };
    const limit = Math.min(this.#settings.windowMax - this.#side.ready, LOAD_MAX);
    const maxBytes = Math.min(this.#settings.windowMaxBytes - this.#side.readyBytes, LOAD_MAX_BYTES);
    this.#out.effects.push({ kind: 'load', outlet: this.#side.name, after: this.#cursor, limit, maxBytes });
  }

  /** The answer to a load. Messages of a commit that has not been reported yet are left for later. */
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
    // A message that was revealed meanwhile has moved the cursor, and the next load looks again.
    if (this.#cursor === this.#asked.cursor) this.#cursor = Math.max(seen, this.#cursor);
    this.endRead();
  }

  loadFailed(): void {
    this.#notBefore = this.#out.now + this.#settings.probeIntervalMs;
    this.endRead();
  }

  /** Takes a message from the store into memory, unless it is already there or on its way out. `since`: as for {@link ConsumerSide.add}. */
  put(message: StoredMessage, since?: number): void {
    if (this.#hidden.has(message.seq) || this.#side.find(message.seq) !== undefined) return;
    const body = joinFrames(message.body);
    this.#side.add(body === message.body ? message : { ...message, body }, since);
  }

  /** Another read of this part of the store begins. Do not call it while one is pending. */
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
    return this.#side.ready * 2 < windowMax && this.#side.readyBytes * 2 < windowMaxBytes;
  }

  #takes({ body, bytes }: HeldMessage): boolean {
    const { windowMax, windowMaxBytes } = this.#settings;
    const { ready, readyBytes } = this.#side;
    return ready === 0 || (ready < windowMax && readyBytes + memoryOfFrames(keptCount(body), bytes) <= windowMaxBytes);
  }
}
