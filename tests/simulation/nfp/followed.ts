/** Records for checkers of rule 13 of docs/protocols/nfp.md: which workers each job was sent to, and which are ignored because another worker has it. */
import type { NfpCall, NfpClientCall, NfpWorkerAnswer } from '@proj/frames/nfp';

/**
 * Stands for a worker that has said its last word, or has refused the job: it no longer has the job, and no other
 * worker does.
 */
const NOBODY = '';

/** Which job was sent to which workers. */
export class Followed {
  readonly #forAny = new Set<string>();
  /** By uuid, the last worker at the end. */
  readonly #holders = new Map<string, string[]>();
  /** Workers that have said something other than a refusal: job and worker. */
  readonly #taken = new Set<string>();

  /** Workers that were told to drop it since then: job and worker. */
  readonly #told = new Set<string>();

  /** The broker has forgotten. */
  clear(): void {
    for (const each of [this.#holders, this.#taken, this.#told]) each.clear();
  }

  /** A job that is posted again is still the job that its earlier workers have, or must drop. */
  posted({ uuid, target }: NfpClientCall): void {
    if (target === 'any') this.#forAny.add(uuid);
    else this.#forAny.delete(uuid);
  }

  /** A call has gone to the worker. */
  sent(command: NfpCall, uuid: string, worker: string): void {
    const which = `${uuid} ${worker}`;
    if (command === 'delete') this.#told.add(which);
    if (command !== 'post') return;
    this.#holders.set(uuid, [...this.of(uuid), worker]);
    this.#taken.delete(which);
    this.#told.delete(which);
  }

  /** It was told to drop the job: from now on its messages about the job may say that it is cancelled. */
  isTold(uuid: string, worker: string): boolean {
    return this.#told.has(`${uuid} ${worker}`);
  }

  /** The broker has taken the job from its worker, or given it up. */
  takenAway(uuid: string): void {
    const holders = this.of(uuid);
    if (holders.length > 0 && holders.at(-1) !== NOBODY) this.#holders.set(uuid, [...holders, NOBODY]);
  }

  heard(worker: string, { command, uuid, status }: NfpWorkerAnswer): void {
    const holders = this.of(uuid);
    if (holders.at(-1) !== worker || command === 'mmi') return;
    const which = `${uuid} ${worker}`;
    const isLast = command === 'response' && (status === 200 || (status >= 400 && !this.#taken.has(which)));
    if (isLast) this.#holders.set(uuid, [...holders.filter((name) => name !== worker), NOBODY]);
    else this.#taken.add(which);
  }

  /** The workers that the job was sent to and that have not said their last word, the one that has it at the end. */
  of(uuid: string): readonly string[] {
    return this.#holders.get(uuid) ?? [];
  }

  isForAny(uuid: string): boolean {
    return this.#forAny.has(uuid);
  }

  /** It had the job, which is for any worker, and no longer has it. */
  isFormer(uuid: string, worker: string): boolean {
    const holders = this.of(uuid);
    return this.isForAny(uuid) && holders.includes(worker) && holders.at(-1) !== worker;
  }
}
