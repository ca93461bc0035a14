/** NFP broker, rules 9 and 10: which workers a target means. */
import type { NfpTarget } from '@proj/frames/nfp';
import type { Books } from './books.js';
import { EVERY_SERVICE, WORKER_MMI } from './names.js';
import type { Worker } from './workers.js';

/** The live workers of the service that the target means, each once; those of other services never. */
export function chooseWorkers(target: NfpTarget, service: string, { workers, services }: Books): readonly Worker[] {
  const everywhere = service === EVERY_SERVICE || service === WORKER_MMI;
  const record = services.find(service);
  const isMeant = (worker: Worker | undefined): worker is Worker =>
    worker !== undefined && (everywhere || worker.service === record);
  switch (target.kind) {
    case 'all':
      return [...(everywhere ? workers.values() : (record?.workers.values() ?? []))];
    case 'any':
      return [everywhere ? leastUsed(services.values()) : record?.workers.first].filter(isMeant);
    case 'names': {
      const exact = target.exact === undefined ? undefined : workers.named(target.exact);
      return isMeant(exact) ? [exact] : target.names.map((name) => workers.named(name)).filter(isMeant);
    }
  }
}

/** The worker will be the last that `any` means. */
export function markUsed(worker: Worker, count: number): void {
  worker.used = count;
  const { workers } = worker.service;
  workers.remove(worker.turn);
  workers.push(worker.turn);
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
