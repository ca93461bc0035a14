/** What lies between two simulated processes: how long messages take, and whether they pass at all. */
import type { SeededRandom } from './random.js';

/** How long a message takes from one process to another, in milliseconds. */
export interface LinkTiming {
  /** The shortest time; at least 0. */
  readonly latencyMs: number;
  /** Up to this much is added to each message, drawn from the seed; order within a pipe is kept all the same. */
  readonly jitterMs: number;
}

/** The state of the line between two processes, shared by all connections between them. */
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
