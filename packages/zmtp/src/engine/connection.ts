/**
 * One ZMTP connection as a machine without I/O: greeting, handshake, messages, heartbeats. 37/ZMTP, with peers of 3.0
 * (23/ZMTP) as well. Bytes and time go in; what they mean comes out by the calls of {@link ConnectionSink}.
 */
import type { Allocate, Reuse } from './bytes.js';
import {
  decodeCommand,
  decodeError,
  decodeProperties,
  encodeError,
  encodeProperties,
  frameOf,
  pingBody,
  pongBody,
  splitCommand,
  subscriptionBody,
} from './commands.js';
import type { Command, NamedCommand, SocketType } from './commands.js';
import type { Failure } from './failure.js';
import { encodeGreeting, GREETING_BYTES, greetingFault, SIGNATURE_BYTES, speaks31 } from './greeting.js';
import { REFUSED, SEALED_COMMAND } from './mechanism.js';
import type { Cipher, Mechanism, Security, Step } from './mechanism.js';
import { NULL } from './null.js';
import { FrameReader } from './reader.js';
import type { ReaderLimits, ReadItem } from './reader.js';
import { isSubscription, subscriptionMessage } from './subscription.js';
import { Sealing } from './sealing.js';
import { encodeMessages } from './writer.js';

/** Who may talk to whom: 37/ZMTP, "The Socket-Type Property". */
const COMPATIBLE: Readonly<Record<SocketType, readonly string[]>> = {
  REQ: ['REP', 'ROUTER'],
  REP: ['REQ', 'DEALER'],
  DEALER: ['REP', 'DEALER', 'ROUTER'],
  ROUTER: ['REQ', 'DEALER', 'ROUTER'],
  PUB: ['SUB', 'XSUB'],
  XPUB: ['SUB', 'XSUB'],
  SUB: ['PUB', 'XPUB'],
};

/** So often at least a connection that is not read says that it lives. Milliseconds. */
const SIGN_MS = 1000;
/** And so often within the time for which the peer hears out silence. */
const SIGNS_PER_PATIENCE = 6;

/** What a step of a handshake with cryptography costs, in messages. */
const HANDSHAKE_WORK = 64;

/** The same for all connections of a socket. */
export interface ConnectionSettings extends ReaderLimits {
  readonly socketType: SocketType;
  /** The routing id to announce. */
  readonly identity?: Uint8Array | undefined;
  /** Whether to say that whoever connects may do so by lanes; default: no. */
  readonly offersLanes?: boolean | undefined;
  /** How both sides prove who they are; default: they do not. */
  readonly security?: Security | undefined;
  /** Milliseconds from the start until the peer's READY must have come. */
  readonly handshakeMs: number;
  /** Milliseconds of silence, in either direction, before a PING; 0 for none. */
  readonly heartbeatMs: number;
  /** Milliseconds after a PING in which anything must come. */
  readonly timeoutMs: number;
  readonly allocate: Allocate;
  /** Where long bodies are put together; default: in memory like any other. */
  readonly reuse?: Reuse | undefined;
}

/** What a connection calls, from inside `receive`, `resume` and `tick`. Nothing comes after `onFailure`. */
export interface ConnectionSink {
  /** Whether messages may come now; asked before each. */
  readonly accepting: boolean;
  /** Whether commands may be obeyed now; asked before each. Usually also while no message is accepted. */
  readonly obeying: boolean;
  /** A command was obeyed: so much work as these messages. */
  onObeyed(work: number): void;
  /** The handshake is complete. The identity is empty when the peer announced none; the key is there with CURVE. */
  onReady(identity: Uint8Array, publicKey: Uint8Array | undefined): void;
  /** A message or command waits for {@link ConnectionEngine.resume}, and so does all that comes after it: nothing more is to be received until then. */
  onHeld(): void;
  /** A message, which is the sink's. */
  onMessage(frames: Uint8Array[]): void;
  /** A peer of a PUB asks for messages of this prefix, or does not want them any more. The prefix is a view: to be copied if it is kept. */
  onSubscription(prefix: Uint8Array, wanted: boolean): void;
  /** A message over the limits; what is left of it will be skipped. */
  onRejected(reason: 'too-many-frames' | 'too-large'): void;
  /** There is output, to be fetched by {@link ConnectionEngine.takeOutput} soon. */
  onOutput(): void;
  /** The connection is to be cut, after what is still to be taken as output was sent. */
  onFailure(failure: Failure): void;
}

