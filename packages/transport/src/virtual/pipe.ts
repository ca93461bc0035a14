/**
 * One direction of a connection with ZeroMQ's guarantees: messages arrive whole, in order and once, until the connection ends; then those still
 * in flight are lost from some point on. Nothing in the middle is ever missing or swapped.
 */
import type { Clock, Timer } from '@proj/heartbeat';
import type { VirtualWire } from './virtual-wire.js';
import type { SeededRandom } from './random.js';

/** The reader of a pipe. */
export interface PipeReader {
  /** False while the reading process is paused or its socket is not started: messages wait in the pipe. */
  readonly ready: boolean;
  /** The next message. */
  onMessage(frames: readonly Uint8Array[]): void;
  /** The other side is gone and everything that survived was delivered. */
  onEnd(): void;
}

interface Parcel {
  /** `undefined` marks the end of the connection. */
  readonly frames: readonly Uint8Array[] | undefined;
  readonly arrivesAt: number;
}

/** Where and when a pipe runs. */
export interface PipeWorld {
  readonly clock: Clock;
  readonly link: VirtualWire;
  readonly random: SeededRandom;
  /** Called with the number of messages lost to the end of a connection. */
  readonly onLost: (messages: number) => void;
}

/** A bounded queue of messages in flight. */
export class VirtualPipe {
  readonly #world: PipeWorld;
  readonly #reader: PipeReader;
  readonly #capacity: number;
  readonly #onRoom: () => void;
  #parcels: Parcel[] = [];
  #timer: Timer | undefined;
  #lastArrival = 0;
  #state: 'open' | 'ending' | 'ended' = 'open';

  /** `onRoom` is called when a full pipe has room again. */
  constructor(world: PipeWorld, reader: PipeReader, capacity: number, onRoom: () => void) {
    this.#world = world;
    this.#reader = reader;
    this.#capacity = capacity;
    this.#onRoom = onRoom;
  }

  /** Sends a message; false if the pipe is full. After the end messages vanish, as on a dying TCP connection. */
  send(frames: readonly Uint8Array[]): boolean {
    if (this.#state !== 'open') return true;
    if (this.#parcels.length >= this.#capacity) return false;
    this.#push(frames);
    return true;
  }

  /** The sender closed in order: everything sent before arrives, then the end. */
  finish(): void {
    if (this.#state !== 'open') return;
    this.#state = 'ending';
    this.#push(undefined);
  }

  /** The connection broke: a random suffix of the messages in flight is lost. */
  sever(): void {
    if (this.#state !== 'open') return;
    const kept = this.#world.random.below(this.#parcels.length + 1);
    this.#lose(kept);
    this.#timer?.cancel();
    this.#timer = undefined;
    this.finish();
    this.kick();
  }

  /** The reader is gone: everything in flight vanishes, now and later. */
  discard(): void {
    this.#state = 'ended';
    this.#lose(0);
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  /** Called when an obstacle (pause, partition, a socket not yet started) is gone. */
  kick(): void {
    if (this.#timer === undefined) this.#arm();
  }

  #lose(kept: number): void {
    const messages = this.#parcels.slice(kept).filter((parcel) => parcel.frames !== undefined).length;
    this.#parcels.length = kept;
    if (messages > 0) this.#world.onLost(messages);
  }

  #push(frames: readonly Uint8Array[] | undefined): void {
    const { clock, link, random } = this.#world;
    this.#lastArrival = Math.max(this.#lastArrival, clock.now() + link.delay(random));
    this.#parcels.push({ frames, arrivesAt: this.#lastArrival });
    if (this.#timer === undefined) this.#arm();
  }

  #arm(): void {
    const next = this.#parcels[0];
    if (next === undefined || !this.#passable) return;
    const { clock } = this.#world;
    this.#timer = clock.at(Math.max(next.arrivesAt, clock.now()), this.#arrive);
  }

  get #passable(): boolean {
    return this.#reader.ready && !this.#world.link.partitioned;
  }

  readonly #arrive = (): void => {
    this.#timer = undefined;
    if (!this.#passable) return;
    const wasFull = this.#parcels.length >= this.#capacity;
    const parcel = this.#parcels.shift();
    if (parcel === undefined) return;
    this.#arm();
    if (parcel.frames === undefined) {
      this.discard();
      this.#reader.onEnd();
    } else {
      if (wasFull && this.#state === 'open') this.#onRoom();
      this.#reader.onMessage(parcel.frames);
    }
  };
}
