/** The link between two simulated processes: how long messages take, and whether they pass at all. */
import type { SeededRandom } from './random.js';

/** Delay of messages from one process to another, in milliseconds. */
export interface LinkTiming {
  /** The shortest delay; at least 0. */
  readonly latencyMs: number;
  /** A random amount up to this is added to each message; the order within a pipe is kept. */
  readonly jitterMs: number;
}

/** The state of the link between two processes, shared by all connections between them. */
export class VirtualWire {
  timing: LinkTiming;
  /** While true, messages wait. */
  partitioned = false;

  constructor(timing: LinkTiming) {
    this.timing = timing;
  }

  /** Draws how long the next message takes. */
  delay(random: SeededRandom): number {
    const { latencyMs, jitterMs } = this.timing;
    return jitterMs === 0 ? latencyMs : latencyMs + random.next() * jitterMs;
  }
}
