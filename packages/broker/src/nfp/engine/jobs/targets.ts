/** NFP broker, rules 9 and 10: which workers a target matches, present and absent. */
import type { NfpTarget } from '@proj/frames/nfp';
import type { BrokerState } from '../state.js';
import { EVERY_SERVICE, WORKER_MMI } from '../management/reserved-names.js';
import type { Holder, Job, Worker } from '../records.js';

/** The workers that a target matches, each once. */
export interface TargetWorkers {
  readonly present: readonly Worker[];
  /** Registered, but without a connection. Of all there are, which may be thousands, they are looked up one by one. */
  readonly away: Iterable<Holder>;
  /** Names that are neither. */
  readonly missing: readonly string[];
}

/** True if any worker is registered. */
export function isAnyone({ present, away }: Pick<TargetWorkers, 'present' | 'away'>): boolean {
  return present.length > 0 || away[Symbol.iterator]().next().done === false;
}

/** The workers of the service that the target matches. */
export function chooseWorkers(target: NfpTarget, service: string, state: BrokerState, now: number): TargetWorkers {
  const { services, holders } = state;
  const everywhere = isEverywhere(service);
  const record = services.find(service);
  switch (target.kind) {
    case 'all': {
      const present = everywhere ? state.workers.values() : (record?.workers.values() ?? []);
      const away = { [Symbol.iterator]: () => holders.awayFrom(everywhere ? EVERY_SERVICE : service, now) };
      return { present: [...present], away, missing: [] };
    }
    case 'any': {
      const first = everywhere ? leastUsed(services.values()) : record?.workers.first;
      return { present: first === undefined ? [] : [first], away: [], missing: [] };
    }
    case 'names':
      return chooseNamed(namesOf(target, state, now), service, state, now);
  }
}

/** The same for a new job, which leaving workers do not get unless it names them (rule 25). */
export function chooseForJob(
  target: NfpTarget,
  { uuid, service }: { readonly uuid: string; readonly service: string },
  state: BrokerState,
  now: number,
): TargetWorkers {
  const chosen = chooseWorkers(target, service, state, now);
  if (target.kind === 'names' || !chosen.present.some(({ isLeaving }) => isLeaving)) return chosen;
  if (target.kind === 'all') return { ...chosen, present: chosen.present.filter(({ isLeaving }) => !isLeaving) };
  const other = chooseOther(state.jobs.find(uuid), service, state);
  return { ...chosen, present: other === undefined ? [] : [other] };
}

/**
 * A worker for a job for `any`: preferably one that has not had it; never one that was told to drop it, whose answer might be that it was
 * cancelled. Least recently used first, except for service `all`.
 */
export function chooseOther(job: Job | undefined, service: string, { services }: BrokerState): Worker | undefined {
  const records = isEverywhere(service) ? services.values() : [services.find(service)];
  let second: Worker | undefined;
  for (const record of records)
    for (const worker of record?.workers.values() ?? []) {
      if (worker.isLeaving) continue;
      const part = job?.partAt(worker.holder);
      if (part === undefined) return worker;
      if (!part.isTold) second ??= worker;
    }
  return second;
}

/** The names in a target: only one if the whole target, including commas, is a worker's name. */
export function namesOf(
  { names, exact }: NfpTarget & { readonly kind: 'names' },
  { holders }: BrokerState,
  now: number,
): readonly string[] {
  const holder = exact === undefined ? undefined : holders.named(exact);
  return exact !== undefined && holder !== undefined && isRegistered(holder, now) ? [exact] : names;
}

/** The worker has had its turn: `any` will choose it last. */
export function markUsed(worker: Worker, count: number): void {
  worker.used = count;
  const { workers } = worker.service;
  workers.remove(worker.turn);
  workers.push(worker.turn);
}

function chooseNamed(names: readonly string[], service: string, { holders }: BrokerState, now: number): TargetWorkers {
  const present: Worker[] = [];
  const away: Holder[] = [];
  const missing: string[] = [];
  for (const name of names) {
    const holder = holders.named(name);
    if (holder === undefined || !(isEverywhere(service) || holder.service === service)) missing.push(name);
    else if (holder.worker !== undefined) present.push(holder.worker);
    else if (isRegistered(holder, now)) away.push(holder);
    else missing.push(name);
  }
  return { present, away, missing };
}

function isRegistered({ worker, away }: Holder, now: number): boolean {
  return worker !== undefined || (away !== undefined && away.until > now);
}

function isEverywhere(service: string): boolean {
  return service === EVERY_SERVICE || service === WORKER_MMI;
}

function leastUsed(
  services: Iterable<{ readonly workers: { readonly first: Worker | undefined } }>,
): Worker | undefined {
  let least: Worker | undefined;
  for (const { workers } of services) {
    const { first } = workers;
    if (first !== undefined && (least === undefined || first.used < least.used)) least = first;
  }
  return least;
}
