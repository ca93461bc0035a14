/**
 * Option `preferFirst`, MDP worker rule 8: detects that the first endpoint answers again, without registering there while it still serves at
 * another. A broker answers HEARTBEAT from an unknown worker with DISCONNECT (18/MDP); any answer will do.
 */

/** When to probe, and on which socket. Its owner opens, sends and closes. */
export class FirstProbe {
  readonly #everyMs: number;
  /** The socket on which an answer is awaited. */
  socket: number | undefined;
  /** When the next probe is due; `Infinity` if none is. */
  deadline = Infinity;

  /** `everyMs`: time between two probes. A socket stays open until the next one, so a broker that starts later answers at once. */
  constructor(everyMs: number) {
    this.#everyMs = everyMs;
  }

  /** Schedules the next probe one period from now; `socket` is where this one is sent, if it is. */
  plan(now: number, socket?: number): void {
    this.socket = socket;
    this.deadline = now + this.#everyMs;
  }

  stop(): void {
    this.socket = undefined;
    this.deadline = Infinity;
  }
}
