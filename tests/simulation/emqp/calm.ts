/** Checker for the time without faults: no peer is lost, and no job goes to more than one worker. */
import { jobName } from './sight.js';
import type { BrokerChecker, BrokerSight } from './sight.js';

/** Silent until `begin`; then every loss is a mistake. */
export class CalmChecker implements BrokerChecker {
  readonly #isCalm: (name: string) => boolean;
  readonly #dispatched = new Set<string>();
  #calm = false;

  /** `isCalm` tells jobs issued in the calm from earlier ones. */
  constructor(isCalm: (name: string) => boolean) {
    this.#isCalm = isCalm;
  }

  /** From now on nothing fails by itself. */
  begin(): void {
    this.#calm = true;
  }

  /** Programs are being closed: losses are normal again. */
  end(): void {
    this.#calm = false;
  }

  onSight(sight: BrokerSight): void {
    if (!this.#calm) return;
    if (sight.kind === 'left') throw new Error(`a healthy ${sight.role} was lost: ${sight.reason}`);
    // A client that died during the faults may have a result coming.
    if (sight.kind === 'returned' && sight.command.kind !== 'result')
      throw new Error(`${sight.command.kind} came back while all was well`);
    if (sight.kind !== 'sent') return;
    if (sight.command.kind === 'bye') throw new Error('a healthy peer was told farewell');
    if (sight.command.kind !== 'request') return;
    const name = jobName(sight.command.body);
    if (this.#dispatched.has(name) && this.#isCalm(name)) throw new Error(`${name} was put to a second worker`);
    this.#dispatched.add(name);
  }
}
