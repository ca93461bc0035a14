/** What a connection sends: greeting, commands and messages, as parts of one write. */
import type { Allocate } from './framing/bytes.js';
import { frameOf, pingBody, pongBody, subscriptionBody, subscriptionMessage } from './framing/commands.js';
import type { ConnectionSettings } from './events.js';
import { encodeGreeting, GREETING_BYTES, SIGNATURE_BYTES } from './framing/greeting.js';
import { SEALED_COMMAND } from './mechanisms/mechanism.js';
import type { Cipher, Security } from './mechanisms/mechanism.js';
import { Sealing } from './mechanisms/sealing.js';
import { encodeMessages } from './framing/writer.js';

type Message = readonly Uint8Array[];

/** Collects the output until the owner of the connection takes it. */
export class ConnectionOutput {
  /** Encrypts everything after the handshake, if the mechanism does. */
  cipher: Cipher | undefined;
  readonly #settings: ConnectionSettings;
  readonly #onOutput: () => void;
  #parts: Uint8Array[];
  /** The unsent part of our greeting. */
  #restOfGreeting: Uint8Array | undefined;
  /** The context of the latest unanswered PING. It replaces earlier ones, so a flood of PINGs cannot pile up. */
  #pongContext: Uint8Array | undefined;
  /** Likewise, for a peer that does not read our PINGs. */
  #ping: Uint8Array | undefined;

  /**
   * A server first sends only the signature, as libzmq does. libzmq ends a connection with another mechanism before it sends anything, so such a
   * peer would look like one that does not speak ZMTP.
   */
  constructor(settings: ConnectionSettings, { name, asServer }: Security, onOutput: () => void) {
    this.#settings = settings;
    this.#onOutput = onOutput;
    const greeting = encodeGreeting(name, asServer);
    const first = asServer ? SIGNATURE_BYTES : GREETING_BYTES;
    this.#parts = [greeting.subarray(0, first)];
    if (first < GREETING_BYTES) this.#restOfGreeting = greeting.subarray(first);
  }

  /** The peer has begun to speak: sends the rest of our greeting, if any is left. */
  greet(): void {
    if (this.#restOfGreeting === undefined) return;
    this.say(this.#restOfGreeting);
    this.#restOfGreeting = undefined;
  }

  /** Sends these bytes. */
  say(...parts: readonly Uint8Array[]): void {
    this.#parts.push(...parts);
    this.#onOutput();
  }

  ping(ttlMs: number): void {
    this.#ping = pingBody(ttlMs);
    this.#onOutput();
  }

  pong(context: Uint8Array): void {
    this.#pongContext = context;
    this.#onOutput();
  }

  /** Subscribes with a command, or with a message for ZMTP 3.0. */
  subscribe(prefix: Uint8Array, wanted: boolean, asCommand: boolean): void {
    if (asCommand) this.say(this.#frame(subscriptionBody(prefix, wanted)));
    else this.say(...this.#encode([[subscriptionMessage(prefix, wanted)]]));
  }

  /** The greeting and commands to send now, in order; usually none. */
  takeCommands(): readonly Uint8Array[] {
    const parts = this.#parts;
    if (this.#pongContext !== undefined) parts.push(this.#frame(pongBody(this.#pongContext)));
    if (this.#ping !== undefined) parts.push(this.#frame(this.#ping));
    this.#pongContext = this.#ping = undefined;
    if (parts.length > 0) this.#parts = [];
    return parts;
  }

  /** The same, followed by these messages. `allocate` is for output of one part. */
  take(messages: readonly Message[], allocate?: Allocate): readonly Uint8Array[] {
    const commands = this.takeCommands();
    if (messages.length === 0) return commands;
    const encoded = this.#encode(messages, commands.length === 0 ? allocate : undefined);
    return commands.length === 0 ? encoded : [...commands, ...encoded];
  }

  /** These messages, to be encrypted step by step; `undefined` if traffic is in clear text. */
  seal(messages: readonly Message[]): Sealing | undefined {
    return this.cipher && new Sealing(messages, this.cipher, this.#settings.allocate);
  }

  #encode(messages: readonly Message[], allocate?: Allocate): readonly Uint8Array[] {
    const sealing = this.seal(messages);
    if (sealing === undefined) return encodeMessages(messages, this.#settings.allocate, allocate);
    sealing.step(Infinity);
    return sealing.parts;
  }

  #frame(body: Uint8Array): Uint8Array {
    return this.cipher === undefined ? frameOf(body) : this.cipher.seal(SEALED_COMMAND, body);
  }
}
