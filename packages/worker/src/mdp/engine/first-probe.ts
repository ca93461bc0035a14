/**
 * Option `preferFirst`, MDP worker rule 8: how a worker learns that the first endpoint answers again, without registering
 * there while it still serves at another. A broker answers the HEARTBEAT of a stranger with DISCONNECT (18/MDP: a worker
 * whose conversation the broker does not know must open it again), and any answer will do.
 */

/** When to ask and on which socket. The owner opens, sends and closes. */
export class FirstProbe {
  readonly #everyMs: number;
  #socket: number | undefined;
  #at = Infinity;

  /** `everyMs`: time between two questions. A socket stays until the next one, so a broker that comes up later answers at once. */
  constructor(everyMs: number) {
    this.#everyMs = everyMs;
  }

  /** The socket on which an answer is awaited. */
  get socket(): number | undefined {
    return this.#socket;
  }

  /** When the next question is due; `Infinity` while none is. */
  get deadline(): number {
    return this.#at;
  }

  /** The first question is due one period from now. */
  plan(now: number): void {
    this.#at = now + this.#everyMs;
  }

  /** A question goes out on this socket now. */
  ask(socket: number, now: number): void {
    this.#socket = socket;
    this.#at = now + this.#everyMs;
  }

  /** No more questions. */
  stop(): void {
    this.#socket = undefined;
    this.#at = Infinity;
  }
}
