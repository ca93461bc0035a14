/** The life of the conversations with a broker, one at a time: whom to try, when to beat, when silence means loss. Rule 1. */
import { Backoff } from '@proj/heartbeat';

/** Settings of a {@link BrokerConnection}. All times in milliseconds. */
export interface BrokerConnectionOptions {
  /** Where brokers listen, in order of preference; at least one. */
  readonly endpoints: readonly string[];
  readonly heartbeatIntervalMs: number;
  /** Silence after which a broker counts as lost. More than `heartbeatIntervalMs`. */
  readonly brokerExpiryMs: number;
  /** How long INFORM may stay without ACK. */
  readonly ackTimeoutMs: number;
  readonly reconnectMinMs: number;
  readonly reconnectMaxMs: number;
  readonly minUptimeMs: number;
}

/** What time demands: open the next conversation, send a heartbeat, or give this one up. */
export type BrokerConnectionDue = 'open' | 'heartbeat' | 'silent' | 'no-ack';

/** `resting`: not yet opened, or stopped. `informed`: INFORM is out. `registered`: it was acknowledged. */
type State = 'resting' | 'waiting' | 'informed' | 'registered';

/** The clockwork of one peer of a broker. It sends nothing itself: its owner does what {@link takeDue} says. */
export class BrokerConnection {
  readonly #options: BrokerConnectionOptions;
  readonly #backoff: Backoff;
  #index = 0;
  #state: State = 'resting';
  /** When the next conversation opens, or when the ACK must be there. */
  #at = Infinity;
  #heartbeatAt = Infinity;
  #silentAt = Infinity;

  /** `random` returns a number in [0, 1) and spreads the back-off. */
  constructor(options: BrokerConnectionOptions, random: () => number) {
    const { reconnectMinMs: minMs, reconnectMaxMs: maxMs, minUptimeMs } = options;
    this.#options = options;
    this.#backoff = new Backoff({ minMs, maxMs, minUptimeMs }, random);
  }

  /** The endpoint of this conversation, or of the next one while none is open. */
  get endpoint(): string {
    return this.#options.endpoints[this.#index] as string;
  }

  /** True from {@link open} to {@link lost} or {@link stop}. */
  get isOpen(): boolean {
    return this.#state === 'informed' || this.#state === 'registered';
  }

  get isRegistered(): boolean {
    return this.#state === 'registered';
  }

  /** When {@link takeDue} next has something; `Infinity` when nothing is planned. */
  get deadline(): number {
    return Math.min(this.#at, this.#heartbeatAt, this.#silentAt);
  }

  /** A conversation begins: INFORM goes out now. */
  open(now: number): void {
    this.#enter('informed', now + this.#options.ackTimeoutMs);
  }

  /** INFORM was acknowledged: the first heartbeat follows one interval later. */
  registered(now: number): void {
    this.#enter('registered', Infinity);
    this.#heartbeatAt = now + this.#options.heartbeatIntervalMs;
    this.heard(now);
  }

  /** The broker gave a sign of life. */
  heard(now: number): void {
    if (this.#state !== 'registered') return;
    this.#silentAt = now + this.#options.brokerExpiryMs;
    this.#backoff.up(now);
  }

  /**
   * The conversation was lost or never came about. Turns to the next endpoint, wrapping round, and returns the wait in
   * milliseconds. `atOnce`: the loss was told, not concluded from silence, so the first one in a row costs no wait.
   */
  lost(now: number, atOnce: boolean): number {
    const delay = this.#backoff.down(now);
    const wait = atOnce && this.#backoff.attempt === 1 ? 0 : delay;
    this.#enter('waiting', now + wait);
    this.#index = (this.#index + 1) % this.#options.endpoints.length;
    return wait;
  }

  /** Nothing is due any more. */
  stop(): void {
    this.#enter('resting', Infinity);
  }

  /** Our own process was late by `lateMs`: beyond one interval, the silence measured meanwhile is ours. */
  credit(lateMs: number, now: number): void {
    if (lateMs <= this.#options.heartbeatIntervalMs) return;
    const { brokerExpiryMs, ackTimeoutMs } = this.#options;
    if (this.#state === 'registered') this.#silentAt = Math.max(this.#silentAt, now + Math.min(lateMs, brokerExpiryMs));
    else if (this.#state === 'informed') this.#at = Math.max(this.#at, now + Math.min(lateMs, ackTimeoutMs));
  }

  /** Takes out what is due at `now`; `undefined` when nothing is. After `silent` and `no-ack` the owner calls {@link lost}. */
  takeDue(now: number): BrokerConnectionDue | undefined {
    if (this.#at <= now) {
      this.#at = Infinity;
      return this.#state === 'waiting' ? 'open' : 'no-ack';
    }
    if (this.#silentAt <= now) {
      this.#silentAt = Infinity;
      return 'silent';
    }
    if (this.#heartbeatAt > now) return undefined;
    this.#heartbeatAt = now + this.#options.heartbeatIntervalMs;
    return 'heartbeat';
  }

  /** Throws unless exactly the deadlines of the present state are set. */
  assertInvariants(): void {
    const beating = this.#heartbeatAt < Infinity && this.#silentAt < Infinity;
    const waiting = this.#at < Infinity;
    if (beating !== this.isRegistered) throw new Error(`link: ${this.#state}, but heartbeat and liveness ${beating}`);
    if (waiting !== (this.#state === 'waiting' || this.#state === 'informed'))
      throw new Error(`link: ${this.#state}, but waiting ${waiting}`);
  }

  #enter(state: State, at: number): void {
    this.#state = state;
    this.#at = at;
    this.#heartbeatAt = this.#silentAt = Infinity;
  }
}
