/**
 * One ZMTP connection as a machine without I/O: greeting, NULL handshake, messages, heartbeats. 37/ZMTP, with peers of 3.0
 * (23/ZMTP) as well. Bytes and time go in; what they mean comes out by the calls of {@link ConnectionSink}.
 */
import type { Allocate } from './bytes.js';
import { decodeCommand, encodeError, encodePing, encodePong, encodeReady } from './commands.js';
import type { Command, SocketType } from './commands.js';
import type { Failure } from './failure.js';
import { encodeGreeting, GREETING_BYTES, greetingFault, knowsPing } from './greeting.js';
import { Reader } from './reader.js';
import type { ReaderLimits, ReadItem } from './reader.js';

const MECHANISM = 'NULL';

/** Who may talk to whom: 37/ZMTP, "The Socket-Type Property". */
const COMPATIBLE: Readonly<Record<SocketType, readonly string[]>> = {
  REQ: ['REP', 'ROUTER'],
  REP: ['REQ', 'DEALER'],
  DEALER: ['REP', 'DEALER', 'ROUTER'],
  ROUTER: ['REQ', 'DEALER', 'ROUTER'],
};

/** The same for all connections of a socket. */
export interface ConnectionSettings extends ReaderLimits {
  readonly socketType: SocketType;
  /** The routing id to announce. */
  readonly identity?: Uint8Array | undefined;
  /** Milliseconds from the start until the peer's READY must have come. */
  readonly handshakeMs: number;
  /** Milliseconds of silence, in either direction, before a PING; 0 for none. */
  readonly heartbeatMs: number;
  /** Milliseconds after a PING in which anything must come. */
  readonly timeoutMs: number;
  readonly allocate: Allocate;
}

/** What a connection calls, from inside `receive`, `resume` and `tick`. Nothing comes after `onFailure`. */
export interface ConnectionSink {
  /** Whether messages may come now; asked before each. Commands are obeyed in any case. */
  readonly accepting: boolean;
  /** The handshake is complete. The identity is empty when the peer announced none. */
  onReady(identity: Uint8Array): void;
  /** A message waits for {@link Connection.resume}, and so does all that comes after it: nothing more is to be received until then. */
  onHeld(): void;
  /** A message, which is the sink's. */
  onMessage(frames: Uint8Array[]): void;
  /** A message over the limits; what is left of it will be skipped. */
  onRejected(reason: 'too-many-frames' | 'too-large'): void;
  /** There is output, to be fetched by {@link Connection.takeOutput} soon. */
  onOutput(): void;
  /** The connection is to be cut, after what is still to be taken as output was sent. */
  onFailure(failure: Failure): void;
}

type Stage = 'greeting' | 'handshake' | 'traffic' | 'failed';

/**
 * One end of a connection. The owner sends what {@link takeOutput} gives, in front of and between whole messages; tells
 * {@link receive} what came, {@link sent} when something was sent, and {@link tick} when {@link deadline} has come.
 */
export class Connection {
  readonly #settings: ConnectionSettings;
  readonly #sink: ConnectionSink;
  readonly #reader: Reader;
  readonly #greeting = new Uint8Array(GREETING_BYTES);
  #greetingBytes = 0;
  #stage: Stage = 'greeting';
  /** A message that the sink does not accept yet. */
  #held: ReadItem | undefined;
  #output: Uint8Array[];
  /** Answers the latest PING; an older one still unsent is superseded, so that a flood of PINGs cannot pile up. */
  #pong: Uint8Array | undefined;
  readonly #startedAt: number;
  #heardAt: number;
  #spokeAt: number;
  /** When the PING was made that nothing has been heard since; `Infinity` when there is none. */
  #askedAt = Infinity;
  /** When the peer wants to be given up if nothing follows its PING. */
  #ttlEndsAt = Infinity;
  #pings = false;

  /** The greeting is there as output. */
  constructor(settings: ConnectionSettings, sink: ConnectionSink, now: number) {
    this.#settings = settings;
    this.#sink = sink;
    this.#reader = new Reader(settings, settings.allocate);
    this.#output = [encodeGreeting(MECHANISM)];
    this.#startedAt = this.#heardAt = this.#spokeAt = now;
  }

  /** True once both sides have said READY, until the connection fails. */
  get ready(): boolean {
    return this.#stage === 'traffic';
  }

  /** True when silence is noticed: heartbeats are on and the peer knows PING. */
  get noticesSilence(): boolean {
    return this.#pings;
  }

