/** The contract between a protocol and the world: events in, effects out, one deadline. See docs/ARCHITECTURE.md. */

/** Tells an engine that its deadline has come. */
export interface TimerEvent {
  readonly kind: 'timer';
  /**
   * Milliseconds between the deadline and its delivery. When it exceeds a heartbeat interval the process itself was busy:
   * silence measured over that span says nothing about the peers.
   */
  readonly lateMs: number;
}

/** A protocol role as a deterministic machine: same construction, same (event, now) sequence, same effects. */
export interface Engine<Event, Effect> {
  /** Monotonic milliseconds at which a {@link TimerEvent} must be delivered; `Infinity` when nothing is pending. */
  readonly deadline: number;
  /** Bytes that it keeps for peers, tables included, by estimate. Costs the same however many there are. Absent where it keeps little. */
  readonly heldBytes?: number;
  /**
   * Never throws on anything a peer can cause. The effects are to be performed in array order, before the next step. A
   * step that delivers a timer event must move `deadline` past `now`.
   */
  step(event: Event | TimerEvent, now: number): readonly Effect[];
  /** Throws when the engine's state contradicts itself. Tests and the simulator call it after each step. */
  assertInvariants(): void;
}

/** What engines may not read themselves: randomness and the wall clock. Injected, so that a run can be replayed. */
export interface Entropy {
  /** Wall clock, in microseconds since 1970, as a safe integer. For wire timestamps only, never for deadlines. */
  wallMicros(): number;
  /** A new version 4 UUID, lower case, 36 characters. */
  uuid(): string;
  /** Uniform in [0, 1). */
  random(): number;
}
