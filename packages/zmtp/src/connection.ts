/** One network connection: Node's socket on one side, the ZMTP machine on the other, one write per turn of the event loop. */
import type { MemoryBudget, Peer } from '@proj/transport';
import type { Connector } from './connector.js';
import type { Incoming, Receiving } from './incoming.js';
import { SocketReader } from './socket-reader.js';
import type { ByteSink } from './socket-reader.js';
import { ConnectionEngine } from './engine/connection.js';
import type { ConnectionSettings, ConnectionSink } from './engine/connection.js';
import type { Failure } from './engine/failure.js';
import { PREAMBLE } from './engine/lane-frames.js';
import type { Pipe } from './pipe.js';
import { Sealer } from './sealer.js';
import { SPARSE_MS } from './turn.js';
import type { Deferred, Turns } from './turn.js';
import { deadlineOf } from './watch.js';
import type { Watch, Watched } from './watch.js';
import type { Wire } from './wire.js';

/** One write takes no more than this, so that a long queue neither fills the memory twice nor holds up the event loop. */
const BATCH_BYTES = 2 ** 20;
/** The same where each byte costs time: some milliseconds of encryption. */
const SEALED_BATCH_BYTES = 2 ** 18;
/** A chunk may hold thousands of messages: after so much work it is looked at the clock. A message or command is one. */
const WORK_PER_LOOK = 16;
/** While others wait a connection has done its share of a turn after so much work. */
const WORK_PER_TURN = 64;
/** So many frames are as much work as a message, and so many bytes. */
const FRAMES_PER_WORK = 16;
const BYTES_PER_WORK = 4096;

/** The socket that a link belongs to. */
export interface ConnectionHost {
  readonly watch: Watch;
  readonly turns: Turns;
  readonly incoming: Incoming;
  readonly memory?: Pick<MemoryBudget, 'moved'> | undefined;
  readonly settings: ConnectionSettings;
  /** Whether messages may be delivered now. */
  readonly listening: boolean;
  /** The link has a message that may not be delivered yet; to be told by {@link Connection.listen}. */
  onHeld(link: Connection): void;
  /** The handshake is complete, before {@link onReady}. */
  onMet(link: Connection): void;
  /** The handshake is complete; the host gives the link a pipe, or has it wait for one. */
  onReady(link: Connection, identity: Uint8Array, publicKey: Uint8Array | undefined): void;
  onMessage(link: Connection, frames: Uint8Array[]): void;
  onRejected(link: Connection, reason: 'too-many-frames' | 'too-large'): void;
  /** As `ConnectionSink.onSubscription`. */
  onSubscription(link: Connection, prefix: Uint8Array, wanted: boolean): void;
  /** What was being written is written. */
  onWritten(pipe: Pipe): void;
  /** What came to us is the connection under lanes: it is the host's now, with the bytes that came first. */
  onCarrier(link: Connection, socket: SocketReader, chunk: Uint8Array): void;
  /** The connection is over. */
  onClosed(link: Connection, failure: Failure | undefined): void;
}

/** A routing id that a connection wants, and who has it. */
export interface Claim {
  readonly holder: Pipe;
  readonly peer: Peer;
}

/** A connection from its first byte to its end. */
export class Connection implements ConnectionSink, Receiving, ByteSink, Watched, Deferred {
  /** Who made it; `undefined` for one that came to us. */
  readonly connector: Connector | undefined;
  readonly #host: ConnectionHost;
  readonly #socket: Wire;
  readonly #connection: ConnectionEngine;
  readonly #deadline = deadlineOf(this);
  readonly #address: string | undefined;
  #pipe: Pipe | undefined;
  #claim: Claim | undefined;
  #failure: Failure | undefined;
  #scheduled = false;
  #writing = false;
  /** Lets others have their turn. */
  #resting = false;
  /** As `Incoming` knows it: of a message that is not complete, and of all that was not given on. */
  #unfinished = 0;
  #held = 0;
  /** Work since it was last looked at the clock. */
  #work = 0;
  /** Work in the turn of this number. */
  #turn = 0;
  #turnWork = 0;
  /** Work since this time. */
  #since = 0;
  #recentWork = 0;
  #wroteAt = 0;
  /** Does not read, for there is no room in memory. */
  #halted = false;
  #finishing = false;
  #met = false;
  /** Nothing has come yet. */
  #isFirst = true;
  #ended = false;
  #closed = false;
  /** Of one whose traffic is encrypted, once it has sent something. */
  #sealer: Sealer | undefined;

