/** NFP client: the one connection: when it is opened, when it is given up, and which broker is next. */
import { Backoff } from '@proj/heartbeat';
import type { NfpClientSessionOptions } from './events.js';

type ConnectionOptions = Pick<
  NfpClientSessionOptions,
  'endpoints' | 'openTimeoutMs' | 'answerTimeoutMs' | 'reconnectMinMs' | 'reconnectMaxMs' | 'random'
>;

/** After a connection that lasted this long, the next one need not wait. */
const MIN_UPTIME_MS = 2000;

/** How long a broker may wait for its workers before it answers for them: our own broker's default. */
const JOINED_MS = 30_000;

/**
 * At most one socket at a time. A broker answers every message but PUT at once, so silence after one means that the broker, or the way to it, is
 * gone.
 */
export class BrokerConnection {
  readonly #options: ConnectionOptions;
  readonly #backoff: Backoff;
  #socket: number | undefined;
  #sockets = 0;
  #endpoint = 0;
  #retryAt = -Infinity;
  /** When waiting for OPEN ends; `undefined` if it has ended. */
  #openUntil: number | undefined;
  #owedUntil = Infinity;
  #excused = false;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    const { reconnectMinMs: minMs, reconnectMaxMs: maxMs, random } = options;
    this.#backoff = new Backoff({ minMs, maxMs, minUptimeMs: MIN_UPTIME_MS }, random);
  }

  /** The number of the socket; `undefined` if there is none. */
  get socket(): number | undefined {
    return this.#socket;
  }

  /** Number of sockets so far. */
  get sockets(): number {
    return this.#sockets;
  }

  /** The current or next broker. */
  get endpoint(): string {
    return this.#options.endpoints[this.#endpoint] as string;
  }

  /** Whether calls may be sent. */
  get ready(): boolean {
    return this.#socket !== undefined && this.#openUntil === undefined;
  }

  /** When the next decision is due, while the connection is needed. */
  get deadline(): number {
    if (this.#socket === undefined) return this.#retryAt;
    return this.#openUntil ?? this.#owedUntil;
  }

  mayOpen(now: number): boolean {
    return this.#socket === undefined && now >= this.#retryAt;
  }

  /** Assigns the next socket's number. With `greets` it is not ready until OPEN arrives or `openTimeoutMs` has passed. */
  open(greets: boolean, now: number): number {
    this.#openUntil = greets ? now + this.#options.openTimeoutMs : undefined;
    this.#owedUntil = Infinity;
    return (this.#socket = ++this.#sockets);
  }

  /** A message from the broker arrived. True if that makes the connection ready. */
  heard(isOpen: boolean, now: number): boolean {
    this.#owedUntil = Infinity;
    this.#excused = false;
    this.#backoff.up(now);
    if (!isOpen || this.#openUntil === undefined) return false;
    this.#openUntil = undefined;
    return true;
  }

  /** A message was sent that must be answered at once or, if it `waits`, when the broker's workers have answered. */
  owed(waits: boolean, now: number): void {
    const { answerTimeoutMs } = this.#options;
    this.#owedUntil = Math.min(this.#owedUntil, now + (waits ? answerTimeoutMs + JOINED_MS : answerTimeoutMs));
  }

  /** Stops waiting for OPEN when its time is over; true if it did. */
  giveUpOpen(now: number): boolean {
    if (this.#socket === undefined || this.#openUntil === undefined || now < this.#openUntil) return false;
    this.#openUntil = undefined;
    return true;
  }

  /** Whether an answer is overdue. If our own process was busy for `lateMs`, the broker gets that much more time, once. */
  isSilent(lateMs: number, now: number): boolean {
    if (this.#socket === undefined || now < this.#owedUntil) return false;
    if (lateMs <= 0 || this.#excused) return true;
    this.#excused = true;
    this.#owedUntil = now + Math.min(lateMs, this.#options.answerTimeoutMs);
    return false;
  }

  /** Gives up the connection: after a wait, the next one goes to the next endpoint. */
  lose(now: number): void {
    this.#socket = undefined;
    this.#openUntil = undefined;
    this.#owedUntil = Infinity;
    this.#endpoint = (this.#endpoint + 1) % this.#options.endpoints.length;
    this.#retryAt = now + this.#backoff.down(now);
  }

  /** Ends it permanently. */
  close(): void {
    this.#socket = undefined;
    this.#retryAt = Infinity;
  }
}
