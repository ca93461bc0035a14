/** PZQ: an operator removes all ready messages. Rule 41 of docs/protocols/pzq.md. */
import type { StoredMessage } from '../../store/store.js';
import { CORRUPT } from '../producers/commits.js';
import type { Message } from './in-flight.js';
import type { QueueState } from '../state.js';

/** A purge until it is on disk. */
interface Running {
  /** Requests of the facade. */
  readonly ids: number[];
  /** The last message to remove. */
  readonly top: number;
  /** The same if servers share the store: when it was stored. */
  readonly storedMicros: number;
  count: number;
  /** Nothing to remove is ready any more, in memory or in the store. */
  isComplete: boolean;
  /** A read from before the purge is still pending: it proves nothing. */
  isEarly: boolean;
}

/** Loads the ready messages, window by window, and removes them with the commits. One purge at a time; a second one joins it. */
export class Purge {
  readonly #state: QueueState;
  #running: Running | undefined;

  constructor(state: QueueState) {
    this.#state = state;
  }

  get isRunning(): boolean {
    return this.#running !== undefined;
  }

  /** Everything that is ready now must go. */
  begin(id: number): void {
    const { entropy, queue } = this.#state;
    const { ids = [], count = 0 } = this.#running ?? {};
    const now = { top: queue.window.top, storedMicros: entropy.wallMicros() };
    this.#running = { ids: [...ids, id], ...now, count, isComplete: false, isEarly: queue.window.reading };
  }

  /** Removes what is in memory, as far as there is room for removals. */
  run(): void {
    const running = this.#running;
    if (running === undefined) return;
    const { commits, leases, pending, settings } = this.#state;
    if (commits.corrupt) {
      this.abandon(CORRUPT);
      return;
    }
    const hasAll = this.#removeReady(running);
    if (leases === undefined) running.isComplete = hasAll && this.#hasSeen(running.top);
    // The commit with the requests must contain all removals, or follow them.
    if (!hasAll || !running.isComplete || pending.removals > settings.batchMax) return;
    for (const id of running.ids) pending.purged(id, running.count);
    this.#running = undefined;
  }

  /** A shared store has shown the messages that were ready next. */
  taken(messages: readonly StoredMessage[]): void {
    const running = this.#running;
    if (running === undefined) return;
    const { isEarly } = running;
    running.isEarly = false;
    if (isEarly) return;
    const last = messages.at(-1);
    running.isComplete = last === undefined || last.storedMicros > running.storedMicros;
  }

  /** Ends it, with this code. Messages already removed stay removed. */
  abandon(code: string): void {
    for (const id of this.#running?.ids ?? []) this.#state.out.effects.push({ kind: 'done', id, code });
    this.#running = undefined;
  }

  /** False if some are left: more than may be removed at a time, or one that is offered, which is ready again if nobody takes it. */
  #removeReady(running: Running): boolean {
    const { leases, out, pending, queue } = this.#state;
    let hasAll = true;
    for (const message of queue.side.messages()) {
      const { where } = message;
      if ((where !== 'ready' && where !== 'offered') || !this.#isMeant(message, running)) continue;
      if (where === 'offered') {
        hasAll = false;
        continue;
      }
      if (this.#state.unflushedFull) return false;
      this.#state.forget(message.seq, queue);
      pending.remove(message.seq, message.stored.storedMicros, 'memory');
      out.counters.purged++;
      out.figures.queue.ended('purged');
      running.count++;
      leases?.delivered();
    }
    return hasAll;
  }

  #isMeant({ seq, stored }: Message, { top, storedMicros }: Running): boolean {
    return this.#state.leases === undefined ? seq <= top : stored.storedMicros <= storedMicros;
  }

  /** Everything up to this sequence has been loaded. */
  #hasSeen(top: number): boolean {
    const { window } = this.#state.queue;
    return !window.reading && window.cursor >= Math.min(top, window.top);
  }
}
