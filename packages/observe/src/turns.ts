/** Whose turn is it? HTTP gets a limited number of turns per second, so that floods do not take the process from its peers. */
import type { Clock, Timer } from '@proj/heartbeat';

/** Bounds of {@link HttpTurns}. */
export interface TurnBounds {
  readonly perSecond: number;
  /** Unused turns that can be saved up. */
  readonly savedMax: number;
  /** Between two turns, saved ones as well: all of them in one go would hold up everybody else. Milliseconds. */
  readonly spacingMs: number;
  readonly waitingMax: number;
}

/** What comes back of a turn that was not used. */
const UNUSED = 0.75;

/** A connection or a request. It may end while it waits. */
export interface Waiting {
  once(event: 'close', listener: () => void): unknown;
  destroy(): unknown;
}

/** Gives one turn to each address in rotation, so that an attacker delays mostly itself; first come, first served within an address. */
export class HttpTurns {
  readonly #bounds: TurnBounds;
  readonly #clock: Clock;
  /** By address; the address whose turn is next comes first. */
  readonly #waiting = new Map<string, Map<Waiting, () => void>>();
  #size = 0;
  #saved: number;
  #savedAt: number;
  /** No turn before this time. */
  #nextAt = -Infinity;
  #timer: Timer | undefined;
  #isClosed = false;

  constructor(bounds: TurnBounds, clock: Clock) {
    this.#bounds = bounds;
    this.#clock = clock;
    this.#saved = bounds.savedMax;
    this.#savedAt = clock.now();
  }

  /**
   * Calls `go` now or when it is the turn of `one`, unless `one` ends first. If too many wait, the newest of the address with most of them is
   * destroyed. After {@link close}, `one` is destroyed.
   */
  take(address: string, one: Waiting, go: () => void): void {
    if (!this.#isClosed && this.#size === 0 && this.#spend()) {
      go();
      return;
    }
    if (this.#isClosed || (this.#size >= this.#bounds.waitingMax && !this.#makeRoom(address))) {
      one.destroy();
      return;
    }
    const line = this.#waiting.get(address) ?? new Map<Waiting, () => void>();
    this.#waiting.set(address, line.set(one, go));
    this.#size++;
    one.once('close', () => {
      this.#leave(address, one);
    });
    this.#arm();
  }

  /** Takes back most of a turn whose owner left without using it. If it took back all, those who come and leave would have no bound. */
  giveBack(): void {
    if (this.#isClosed) return;
    this.#saved += UNUSED;
    if (this.#size === 0) return;
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#arm();
  }

  /** Destroys all that wait, and all that come later. */
  close(): void {
    this.#isClosed = true;
    this.#timer?.cancel();
    for (const line of this.#waiting.values()) for (const one of line.keys()) one.destroy();
    this.#waiting.clear();
    this.#size = 0;
  }

  /** Destroys the newest of the longest line for an address, unless that would be its own. */
  #makeRoom(address: string): boolean {
    let most = 1 + (this.#waiting.get(address)?.size ?? 0);
    let crowd: string | undefined;
    for (const [other, { size }] of this.#waiting)
      if (size > most) {
        most = size;
        crowd = other;
      }
    const newest = crowd === undefined ? undefined : [...(this.#waiting.get(crowd)?.keys() ?? [])].at(-1);
    if (crowd === undefined || newest === undefined) return false;
    this.#leave(crowd, newest);
    newest.destroy();
    return true;
  }

  #leave(address: string, one: Waiting): void {
    const line = this.#waiting.get(address);
    if (line?.delete(one) !== true) return;
    this.#size--;
    if (line.size === 0) this.#waiting.delete(address);
  }

  #arm(): void {
    const { perSecond } = this.#bounds;
    const at = Math.max(this.#nextAt, this.#savedAt + (1000 * (1 - this.#saved)) / perSecond);
    this.#timer ??= this.#clock.at(at, () => {
      this.#timer = undefined;
      this.#grant();
    });
  }

  #grant(): void {
    for (const [address, line] of this.#waiting) {
      const [first] = line;
      if (first === undefined || !this.#spend()) break;
      const [one, go] = first;
      this.#leave(address, one);
      // The address moves behind the others.
      if (this.#waiting.delete(address)) this.#waiting.set(address, line);
      go();
    }
    if (this.#size > 0) this.#arm();
  }

  #spend(): boolean {
    const { perSecond, savedMax, spacingMs } = this.#bounds;
    const now = this.#clock.now();
    this.#saved = Math.min(savedMax, this.#saved + ((now - this.#savedAt) * perSecond) / 1000);
    this.#savedAt = now;
    if (this.#saved < 1 || now < this.#nextAt) return false;
    this.#saved--;
    this.#nextAt = now + spacingMs;
    return true;
  }
}
