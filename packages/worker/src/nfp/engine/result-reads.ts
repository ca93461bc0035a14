/** Answers that wait for a record to be read from the disk: a few at a time, since results may be large. */
import type { NfpIncomingCall } from './job.js';

/** Records read at the same time: results are kept on the disk to stay out of memory. */
const AT_ONCE = 32;

/** Calls that may wait for their turn. */
const WAITING_MAX = 10_000;

interface Wish {
  readonly call: NfpIncomingCall;
  readonly key: string;
}

/** Books about reading. The owner loads what {@link take} says. */
export class ResultReads {
  readonly #waiting: Wish[] = [];
  readonly #underWay = new Map<number, NfpIncomingCall>();
  #taken = 0;
  #number = 0;

  /** True when nobody waits. */
  get isIdle(): boolean {
    return this.#underWay.size === 0 && this.#taken === this.#waiting.length;
  }

  /** A call wants this record. False when too many wait. */
  ask(call: NfpIncomingCall, key: string): boolean {
    if (this.#waiting.length - this.#taken >= WAITING_MAX) return false;
    this.#waiting.push({ call, key });
    return true;
  }

  /** The next one to read, and the number of the load; `undefined` when none waits or enough are under way. */
  take(): { readonly load: number; readonly key: string } | undefined {
    const wish = this.#underWay.size < AT_ONCE ? this.#waiting[this.#taken] : undefined;
    if (wish === undefined) return undefined;
    this.#taken++;
    // Cheap on average: as many are taken out as are moved.
    if (this.#taken * 2 >= this.#waiting.length) {
      this.#waiting.splice(0, this.#taken);
      this.#taken = 0;
    }
    this.#underWay.set(++this.#number, wish.call);
    return { load: this.#number, key: wish.key };
  }

  /** The load has ended; returns the call it was for. */
  settle(load: number): NfpIncomingCall | undefined {
    const call = this.#underWay.get(load);
    this.#underWay.delete(load);
    return call;
  }
}
