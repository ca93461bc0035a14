/** Checker of rules 11 to 13: without faults no worker is lost, and no request goes to more than one worker. */
import { requestId } from './sight.js';
import type { Checker, Sight } from './sight.js';

/** Silent until `begin`; then every loss is a mistake. */
export class CalmChecker implements Checker {
  readonly #isCalm: (id: string) => boolean;
  readonly #mayMove: boolean;
  readonly #dispatched = new Set<string>();
  #calm = false;

  /**
   * `isCalm` tells requests issued in the calm from those that faults may have duplicated. `mayMove`: idle workers
   * return to their preferred broker; a request on its way to them then goes to another worker.
   */
  constructor(isCalm: (id: string) => boolean, mayMove = false) {
    this.#isCalm = isCalm;
    this.#mayMove = mayMove;
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
    if (sight.kind === 'worker-lost' && !(this.#mayMove && sight.reason === 'disconnected'))
      throw new Error(`a healthy worker was lost: ${sight.reason}`);
    if (sight.kind === 'sent' && sight.command.kind === 'worker-request')
      this.#onDispatch(requestId(sight.command.body));
    else if (sight.kind === 'inside') this.#onDispatch(sight.id);
    else if (sight.kind === 'sent' && sight.command.kind === 'disconnect')
      throw new Error('a healthy worker was told DISCONNECT');
  }

  #onDispatch(id: string): void {
    if (this.#dispatched.has(id) && this.#isCalm(id) && !this.#mayMove)
      throw new Error(`request ${id} was put to a second worker`);
    this.#dispatched.add(id);
  }
}
