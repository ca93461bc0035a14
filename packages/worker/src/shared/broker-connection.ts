/**
 * A worker's conversations with brokers, one at a time, over a list of endpoints: when to send heartbeats, when silence means loss, how long to
 * wait and which endpoint to try next. The table of each `session.ts` says by which rules.
 */
import { Backoff } from '@proj/heartbeat';

/** Settings of a {@link BrokerConnection}. All times in milliseconds. */
export interface BrokerConnectionOptions {
  /** Endpoints of brokers, in order of preference; at least one. */
  readonly endpoints: readonly string[];
  /** Time between our heartbeats, and the unit in which the broker's silence is measured. At least 1. */
  readonly heartbeatIntervalMs: number;
  /** Intervals of silence after which the conversation counts as lost. At least 2. */
  readonly liveness: number;
  /** See `BackoffOptions`. */
  readonly reconnectMinMs: number;
  readonly reconnectMaxMs: number;
  readonly minUptimeMs: number;
  readonly spread?: number;
}

/** Calls to its owner when something is due: open the next conversation, send a heartbeat, or end a silent one with {@link BrokerConnection.lost}. */
export type BrokerConnectionDue = Readonly<Record<'open' | 'heartbeat' | 'silent', () => void>>;

/** Keeps the deadlines of one dealer. Sends nothing itself. */
export class BrokerConnection {
  readonly #options: BrokerConnectionOptions;
  #intervalMs: number;
  #patienceMs: number;
  readonly #backoff: Backoff;
  #index = 0;
  #isOpen = false;
  #isAwaited = false;
  #isHeard = false;
  #openAt = Infinity;
  #heartbeatAt = Infinity;
  #silentAt = Infinity;

  /** `random` returns a number in [0, 1) and spreads the back-off. */
  constructor(options: BrokerConnectionOptions, random: () => number) {
    const { reconnectMinMs: minMs, reconnectMaxMs: maxMs, minUptimeMs, spread } = options;
    this.#options = options;
    this.#intervalMs = options.heartbeatIntervalMs;
    this.#patienceMs = options.heartbeatIntervalMs * options.liveness;
    this.#backoff = new Backoff({ minMs, maxMs, minUptimeMs, ...(spread === undefined ? {} : { spread }) }, random);
  }

  /** The endpoint of the current conversation or, if none is open, of the next. */
  get endpoint(): string {
    return this.#options.endpoints[this.#index] as string;
  }

  /** True while the endpoint is the first of the list. */
  get isHome(): boolean {
    return this.#index === 0;
  }

  /** True between {@link open} and the end of that conversation. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** True from {@link await} until {@link open} or the end of that conversation. */
  get isAwaited(): boolean {
    return this.#isAwaited;
  }

  /** When {@link act} next has something to do; `Infinity` if nothing is planned. */
  get deadline(): number {
    return Math.min(this.#openAt, this.#heartbeatAt, this.#silentAt);
  }

  /** The socket listens, and our opening is sent once the broker connects: until {@link open} nothing is due. */
  await(): void {
    this.#isOpen = this.#isAwaited = true;
    this.#openAt = Infinity;
  }

  /** A conversation begins: our opening is sent now, the first heartbeat one interval later. */
  open(now: number): void {
    this.#isOpen = true;
    this.#isAwaited = this.#isHeard = false;
    this.#openAt = Infinity;
    this.agree(this.#options.heartbeatIntervalMs, this.#options.liveness, now);
  }

  /** Both sides follow these until the end of the conversation. Bounds as in {@link BrokerConnectionOptions}. */
  agree(heartbeatIntervalMs: number, liveness: number, now: number): void {
    this.#intervalMs = heartbeatIntervalMs;
    this.#patienceMs = heartbeatIntervalMs * liveness;
    this.#heartbeatAt = now + this.#intervalMs;
    this.#silentAt = now + this.#patienceMs;
  }

  /** The broker sent something. Returns true for the first message of this conversation. */
  heard(now: number): boolean {
    if (this.#isAwaited) return false;
    this.#silentAt = now + this.#patienceMs;
    this.#backoff.up(now);
    const isFirst = !this.#isHeard;
    this.#isHeard = true;
    return isFirst;
  }

  /**
   * The conversation was lost or never began. Switches to the next endpoint, wrapping round, and returns the milliseconds until {@link act}
   * opens it. `atOnce`: the first loss in a row costs no wait, instead of the first back-off delay.
   */
  lost(now: number, atOnce: boolean): number {
    const delay = this.#backoff.down(now);
    const wait = atOnce && this.#backoff.attempt === 1 ? 0 : delay;
    this.#close(now + wait);
    this.#index = (this.#index + 1) % this.#options.endpoints.length;
    return wait;
  }

  /** We ended the conversation: the next one is due at once, at the same endpoint or the first. No back-off. */
  left(now: number, next: 'same' | 'first'): void {
    this.#close(now);
    if (next === 'first') this.#index = 0;
  }

  /** Nothing is due any more. */
  stop(): void {
    this.#close(Infinity);
  }

  /**
   * Our process was late by `lateMs`: beyond one interval, the measured silence proves nothing about the broker, which gets that much more time
   * from now, at most interval x liveness.
   */
  credit(lateMs: number, now: number): void {
    if (!this.#isOpen || this.#isAwaited || lateMs <= this.#intervalMs) return;
    this.#silentAt = Math.max(this.#silentAt, now + Math.min(lateMs, this.#patienceMs));
  }

  /** Calls the owner for what is due at `now`. */
  act(now: number, due: BrokerConnectionDue): void {
    if (this.#openAt <= now) {
      this.#openAt = Infinity;
      due.open();
    }
    if (this.#silentAt <= now) {
      this.#silentAt = Infinity;
      due.silent();
    }
    if (this.#heartbeatAt <= now) {
      this.#heartbeatAt = now + this.#intervalMs;
      due.heartbeat();
    }
  }

  /** Throws unless exactly the deadlines of the current state are set. `resting`: not opened yet, or stopped. */
  assertInvariants(resting: boolean): void {
    const beating = this.#heartbeatAt < Infinity && this.#silentAt < Infinity;
    const waiting = this.#openAt < Infinity;
    if (beating !== (this.#isOpen && !this.#isAwaited))
      throw new Error(`connection: open ${this.#isOpen}, but heartbeat and liveness ${beating}`);
    if (waiting === (this.#isOpen || resting))
      throw new Error(`connection: open ${this.#isOpen}, but waiting ${waiting}`);
  }

  #close(openAt: number): void {
    this.#isOpen = this.#isAwaited = this.#isHeard = false;
    this.#openAt = openAt;
    this.#heartbeatAt = this.#silentAt = Infinity;
  }
}
