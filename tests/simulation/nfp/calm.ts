/** Checker for the time without faults: no worker is lost, no job is posted or run twice, and nothing is refused. */
import type { Checker, Sight } from './sight.js';

/** Silent until `begin`; then every loss is a mistake. */
export class CalmChecker implements Checker {
  readonly #isCalm: (uuid: string) => boolean;
  readonly #mayBeFull: boolean;
  readonly #posted = new Set<string>();
  readonly #begun = new Set<string>();
  #calm = false;

  /** `isCalm` tells jobs posted in the calm, and not deleted, from others. `mayBeFull`: workers refuse jobs if many wait. */
  constructor(isCalm: (uuid: string) => boolean, mayBeFull: boolean) {
    this.#isCalm = isCalm;
    this.#mayBeFull = mayBeFull;
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
    switch (sight.kind) {
      case 'worker-lost':
        throw new Error(`a healthy worker was lost: ${sight.peer.key} ${sight.reason}`);
      case 'begun':
        this.#once(this.#begun, 'was run', sight.worker, sight.uuid);
        break;
      case 'sent':
        this.#sent(sight);
        break;
      default:
        break;
    }
  }

  #sent({ peer, command }: Sight & { kind: 'sent' }): void {
    if (command.kind === 'broker-disconnect') throw new Error(`${peer.key} is healthy and was told DISCONNECT`);
    if (command.kind === 'worker-call' && command.command === 'post' && !this.#mayBeFull)
      this.#once(this.#posted, 'was posted', peer.key, command.uuid);
    if (command.kind !== 'client-answer' || command.status < 400 || !this.#isCalm(command.uuid)) return;
    // Workers that the job was not for are asked about it, too.
    if (command.status === 404 || (command.status === 500 && this.#mayBeFull)) return;
    throw new Error(`${command.uuid} was answered with ${command.status} while all was well`);
  }

  #once(seen: Set<string>, what: string, worker: string, uuid: string): void {
    const job = `${worker}/${uuid}`;
    if (seen.has(job) && this.#isCalm(uuid)) throw new Error(`${job} ${what} twice while all was well`);
    seen.add(job);
  }
}