type Stage = 'greeting' | 'handshake' | 'traffic' | 'failed';

/**
 * One end of a connection. The owner sends what {@link takeOutput} gives, in front of and between whole messages; tells
 * {@link receive} what came, {@link sent} when something was sent, and {@link tick} when {@link deadline} has come.
 */
export class ConnectionEngine {
  readonly #settings: ConnectionSettings;
  readonly #sink: ConnectionSink;
  readonly #reader: FrameReader;
  readonly #security: Security;
  readonly #greeting = new Uint8Array(GREETING_BYTES);
  #greetingBytes = 0;
  #stage: Stage = 'greeting';
  /** From the greeting until the handshake is complete. */
  #mechanism: Mechanism | undefined;
  #cipher: Cipher | undefined;
  /** A message or command that is not the sink's yet. */
  #held: ReadItem | undefined;
  #output: Uint8Array[];
  /** What is still to be said of the greeting. */
  #restOfGreeting: Uint8Array | undefined;
  /** The context of the latest PING, to be answered; an older one still unsent is superseded, so that a flood of PINGs cannot pile up. */
  #pong: Uint8Array | undefined;
  /** The PING that is to go out; likewise, for a peer that does not read while we ask. */
  #ping: Uint8Array | undefined;
  readonly #startedAt: number;
  #heardAt: number;
  #spokeAt: number;
  /** When the PING was made that nothing has been heard since; `Infinity` when there is none. */
  #askedAt = Infinity;
  /** When somebody wanted to know whether the peer lives, and nothing has been heard since; `Infinity` when nobody does. */
  #probedAt = Infinity;
  /** When the peer wants to be given up if nothing follows its PING. */
  #ttlEndsAt = Infinity;
  /** For so long the peer last said that it hears out silence. */
  #patienceMs = Infinity;
  /** Nothing can be heard now, for a reason that is not the peer's. */
  #deaf = false;
  #modern = false;
  #isOfferedLanes = false;
  #isReq = false;

