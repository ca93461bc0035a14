/** EventMQ broker: everything it remembers, in one place. Who may change it: `engine.ts`, `jobs.ts` and `schedulers.ts`. */
import { DeadlineHeap, DeadlineList } from '@proj/heartbeat';
import { Budget } from '../../shared/budget.js';
import { Slack } from '../../shared/slack.js';
import { type Job, JobsById } from './job.js';
import type { EmqpBrokerSettings } from '../options.js';
import { Keeper } from './keeper.js';
import { Peers, type Worker } from './peers.js';
import { type Queue, Queues } from './queues.js';
import { Repeats } from './repeats.js';
import { Assignments } from './schedulers.js';
import { Silenced } from './silenced.js';

/** Rules 19 and 20: after so long the slots of a worker are known, since its processes run. */
export const SETTLING_MS = 10_000;

/** The broker's state between two steps. */
export interface BrokerState {
  readonly peers: Peers;
  readonly queues: Queues;
  /** Rule 15: bytes of all requests that are kept. */
  readonly bytes: Budget;
  /** And what those hold beyond themselves. */
  readonly slack: Slack;
  /** The process has no room for what would have to wait. */
  isTight: boolean;
  /** Rule 10: jobs whose results are awaited. */
  readonly routes: DeadlineList<Job>;
  /** Rules 17 and 35: jobs that are kept and may have been given to a worker, wherever they are now. */
  readonly kept: JobsById;
  /** Rule 14: queues without workers in which something waits. */
  readonly patience: DeadlineHeap<Queue>;
  /** Rule 19: jobs that are kept and for which no REPLY may come. */
  readonly releases: DeadlineHeap<Job>;
  /** Rule 19: workers that are new. */
  readonly settling: DeadlineList<Worker>;
  readonly assignments: Assignments;
  /** Rule 35. */
  readonly keeper: Keeper;
  /** Rule 36. */
  readonly repeats: Repeats;
  /** Rules 6 and 8: who is told nothing. */
  readonly silenced: Silenced;
}

/** Empty books. */
export function newBrokerState(settings: EmqpBrokerSettings): BrokerState {
  const bytes = new Budget(settings.queueMaxBytes);
  return {
    peers: new Peers(settings),
    queues: new Queues(settings),
    bytes,
    slack: new Slack(bytes),
    isTight: false,
    routes: new DeadlineList(settings.resultRouteTtlMs),
    kept: new JobsById(),
    patience: new DeadlineHeap(),
    releases: new DeadlineHeap(),
    settling: new DeadlineList(SETTLING_MS),
    assignments: new Assignments(),
    keeper: new Keeper(),
    repeats: new Repeats(),
    silenced: new Silenced(),
  };
}
