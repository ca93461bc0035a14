/**
 * One ZMTP connection without I/O: greeting, handshake, messages, heartbeats. 37/ZMTP, also with peers of 3.0 (23/ZMTP). Bytes and time go in;
 * it calls {@link ConnectionSink} with what they mean. legality.ts says what may come when.
 */
import {
  decodeCommand,
  decodeError,
  decodeProperties,
  encodeError,
  encodeProperties,
  isCompatible,
  isSubscription,
  splitCommand,
} from './framing/commands.js';
import type { Command, NamedCommand } from './framing/commands.js';
import type { ConnectionSettings, ConnectionSink } from './events.js';
import type { Failure } from './failure.js';
import { GREETING_BYTES, greetingFault, speaks31 } from './framing/greeting.js';
import { CONNECTION } from './legality.js';
import type { Received, Stage } from './legality.js';
import { Liveness } from './liveness.js';
import { REFUSED } from './mechanisms/mechanism.js';
import type { Mechanism, Security, Step } from './mechanisms/mechanism.js';
import { NULL } from './mechanisms/null.js';
import { ConnectionOutput } from './output.js';
import type { Allocate } from './framing/bytes.js';
import { FrameReader } from './framing/reader.js';
import type { ReadItem } from './framing/reader.js';
import type { Sealing } from './mechanisms/sealing.js';

/** Cost of a handshake step with cryptography, in messages. */
const HANDSHAKE_WORK = 64;

/**
 * One end of a connection. The owner sends what {@link take} returns, before and between whole messages. It calls {@link receive} for received
 * bytes, {@link sent} after each send, and {@link tick} at the {@link deadline}.
 */
export class ConnectionEngine {
  readonly #settings: ConnectionSettings;
  readonly #sink: ConnectionSink;
  readonly #reader: FrameReader;
  readonly #security: Security;
  readonly #publishes: boolean;
  readonly #startedAt: number;
  readonly #liveness: Liveness;
  readonly #output: ConnectionOutput;
  readonly #greeting = new Uint8Array(GREETING_BYTES);
  #greetingBytes = 0;
  #stage: Stage = 'greeting';
  /** From the greeting until the handshake is complete. */
  #mechanism: Mechanism | undefined;
  /** A message or command that the sink does not accept yet. */
  #held: ReadItem | undefined;
  #isOfferedLanes = false;
  #isReq = false;

