/**
 * Checker for the time without faults: producers are not refused, and messages produced then are delivered once unless they are returned.
 */
import type { Checker, Sight } from './sight.js';

/** Silent until `begin`. */
export class CalmChecker implements Checker {
  readonly #isCalm: (id: string) => boolean;
  /** Messages that were offered, and not blocked or returned. */
  readonly #out = new Set<number>();
  #calm = false;

  /** `isCalm` tells messages sent in the calm, for quick handlers, from others. */
  constructor(isCalm: (id: string) => boolean) {
    this.#isCalm = isCalm;
  }

  begin(): void {
    this.#calm = true;
  }

  end(): void {
    this.#calm = false;
  }

  onSight(sight: Sight): void {
    if (!this.#calm) return;
    switch (sight.kind) {
      case 'answered':
        if (!sight.stored) throw new Error(`a message was refused while all was well`);
        break;
      case 'blocked':
      case 'given-back':
        this.#out.delete(sight.seq);
        break;
      case 'offered':
        if (this.#out.has(sight.seq) && this.#isCalm(sight.id))
          throw new Error(`${sight.id} was delivered twice while all was well`);
        this.#out.add(sight.seq);
        break;
      default:
        break;
    }
  }
}
