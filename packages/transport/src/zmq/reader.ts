/** The reader of a zeromq.js socket: one message at a time, regular turns for other work, and a pause. */
import type { Clock } from '@proj/heartbeat';

/**
 * Work between turns of the event loop, in messages or milliseconds. While messages are ready, zeromq.js would run timers only once in 512, and
 * heartbeats would be late.
 */
const MESSAGES_PER_TURN = 64;
const MS_PER_TURN = 2;

/** zeromq.js copies frames of up to this size. A longer one keeps the receive buffer of libzmq alive in which it came. */
const COPIED_BYTES = 128;
/** Size of such a buffer. */
const BUFFER_BYTES = 8192;

/** The socket, as its reader needs it. */
export interface Source {
  /** The next message. Also rejects if the socket was closed. */
  receive(): Promise<Uint8Array[]>;
}

/** Reads until it is stopped or the socket fails. */
export class MessageReader {
  readonly #source: Source;
  readonly #clock: Clock;
  /** Where it waits while paused. */
  #gate: Gate | undefined;
  #over = false;

  constructor(source: Source, clock: Clock) {
    this.#source = source;
    this.#clock = clock;
  }

  /** Calls `take` with each message. Resolves at the end; if the socket fails before, calls `onFailed`. Once. */
  async read(take: (frames: Uint8Array[]) => void, onFailed: (error: unknown) => void): Promise<void> {
    let handled = 0;
    let turnedAt = this.#clock.now();
    while (!this.#isOver()) {
      if (this.#gate !== undefined) {
        await this.#gate.opened;
        continue;
      }
      let frames: Uint8Array[];
      try {
        frames = await this.#source.receive();
      } catch (error) {
        // A receive that ends because the socket was closed reports EAGAIN.
        if (!this.#isOver()) onFailed(error);
        return;
      }
      if (this.#isOver()) return;
      take(detach(frames));
      if (++handled < MESSAGES_PER_TURN && this.#clock.now() - turnedAt < MS_PER_TURN) continue;
      await turn();
      handled = 0;
      turnedAt = this.#clock.now();
    }
  }

  /** Reads nothing until `resume`; one message already under way may still arrive. */
  pause(): void {
    if (!this.#over) this.#gate ??= new Gate();
  }

  resume(): void {
    this.#gate?.open();
    this.#gate = undefined;
  }

  /** Reads nothing more. A receive under way ends with its socket. */
  stop(): void {
    this.#over = true;
    this.resume();
  }

  /** A method, because the field changes while the reader awaits. */
  #isOver(): boolean {
    return this.#over;
  }
}

/** A promise that can be resolved from outside. */
class Gate {
  open: () => void = () => undefined;
  readonly opened = new Promise<void>((resolve) => {
    this.open = resolve;
  });
}

/**
 * Replaces frames that take less than half of libzmq's buffer by copies. These share pieces of memory, but we can count what they waste
 * (`slackOf`).
 */
function detach(frames: Uint8Array[]): Uint8Array[] {
  for (let index = 0; index < frames.length; index++) {
    const frame = frames[index] as Uint8Array;
    if (frame.length > COPIED_BYTES && frame.length < BUFFER_BYTES / 2) frames[index] = Buffer.from(frame);
  }
  return frames;
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
