/** Paranoid Pirate, the workers' side: everything it remembers, in one place. Who may change it: `backend.ts` and `jobs.ts`. */
import { DeadlineList } from '@proj/heartbeat';
import { Budget } from '../../shared/budget.js';
import { FairQueue } from '../../shared/fair-queue.js';
import { LruPool } from '../../shared/lru-pool.js';
import { WorkerTable } from '../../shared/worker-table.js';
import { Slack } from '../../shared/slack.js';
import type { PppBackendSettings } from '../options.js';
import type { Request } from './requests.js';
import type { Worker } from './workers.js';

/** The state between two steps. */
export interface BrokerState<Asked extends Request> {
  readonly workers: WorkerTable<Worker<Asked>>;
  /** Rule 8. */
  readonly idle: LruPool<Worker<Asked>>;
  /** Rules 13 and 14: what nobody could take at once. Never waits while a worker is idle. */
  readonly queue: FairQueue<Asked>;
  /** Rule 14: bytes of all open requests. */
  readonly bytes: Budget;
  /** And what those that wait hold beyond themselves. */
  readonly slack: Slack;
  /** The process has no room for what would have to wait. */
  isTight: boolean;
  /** Rule 16: workers by the age of their jobs; `undefined` when jobs may take for ever. */
  readonly jobs: DeadlineList<Worker<Asked>> | undefined;
}

/** Empty books. */
export function newBrokerState<Asked extends Request>(settings: PppBackendSettings): BrokerState<Asked> {
  const bytes = new Budget(settings.requestQueueMaxBytes);
  return {
    workers: new WorkerTable(settings),
    idle: new LruPool(),
    queue: new FairQueue(settings.requestQueueMax),
    bytes,
    slack: new Slack(bytes),
    isTight: false,
    jobs: settings.jobTimeoutMs > 0 ? new DeadlineList(settings.jobTimeoutMs) : undefined,
  };
}
