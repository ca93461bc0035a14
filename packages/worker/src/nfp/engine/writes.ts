/** Changes of jobs on their way to the disk, many in one commit: one commit is under way, the next one gathers. */
import type { RecordBatch } from '@proj/transport';
import type { NfpCallBody } from './call.js';
import type { NfpFinalState, NfpIncomingCall, NfpJob } from './job.js';

/** One change of one job. */
export interface Write {
  /** `mark` is a change of the record alone, in which the job stays what it is. */
  readonly kind: NonNullable<NfpJob['change']> | 'mark';
  readonly job: NfpJob;
  readonly puts: NonNullable<RecordBatch['puts']>;
  readonly removes: readonly string[];
  /** The call that is answered when the change is durable. */
  readonly call?: NfpIncomingCall | undefined;
  /** `accept`: what is run when it is durable. Absent, the job waits. */
  readonly body?: NfpCallBody | undefined;
  /** `finish`: how. */
  readonly state?: NfpFinalState | undefined;
}

/** A batch and its number. */
export interface Commit {
  readonly number: number;
  readonly batch: RecordBatch;
}

/** At most one commit is under way, so changes of one job take effect in the order they were added. */
export class Writes {
  #gathering: Write[] = [];
  #underWay: Write[] = [];
  #number = 0;

  /** True when nothing is on its way. */
  get isIdle(): boolean {
    return this.#gathering.length === 0 && this.#underWay.length === 0;
  }

  add(write: Write): void {
    this.#gathering.push(write);
  }

  /** The next commit, when there is something to write and nothing is under way. */
  take(): Commit | undefined {
    if (this.#underWay.length > 0 || this.#gathering.length === 0) return undefined;
    this.#underWay = this.#gathering;
    this.#gathering = [];
    const puts = new Map<string, Uint8Array>();
    const removes = new Set<string>();
    for (const write of this.#underWay) {
      for (const key of write.removes) removes.add(key);
      for (const [key, value] of write.puts) puts.set(key, value);
    }
    return { number: ++this.#number, batch: { puts: [...puts], removes: [...removes] } };
  }

  /** The changes of the commit that has ended, either way; none when it is not the one under way. */
  settle(commit: number): readonly Write[] {
    if (commit !== this.#number) return [];
    const writes = this.#underWay;
    this.#underWay = [];
    return writes;
  }

  /** Puts changes that did not hold in front of all others. */
  again(writes: readonly Write[]): void {
    this.#gathering = [...writes, ...this.#gathering];
  }

  /** Forgets what has not been written, and returns it. */
  drop(): Write[] {
    return this.#gathering.splice(0);
  }
}
