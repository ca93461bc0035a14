/** A connection that carries many lanes: one read and one write for all of them. */
import { allocate } from '../fast.js';
import type { NodeSocket } from '../node-socket.js';
import { GREETING_BYTES } from '../engine/framing/greeting.js';
import {
  HEADER_BYTES,
  KIND,
  KIND_NAMES,
  LaneFrameReader,
  PREAMBLE,
  writeLaneHeader,
} from '../engine/framing/lane-frames.js';
import type { ControlKind, LaneFrameSink } from '../engine/framing/lane-frames.js';
import { isPast, ReadGroup } from '../turn.js';
import type { Flushing, Reading, Turns } from '../turn.js';
import { deadlineOf } from '../watch.js';
import type { Watch, Watched } from '../watch.js';
import type { ByteSink, Written } from '../wire.js';
import { Lane } from './lane.js';
import type { LaneCarrier } from './lane.js';
import { LANE } from './legality.js';

/** Bytes per write, and per lane in it while others wait. */
const WRITE_BYTES = 2 ** 20;
const LANE_BYTES = 2 ** 18;
/** Payloads of at least this size are passed by reference. */
const REFERENCE_BYTES = 8192;
/** A smaller rest of a frame is not worth a read of its own. */
const ROOM_BYTES = 2 ** 14;
/**
 * Unread bytes in all lanes together. Beyond this, an acceptor stops reading the connection until half of them are gone: its lanes belong to one
 * socket, which either reads or does not. An opener's lanes belong to several sockets, which must not hold up each other.
 */
export const UNREAD_MAX_BYTES = 16 * 2 ** 20;
/** Frames without payload waiting to be written. A peer that causes more and does not read is cut. */
const CONTROLS_MAX = 100_000;

/** Cost of a frame, in messages. Opening a lane costs as much as a connection. */
const OPEN_WORK = 32;
const FRAME_WORK = 1;
/** Work, as a share of a turn, after which the clock is read. */
const WORK_PER_LOOK = 64;

/** Settings and callbacks of a carrier. */
export interface CarrierHost {
  readonly turns: Turns;
  readonly watch: Watch;
  /** How long it may exist without lanes. Milliseconds. */
  readonly idleMs: number;
  /** The unread bytes in its lanes changed by this much. */
  onUnread(bytes: number): void;
  /** Whether the other side may open one more lane. */
  readonly hasRoom: boolean;
  /** The other side opened a lane. */
  onLane(lane: Lane): void;
  /** No lane exists and none will: the connection has ended, or the opener's last lane has. Called once. */
  onClosed(): void;
}

/** A frame to write. */
interface Item {
  readonly kind: number;
  readonly lane: number;
  readonly size: number;
  readonly bytes: Uint8Array | undefined;
}

/** Number of carriers made so far. */
let made = 0;

/** One end of the connection. The opener connected in order to use lanes; the acceptor was an ordinary connection until the preamble arrived. */
export class Carrier implements LaneCarrier, LaneFrameSink, Flushing, ByteSink, Reading, Watched {
  /** @internal As {@link Wire.readers}. */
  readonly readers: ReadGroup;
  /** @internal */
  readonly name = String(made++);
  /** @internal */
  outgoing = 0;
  readonly #socket: NodeSocket;
  readonly #opener: boolean;
  readonly #host: CarrierHost;
  readonly #reader = new LaneFrameReader(this);
  readonly #lanes = new Map<number, Lane>();
  readonly #dirty = new Set<Lane>();
  #controls: Item[] = [];
  /** What precedes the first frame: the preamble, and from an acceptor the ZMTP greeting it had already sent. */
  readonly #expected: Uint8Array;
  #matched = 0;
  /** The other side has sent the preamble. */
  #ready = false;
  #lastLane = 0;
  readonly #deadline = deadlineOf(this);
  /** Bytes that were too much for one turn. */
  #rest: Uint8Array | undefined;
  #work = 0;
  #lookedAt = -Infinity;
  /** Its last share took so long to accumulate that it goes before busy readers. */
  #isSparse = true;
  #unread = 0;
  /** As {@link Wire.stalledUntil}. */
  #stalledUntil = -Infinity;
  #scheduled = false;
  #writing = false;
  #done: Written[] = [];
  #error: Error | undefined;
  #ended = false;

  constructor(socket: NodeSocket, role: 'opener' | 'acceptor', host: CarrierHost) {
    this.#socket = socket;
    this.#opener = role === 'opener';
    this.#host = host;
    this.readers = new ReadGroup(host.turns, host.watch);
    this.#expected = this.#opener ? Uint8Array.from([...new Uint8Array(GREETING_BYTES), ...PREAMBLE]) : PREAMBLE;
    socket.feed(this);
    socket.on('end', () => socket.destroy());
    socket.on('error', (error) => {
      this.#error ??= error;
    });
    socket.on('close', () => {
      this.#onClose();
    });
    socket.write(PREAMBLE);
    this.#beIdle();
  }

