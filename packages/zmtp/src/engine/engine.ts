/**
 * One ZMTP connection without I/O: greeting, handshake, messages, heartbeats. 37/ZMTP, with peers of 3.0 (23/ZMTP) as well. Bytes and time go
 * in; the calls of {@link ConnectionSink} say what they mean. What may come when is in legality.ts.
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
} from './commands.js';
import type { Command, NamedCommand } from './commands.js';
import type { ConnectionSettings, ConnectionSink } from './events.js';
import type { Failure } from './failure.js';
import { GREETING_BYTES, greetingFault, speaks31 } from './greeting.js';
import { CONNECTION } from './legality.js';
import type { Received, Stage } from './legality.js';
import { Liveness } from './liveness.js';
import { REFUSED } from './mechanism.js';
import type { Mechanism, Security, Step } from './mechanism.js';
import { NULL } from './null.js';
import { ConnectionOutput } from './output.js';
import { FrameReader } from './reader.js';
import type { ReadItem } from './reader.js';
import type { Sealing } from './sealing.js';

/** What a step of a handshake with cryptography costs, in messages. */
const HANDSHAKE_WORK = 64;

/**
 * One end of a connection. The owner sends what {@link take} returns, before and between whole messages; it calls {@link receive} when bytes
 * came, {@link sent} when something was sent, and {@link tick} at the {@link deadline}.
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
  /** A message or command that the sink does not take yet. */
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

  /** True once the handshake is complete, until the connection fails. */
  get ready(): boolean {
    return this.#stage === 'traffic';
  }

  /** True when silence is noticed: heartbeats are on and the peer knows PING. */
  get noticesSilence(): boolean {
    return this.#liveness.noticesSilence;
  }

  /** True when the peer takes lanes; known once the connection is {@link ready}. */
  get isOfferedLanes(): boolean {
    return this.#isOfferedLanes;
  }

  /** True when the peer said that it is a REQ. */
  get isReq(): boolean {
    return this.#isReq;
  }

  /** True once anything of a greeting has come. */
  get greeted(): boolean {
    return this.#greetingBytes > 0;
  }

  /** True when all traffic is encrypted. */
  get sealed(): boolean {
    return this.#output.cipher !== undefined;
  }

  /** True while a message or command is held. */
  get holding(): boolean {
    return this.#held !== undefined;
  }

  /** When {@link tick} is due; `Infinity` when nothing depends on time. Moves later without notice. */
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

  /** Bytes that wait behind what is held. */
  get waitingBytes(): number {
    return this.#held === undefined ? 0 : this.#reader.waitingBytes;
  }

  /** Memory of what was received and not passed on. */
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
    this.#liveness.hear(now);
    const rest = this.#stage === 'greeting' ? this.#readGreeting(chunk) : chunk;
    if (rest === undefined) return;
    this.#reader.push(rest);
    this.#read();
  }

  /** Goes on with what is held, if the sink takes it now, and what came after it. */
  resume(now: number): void {
    this.#liveness.hear(now);
    this.#read();
  }

  /** As {@link Liveness.excuse}. */
  excuse(until: number, stillDeaf: boolean): void {
    this.#liveness.excuse(until, stillDeaf);
  }

  /** Asks for a sign of life: the connection fails when none comes within the interval of heartbeats, or without them their timeout. */
  probe(now: number): void {
    if (this.#stage === 'traffic' && this.#liveness.probe(now)) this.#output.ping(this.#liveness.ttlMs);
  }

  /** Something was sent. */
  sent(now: number): void {
    this.#liveness.speak(now);
  }

  /** Tells a publisher which messages are wanted: by a command or, to ZMTP 3.0, by a message. Only while {@link ready}. */
  subscribe(prefix: Uint8Array, wanted: boolean): void {
    this.#output.subscribe(prefix, wanted, this.#liveness.knowsPing);
  }

  /**
   * What to send now: greeting and commands, often none, then these messages; in as few parts as possible. Bodies of 8 KiB and more may be the
   * very arrays that were given: they must not change until the parts have been written.
   */
  take(messages: readonly (readonly Uint8Array[])[]): readonly Uint8Array[] {
    return this.#output.take(messages);
  }

  /** The greeting and commands to send now, in order; often none. */
  takeOutput(): readonly Uint8Array[] {
    return this.#output.takeCommands();
  }

  /** Encrypts these messages step by step where traffic is {@link sealed}. No other output may be taken before it is done: it goes behind them. */
  seal(messages: readonly (readonly Uint8Array[])[]): Sealing | undefined {
    return this.#output.seal(messages);
  }

  /** The peer speaks, if not yet for us to hear: the rest of our greeting is sent. */
  greet(): void {
    this.#output.greet();
  }

  /** Does what is due. */
  tick(now: number): void {
    if (this.deadline > now) return;
    if (this.#stage !== 'traffic') {
      this.#fail({ code: 'handshake-timeout', text: `no handshake within ${this.#settings.handshakeMs} ms` });
      return;
    }
    const due = this.#liveness.tick(now, this.holding);
    if (due === 'ping') this.#output.ping(this.#liveness.ttlMs);
    else this.#fail({ code: 'silent', text: due.silence });
  }

  /** Returns what follows the greeting; `undefined` while it is incomplete or when it is wrong. */
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
      // A PONG has done its work by being heard.
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
      // A peer whose part of the handshake is encrypted takes nothing in clear any more.
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
