/** Checker of rules 11 to 13 and 16: without faults no worker is lost, and no request goes to more than one worker. */
import { requestId } from './sight.js';
import type { Checker, Sight } from './sight.js';

/** Silent until `begin`; then every loss is a mistake. */
export class CalmChecker implements Checker {
  readonly #isCalm: (id: string) => boolean;
  readonly #handlersThrow: boolean;
  readonly #dispatched = new Set<string>();
  #calm = false;

  /**
   * `isCalm` tells requests made in the calm from those that faults may have duplicated. `handlersThrow`: a worker may
   * return a job by READY, as in rule 8 of section "Worker".
   */
  constructor(isCalm: (id: string) => boolean, handlersThrow: boolean) {
    this.#isCalm = isCalm;
    this.#handlersThrow = handlersThrow;
  }

  /** From now on nothing fails by itself. */
  begin(): void {
    this.#calm = true;
  }

  /** Programs are being closed: losses are normal again. */
  end(): void {
    this.#calm = false;
  }

  onSight(sight: Sight): void {
    if (!this.#calm) return;
    if (sight.kind === 'worker-lost' && !(this.#handlersThrow && sight.reason === 'restarted'))
      throw new Error(`a healthy worker was lost: ${sight.reason}`);
    if (sight.kind === 'sent' && sight.command.kind === 'request' && !this.#handlersThrow) {
      const id = requestId(sight.command.content);
      if (this.#dispatched.has(id) && this.#isCalm(id)) throw new Error(`request ${id} was put to a second worker`);
      this.#dispatched.add(id);
    }
  }
}
