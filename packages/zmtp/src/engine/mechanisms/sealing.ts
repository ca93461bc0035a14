/** Seals the messages of an encrypted connection in slices: 26/CURVEZMQ, "MESSAGE". */
import type { Allocate } from '../framing/bytes.js';
import { SEALED_MORE } from './mechanism.js';
import type { Cipher, SealingFrame } from './mechanism.js';
import { REFERENCE_BYTES } from '../framing/writer.js';

/** Shorter frames are sealed at once. */
const LONG_BYTES = 2 ** 16;
/** The fixed cost of a frame, in bytes. */
const FRAME_BYTES = 256;

/** Copies every body once, small frames twice. Do not change the messages until all are sealed. */
export class Sealing {
  /** The bytes in order, in as few parts as possible, once all are sealed. */
  readonly parts: Uint8Array[] = [];
  /** The cost so far, in bytes. */
  sealed = 0;
  readonly #messages: readonly (readonly Uint8Array[])[];
  readonly #cipher: Cipher;
  readonly #allocate: Allocate;
  #message = 0;
  #frame = 0;
  /** The long frame being sealed. */
  #long: SealingFrame | undefined;
  /** Sealed frames that will become one part. */
  #small: Uint8Array[] = [];

  constructor(messages: readonly (readonly Uint8Array[])[], cipher: Cipher, allocate: Allocate) {
    this.#messages = messages;
    this.#cipher = cipher;
    this.#allocate = allocate;
  }

  /** Seals about `bytes`; true when all is sealed. Seal nothing else for the connection until then. */
  step(bytes: number): boolean {
    const end = this.sealed + bytes;
    while (this.#message < this.#messages.length) {
      if (this.sealed >= end) return false;
      this.sealed += this.#long === undefined ? this.#begin() : this.#goOn(this.#long, end - this.sealed);
    }
    this.#join();
    return true;
  }

  /** Seals a short frame, or begins a long one; returns the cost. */
  #begin(): number {
    const frames = this.#messages[this.#message] as readonly Uint8Array[];
    const body = frames[this.#frame];
    if (body === undefined) {
      this.#message++;
      return 0;
    }
    const flags = this.#frame < frames.length - 1 ? SEALED_MORE : 0;
    if (body.length > LONG_BYTES) this.#long = this.#cipher.sealing(flags, body);
    else this.#add(this.#cipher.seal(flags, body));
    return FRAME_BYTES + (this.#long === undefined ? body.length : 0);
  }

  #goOn(long: SealingFrame, bytes: number): number {
    const sealed = long.step(bytes);
    if (sealed === 0) {
      this.#long = undefined;
      this.#add(long.frame);
    }
    return sealed;
  }

  #add(sealed: Uint8Array): void {
    if (sealed.length < REFERENCE_BYTES) this.#small.push(sealed);
    else {
      this.#join();
      this.parts.push(sealed);
    }
    this.#frame++;
    if (this.#frame < (this.#messages[this.#message]?.length ?? 0)) return;
    this.#frame = 0;
    this.#message++;
  }

  #join(): void {
    const frames = this.#small;
    const [only] = frames;
    if (only === undefined) return;
    this.#small = [];
    this.parts.push(frames.length === 1 ? only : this.#joined(frames));
  }

  #joined(frames: readonly Uint8Array[]): Uint8Array {
    let length = 0;
    for (const frame of frames) length += frame.length;
    const whole = this.#allocate(length);
    let at = 0;
    for (const frame of frames) {
      whole.set(frame, at);
      at += frame.length;
    }
    return whole;
  }
}
