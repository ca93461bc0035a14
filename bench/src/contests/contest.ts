/** What the measurements under load need to know about a protocol. */

/** Our process in the middle, the bare loop it is compared with, and the peers of both. */
export interface Contest {
  readonly name: string;
  /** The scripts of the two. */
  readonly ours: string;
  readonly bare: string;
  /** The limit on the cost of a request in ours, over the bare loop. */
  readonly atMost: number;
  readonly dialect: Dialect;
}

/** What peers of a protocol send. */
export interface Dialect {
  readonly ready: Buffer[];
  readonly heartbeat: Buffer[];
  readonly heartbeatMs: number;
  request(body: Buffer): Buffer[];
  /** The body in the last message that a client gets for a request; `undefined` for earlier messages. */
  answer(frames: Buffer[]): Buffer | undefined;
  /**
   * The messages with which a worker answers a message from the middle: none for anything but a request, or for the message
   * that starts its work. `resultOf` makes a result from a body.
   */
  replies(frames: Buffer[], resultOf: (body: Buffer) => Buffer): readonly Buffer[][];
}
