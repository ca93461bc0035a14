/** One connection: a byte stream on one side, the ZMTP engine on the other. */
import type { Claim, ConnectionHost } from './connection-host.js';
import { ConnectionWriter } from './connection-writer.js';
import type { WriterOwner } from './connection-writer.js';
import type { Connector } from './connector.js';
import { ConnectionEngine } from './engine/engine.js';
import type { ConnectionSink } from './engine/events.js';
import type { Failure, FailureCode } from './engine/failure.js';
import { PREAMBLE } from './engine/framing/lane-frames.js';
import { IncomingShare } from './incoming.js';
import type { Receiving } from './incoming.js';
import { NodeSocket } from './node-socket.js';
import type { Pipe } from './pipe.js';
import { TurnShare } from './turn-share.js';
import type { Reading } from './turn.js';
import { deadlineOf } from './watch.js';
import type { Watched } from './watch.js';
import type { ByteSink, SharedConnection, Wire } from './wire.js';

/** Frames and bytes that cost as much work as one message. */
const FRAMES_PER_WORK = 16;
const BYTES_PER_WORK = 4096;
/** The same, to be decrypted. */
const SEALED_BYTES_PER_WORK = 1024;

/** What a peer that knows ZMTP does not send. Such a peer is not told why it is cut. */
const NOISE: ReadonlySet<FailureCode> = new Set(['not-zmtp', 'malformed', 'too-large']);

/** A connection from its first byte to its end. */
export class Connection implements ConnectionSink, WriterOwner, Receiving, ByteSink, Watched, Reading {
  /** The connector that made it; `undefined` if the peer connected. */
  readonly connector: Connector | undefined;
  /** Remote address; known with CURVE. */
  readonly address: string | undefined;
  /** As {@link Reading.isEnded}. */
  isEnded = false;
  readonly #host: ConnectionHost;
  readonly #wire: Wire;
  readonly #engine: ConnectionEngine;
  readonly #writer: ConnectionWriter;
  readonly #share: TurnShare;
  readonly #incoming: IncomingShare;
  readonly #deadline = deadlineOf(this);
  #pipe: Pipe | undefined;
  #claim: Claim | undefined;
  #failure: Failure | undefined;
  /** Paused because memory is short. */
  #halted = false;
  #finishing = false;
  /** Our side of the stream has ended. */
  #said = false;
  #met = false;
  /** No bytes have arrived yet. */
  #isFirst = true;
  /** The host has been notified. */
  #closed = false;

