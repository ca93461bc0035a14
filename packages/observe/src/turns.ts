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
  /** How long one waits for its turn at most. */
  readonly waitMs: number;
}

/** What comes back of a turn that was not used. */
const UNUSED = 0.75;
/** Destroyed at a time: less than a millisecond. A crowd that came at once has waited too long at once. */
const DISMISSED_AT_ONCE = 16;

/** A connection or a request. It may end while it waits. */
export interface Waiting {
  on(event: 'close', listener: (this: Waiting) => void): unknown;
  destroy(): unknown;
}

/** A crowd waits here, so each that waits has as few objects of its own as possible. */
interface Place {
  readonly address: string;
  readonly since: number;
  go(one: Waiting): void;
}

/** Gives one turn to each address in rotation, so that an attacker delays mostly itself; first come, first served within an address. */
export class HttpTurns {
  readonly #bounds: TurnBounds;
  readonly #clock: Clock;
  /** Who has waited longest comes first. */
  readonly #places = new Map<Waiting, Place>();
  /** By address; the address whose turn is next comes first. */
  readonly #lines = new Map<string, Set<Waiting>>();
  readonly #onClose: (this: Waiting) => void;
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
    const leave = (one: Waiting): void => {
      this.#leave(one);
    };
    this.#onClose = function (this: Waiting) {
      leave(this);
    };
  }

  /**
   * Calls `go` with `one` now or when it is its turn, unless `one` ends first. If it waits too long, it is destroyed. If too many wait, the
   * newest of the address with most of them is destroyed. After {@link close}, `one` is destroyed.
   */
  take<One extends Waiting>(address: string, one: One, go: (one: One) => void): void {
    if (!this.#isClosed && this.#places.size === 0 && this.#spend()) {
      go(one);
      return;
    }
    if (this.#isClosed || (this.#places.size >= this.#bounds.waitingMax && !this.#makeRoom(address))) {
      one.destroy();
      return;
    }
    const line = this.#lines.get(address) ?? new Set<Waiting>();
    this.#lines.set(address, line.add(one));
    this.#places.set(one, { address, since: this.#clock.now(), go });
    one.on('close', this.#onClose);
    this.#arm();
  }

  /** Takes back most of a turn whose owner left without using it. If it took back all, those who come and leave would have no bound. */
  giveBack(): void {
    if (this.#isClosed) return;
    this.#saved += UNUSED;
    if (this.#places.size === 0) return;
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#arm();
  }

  /** Destroys all that wait, and all that come later. */
  close(): void {
    this.#isClosed = true;
    this.#timer?.cancel();
    for (const one of this.#places.keys()) this.#dismiss(one);
  }

  /** Destroys the newest of the longest line for an address, unless that would be its own. */
  #makeRoom(address: string): boolean {
    let most = 1 + (this.#lines.get(address)?.size ?? 0);
    let crowd: Set<Waiting> | undefined;
    for (const line of this.#lines.values())
      if (line.size > most) {
        most = line.size;
        crowd = line;
      }
    const newest = [...(crowd ?? [])].at(-1);
    if (newest === undefined) return false;
    this.#dismiss(newest);
    return true;
  }

  #dismiss(one: Waiting): void {
    this.#leave(one);
    one.destroy();
  }

  #leave(one: Waiting): Place | undefined {
    const place = this.#places.get(one);
    if (place === undefined) return undefined;
    this.#places.delete(one);
    const line = this.#lines.get(place.address);
    line?.delete(one);
    if (line?.size === 0) this.#lines.delete(place.address);
    return place;
  }

  #arm(): void {
    if (this.#timer !== undefined) return;
    const { perSecond, spacingMs } = this.#bounds;
    const turnAt = Math.max(this.#nextAt, this.#savedAt + (1000 * (1 - this.#saved)) / perSecond);
    const [oldest] = this.#places.values();
    const at = this.#hasExpired(oldest) ? Math.min(turnAt, this.#clock.now() + spacingMs) : turnAt;
    this.#timer = this.#clock.at(at, () => {
      this.#timer = undefined;
      this.#expire();
      this.#grant();
    });
  }

  #expire(): void {
    let left = DISMISSED_AT_ONCE;
    for (const [one, place] of this.#places) {
      if (!this.#hasExpired(place) || left-- === 0) break;
      this.#dismiss(one);
    }
  }

  #hasExpired(place: Place | undefined): boolean {
    return place !== undefined && this.#clock.now() - place.since >= this.#bounds.waitMs;
  }

  #grant(): void {
    for (const [address, line] of this.#lines) {
      const [first] = line;
      if (first === undefined || !this.#spend()) break;
      const place = this.#leave(first);
      // The address moves behind the others.
      if (this.#lines.delete(address)) this.#lines.set(address, line);
      place?.go(first);
    }
    if (this.#places.size > 0) this.#arm();
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