  /** When {@link tick} must be called; `Infinity` when nothing depends on time. Moves later without notice. */
  get deadline(): number {
    // Who does not listen must not conclude that the peer is silent.
    if (this.#stage === 'failed' || this.#held !== undefined) return Infinity;
    if (this.#stage !== 'traffic') return this.#startedAt + this.#settings.handshakeMs;
    return Math.min(this.#ttlEndsAt, this.#askedAt + this.#settings.timeoutMs, this.#nextPing());
  }

  /** Takes received bytes, which must not change afterwards. Not to be called while {@link holding}. */
  receive(chunk: Uint8Array, now: number): void {
    this.#hear(now);
    const rest = this.#stage === 'greeting' ? this.#readGreeting(chunk) : chunk;
    if (rest === undefined) return;
    this.#reader.push(rest);
    this.#read();
  }

  /** Goes on with the message that is held, if the sink accepts it now, and what came after it. */
  resume(now: number): void {
    this.#hear(now);
    this.#read();
  }

  /** True while a message is held. */
  get holding(): boolean {
    return this.#held !== undefined;
  }

  /** Something was sent at `now`. */
  sent(now: number): void {
    this.#spokeAt = now;
  }

  /** The greeting and commands that are to be sent now, in order; often none. */
  takeOutput(): readonly Uint8Array[] {
    const output = this.#output;
    if (this.#pong !== undefined) output.push(this.#pong);
    this.#pong = undefined;
    if (output.length > 0) this.#output = [];
    return output;
  }

  /** Does what is due at `now`. */
  tick(now: number): void {
    if (this.deadline > now) return;
    if (this.#stage !== 'traffic')
      this.#fail({ code: 'handshake-timeout', text: `no handshake within ${this.#settings.handshakeMs} ms` });
    else if (this.#nextPing() <= now) this.#ping(now);
    else this.#fail({ code: 'silent', text: `nothing was heard for ${Math.round(now - this.#heardAt)} ms` });
  }

  #hear(now: number): void {
    this.#heardAt = now;
    this.#askedAt = this.#ttlEndsAt = Infinity;
  }

  #nextPing(): number {
    if (!this.#pings || this.#askedAt !== Infinity) return Infinity;
    return Math.min(this.#heardAt, this.#spokeAt) + this.#settings.heartbeatMs;
  }

  /** We promise a word at least once per interval, and ask for as much patience beyond that as we have ourselves. */
  #ping(now: number): void {
    const { heartbeatMs, timeoutMs } = this.#settings;
    this.#askedAt = now;
    this.#spokeAt = now;
    this.#say(encodePing(heartbeatMs + timeoutMs));
  }

  /** Returns what follows the greeting; `undefined` while it is incomplete or when it is wrong. */
  #readGreeting(chunk: Uint8Array): Uint8Array | undefined {
    const bytes = Math.min(chunk.length, GREETING_BYTES - this.#greetingBytes);
    this.#greeting.set(chunk.subarray(0, bytes), this.#greetingBytes);
    this.#greetingBytes += bytes;
    const fault = greetingFault(this.#greeting, this.#greetingBytes, MECHANISM);
    if (fault !== undefined) {
      this.#fail(fault);
      return undefined;
    }
    if (this.#greetingBytes < GREETING_BYTES) return undefined;
    this.#stage = 'handshake';
    this.#pings = this.#settings.heartbeatMs > 0 && knowsPing(this.#greeting);
    this.#say(encodeReady(this.#settings.socketType, this.#settings.identity));
    return chunk.subarray(bytes);
  }

  #read(): void {
    while (this.#stage !== 'failed') {
      const item = this.#held ?? this.#reader.next();
      if (item === undefined) {
        if (this.#reader.fault !== undefined) this.#fail(this.#reader.fault);
        return;
      }
      if (item === 'command') this.#obey(decodeCommand(this.#reader.command));
      else if (this.#sink.accepting) this.#give(item);
      else {
        this.#hold(item);
        return;
      }
    }
  }

  #give(item: Exclude<ReadItem, 'command'>): void {
    this.#held = undefined;
    if (item === 'message') this.#sink.onMessage(this.#reader.takeFrames());
    else this.#sink.onRejected(item);
  }

  #hold(item: ReadItem): void {
    if (this.#held !== undefined) return;
    this.#held = item;
    this.#sink.onHeld();
  }

  #obey(command: Command): void {
    if (command.kind === 'malformed') this.#failMalformed(command.reason);
    else if (command.kind === 'error')
      this.#fail({ code: 'refused', text: `the peer refused: ${JSON.stringify(command.reason)}` });
    else if (this.#stage === 'handshake') this.#shake(command);
    else if (command.kind === 'ping') {
      if (command.ttlMs > 0) this.#ttlEndsAt = this.#heardAt + command.ttlMs;
      this.#pong = encodePong(command.context);
      this.#sink.onOutput();
    }
    // PONG has done its work by being heard; what we do not know is not for us (SUBSCRIBE from a peer that publishes, say).
  }

  #shake(command: Command): void {
    if (command.kind !== 'ready') {
      this.#failMalformed(`${command.kind === 'other' ? command.name : command.kind} came before READY`);
      return;
    }
    const { socketType } = this.#settings;
    if (!COMPATIBLE[socketType].includes(command.socketType)) {
      const text = `a ${socketType} cannot talk to a ${JSON.stringify(command.socketType)}`;
      this.#say(encodeError(text));
      this.#fail({ code: 'socket-type', text });
      return;
    }
    this.#stage = 'traffic';
    this.#reader.commandsOnly = false;
    this.#sink.onReady(command.identity);
  }

  #say(bytes: Uint8Array): void {
    this.#output.push(bytes);
    this.#sink.onOutput();
  }

  #failMalformed(text: string): void {
    this.#fail({ code: 'malformed', text });
  }

  #fail(failure: Failure): void {
    this.#stage = 'failed';
    this.#sink.onFailure(failure);
  }
}