  constructor(host: ConnectionHost, wire: Wire, connector?: Connector) {
    const { turns, watch, settings } = host;
    this.connector = connector;
    this.#host = host;
    this.#wire = wire;
    // The system no longer knows it once the socket is closed.
    if (settings.security?.name === 'CURVE') this.address = connector?.endpoint ?? addressOf(wire);
    this.#engine = new ConnectionEngine(settings, this, watch.now());
    this.#writer = new ConnectionWriter(turns, watch, wire, this.#engine, this);
    this.#share = new TurnShare(turns, watch, wire.readers ?? turns, this);
    this.#incoming = new IncomingShare(host.incoming, this);
    wire.feed(this);
    wire.on('end', this.#onEnd);
    wire.on('error', this.#onError);
    wire.on('close', this.#onClose);
    this.#renewDeadline();
    if (connector === undefined) turns.wakeNext(this);
    else this.wake();
  }

  /** The outgoing messages; `undefined` before the handshake and while the connection waits for a routing id. */
  get pipe(): Pipe | undefined {
    return this.#pipe;
  }

  /** The routing id it waits for. Its messages are not read until then. */
  get claim(): Claim | undefined {
    return this.#claim;
  }

  /** True once the handshake has completed. */
  get met(): boolean {
    return this.#met;
  }

  /** True if the connection has ended and its handshake began and failed. */
  get refused(): boolean {
    return !this.#met && this.#engine.greeted;
  }

  /** Bytes waiting for the peer to read them; 0 if we connected to the peer, and while the connection is being cut. */
  get unreadBytes(): number {
    const pipe = this.#pipe;
    return pipe === undefined || pipe.lasting || this.#failure !== undefined ? 0 : pipe.bytes;
  }

  /** As {@link ConnectionWriter.writingSince}. */
  get writingSince(): number | undefined {
    return this.#writer.writingSince;
  }

  /** As {@link ConnectionWriter.isWriting}. */
  get writing(): boolean {
    return this.#writer.isWriting;
  }

  /** As {@link Wire.carrier}. */
  get carrier(): SharedConnection | undefined {
    return this.#wire.carrier;
  }

  /** True when the peer is a REQ; known once the handshake is complete. */
  get isReq(): boolean {
    return this.#engine.isReq;
  }

  get mayWrite(): boolean {
    return !this.#closed && !this.isEnded && !this.#said && this.#failure === undefined;
  }

  /** Assigns the pipe of outgoing messages. */
  join(pipe: Pipe): void {
    this.abandon();
    this.#pipe = pipe;
    pipe.attach(this);
    this.listen();
  }

  /** Makes it wait for a routing id that another connection holds. */
  wait(claim: Claim): void {
    this.abandon();
    this.#claim = claim;
    claim.rivals.add(this);
  }

  /** Stops waiting for a routing id. */
  abandon(): void {
    this.#claim?.rivals.delete(this);
    this.#claim = undefined;
  }

  /** As {@link ConnectionEngine.probe}. */
  probe(): void {
    this.#engine.probe(this.#host.watch.now());
    this.#renewDeadline();
  }

  /** As {@link ConnectionEngine.subscribe}. */
  subscribe(prefix: Uint8Array, wanted: boolean): void {
    if (this.#engine.ready) this.#engine.subscribe(prefix, wanted);
  }

  /** There is output to write. */
  wake(): void {
    this.#writer.wake();
  }

  /** The host listens again, or the messages no longer matter. */
  listen(): void {
    if (this.#engine.holding) this.#share.rest();
  }

  get obeying(): boolean {
    return this.#finishing || !this.#share.isResting;
  }

  get accepting(): boolean {
    return this.#finishing || (this.#host.listening && !this.#share.isResting && this.#claim === undefined);
  }

  onHeld(): void {
    this.#wire.pause();
    if (!this.#share.isResting) this.#host.onHeld(this);
  }

  /**
   * Writes what is waiting, then waits for the peer to close. Keeps reading: the system resets a connection with unread bytes, and the peer
   * would lose what it has not read yet.
   */
  finish(): void {
    this.#finishing = true;
    this.listen();
    this.#endWhenDone();
  }

  /** Cuts the connection; waiting messages stay in the pipe. */
  destroy(): void {
    if (this.isEnded) this.#close();
    else this.#wire.destroy();
  }

  /** {@link Receiving.isUnread} */
  get isUnread(): boolean {
    return this.#share.isResting || this.#wire.stalledUntil === Infinity;
  }

  /** Cuts the connection for what the peer did. */
  cut(failure: Failure): void {
    this.#failure ??= failure;
    this.#account();
    this.#wire.destroy();
  }

  /** Cuts the connection to free its unread output; returns the number of bytes freed. */
  cutUnread(): number {
    const unread = this.#pipe?.bytes ?? 0;
    this.cut({ code: 'memory', text: `memory is short, and the peer has not read ${unread} waiting bytes` });
    return this.#pipe?.abandon() ?? 0;
  }

  /** Pauses reading until {@link proceed}. */
  halt(): void {
    this.#halted = true;
    this.#wire.pause();
  }

  /** Resumes reading. */
  proceed(): void {
    if (!this.#halted) return;
    this.#halted = false;
    this.#engine.excuse(this.#host.watch.now(), false);
    if (!this.#share.isResting && !this.#engine.holding) this.#wire.resume();
  }

  onReady(identity: Uint8Array, publicKey: Uint8Array | undefined): void {
    this.#met = true;
    this.#host.onMet(this);
    this.connector?.met(this.#engine.isOfferedLanes);
    // A peer that does not know PING is left to TCP, which notices when its machine is gone.
    const { heartbeatMs } = this.#host.settings;
    if (heartbeatMs > 0 && !this.#engine.noticesSilence) this.#wire.setKeepAlive(true, heartbeatMs);
    this.#host.onReady(this, identity, publicKey);
    this.#endWhenDone();
  }

  onMessage(frames: Uint8Array[]): void {
    if (this.#pipe !== undefined) this.#host.onMessage(this, frames);
    this.#share.deliver(1 + Math.floor(frames.length / FRAMES_PER_WORK));
  }

  onObeyed(work: number): void {
    this.#share.spend(work);
  }

  onRejected(reason: 'too-many-frames' | 'too-large'): void {
    if (this.#pipe !== undefined) this.#host.onRejected(this, reason);
    this.#share.spend(1);
  }

  onSubscription(prefix: Uint8Array, wanted: boolean): void {
    if (this.#pipe !== undefined) this.#host.onSubscription(this, prefix, wanted);
    this.#share.spend(1);
  }

  onOutput(): void {
    this.wake();
  }

  onFailure(failure: Failure): void {
    this.#failure = failure;
    const isNoise = !this.#writer.hasWritten && NOISE.has(failure.code);
    // The peer may be told the reason.
    if (!this.isEnded && !isNoise) this.#writer.flushCommands();
    if (this.#wire.hasUnsent || isNoise) this.#wire.destroy();
    else this.#wire.destroySoon();
  }

  onDeadline(now: number): void {
    const until = this.#halted ? Infinity : this.#wire.stalledUntil;
    if (until !== undefined) this.#engine.excuse(Math.min(until, now), until === Infinity);
    this.#engine.tick(now);
    if (!this.#closed) this.#host.watch.set(this.#deadline, this.#engine.deadline);
  }

  onRead(now: number): void {
    this.#share.renew(now);
    if (this.#closed) return;
    if (this.#engine.holding || this.isEnded) {
      this.#goOn(now);
      this.#share.look();
    } else if (!this.#halted) this.#wire.resume();
  }

  get room(): Uint8Array | undefined {
    if (this.#failure !== undefined) return undefined;
    const { room, sealed } = this.#engine;
    return sealed ? room?.subarray(0, this.#host.turns.openBytes) : room;
  }

  onBytes(chunk: Uint8Array): void {
    if (this.#failure !== undefined) return;
    if (this.#isFirst) {
      this.#isFirst = false;
      if (this.#surrender(chunk)) return;
    }
    const now = this.#host.watch.now();
    const { sealed } = this.#engine;
    if (this.#host.turns.isOver(now, sealed ? chunk.length : 0)) this.#share.rest();
    this.#host.memory?.moved(chunk.length);
    const work = Math.floor(chunk.length / (sealed ? SEALED_BYTES_PER_WORK : BYTES_PER_WORK));
    this.#share.begin(now, work);
    this.#engine.receive(chunk, now);
    this.#account(now);
    this.#share.spendBytes(work);
    // The rest of a long message waits too.
    if (this.#share.isResting && !this.isEnded) this.#wire.pause();
    this.#renewDeadline();
  }

  onWritten(): void {
    if (this.#closed) return;
    if (this.#pipe !== undefined) {
      this.#pipe.landed();
      this.#host.onWritten(this.#pipe);
      if (this.#pipe.isWaiting) this.wake();
    }
    this.#endWhenDone();
  }

  readonly #onEnd = (): void => {
    this.#wire.destroy();
  };

  readonly #onError = (error: Error): void => {
    this.#failure ??= { code: 'network', text: error.message };
  };

  readonly #onClose = (): void => {
    this.isEnded = true;
    const now = this.#host.watch.now();
    const isPeer = this.#pipe?.link === this;
    // The ends of many peers with requests take as long as messages.
    if (isPeer && this.#host.turns.isOver(now)) this.#share.rest();
    // Messages that arrived before the end are delivered before the end is reported.
    if (!isPeer) this.#close();
    else if (this.#engine.holding || !this.#share.isResting) this.#goOn(now);
  };

  /** Hands the socket over to lanes if the peer opened it for them: only our greeting is sent. */
  #surrender(chunk: Uint8Array): boolean {
    const socket = this.#wire;
    if (this.connector !== undefined || !(socket instanceof NodeSocket) || chunk[0] !== PREAMBLE[0]) return false;
    this.#engine.greet();
    for (const bytes of this.#engine.takeOutput()) socket.write(bytes);
    socket.off('end', this.#onEnd).off('error', this.#onError).off('close', this.#onClose);
    this.#closed = true;
    this.#host.watch.set(this.#deadline, Infinity);
    this.#host.onCarrier(this, socket, chunk);
    return true;
  }

  /** Delivers held messages. */
  #goOn(now: number): void {
    this.#engine.resume(now);
    this.#account(now);
    if (this.#engine.holding) {
      if (!this.#share.isResting) this.#host.onHeld(this);
    } else if (this.isEnded) this.#close();
    else {
      if (!this.#halted) this.#wire.resume();
      this.#renewDeadline();
    }
  }

  #account(now = this.#host.watch.now()): void {
    const isOver = this.#failure !== undefined || this.#closed;
    this.#incoming.set(isOver ? 0 : this.#engine.unfinishedBytes, isOver ? 0 : this.#engine.heldBytes, now);
  }

  #close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#writer.stop();
    this.#account();
    // Not the memory of a lane: the connection below may be about to read into it.
    if (this.#wire instanceof NodeSocket) this.#engine.discard();
    this.#host.watch.set(this.#deadline, Infinity);
    this.#host.onClosed(this, this.#failure);
  }

  /** Rearms only for an earlier deadline. A timer that is too early finds nothing due and rearms itself. */
  #renewDeadline(): void {
    const { deadline } = this.#engine;
    if (deadline < this.#deadline.at && !this.#closed) this.#host.watch.set(this.#deadline, deadline);
  }

  #endWhenDone(): void {
    if (!this.#finishing || this.isEnded || this.#failure !== undefined) return;
    const pipe = this.#pipe ?? this.connector?.pipe;
    if (pipe === undefined || (pipe.isEmpty && !this.#engine.ready)) this.#wire.destroy();
    else if (pipe.isEmpty && !this.writing) {
      this.#said = true;
      this.#wire.end();
    }
  }
}

function addressOf({ remoteAddress, remotePort, remoteFamily }: Wire): string | undefined {
  if (remoteAddress === undefined || remotePort === undefined) return undefined;
  return `tcp://${remoteFamily === 'IPv6' ? `[${remoteAddress}]` : remoteAddress}:${remotePort}`;
}
