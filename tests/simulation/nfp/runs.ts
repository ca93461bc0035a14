/**
 * Checker of worker rules 5, 6 and 12 of docs/protocols/nfp.md: a task starts once that is on disk, in the order of acceptance, never
 * twice at a time, and no more often than allowed.
 */
import type { Checker, JobRecord, Sight } from './sight.js';

/** Follows the runs of tasks. */
export class RunsChecker implements Checker {
  readonly #maxRuns: number;
  readonly #concurrencyOf: (worker: string) => number;
  /** What is on each worker's disk, by uuid. */
  readonly #disks = new Map<string, Map<string, JobRecord>>();
  readonly #running = new Map<string, Set<string>>();
  readonly #runs = new Map<string, number>();
  /** Jobs that a client has asked to delete: they may leave the queue out of turn. */
  readonly #deleted = new Set<string>();

  constructor(maxRuns: number, concurrencyOf: (worker: string) => number) {
    this.#maxRuns = maxRuns;
    this.#concurrencyOf = concurrencyOf;
  }

  onSight(sight: Sight): void {
    switch (sight.kind) {
      case 'begun':
        this.#begun(sight);
        break;
      case 'ended':
        this.#running.get(sight.worker)?.delete(sight.uuid);
        break;
      case 'crashed':
        this.#running.delete(sight.process);
        break;
      case 'told':
        if (sight.command.kind === 'worker-call' && sight.command.command === 'delete')
          this.#deleted.add(`${sight.worker}/${sight.command.uuid}`);
        break;
      case 'stored':
        this.#diskOf(sight.worker).set(sight.uuid, sight.job);
        break;
      case 'removed':
        this.#diskOf(sight.worker).delete(sight.uuid);
        this.#runs.delete(`${sight.worker}/${sight.uuid}`);
        break;
      default:
        break;
    }
  }

  #begun({ worker, uuid, run }: Sight & { kind: 'begun' }): void {
    const job = `${worker}/${uuid}`;
    const disk = this.#diskOf(worker);
    const record = disk.get(uuid);
    if (record?.state !== 'STARTED' || record.runs !== run)
      throw new Error(`${job} begins run ${run}, on the disk is ${JSON.stringify(record)}`);
    const running = this.#running.get(worker) ?? new Set();
    if (running.has(uuid)) throw new Error(`${job} runs twice at a time`);
    this.#running.set(worker, running.add(uuid));
    if (running.size > this.#concurrencyOf(worker)) throw new Error(`${worker} runs ${running.size} tasks at a time`);
    const runs = (this.#runs.get(job) ?? 0) + 1;
    this.#runs.set(job, runs);
    if (runs > this.#maxRuns) throw new Error(`${job} has begun ${runs} times`);
    for (const [other, { seq, state }] of disk)
      if (state === 'PENDING' && seq < record.seq && !this.#deleted.has(`${worker}/${other}`))
        throw new Error(`${job} begins before ${other}, which was accepted earlier`);
  }

  #diskOf(worker: string): Map<string, JobRecord> {
    const disk = this.#disks.get(worker) ?? new Map<string, JobRecord>();
    this.#disks.set(worker, disk);
    return disk;
  }
}
