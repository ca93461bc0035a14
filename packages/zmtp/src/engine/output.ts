/** What a connection sends: greeting, commands and messages as parts for one write. */
import { frameOf, pingBody, pongBody, subscriptionBody, subscriptionMessage } from './commands.js';
import type { ConnectionSettings } from './events.js';
import { encodeGreeting, GREETING_BYTES, SIGNATURE_BYTES } from './greeting.js';
import { SEALED_COMMAND } from './mechanism.js';
import type { Cipher, Security } from './mechanism.js';
import { Sealing } from './sealing.js';
import { encodeMessages } from './writer.js';

type Message = readonly Uint8Array[];

/** Gathers it until the owner of the connection takes it. */
export class ConnectionOutput {
  /** Encrypts all that follows, once traffic is encrypted. */
  cipher: Cipher | undefined;
  readonly #settings: ConnectionSettings;
  readonly #onOutput: () => void;
  #parts: Uint8Array[];
  /** The part of our greeting that is not sent yet. */
  #restOfGreeting: Uint8Array | undefined;
  /** Of the latest PING, to be answered. It supersedes earlier ones, so that a flood of PINGs cannot pile up. */
  #pongContext: Uint8Array | undefined;
  /** Likewise, for a peer that does not read while we ask. */
  #ping: Uint8Array | undefined;

  /**
   * A server of a mechanism sends only the signature at first, as libzmq does: libzmq ends a connection whose mechanism it does not like before
   * it has sent anything, and such a peer could not be told from one that does not speak ZMTP.
   */
  constructor(settings: ConnectionSettings, { name, asServer }: Security, onOutput: () => void) {
    this.#settings = settings;
    this.#onOutput = onOutput;
    const greeting = encodeGreeting(name, asServer);
    const first = asServer ? SIGNATURE_BYTES : GREETING_BYTES;
    this.#parts = [greeting.subarray(0, first)];
    if (first < GREETING_BYTES) this.#restOfGreeting = greeting.subarray(first);
  }

  /** The peer speaks: the rest of our greeting is sent, if any is left. */
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

  /** By a command, or to ZMTP 3.0 by a message. */
  subscribe(prefix: Uint8Array, wanted: boolean, asCommand: boolean): void {
    if (asCommand) this.say(this.#frame(subscriptionBody(prefix, wanted)));
    else this.say(...this.#encode([[subscriptionMessage(prefix, wanted)]]));
  }

  /** The greeting and commands to send now, in order; often none. */
  takeCommands(): readonly Uint8Array[] {
    const parts = this.#parts;
    if (this.#pongContext !== undefined) parts.push(this.#frame(pongBody(this.#pongContext)));
    if (this.#ping !== undefined) parts.push(this.#frame(this.#ping));
    this.#pongContext = this.#ping = undefined;
    if (parts.length > 0) this.#parts = [];
    return parts;
  }

  /** The same, then these messages. */
  take(messages: readonly Message[]): readonly Uint8Array[] {
    const commands = this.takeCommands();
    if (messages.length === 0) return commands;
    const encoded = this.#encode(messages);
    return commands.length === 0 ? encoded : [...commands, ...encoded];
  }

  /** These messages, to be encrypted step by step; `undefined` where traffic is in clear. */
  seal(messages: readonly Message[]): Sealing | undefined {
    return this.cipher && new Sealing(messages, this.cipher, this.#settings.allocate);
  }

  #encode(messages: readonly Message[]): readonly Uint8Array[] {
    const sealing = this.seal(messages);
    if (sealing === undefined) return encodeMessages(messages, this.#settings.allocate);
    sealing.step(Infinity);
    return sealing.parts;
  }

  #frame(body: Uint8Array): Uint8Array {
    return this.cipher === undefined ? frameOf(body) : this.cipher.seal(SEALED_COMMAND, body);
  }
}
