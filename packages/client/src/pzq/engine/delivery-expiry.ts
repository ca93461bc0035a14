/** PZQ consumer: which deliveries are too old when their turn comes, and whether the clocks agree. Rule 24 of docs/protocols/pzq.md. */
import type { ConsumerOutput } from './output.js';
import type { Held } from './consumer-state.js';

/** Consecutive deliveries that must look expired before the clocks are suspected. */
const SKEW_SAMPLE = 20;

/** Compares the queue's clock with ours. While they seem to disagree, a delivery's age counts from its arrival here. */
export class DeliveryExpiry {
  readonly #isOn: boolean;
  readonly #wallMicros: () => number;
  readonly #out: ConsumerOutput;
  /** Since when the socket is being read. */
  #readingSince = -Infinity;
  /** Consecutive expired deliveries, not counting those that may have been in the connection that long. */
  #suspicious = 0;

  /** `isOn`: whether to drop expired deliveries at all. */
  constructor(isOn: boolean, wallMicros: () => number, out: ConsumerOutput) {
    this.#isOn = isOn;
    this.#wallMicros = wallMicros;
    this.#out = out;
  }

  /** The socket is being read again. */
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
