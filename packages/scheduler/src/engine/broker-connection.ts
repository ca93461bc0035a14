/** EventMQ scheduler: one conversation with a broker at a time: which broker to try, when to send heartbeats, when silence means loss. Rule 1. */
import { Backoff } from '@proj/heartbeat';
import type { EmqpSchedulerEngineSettings } from '../options.js';
import type { Conversation } from './legality.js';

/** What is due: open the next conversation, send a heartbeat, or give this one up. */
export type BrokerConnectionDue = 'open' | 'heartbeat' | 'silent' | 'no-ack';

/** The timing of conversations. Sends nothing itself: its owner does what {@link takeDue} returns. */
export class BrokerConnection {
  readonly #options: EmqpSchedulerEngineSettings;
  readonly #backoff: Backoff;
  #index = 0;
  #state: Conversation = 'resting';
  /** When the next conversation begins, or the time limit of the ACK. */
  #at = Infinity;
  #heartbeatAt = Infinity;
  #silentAt = Infinity;
  /** For operators: since when it is in this state, and when the broker last sent something. */
  #since = 0;
  #heardAt = 0;

  /** `random` returns a number in [0, 1) and spreads the back-off. */
  constructor(options: EmqpSchedulerEngineSettings, random: () => number) {
    const { reconnectMinMs: minMs, reconnectMaxMs: maxMs, minUptimeMs } = options;
    this.#options = options;
    this.#backoff = new Backoff({ minMs, maxMs, minUptimeMs }, random);
  }

  /** The endpoint of the current conversation or, without one, of the next. */
  get endpoint(): string {
    return this.#options.endpoints[this.#index] as string;
  }

  /** True from {@link open} to {@link lost} or {@link stop}. */
  get isOpen(): boolean {
    return this.#state === 'informed' || this.#state === 'registered';
  }

  get state(): Conversation {
    return this.#state;
  }

  get isRegistered(): boolean {
    return this.#state === 'registered';
  }

  /** When {@link takeDue} next returns something. */
  get deadline(): number {
    return Math.min(this.#at, this.#heartbeatAt, this.#silentAt);
  }

  /** A conversation begins: INFORM is sent now. */
  open(now: number): void {
    this.#enter('informed', now + this.#options.ackTimeoutMs, now);
  }

  /** INFORM was acknowledged: the first heartbeat follows one interval later. */
  registered(now: number): void {
    this.#enter('registered', Infinity, now);
    this.#heartbeatAt = now + this.#options.heartbeatIntervalMs;
    this.heard(now);
  }

  /** The broker sent something. */
  heard(now: number): void {
    this.#heardAt = now;
    if (this.#state !== 'registered') return;
    this.#silentAt = now + this.#options.brokerExpiryMs;
    this.#backoff.up(now);
  }

  /**
   * The conversation was lost or could not begin. Switches to the next endpoint and returns the wait in milliseconds. `atOnce`: the first loss
   * in a row costs no wait.
   */
  lost(now: number, atOnce: boolean): number {
    const delay = this.#backoff.down(now);
    const wait = atOnce && this.#backoff.attempt === 1 ? 0 : delay;
    this.#enter('waiting', now + wait, now);
    this.#index = (this.#index + 1) % this.#options.endpoints.length;
    return wait;
  }

  /** Time in this state, and time since the broker's last message. */
  agesAt(now: number): { readonly stateMs: number; readonly silentMs: number } {
    return { stateMs: Math.max(0, now - this.#since), silentMs: Math.max(0, now - this.#heardAt) };
  }

  /** Nothing is due any more. */
  stop(): void {
    this.#enter('resting', Infinity);
  }

  /** Our process was late by `lateMs`: beyond one interval, the measured silence is our own. */
  credit(lateMs: number, now: number): void {
    if (lateMs <= this.#options.heartbeatIntervalMs) return;
    const { brokerExpiryMs, ackTimeoutMs } = this.#options;
    if (this.#state === 'registered') this.#silentAt = Math.max(this.#silentAt, now + Math.min(lateMs, brokerExpiryMs));
    else if (this.#state === 'informed') this.#at = Math.max(this.#at, now + Math.min(lateMs, ackTimeoutMs));
  }

  /** Returns what is due at `now`; `undefined` if nothing is. After `silent` and `no-ack` the owner calls {@link lost}. */
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

  /** Throws unless exactly the deadlines of the current state are set. */
  assertInvariants(): void {
    const beating = this.#heartbeatAt < Infinity && this.#silentAt < Infinity;
    const waiting = this.#at < Infinity;
    if (beating !== this.isRegistered)
      throw new Error(`connection: ${this.#state}, but heartbeat and liveness ${beating}`);
    if (waiting !== (this.#state === 'waiting' || this.#state === 'informed'))
      throw new Error(`connection: ${this.#state}, but waiting ${waiting}`);
  }

  #enter(state: Conversation, at: number, now = this.#since): void {
    if ((state === 'registered') !== this.isRegistered || this.#since === 0) this.#since = now;
    this.#state = state;
    this.#at = at;
    this.#heartbeatAt = this.#silentAt = Infinity;
  }
}