  /**
   * The greeting is there as output. A server of a mechanism says the signature alone at first, as libzmq does: libzmq ends a connection whose
   * mechanism it does not like before it has said a word, and nobody could tell such a peer from one that never meant to speak ZMTP.
   */
  constructor(settings: ConnectionSettings, sink: ConnectionSink, now: number) {
    this.#settings = settings;
    this.#sink = sink;
    this.#reader = new FrameReader(settings, settings.allocate, settings.reuse);
    this.#security = settings.security ?? NULL;
    const greeting = encodeGreeting(this.#security.name, this.#security.asServer);
    const first = this.#security.asServer ? SIGNATURE_BYTES : GREETING_BYTES;
    this.#output = [greeting.subarray(0, first)];
    if (first < GREETING_BYTES) this.#restOfGreeting = greeting.subarray(first);
    this.#startedAt = this.#heardAt = this.#spokeAt = now;
  }

  /** True once the handshake is complete, until the connection fails. */
  get ready(): boolean {
    return this.#stage === 'traffic';
  }

  /** True when silence is noticed: heartbeats are on and the peer knows PING. */
  get noticesSilence(): boolean {
    return this.#modern && this.#settings.heartbeatMs > 0;
  }

  /** True when the peer, once it is {@link ready}, takes lanes. */
  get isOfferedLanes(): boolean {
    return this.#isOfferedLanes;
  }

  /** True when the other side said that it is a REQ. */
  get isReq(): boolean {
    return this.#isReq;
  }

  /** True once anything of a greeting has come. */
  get greeted(): boolean {
    return this.#greetingBytes > 0;
  }

  /** True when all traffic is encrypted. */
  get sealed(): boolean {
    return this.#cipher !== undefined;
  }

  /** When {@link tick} must be called; `Infinity` when nothing depends on time. Moves later without notice. */
  get deadline(): number {
    if (this.#stage === 'failed') return Infinity;
    if (this.#stage !== 'traffic') return this.#startedAt + this.#settings.handshakeMs;
    // Who does not listen must not conclude that the peer is silent, nor fall silent itself.
    return this.#listens ? Math.min(this.#silentAt(), this.#nextPing()) : this.#nextSign();
  }

  /** As {@link FrameReader.room}: where to put the bytes that {@link receive} is given next. */
  get room(): Uint8Array | undefined {
    return this.#held === undefined ? this.#reader.room : undefined;
  }

  /** As {@link FrameReader.unfinishedBytes}. */
  get unfinishedBytes(): number {
    return this.#reader.unfinishedBytes;
  }

  /** As {@link FrameReader.waitingBytes}: those behind what is held. */
  get waitingBytes(): number {
    return this.#held === undefined ? 0 : this.#reader.waitingBytes;
  }

  /** Memory of what was received and not given on. */
  get heldBytes(): number {
    const { unfinishedBytes, chunkBytes } = this.#reader;
    return this.#held === undefined ? unfinishedBytes : unfinishedBytes + chunkBytes;
  }

  /** As {@link FrameReader.discard}. */
  discard(): void {
    this.#reader.discard();
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

  /** Nothing could be heard until then, at most until now, and perhaps still cannot: silence up to there proves nothing. */
  excuse(until: number, stillDeaf: boolean): void {
    if (until > this.#heardAt) this.#hear(until);
    this.#deaf = stillDeaf;
  }

  /** Asks for a sign of life: the connection fails when none comes within the interval of heartbeats, or without them their timeout. */
  probe(now: number): void {
    if (this.#stage !== 'traffic' || !this.#modern || this.#probedAt !== Infinity) return;
    this.#probedAt = now;
    this.#sign(now);
  }

  /** True while a message or command is held. */
  get holding(): boolean {
    return this.#held !== undefined;
  }

  /** Something was sent at `now`. */
  sent(now: number): void {
    this.#spokeAt = now;
  }

  /** Tells a publisher which messages are wanted: by a command or, of ZMTP 3.0, by a message. Once the connection is {@link ready}. */
  subscribe(prefix: Uint8Array, wanted: boolean): void {
    if (this.#modern) this.#command(subscriptionBody(prefix, wanted));
    else this.#say(...this.#encode([[subscriptionMessage(prefix, wanted)]]));
  }

  /**
   * What is to be sent now: greeting and commands, often none, then these messages; in as few parts as need be. Bodies of 8 KiB
   * and more may be the very arrays that came in: they must not change until the parts have been written.
   */
  take(messages: readonly (readonly Uint8Array[])[]): readonly Uint8Array[] {
    const output = this.takeOutput();
    if (messages.length === 0) return output;
    const encoded = this.#encode(messages);
    return output.length === 0 ? encoded : [...output, ...encoded];
  }

  /** These messages where traffic is {@link sealed}, sealed step by step. Nothing is to be asked for as output until all is, for its place is behind them. */
  seal(messages: readonly (readonly Uint8Array[])[]): Sealing | undefined {
    return this.#cipher && new Sealing(messages, this.#cipher, this.#settings.allocate);
  }

  /** The greeting and commands that are to be sent now, in order; often none. */
  takeOutput(): readonly Uint8Array[] {
    const output = this.#output;
    if (this.#pong !== undefined) output.push(this.#frame(pongBody(this.#pong)));
    if (this.#ping !== undefined) output.push(this.#frame(this.#ping));
    this.#pong = this.#ping = undefined;
    if (output.length > 0) this.#output = [];
    return output;
  }

  /** Does what is due at `now`. */
  tick(now: number): void {
    if (this.deadline > now) return;
    if (this.#stage !== 'traffic')
      this.#fail({ code: 'handshake-timeout', text: `no handshake within ${this.#settings.handshakeMs} ms` });
    else if (!this.#listens) this.#sign(now);
    else if (this.#silentAt() > now) this.#ask(now);
    else this.#fail({ code: 'silent', text: `nothing was heard for ${Math.round(now - this.#heardAt)} ms` });
  }

  get #listens(): boolean {
    return this.#held === undefined && !this.#deaf;
  }

  #hear(now: number): void {
    this.#deaf = false;
    this.#heardAt = now;
    this.#askedAt = this.#probedAt = this.#ttlEndsAt = Infinity;
  }

  /** When the peer is silent for too long. */
  #silentAt(): number {
    const { heartbeatMs, timeoutMs } = this.#settings;
    return Math.min(this.#ttlEndsAt, this.#askedAt + timeoutMs, this.#probedAt + (heartbeatMs || timeoutMs));
  }

  #nextPing(): number {
    if (!this.noticesSilence || this.#askedAt !== Infinity) return Infinity;
    return Math.min(this.#heardAt, this.#spokeAt) + this.#settings.heartbeatMs;
  }

  /**
   * When to speak while we do not listen, and so cannot answer who asks: twice as often as anybody may expect. Also without heartbeats
   * of our own, for the peer may have some.
   */
  #nextSign(): number {
    if (!this.#modern) return Infinity;
    const { heartbeatMs } = this.#settings;
    const ownMs = heartbeatMs > 0 ? heartbeatMs / 2 : SIGN_MS;
    return this.#spokeAt + Math.min(SIGN_MS, ownMs, this.#patienceMs / SIGNS_PER_PATIENCE);
  }

  #sign(now: number): void {
    this.#spokeAt = now;
    this.#sayPing();
  }

  #ask(now: number): void {
    this.#askedAt = now;
    this.#sign(now);
  }

  /** We promise a word at least once per interval, and ask for as much patience beyond that as we have ourselves. */
  #sayPing(): void {
    const { heartbeatMs, timeoutMs } = this.#settings;
    this.#ping = pingBody(heartbeatMs > 0 ? heartbeatMs + timeoutMs : 0);
    this.#sink.onOutput();
  }

  /** The peer speaks: the rest of the greeting is to be sent, if there is any. */
  greet(): void {
    if (this.#restOfGreeting === undefined) return;
    this.#say(this.#restOfGreeting);
    this.#restOfGreeting = undefined;
  }

  /** Returns what follows the greeting; `undefined` while it is incomplete or when it is wrong. */
  #readGreeting(chunk: Uint8Array): Uint8Array | undefined {
    this.greet();
    const bytes = Math.min(chunk.length, GREETING_BYTES - this.#greetingBytes);
    this.#greeting.set(chunk.subarray(0, bytes), this.#greetingBytes);
    this.#greetingBytes += bytes;
    const fault = greetingFault(this.#greeting, this.#greetingBytes, this.#security.name);
    if (fault !== undefined) {
      this.#fail(fault);
      return undefined;
    }
    if (this.#greetingBytes < GREETING_BYTES) return undefined;
    this.#stage = 'handshake';
    this.#modern = speaks31(this.#greeting);
    const { socketType, identity, offersLanes } = this.#settings;
    this.#mechanism = this.#security.handshake(encodeProperties(socketType, identity, offersLanes));
    const begin = this.#mechanism.begin();
    if (begin !== undefined) this.#say(begin);
    return chunk.subarray(bytes);
  }

  #read(): void {
    while (this.#stage !== 'failed') {
      const item = this.#held ?? this.#reader.next();
      if (item === undefined) {
        if (this.#reader.fault !== undefined) this.#fail(this.#reader.fault);
        return;
      }
      const isCommand = item === 'command';
      if (isCommand ? !this.#sink.obeying : !this.#sink.accepting) {
        this.#hold(item);
        return;
      }
      this.#held = undefined;
      if (isCommand) this.#obey(splitCommand(this.#reader.command));
      else this.#give(item);
    }
  }

  #give(item: Exclude<ReadItem, 'command'>): void {
    if (item !== 'message') this.#sink.onRejected(item);
    else {
      const frames = this.#reader.takeFrames();
      const [first] = frames;
      if (this.#publishes && isSubscription(frames, first))
        this.#sink.onSubscription(first.subarray(1), first[0] === 1);
      else this.#sink.onMessage(frames);
    }
  }

  get #publishes(): boolean {
    const { socketType } = this.#settings;
    return socketType === 'PUB' || socketType === 'XPUB';
  }

  #hold(item: ReadItem): void {
    if (this.#held !== undefined) return;
    this.#held = item;
    this.#sink.onHeld();
  }

  #obey(command: NamedCommand | undefined): void {
    this.#sink.onObeyed(this.#mechanism === undefined || this.#security.name === 'NULL' ? 1 : HANDSHAKE_WORK);
    if (command === undefined) this.#failMalformed('a command whose name is empty or incomplete');
    else if (this.#mechanism !== undefined) this.#shake(this.#mechanism, command);
    else this.#act(decodeCommand(command));
  }

  #act(command: Command): void {
    switch (command.kind) {
      case 'malformed':
        this.#failMalformed(command.reason);
        return;
      case 'error':
        this.#fail({
          code: this.#mechanism !== undefined && command.reason === REFUSED ? 'denied' : 'refused',
          text: `the peer refused: ${JSON.stringify(command.reason)}`,
        });
        return;
      case 'ping':
        if (command.ttlMs > 0) {
          this.#patienceMs = command.ttlMs;
          this.#ttlEndsAt = this.#heardAt + command.ttlMs;
        }
        this.#pong = command.context.slice();
        this.#sink.onOutput();
        return;
      case 'subscription':
        if (this.#publishes) this.#sink.onSubscription(command.prefix, command.wanted);
        return;
      default:
      // PONG has done its work by being heard; what we do not know is not for us.
    }
  }

  #shake(mechanism: Mechanism, command: NamedCommand): void {
    if (command.name === 'ERROR') this.#act(decodeError(command.data));
    else this.#take(mechanism.step(command.name, command.data));
  }

  #take({ say, failure, met }: Step): void {
    if (met === undefined) {
      if (say !== undefined) this.#say(say);
      if (failure !== undefined) this.#fail(failure);
      return;
    }
    const properties = decodeProperties(met.properties);
    if (properties.kind === 'malformed') {
      this.#failMalformed(properties.reason);
      return;
    }
    const { socketType } = this.#settings;
    if (!COMPATIBLE[socketType].includes(properties.socketType)) {
      const text = `a ${socketType} cannot talk to a ${JSON.stringify(properties.socketType)}`;
      // Who has sealed its part of the handshake takes nothing any more that is not sealed.
      if (met.cipher === undefined || say !== undefined) this.#say(encodeError(text));
      this.#fail({ code: 'socket-type', text });
      return;
    }
    if (say !== undefined) this.#say(say);
    this.#stage = 'traffic';
    this.#mechanism = undefined;
    this.#cipher = this.#reader.cipher = met.cipher;
    this.#reader.commandsOnly = false;
    this.#isOfferedLanes = properties.offersLanes;
    this.#isReq = properties.socketType === 'REQ';
    this.#sink.onReady(properties.identity, met.publicKey);
  }

  #encode(messages: readonly (readonly Uint8Array[])[]): readonly Uint8Array[] {
    const sealing = this.seal(messages);
    if (sealing === undefined) return encodeMessages(messages, this.#settings.allocate);
    sealing.step(Infinity);
    return sealing.parts;
  }

  #frame(body: Uint8Array): Uint8Array {
    return this.#cipher === undefined ? frameOf(body) : this.#cipher.seal(SEALED_COMMAND, body);
  }

  #command(body: Uint8Array): void {
    this.#say(this.#frame(body));
  }

  #say(...frames: readonly Uint8Array[]): void {
    this.#output.push(...frames);
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
