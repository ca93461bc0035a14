/** NFP broker: service names that workers may not register (rules 4, 9, 17, 20, 21). */

/** Management of the broker itself. */
export const BROKER_MMI = 'mmi.service.broker';

/** Management of workers: every worker is a member. */
export const WORKER_MMI = 'mmi.service.worker';

/** The inventory. */
export const BROKER_SID = 'sid.service.broker';

/** The served folder. */
export const BROKER_FSS = 'fss.service.broker';

/** All services together. */
export const EVERY_SERVICE = 'all';

const RESERVED = new Set([BROKER_MMI, WORKER_MMI, BROKER_SID, BROKER_FSS, EVERY_SERVICE]);

/** Whether no worker may register the name. */
export function isReserved(service: string): boolean {
  return RESERVED.has(service);
}
