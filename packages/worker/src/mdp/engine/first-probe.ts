/**
 * Option `preferFirst`, MDP worker rule 8: how a worker learns that the first endpoint answers again, without registering there while
 * it still serves at another. A broker answers the HEARTBEAT of a stranger with DISCONNECT (18/MDP), and any answer will do.
 */

/** When to ask, and on which socket. Its owner opens, sends and closes. */
export class FirstProbe {
  readonly #everyMs: number;
  /** The socket on which an answer is awaited. */
  socket: number | undefined;
  /** When the next question is due; `Infinity` while none is. */
  deadline = Infinity;

  /** `everyMs`: time between two questions. A socket stays open until the next one, so a broker that starts later answers at once. */
  constructor(everyMs: number) {
    this.#everyMs = everyMs;
  }

  /** Plans the next question one period from now; `socket` is where this one goes out, if it does. */
  plan(now: number, socket?: number): void {
    this.socket = socket;
    this.deadline = now + this.#everyMs;
  }

  /** No more questions. */
  stop(): void {
    this.socket = undefined;
    this.deadline = Infinity;
  }
}
