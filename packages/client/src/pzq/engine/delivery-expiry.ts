/** PZQ consumer: which deliveries are too old when their turn comes, and whether the clocks agree. Rule 24 of docs/protocols/pzq.md. */
import type { ConsumerOutput } from './output.js';
import type { Held } from './consumer-state.js';

/** How many deliveries must look expired, one after another, before the clocks are suspected. */
const SKEW_SAMPLE = 20;

/** Compares the queue's clock with ours; while they seem to disagree, a delivery is as old as it has been here. */
export class DeliveryExpiry {
  readonly #isOn: boolean;
  readonly #wallMicros: () => number;
  readonly #out: ConsumerOutput;
  /** Since when the socket is read. */
  #readingSince = -Infinity;
  /** Expired deliveries since the last one that was not, of those that cannot have lain in the connection for so long. */
  #suspicious = 0;

  /** `isOn`: expired deliveries are to be dropped at all. */
  constructor(isOn: boolean, wallMicros: () => number, out: ConsumerOutput) {
    this.#isOn = isOn;
    this.#wallMicros = wallMicros;
    this.#out = out;
  }

  /** The socket is read again. */
  reading(): void {
    this.#readingSince = this.#out.now;
  }

  isExpired({ delivery: { sentMicros, ackTimeoutMicros }, receivedAt }: Held): boolean {
    if (!this.#isOn) return false;
    const ageMicros = this.#wallMicros() - sentMicros;
    if (ageMicros <= ackTimeoutMicros) {
      this.#suspicious = 0;
      return false;
    }
    const timeoutMs = ackTimeoutMicros / 1000;
    if (this.#suspicious < SKEW_SAMPLE && receivedAt - this.#readingSince >= timeoutMs) {
      this.#suspicious++;
      if (this.#suspicious === SKEW_SAMPLE)
        this.#out.effects.push({ kind: 'clock-skew', byMs: Math.round(ageMicros / 1000) });
    }
    return this.#suspicious < SKEW_SAMPLE || this.#out.now - receivedAt > timeoutMs;
  }
}
