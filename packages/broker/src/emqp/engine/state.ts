/** EventMQ broker: its state between two steps, and the snapshot that users see. */
import { DeadlineHeap, DeadlineList } from '@proj/heartbeat';
import { Budget } from '../../shared/budget.js';
import { Errands } from '../../shared/errands.js';
import { Slack } from '../../shared/slack.js';
import { Rates } from '../../shared/rates.js';
import { type Job, JobsById } from './jobs/job.js';
import type { EmqpBrokerSettings } from '../options.js';
import type { EmqpBrokerCounters } from './counters.js';
import { Keeper } from './guarantee/keeper.js';
import { Peers, Silenced, type Worker } from './peers/peers.js';
import { type Queue, Queues } from './jobs/queues.js';
import { Repeats } from './guarantee/repeats.js';
import { Assignments } from './peers/schedulers.js';

/** Rules 19 and 20: after this time a worker's processes are running, so its slots are known. */
export const SETTLING_MS = 10_000;

/** The tables that all policies share. */
export interface BrokerState {
  /** Rule 27. */
  phase: 'serving' | 'draining' | 'drained';
  readonly peers: Peers;
  readonly queues: Queues;
  /** Rule 15: bytes of all kept requests, and whether the process has no memory for more that wait. */
  readonly bytes: Budget;
  /** Memory that kept requests hold beyond their bytes. */
  readonly slack: Slack;
  /** How often each peer may register. */
  readonly registrations: Rates;
  /** Rule 10: jobs whose results are awaited. */
  readonly routes: DeadlineList<Job>;
  /** Rules 17 and 35: kept jobs that a worker may have been given, wherever they are now. */
  readonly kept: JobsById;
  /** Rule 14: queues with waiting requests but no workers. */
  readonly patience: DeadlineHeap<Queue>;
  /** Rule 19: kept jobs that may get no REPLY. */
  readonly releases: DeadlineHeap<Job>;
  /** Rule 19: new workers. */
  readonly settling: DeadlineList<Worker>;
  readonly assignments: Assignments;
  /** Unfinished work on the jobs of lost workers. */
  readonly errands: Errands;
  /** Rule 35. */
  readonly keeper: Keeper;
  /** Rule 36. */
  readonly repeats: Repeats;
  /** Rules 6 and 8: peers that get nothing. */
  readonly silenced: Silenced;
}

/** The state of a new broker. */
export function newBrokerState(settings: EmqpBrokerSettings): BrokerState {
  const bytes = new Budget(settings.queueMaxBytes);
  return {
    phase: 'serving',
    peers: new Peers(settings),
    queues: new Queues(settings),
    bytes,
    slack: new Slack(bytes),
    registrations: new Rates(settings.registrationsPerSecondMax),
    routes: new DeadlineList(settings.resultRouteTtlMs),
    kept: new JobsById(),
    patience: new DeadlineHeap(),
    releases: new DeadlineHeap(),
    settling: new DeadlineList(SETTLING_MS),
    assignments: new Assignments(),
    errands: new Errands(),
    keeper: new Keeper(),
    repeats: new Repeats(),
    silenced: new Silenced(),
  };
}

/** One queue now. */
export interface EmqpQueueStats {
  readonly name: string;
  /** Workers that serve it. */
  readonly workers: number;
  readonly waiting: number;
  /** Jobs at workers. */
  readonly inFlight: number;
}

/** A snapshot. Plain data; nothing in it changes afterwards. */
export interface EmqpBrokerStats {
  readonly counters: Readonly<EmqpBrokerCounters>;
  readonly queues: readonly EmqpQueueStats[];
  readonly workers: number;
  readonly schedulers: number;
  /** Workers that have left, with jobs they may still finish. */
  readonly leaving: number;
  /** Free slots of all workers. */
  readonly slots: number;
  /** Accepted requests, waiting or running. */
  readonly openRequests: number;
  /** Bytes kept for them, as `queueMaxBytes` counts. */
  readonly openBytes: number;
  /** Jobs whose results are awaited. */
  readonly awaitedResults: number;
}

/** Takes the snapshot. */
export function statsOf(state: BrokerState, counters: EmqpBrokerCounters, openRequests: number): EmqpBrokerStats {
  let slots = 0;
  for (const worker of state.peers.workers()) slots += worker.slots;
  return {
    counters: { ...counters, dropped: { ...counters.dropped } },
    queues: Array.from(state.queues.values(), ({ name, subscriptions, waiting, inFlight }) => ({
      name,
      workers: subscriptions.size,
      waiting: waiting.size,
      inFlight,
    })),
    workers: state.peers.size - state.assignments.size,
    schedulers: state.assignments.size,
    leaving: state.peers.leaving,
    slots,
    openRequests,
    openBytes: state.bytes.used,
    awaitedResults: state.routes.size,
  };
}
