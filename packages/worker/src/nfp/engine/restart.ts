/** NFP worker: obeying `restart`, step by step. Worker rule 15 of docs/protocols/nfp.md. */

/** How far it is: what runs may end, is told to stop, is over. */
type Phase = 'no' | 'draining' | 'stopping' | 'renewing';

/** Keeps the steps in order; its owner does them. */
export class Restart {
  readonly #drainMs: number;
  #phase: Phase = 'no';
  #dueAt = Infinity;

  /** `drainMs`: how long running tasks may go on, and how long those that were told to stop are waited for. */
  constructor(drainMs: number) {
    this.#drainMs = drainMs;
  }

  /** True from the command until the worker serves again: nothing begins. */
  get isUnderWay(): boolean {
    return this.#phase !== 'no';
  }

  /** When the next step is due, however many tasks still run. */
  get deadline(): number {
    return this.#dueAt;
  }

  begin(now: number): void {
    if (this.isUnderWay) return;
    this.#phase = 'draining';
    this.#dueAt = now + this.#drainMs;
  }

  /** True once: tasks have had their time, and are to be told to stop. */
  takeStop(now: number): boolean {
    if (this.#phase !== 'draining' || now < this.#dueAt) return false;
    this.#phase = 'stopping';
    this.#dueAt = now + this.#drainMs;
    return true;
  }

  /** True once: no task runs, or those that do not stop have had their time; inventory and hook are next. */
  takeRenewal(isIdle: boolean, now: number): boolean {
    const isOver = isIdle || (this.#phase === 'stopping' && now >= this.#dueAt);
    if (!isOver || (this.#phase !== 'draining' && this.#phase !== 'stopping')) return false;
    this.#phase = 'renewing';
    this.#dueAt = Infinity;
    return true;
  }

  /** True when that is what was waited for: the worker serves again. */
  end(): boolean {
    const wasRenewing = this.#phase === 'renewing';
    if (wasRenewing) this.#phase = 'no';
    return wasRenewing;
  }

  /** The worker leaves instead. */
  cancel(): void {
    this.#phase = 'no';
    this.#dueAt = Infinity;
  }
}
