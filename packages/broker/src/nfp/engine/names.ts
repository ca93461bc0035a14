/** NFP broker: names of services that are not for workers to register (rules 4, 9, 17, 20, 21). */

/** Management of the broker. */
export const BROKER_MMI = 'mmi.service.broker';

/** Management of workers: every worker is a member. */
export const WORKER_MMI = 'mmi.service.worker';

/** What the inventory says of workers. */
export const BROKER_SID = 'sid.service.broker';

/** The broker's folder of files. */
export const BROKER_FSS = 'fss.service.broker';

/** The workers of all services together. */
export const EVERY_SERVICE = 'all';

const RESERVED = new Set([BROKER_MMI, WORKER_MMI, BROKER_SID, BROKER_FSS, EVERY_SERVICE]);

/** True for names that no worker may register. */
export function isReserved(service: string): boolean {
  return RESERVED.has(service);
}
