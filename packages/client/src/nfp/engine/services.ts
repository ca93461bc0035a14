/** NFP client: services that answer at once and have no jobs. Rules 17, 20 and 21 of docs/protocols/nfp.md. */

/** Management of the broker. */
export const BROKER_SERVICE = 'mmi.service.broker';

/** Management of workers: each call has a uuid of its own, and answers are not signed. */
export const WORKER_SERVICE = 'mmi.service.worker';

/** What the inventory says of workers. */
export const INVENTORY_SERVICE = 'sid.service.broker';

/** The broker's files. */
export const FILES_SERVICE = 'fss.service.broker';

const INSTEAD = new Map([
  [BROKER_SERVICE, 'mmi()'],
  [WORKER_SERVICE, 'mmiWorkers()'],
  [INVENTORY_SERVICE, 'inventory()'],
  [FILES_SERVICE, 'fetchFile() or listFiles()'],
]);

/** What to call instead of giving a job to a service that has none: it answers, and nobody accepts. `undefined` for services of workers. */
export function insteadOfJobs(service: string): string | undefined {
  return INSTEAD.get(service);
}