  constructor(settings: ConnectionSettings, sink: ConnectionSink, now: number) {
    this.#settings = settings;
    this.#sink = sink;
    this.#reader = new FrameReader(settings, settings.allocate, settings.reuse);
    this.#security = settings.security ?? NULL;
    this.#publishes = settings.socketType === 'PUB' || settings.socketType === 'XPUB';
    this.#startedAt = now;
    this.#liveness = new Liveness(settings, now);
    this.#output = new ConnectionOutput(settings, this.#security, () => {
      sink.onOutput();
    });
  }

  /** True from the end of the handshake until the connection fails. */
  get ready(): boolean {
    return this.#stage === 'traffic';
  }

  /** True if silence is detected: heartbeats are on and the peer knows PING. */
  get noticesSilence(): boolean {
    return this.#liveness.noticesSilence;
  }

  /** True if the peer accepts lanes; known once the connection is {@link ready}. */
  get isOfferedLanes(): boolean {
    return this.#isOfferedLanes;
  }

  /** True if the peer announced that it is a REQ. */
  get isReq(): boolean {
    return this.#isReq;
  }

  /** True once any byte of the greeting has arrived. */
  get greeted(): boolean {
    return this.#greetingBytes > 0;
  }

  /** True if all traffic is encrypted. */
  get sealed(): boolean {
    return this.#output.cipher !== undefined;
  }

  /** True while a message or command is held. */
  get holding(): boolean {
    return this.#held !== undefined;
  }

  /** When {@link tick} is due; `Infinity` if nothing depends on time. May move later without notice. */
  get deadline(): number {
    if (this.#stage === 'failed') return Infinity;
    if (this.#stage !== 'traffic') return this.#startedAt + this.#settings.handshakeMs;
    return this.#liveness.deadline(this.holding);
  }

  /** As {@link FrameReader.room}: where to put the bytes for the next {@link receive}. */
  get room(): Uint8Array | undefined {
    return this.#held === undefined ? this.#reader.room : undefined;
  }

  /** As {@link FrameReader.unfinishedBytes}. */
  get unfinishedBytes(): number {
    return this.#reader.unfinishedBytes;
  }

  /** Bytes received after what is held. */
  get waitingBytes(): number {
    return this.#held === undefined ? 0 : this.#reader.waitingBytes;
  }

  /** Memory of bytes received and not passed on. */
  get heldBytes(): number {
    const { unfinishedBytes, chunkBytes } = this.#reader;
    return this.#held === undefined ? unfinishedBytes : unfinishedBytes + chunkBytes;
  }

  /** As {@link FrameReader.discard}. */
  discard(): void {
    this.#reader.discard();
  }

  /** Takes received bytes, which must not change afterwards. Do not call it while {@link holding}. */
  receive(chunk: Uint8Array, now: number): void {
    this.#liveness.hear(now);
    const rest = this.#stage === 'greeting' ? this.#readGreeting(chunk) : chunk;
    if (rest === undefined) return;
    this.#reader.push(rest);
    this.#read();
  }

  /** Continues with what is held, if the sink accepts it now, and with the bytes after it. */
  resume(now: number): void {
    this.#liveness.hear(now);
    this.#read();
  }

  /** As {@link Liveness.excuse}. */
  excuse(until: number, stillDeaf: boolean): void {
    this.#liveness.excuse(until, stillDeaf);
  }

  /** Asks the peer for a sign of life. The connection fails if none comes within the heartbeat interval or, without heartbeats, their timeout. */
  probe(now: number): void {
    if (this.#stage === 'traffic' && this.#liveness.probe(now)) this.#output.ping(this.#liveness.ttlMs);
  }

  /** Output was sent. */
  sent(now: number): void {
    this.#liveness.speak(now);
  }

  /** Subscribes to a prefix or cancels it: with a command, or with a message for ZMTP 3.0. Only while {@link ready}. */
  subscribe(prefix: Uint8Array, wanted: boolean): void {
    this.#output.subscribe(prefix, wanted, this.#liveness.knowsPing);
  }

  /**
   * The output to send now, in as few parts as possible: greeting and commands if any, then these messages. Bodies of 8 KiB and more may be the
   * given arrays: do not change them until the parts are written. `allocate` is for output of one part.
   */
  take(messages: readonly (readonly Uint8Array[])[], allocate?: Allocate): readonly Uint8Array[] {
    return this.#output.take(messages, allocate);
  }

  /** The greeting and commands to send now, in order; usually none. */
  takeOutput(): readonly Uint8Array[] {
    return this.#output.takeCommands();
  }

  /** Encrypts these messages step by step if traffic is {@link sealed}. Take no other output until it is done. */
  seal(messages: readonly (readonly Uint8Array[])[]): Sealing | undefined {
    return this.#output.seal(messages);
  }

  /** The peer has begun to speak: releases the rest of our greeting, even if we do not read yet. */
  greet(): void {
    this.#output.greet();
  }

  /** Does what is due at the deadline. */
  tick(now: number): void {
    if (this.deadline > now) return;
    if (this.#stage !== 'traffic') {
      this.#fail({
        code: 'handshake-timeout',
        text: `the handshake did not complete within ${this.#settings.handshakeMs} ms`,
      });
      return;
    }
    const due = this.#liveness.tick(now, this.holding);
    if (due === 'ping') this.#output.ping(this.#liveness.ttlMs);
    else this.#fail({ code: 'silent', text: due.silence });
  }

  /** Returns the bytes after the greeting; `undefined` if it is incomplete or wrong. */
  #readGreeting(chunk: Uint8Array): Uint8Array | undefined {
    this.#output.greet();
    const bytes = Math.min(chunk.length, GREETING_BYTES - this.#greetingBytes);
    this.#greeting.set(chunk.subarray(0, bytes), this.#greetingBytes);
    this.#greetingBytes += bytes;
    const fault = greetingFault(this.#greeting, this.#greetingBytes, this.#security.name);
    if (fault !== undefined) {
      this.#fail(fault);
      return undefined;
    }
    if (this.#greetingBytes < GREETING_BYTES) return undefined;
    this.#enter('handshake');
    this.#liveness.knowsPing = speaks31(this.#greeting);
    const { socketType, identity, offersLanes } = this.#settings;
    this.#mechanism = this.#security.handshake(encodeProperties(socketType, identity, offersLanes));
    const begin = this.#mechanism.begin();
    if (begin !== undefined) this.#output.say(begin);
    return chunk.subarray(bytes);
  }

  #enter(stage: Stage): void {
    this.#stage = stage;
    this.#reader.commandsOnly = CONNECTION[stage].message[0] !== 'accept';
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
        if (this.#held === undefined) {
          this.#held = item;
          this.#sink.onHeld();
        }
        return;
      }
      this.#held = undefined;
      if (isCommand) this.#obey(splitCommand(this.#reader.command));
      else this.#give(item);
    }
  }

  #give(item: Exclude<ReadItem, 'command'>): void {
    if (item !== 'message') {
      this.#sink.onRejected(item);
      return;
    }
    const frames = this.#reader.takeFrames();
    const [first] = frames;
    if (this.#publishes && isSubscription(frames, first)) this.#sink.onSubscription(first.subarray(1), first[0] === 1);
    else this.#sink.onMessage(frames);
  }

  #obey(command: NamedCommand | undefined): void {
    this.#sink.onObeyed(this.#mechanism === undefined || this.#security.name === 'NULL' ? 1 : HANDSHAKE_WORK);
    if (command === undefined) {
      this.#failMalformed('a command whose name is empty or incomplete');
      return;
    }
    const { name, data } = command;
    switch (CONNECTION[this.#stage][receivedAs(name)][0]) {
      case 'step':
        if (this.#mechanism !== undefined) this.#take(this.#mechanism.step(name, data));
        return;
      case 'accept':
        this.#act(decodeCommand(command));
        return;
      case 'fail':
        this.#act(decodeError(data));
        return;
      default:
    }
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
        this.#liveness.onPing(command.ttlMs);
        this.#output.pong(command.context);
        return;
      case 'subscription':
        if (this.#publishes) this.#sink.onSubscription(command.prefix, command.wanted);
        return;
      default:
      // Receiving a PONG is all that matters.
    }
  }

  #take({ say, failure, met }: Step): void {
    if (met === undefined) {
      if (say !== undefined) this.#output.say(say);
      if (failure !== undefined) this.#fail(failure);
      return;
    }
    const properties = decodeProperties(met.properties);
    if (properties.kind === 'malformed') {
      this.#failMalformed(properties.reason);
      return;
    }
    const { socketType } = this.#settings;
    if (!isCompatible(socketType, properties.socketType)) {
      const text = `a ${socketType} cannot talk to a ${JSON.stringify(properties.socketType)}`;
      // Once its part of the handshake is encrypted, a peer accepts nothing in clear text.
      if (met.cipher === undefined || say !== undefined) this.#output.say(encodeError(text));
      this.#fail({ code: 'socket-type', text });
      return;
    }
    if (say !== undefined) this.#output.say(say);
    this.#enter('traffic');
    this.#mechanism = undefined;
    this.#output.cipher = this.#reader.cipher = met.cipher;
    this.#isOfferedLanes = properties.offersLanes;
    this.#isReq = properties.socketType === 'REQ';
    this.#sink.onReady(properties.identity, met.publicKey);
  }

  #failMalformed(text: string): void {
    this.#fail({ code: 'malformed', text });
  }

  #fail(failure: Failure): void {
    this.#stage = 'failed';
    this.#sink.onFailure(failure);
  }
}

function receivedAs(name: string): Received {
  return name === 'PING' || name === 'PONG' || name === 'SUBSCRIBE' || name === 'CANCEL' || name === 'ERROR'
    ? name
    : 'other command';
}
