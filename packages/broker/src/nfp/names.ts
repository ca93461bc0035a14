/** NFP broker: names of services that are not for workers to register (rules 4, 9, 17). */

/** Management of the broker. */
export const BROKER_MMI = 'mmi.service.broker';

/** Management of workers: every worker is a member. */
export const WORKER_MMI = 'mmi.service.worker';

/** The workers of all services together. */
export const EVERY_SERVICE = 'all';

const RESERVED = new Set([BROKER_MMI, WORKER_MMI, EVERY_SERVICE, 'sid.service.broker', 'fss.service.broker']);

/** True for names that no worker may register. */
export function isReserved(service: string): boolean {
  return RESERVED.has(service);
}