  get remoteAddress(): string | undefined {
    return this.#socket.remoteAddress;
  }

  get stalledUntil(): number {
    return this.#stalledUntil;
  }

  /** Opens one more lane. Opener only. */
  open(): Lane {
    const lane = new Lane(++this.#lastLane, this);
    this.control(KIND.open, lane.number, 0);
    this.#lanes.set(lane.number, lane);
    this.#host.watch.set(this.#deadline, Infinity);
    return lane;
  }

  /** Ends the connection, which no lane needs any more. Cuts it if the peer does not read the last output. */
  finish(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#host.watch.set(this.#deadline, Infinity);
    this.#flush();
    if (this.#socket.hasUnsent) this.#socket.destroy();
    else this.#socket.destroySoon();
    this.#host.onClosed();
  }

  /** @internal Called by the watch: there were no lanes for too long. */
  onDeadline(): void {
    this.finish();
  }

  /** @internal Where to read the next bytes: the current lane decides. */
  get room(): Uint8Array | undefined {
    const { lane, left } = this.#reader;
    if (left < ROOM_BYTES) return undefined;
    const room = this.#lanes.get(lane)?.room;
    return room === undefined || room.length <= left ? room : room.subarray(0, left);
  }

  /** @internal Bytes from the connection. */
  onBytes(chunk: Uint8Array): void {
    let at = 0;
    for (; this.#matched < this.#expected.length && at < chunk.length; this.#matched++, at++) {
      const isGreeting = this.#opener && this.#matched < GREETING_BYTES;
      if (!isGreeting && chunk[at] !== this.#expected[this.#matched]) {
        this.onFault('the preamble of lanes is missing');
        return;
      }
    }
    if (this.#matched < this.#expected.length) return;
    if (!this.#ready) {
      this.#ready = true;
      this.#schedule();
    }
    this.#read(at === 0 ? chunk : chunk.subarray(at));
  }

  /** @internal Its turn has come. */
  onRead(): void {
    const rest = this.#rest;
    this.#rest = undefined;
    if (this.#ended || rest === undefined) return;
    this.#read(rest, true);
    if (this.#mayRead) this.#socket.resume();
  }

  /** @internal */
  wake(lane: Lane): void {
    this.#dirty.add(lane);
    this.#schedule();
  }

  /** @internal */
  control(kind: ControlKind, lane: number, size: number): void {
    this.#controls.push({ kind, lane, size, bytes: undefined });
    if (this.#controls.length > CONTROLS_MAX) this.onFault('the peer does not read our frames');
    else this.#schedule();
  }

  /** @internal */
  held(bytes: number): void {
    this.#unread += bytes;
    this.#host.onUnread(bytes);
    if (this.#opener) return;
    const stalled = this.#stalledUntil === Infinity;
    if (!stalled && this.#unread > UNREAD_MAX_BYTES) {
      this.#stalledUntil = Infinity;
      this.#socket.pause();
    } else if (stalled && this.#unread < UNREAD_MAX_BYTES / 2) {
      this.#stalledUntil = this.#host.watch.now();
      if (this.#mayRead) this.#socket.resume();
    }
  }

  /** @internal */
  forget(lane: Lane): void {
    this.#dirty.delete(lane);
    if (!this.#lanes.delete(lane.number) || this.#lanes.size > 0 || this.#ended) return;
    if (this.#opener) this.finish();
    else this.#beIdle();
  }

  /** @internal */
  onControl(kind: ControlKind, number: number, size: number): void {
    this.#spend(kind === KIND.open ? OPEN_WORK : FRAME_WORK);
    const lane = this.#lanes.get(number);
    if (!this.#isLegal(kind, number, lane)) return;
    if (kind === KIND.open) this.#accept(number);
    else if (kind === KIND.window) lane?.grant(size);
    else lane?.onTheirEnd(kind === KIND.end ? 'end' : 'reset');
  }

  /** @internal */
  onData(number: number, bytes: Uint8Array): void {
    this.#spend(FRAME_WORK);
    const lane = this.#lanes.get(number);
    if (this.#isLegal(KIND.data, number, lane) && lane?.receive(bytes) === false)
      this.onFault(`more bytes in lane ${number} than its window allows`);
  }

  /** @internal */
  onFault(text: string): void {
    this.#reader.stop();
    this.#error ??= new Error(`lanes: ${text}`);
    this.#socket.destroy();
  }

  /** @internal At the end of a turn. */
  onFlush(): void {
    this.#scheduled = false;
    this.#flush();
  }

  get #mayRead(): boolean {
    return this.#rest === undefined && this.#stalledUntil !== Infinity;
  }

  /** A carrier that needs more than one turn counts as busy, however long ago its last turn was: otherwise hundreds of them would go before all others. */
  #read(bytes: Uint8Array, hadTurn = false): void {
    const read = this.#reader.push(bytes);
    if (read === bytes.length || this.#socket.destroyed) return;
    this.#rest = bytes.subarray(read);
    this.#socket.pause();
    this.#host.turns.readLater(this, this.#isSparse && !hadTurn ? 'regular' : 'busy');
  }

  #spend(work: number): void {
    this.#work += work;
    if (this.#work < WORK_PER_LOOK) return;
    this.#work = 0;
    const { turns, watch } = this.#host;
    const now = watch.now();
    this.#isSparse = isPast(this.#lookedAt, now);
    this.#lookedAt = now;
    if (turns.isOver(now) || turns.isContended) this.#reader.halt();
  }

  #accept(number: number): void {
    this.#lastLane = number;
    if (!this.#host.hasRoom || this.#ended) {
      this.control(KIND.reset, number, 0);
      return;
    }
    const lane = new Lane(number, this);
    this.#lanes.set(number, lane);
    this.#host.watch.set(this.#deadline, Infinity);
    this.#host.onLane(lane);
  }

  /** False if the frame is ignored or ends the connection. */
  #isLegal(kind: keyof typeof KIND_NAMES, number: number, lane: Lane | undefined): boolean {
    const unknown = this.#opener ? 'ours to open' : 'not open';
    const state = lane?.state ?? (number > this.#lastLane ? unknown : 'over');
    const name = KIND_NAMES[kind];
    const [verdict] = LANE[state][name];
    if (verdict === 'fail') this.onFault(`${name} in lane ${number}, which is ${state}`);
    return verdict === 'accept';
  }

  #schedule(): void {
    if (this.#scheduled || this.#writing || !this.#ready) return;
    this.#scheduled = true;
    this.#host.turns.flushLater(this);
  }

  #flush(): void {
    if (this.#writing || !this.#ready || this.#socket.destroyed) return;
    // Twice: an open must precede the lane's first bytes, and an end must follow its last.
    const items = this.#takeControls();
    this.#takeData(items);
    items.push(...this.#takeControls());
    const parts = encodeItems(items);
    if (parts.length === 0) return;
    this.#writing = true;
    this.#socket.send(parts, this.#onWritten);
  }

  #takeControls(): Item[] {
    const controls = this.#controls;
    this.#controls = [];
    return controls;
  }

  #takeData(items: Item[]): void {
    let bytes = 0;
    for (const lane of this.#dirty) {
      if (bytes >= WRITE_BYTES) return;
      this.#dirty.delete(lane);
      // In long frames if no other lane waits: the other side reads each in one go.
      for (let left = this.#dirty.size > 0 ? LANE_BYTES : WRITE_BYTES; lane.writable && left > 0;) {
        const part = lane.take(left);
        if (part === undefined) break;
        left -= part.bytes.length;
        bytes += part.bytes.length;
        items.push({ kind: KIND.data, lane: lane.number, size: part.bytes.length, bytes: part.bytes });
        if (part.done !== undefined) this.#done.push(part.done);
      }
      lane.taken();
      // To the end of the queue.
      if (lane.writable) this.#dirty.add(lane);
    }
  }

  readonly #onWritten = (error?: Error | null): void => {
    this.#writing = false;
    const done = this.#done;
    this.#done = [];
    for (const tell of done) tell(error);
    if (this.#dirty.size > 0 || this.#controls.length > 0) this.#schedule();
  };

  #beIdle(): void {
    const { watch, idleMs } = this.#host;
    watch.set(this.#deadline, watch.now() + idleMs);
  }

  #onClose(): void {
    this.#reader.stop();
    for (const lane of this.#lanes.values()) lane.break(this.#error);
    this.finish();
  }
}

/** Copies headers and small payloads into one buffer and passes large ones by reference. */
function encodeItems(items: readonly Item[]): Uint8Array[] {
  let bytes = 0;
  for (const item of items) bytes += HEADER_BYTES + (isCopied(item) ? item.size : 0);
  const buffer = allocate(bytes);
  const parts: Uint8Array[] = [];
  let [from, at] = [0, 0];
  for (const item of items) {
    const { kind, lane, size, bytes: payload } = item;
    at = writeLaneHeader(buffer, at, kind, lane, size);
    if (payload === undefined) continue;
    if (isCopied(item)) {
      buffer.set(payload, at);
      at += payload.length;
    } else {
      parts.push(buffer.subarray(from, at), payload);
      from = at;
    }
  }
  if (at > from) parts.push(buffer.subarray(from, at));
  return parts;
}

function isCopied({ bytes }: Item): boolean {
  return bytes !== undefined && bytes.length < REFERENCE_BYTES;
}