  constructor(host: ConnectionHost, socket: Wire, connector?: Connector) {
    this.connector = connector;
    this.#host = host;
    this.#socket = socket;
    // Once it is closed the system does not tell any more.
    if (host.settings.security?.name === 'CURVE') this.#address = connector?.endpoint ?? addressOf(socket);
    this.#connection = new ConnectionEngine(host.settings, this, host.watch.now());
    socket.feed(this);
    socket.on('end', this.#onEnd);
    socket.on('error', this.#onError);
    socket.on('close', this.#onClose);
    this.#renewDeadline();
    this.wake();
  }

  /** Where its messages come from; `undefined` before the handshake and while it waits for a routing id. */
  get pipe(): Pipe | undefined {
    return this.#pipe;
  }

  /** The routing id it waits for: until it has it, its messages are not read. */
  get claim(): Claim | undefined {
    return this.#claim;
  }

  /** True once the handshake was complete. */
  get met(): boolean {
    return this.#met;
  }

  /** True for one that is over and whose handshake began and did not succeed. */
  get refused(): boolean {
    return !this.#met && this.#connection.greeted;
  }

  /** What waits for the peer to read it, in bytes, when it is not a peer that we connected to, and is not being cut. */
  get unreadBytes(): number {
    const pipe = this.#pipe;
    return pipe === undefined || pipe.lasting || this.#failure !== undefined ? 0 : pipe.bytes;
  }

  /** When the write that is under way began, in the time of the watch; `undefined` when none is. */
  get writingSince(): number | undefined {
    return this.#writing ? this.#wroteAt : undefined;
  }

  /** Where it came from or goes to; known with CURVE. */
  get address(): string | undefined {
    return this.#address;
  }

  /** True when the other side is a REQ; known once the handshake is complete. */
  get isReq(): boolean {
    return this.#connection.isReq;
  }

  /** Connects it with the messages that are to go out. */
  join(pipe: Pipe): void {
    this.abandon();
    this.#pipe = pipe;
    pipe.attach(this);
    this.listen();
  }

  /** Has it wait for a routing id that somebody has. */
  wait(claim: Claim): void {
    this.abandon();
    this.#claim = claim;
    claim.holder.rivals.add(this);
  }

  /** It waits for no routing id any more. */
  abandon(): void {
    this.#claim?.holder.rivals.delete(this);
    this.#claim = undefined;
  }

  /** Asks the peer for a sign of life, as `Connection.probe`. */
  probe(): void {
    this.#connection.probe(this.#host.watch.now());
    this.#renewDeadline();
  }

  /** True while something is being written. */
  get writing(): boolean {
    return this.#writing;
  }

  /** As `Connection.subscribe`. */
  subscribe(prefix: Uint8Array, wanted: boolean): void {
    if (this.#connection.ready) this.#connection.subscribe(prefix, wanted);
  }

  /** There is something to write. */
  wake(): void {
    if (!this.#writing) this.#schedule();
  }

  /** The host listens, or the messages do not matter any more. */
  listen(): void {
    if (this.#connection.holding) this.#rest();
  }

  /** @internal Asked by the connection. */
  get obeying(): boolean {
    return this.#finishing || !this.#resting;
  }

  /** @internal Asked by the connection. */
  get accepting(): boolean {
    return this.#finishing || (this.#host.listening && !this.#resting && this.#claim === undefined);
  }

  /** @internal Called by the connection. */
  onHeld(): void {
    this.#socket.pause();
    if (!this.#resting) this.#host.onHeld(this);
  }

  /**
   * Writes what is waiting, then waits for the other side to close. Reading goes on: unread bytes would make the system reset the
   * connection, and the other side lose what it has not read.
   */
  finish(): void {
    this.#finishing = true;
    this.listen();
    this.#endWhenDone();
  }

  /** Cuts the connection; what is waiting stays in the pipe. */
  destroy(): void {
    if (this.#ended) this.#close();
    else this.#socket.destroy();
  }

  /** Cuts the connection for what the peer did. */
  cut(failure: Failure): void {
    this.#failure ??= failure;
    this.#account(0);
    this.#socket.destroy();
  }

  /** Cuts the connection for what waits in it and is not read; returns how many bytes. */
  cutUnread(): number {
    const bytes = this.#pipe?.abandon() ?? 0;
    this.cut({ code: 'memory', text: `memory is short, and ${bytes} bytes wait that are not read` });
    return bytes;
  }

  /** Reads nothing until {@link proceed}: there is no room for it. */
  halt(): void {
    this.#halted = true;
    this.#socket.pause();
  }

  /** There is room again. */
  proceed(): void {
    if (!this.#halted) return;
    this.#halted = false;
    this.#connection.excuse(this.#host.watch.now(), false);
    if (!this.#resting && !this.#connection.holding) this.#socket.resume();
  }

  /** @internal Called by the connection. */
  onReady(identity: Uint8Array, publicKey: Uint8Array | undefined): void {
    this.#met = true;
    this.#host.onMet(this);
    this.connector?.met(this.#connection.isOfferedLanes);
    // Who does not know PING is left to TCP, which finds out when its machine is gone.
    const { heartbeatMs } = this.#host.settings;
    if (heartbeatMs > 0 && !this.#connection.noticesSilence) this.#socket.setKeepAlive(true, heartbeatMs);
    this.#host.onReady(this, identity, publicKey);
    this.#endWhenDone();
  }

  /** @internal Called by the connection. */
  onMessage(frames: Uint8Array[]): void {
    if (this.#pipe !== undefined) this.#host.onMessage(this, frames);
    this.#spend(1 + Math.floor(frames.length / FRAMES_PER_WORK));
  }

  /** @internal Called by the connection. */
  onObeyed(work: number): void {
    this.#spend(work);
  }

  /** @internal Called by the connection. */
  onRejected(reason: 'too-many-frames' | 'too-large'): void {
    if (this.#pipe !== undefined) this.#host.onRejected(this, reason);
    this.#spend(1);
  }

  /** @internal Called by the connection. */
  onSubscription(prefix: Uint8Array, wanted: boolean): void {
    if (this.#pipe !== undefined) this.#host.onSubscription(this, prefix, wanted);
    this.#spend(1);
  }

  /** @internal Called by the connection. */
  onOutput(): void {
    this.wake();
  }

  /** @internal Called by the connection. */
  onFailure(failure: Failure): void {
    this.#failure = failure;
    // The peer may learn the reason; nobody waits for one that does not read.
    if (!this.#writing && !this.#ended) this.#write(this.#connection.takeOutput());
    if (this.#socket.hasUnsent) this.#socket.destroy();
    else this.#socket.destroySoon();
  }

  /** @internal Called by the watch. */
  onDeadline(now: number): void {
    const until = this.#halted ? Infinity : this.#socket.stalledUntil;
    if (until !== undefined) this.#connection.excuse(Math.min(until, now), until === Infinity);
    this.#connection.tick(now);
    if (!this.#closed) this.#host.watch.set(this.#deadline, this.#connection.deadline);
  }

  /** @internal Called at the end of a turn. */
  onWrite(now: number): void {
    this.#scheduled = false;
    this.#flush(now);
  }

  /** @internal Called when it is its turn. */
  onRead(now: number): void {
    this.#resting = false;
    if (this.#closed) return;
    this.#turnWork = 0;
    if (this.#connection.holding) this.#goOn(now);
    else if (!this.#halted) this.#socket.resume();
  }

  readonly #onEnd = (): void => {
    this.#socket.destroy();
  };

  readonly #onError = (error: Error): void => {
    this.#failure ??= { code: 'network', text: error.message };
  };

  /** @internal Asked by the wire. */
  get room(): Uint8Array | undefined {
    return this.#failure === undefined ? this.#connection.room : undefined;
  }

  /** @internal Called by the wire. */
  onBytes(chunk: Uint8Array): void {
    if (this.#failure !== undefined) return;
    if (this.#isFirst) {
      this.#isFirst = false;
      if (this.#surrender(chunk)) return;
    }
    const now = this.#host.watch.now();
    if (this.#host.turns.isOver(now)) this.#rest();
    this.#host.memory?.moved(chunk.length);
    this.#connection.receive(chunk, now);
    this.#account(this.#connection.unfinishedBytes);
    this.#spend(Math.floor(chunk.length / BYTES_PER_WORK));
    // What is left to come of a long message waits as well.
    if (this.#resting && !this.#ended) this.#socket.pause();
    this.#renewDeadline();
  }

  readonly #onClose = (): void => {
    this.#ended = true;
    // What came before the end is delivered before the end is told.
    if (this.#connection.holding && this.#pipe?.link === this) this.#goOn(this.#host.watch.now());
    else this.#close();
  };

  readonly #onWritten = (error?: Error | null): void => {
    if (this.#closed || (error !== undefined && error !== null)) return;
    this.#writing = false;
    if (this.#pipe !== undefined) {
      this.#pipe.landed();
      this.#host.onWritten(this.#pipe);
      if (this.#pipe.isWaiting) this.wake();
    }
    this.#endWhenDone();
  };

  /** Leaves the socket to lanes, if it was opened for them: our greeting goes out, and nothing else of ours. */
  #surrender(chunk: Uint8Array): boolean {
    const socket = this.#socket;
    if (this.connector !== undefined || !(socket instanceof SocketReader) || chunk[0] !== PREAMBLE[0]) return false;
    this.#connection.greet();
    this.#flush(this.#host.watch.now());
    socket.off('end', this.#onEnd).off('error', this.#onError).off('close', this.#onClose);
    this.#closed = true;
    this.#host.watch.set(this.#deadline, Infinity);
    this.#host.onCarrier(this, socket, chunk);
    return true;
  }

  #schedule(): void {
    if (this.#scheduled || this.#closed) return;
    this.#scheduled = true;
    this.#host.turns.writeLater(this);
  }

  /** Work was done: enough of it ends our share of this turn. */
  #spend(work: number): void {
    this.#work += work;
    if (this.#work < WORK_PER_LOOK || this.#resting) return;
    const { turns, watch } = this.#host;
    const now = watch.now();
    if (this.#turn !== turns.number) {
      this.#turn = turns.number;
      this.#turnWork = 0;
    }
    if (now - this.#since > SPARSE_MS) {
      this.#since = now;
      this.#recentWork = 0;
    }
    this.#turnWork += this.#work;
    this.#recentWork += this.#work;
    this.#work = 0;
    const isOver = turns.isOver(now);
    if (isOver || (this.#turnWork >= WORK_PER_TURN && turns.isContended)) this.#rest();
  }

  /** Nothing more is delivered until it is its turn again. */
  #rest(): void {
    if (this.#resting) return;
    this.#resting = true;
    const { turns, watch } = this.#host;
    const isSparse = this.#recentWork < WORK_PER_TURN || watch.now() - this.#since > SPARSE_MS;
    (this.#socket.readers ?? turns).readLater(this, isSparse);
  }

  /** Delivers what was held. */
  #goOn(now: number): void {
    this.#connection.resume(now);
    this.#account(this.#connection.unfinishedBytes);
    if (this.#connection.holding) {
      if (!this.#resting) this.#host.onHeld(this);
    } else if (this.#ended) this.#close();
    else {
      if (!this.#halted) this.#socket.resume();
      this.#renewDeadline();
    }
  }

  #account(bytes: number): void {
    const before = this.#unfinished;
    this.#unfinished = bytes;
    const { incoming } = this.#host;
    if (bytes > 0 || before > 0) incoming.onHeard(this, bytes, before);
    const held = this.#failure === undefined && !this.#closed ? this.#connection.heldBytes : 0;
    incoming.heldBytes += held - this.#held;
    this.#held = held;
  }

  #close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#sealer?.stop();
    this.#account(0);
    // Not of a lane: its connection may be about to read into the memory.
    if (this.#socket instanceof SocketReader) this.#connection.discard();
    this.#host.watch.set(this.#deadline, Infinity);
    this.#host.onClosed(this, this.#failure);
  }

  /** Only when it comes nearer: otherwise the one that stands finds out that there is nothing to do yet. */
  #renewDeadline(): void {
    const { deadline } = this.#connection;
    if (deadline < this.#deadline.at && !this.#closed) this.#host.watch.set(this.#deadline, deadline);
  }

  #flush(now: number): void {
    if (this.#closed || this.#writing || this.#ended || this.#failure !== undefined) return;
    const batch = this.#pipe?.take(this.#connection.sealed ? SEALED_BATCH_BYTES : BATCH_BYTES) ?? [];
    if (batch.length > 0 && this.#connection.sealed) {
      this.#seal(batch);
      return;
    }
    const parts = this.#connection.take(batch);
    if (parts.length === 0) return;
    this.#connection.sent(now);
    this.#wroteAt = now;
    this.#write(parts);
  }

  /** Nothing else is written until it is done, for it would be sealed for a later place. */
  #seal(batch: readonly (readonly Uint8Array[])[]): void {
    const output = this.#connection.takeOutput();
    const sealing = this.#connection.seal(batch);
    if (sealing === undefined) return;
    this.#writing = true;
    this.#sealer ??= new Sealer(this.#host.turns, (parts) => {
      this.#onSealed(parts);
    });
    if (!this.#sealer.seal(sealing, output)) this.#pipe?.charge();
  }

  #onSealed(parts: readonly Uint8Array[]): void {
    if (this.#closed || this.#ended || this.#failure !== undefined) return;
    this.#connection.sent(this.#host.watch.now());
    if (parts.length > 0) this.#write(parts);
    else this.#onWritten();
  }

  #write(parts: readonly Uint8Array[]): void {
    if (parts.length === 0) return;
    this.#writing = true;
    this.#socket.send(parts, this.#onWritten);
  }

  #endWhenDone(): void {
    if (!this.#finishing || this.#ended || this.#failure !== undefined) return;
    const pipe = this.#pipe ?? this.connector?.pipe;
    if (pipe === undefined || (pipe.isEmpty && !this.#connection.ready)) this.#socket.destroy();
    else if (pipe.isEmpty && !this.#writing) this.#socket.end();
  }
}

function addressOf({ remoteAddress, remotePort, remoteFamily }: Wire): string | undefined {
  if (remoteAddress === undefined || remotePort === undefined) return undefined;
  return `tcp://${remoteFamily === 'IPv6' ? `[${remoteAddress}]` : remoteAddress}:${remotePort}`;
}
