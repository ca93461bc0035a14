/** The contract between a protocol and the world: events in, effects out, one deadline. See docs/ARCHITECTURE.md. */

/** Tells an engine that its deadline has come. */
export interface TimerEvent {
  readonly kind: 'timer';
  /**
   * How late the timer was, in milliseconds. If this exceeds a heartbeat interval, the process itself was busy, and silence during that time
   * says nothing about the peers.
   */
  readonly lateMs: number;
}

/** A protocol role as a deterministic state machine: same construction, same (event, now) sequence, same effects. */
export interface Engine<Event, Effect> {
  /** When a {@link TimerEvent} must be delivered, in monotonic milliseconds; `Infinity` if nothing is pending. */
  readonly deadline: number;
  /** Estimated bytes that it keeps for peers, including tables. Constant time. Absent if it keeps little. */
  readonly heldBytes?: number;
  /**
   * Never throws because of a peer. Perform the effects in array order before the next step. A step that delivers a timer event must move
   * `deadline` past `now`.
   */
  step(event: Event | TimerEvent, now: number): readonly Effect[];
  /** Throws if the engine's state is inconsistent. Tests and the simulator call it after each step. */
  assertInvariants(): void;
}

/** What engines must not read themselves: randomness and the wall clock. Injected, so that a run can be replayed. */
export interface Entropy {
  /** Wall clock in microseconds since 1970, a safe integer. For wire timestamps only, never for deadlines. */
  wallMicros(): number;
  /** A new version 4 UUID in lower case, 36 characters. */
  uuid(): string;
  /** Uniform in [0, 1). */
  random(): number;
}
