/** PZQ producer: the one connection: when it is opened, when it is given up, and which queue is next. Rule 23 of docs/protocols/pzq.md. */
import { Backoff } from '@proj/heartbeat';
import type { ProducerOutput } from './output.js';
import type { PzqProducerSessionOptions } from './producer-events.js';

/** Why the last connection was given up. */
export type LeaveCause = 'silence' | 'connection-lost';

const RECONNECT = { minMs: 100, maxMs: 5000, minUptimeMs: 1000 };

/** At most one socket at a time. Each new one goes to the next endpoint; after a lost connection, with a back-off. */
export class QueueConnection {
  readonly #endpoints: readonly string[];
  readonly #out: ProducerOutput<unknown>;
  readonly #backoff: Backoff;
  #socket: number | undefined;
  /** When its last answer arrived; before that, when it was opened. */
  #heardAt = 0;
  /** When to connect again; `Infinity` while connected or while there is nothing to send. */
  #openAt = Infinity;
  #pausedUntil = -Infinity;
  #endpoint = 0;
  #cause: LeaveCause = 'silence';
  /** Consecutive endpoints that could not be opened at all. */
  #refusals = 0;

  constructor(options: PzqProducerSessionOptions, out: ProducerOutput<unknown>, random: () => number) {
    this.#endpoints = options.endpoints;
    this.#out = out;
    this.#backoff = new Backoff(RECONNECT, random);
  }

  /** Its number; `undefined` if there is none. */
  get socket(): number | undefined {
    return this.#socket;
  }

  /** The current or next queue. */
  get endpoint(): string {
    return this.#endpoints[this.#endpoint] as string;
  }

  /** Why there was no connection before this one. */
  get cause(): LeaveCause {
    return this.#cause;
  }

  /** When it must be opened. */
  get deadline(): number {
    return this.#openAt;
  }

  /** Opens it, if it is not too early; true if it is open then. */
  open(): boolean {
    if (this.#out.now < this.#pausedUntil) {
      this.#openAt = this.#pausedUntil;
      return false;
    }
    const socket = (this.#socket = ++this.#out.counters.connections);
    this.#heardAt = this.#out.now;
    this.#openAt = Infinity;
    this.#out.effects.push({ kind: 'open', socket, endpoint: this.endpoint });
    return true;
  }

  /** No connection is needed for now. */
  rest(): void {
    this.#openAt = Infinity;
  }

  heard(): void {
    this.#heardAt = this.#out.now;
    this.#refusals = 0;
    this.#backoff.up(this.#out.now);
  }

  /** Whether nothing at all has arrived for this long. */
  isSilent(ms: number): boolean {
    return this.#out.now - this.#heardAt >= ms;
  }

  lost(): void {
    this.#out.report({ code: 'connection-lost', endpoint: this.endpoint });
    this.#pausedUntil = this.#out.now + this.#backoff.down(this.#out.now);
    this.leave('connection-lost');
  }

  /** It could not be opened. True if no endpoint can be: waiting does not help then, the fault is ours. */
  refused(): boolean {
    this.leave('connection-lost');
    if (++this.#refusals < this.#endpoints.length) return false;
    this.#refusals = 0;
    return true;
  }

  /** Gives it up, if there is one. The next one goes to the next endpoint. */
  leave(cause: LeaveCause): void {
    const socket = this.#socket;
    if (socket === undefined) return;
    this.#socket = undefined;
    this.#cause = cause;
    this.#endpoint = (this.#endpoint + 1) % this.#endpoints.length;
    this.#out.effects.push({ kind: 'close', socket });
  }
}
