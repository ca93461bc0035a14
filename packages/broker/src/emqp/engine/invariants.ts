/** What must hold in the EventMQ broker between any two steps. Called by tests and the simulator. */
import { check } from '../../shared/check.js';
import type { Errands } from '../../shared/errands.js';
import type { BrokerState } from './state.js';
import type { EmqpBrokerCounters } from './counters.js';
import type { Job, WorkerJobs } from './jobs/job.js';
import type { EmqpBrokerSettings } from '../options.js';
import type { Scheduler, Worker } from './peers/peers.js';
import { DEFAULT_QUEUE, type Queue } from './jobs/queues.js';

/** The engine's claims about its state. */
export interface Claims {
  /** Requests accepted and neither done nor lost. */
  readonly open: number;
  readonly counters: EmqpBrokerCounters;
  readonly settings: EmqpBrokerSettings;
}

const REFUSALS: ReadonlySet<string> = new Set(['draining', 'not-allowed', 'queue-full', 'memory', 'store-failed']);

/** Throws an `Error` that names the first broken rule. Linear in the size of the state. */
export function assertState(state: BrokerState, { open, counters, settings }: Claims): void {
  const running = assertPeers(state);
  const waiting = assertQueues(state, running);
  assertJobs(state, running, waiting, open);
  check(state.routes.size <= settings.resultRouteMax, 'awaited results are bounded');
  check(state.peers.size <= settings.peersMax, 'peers are bounded');
  assertRepeats(state, new Set([...running, ...waiting]));
  // A restored job was a request to an earlier broker.
  if (counters.restored === 0) assertMeters(state);
  state.queues.backlogs.assertInvariants([...running, ...waiting, ...state.keeper.arriving()]);
  const { dropped } = counters;
  const lost =
    dropped['jobs-lost'] + dropped['guarantee-exhausted'] + dropped.displaced + dropped.purged + dropped.drained;
  check(
    counters.requests + counters.restored ===
      counters.processed + counters.unconfirmed + lost + counters.leftInStore + open,
    'accepted requests are done, lost or open',
  );
}

/** Each request of a queue has an outcome, waits or runs. */
function assertMeters({ queues }: BrokerState): void {
  for (const { meter, waiting, inFlight } of queues.values()) {
    const { requests, outcomes } = meter.snapshot();
    let ended = 0;
    for (const [outcome, count] of Object.entries(outcomes)) if (!REFUSALS.has(outcome)) ended += count;
    check(requests === ended + waiting.size + inFlight, 'a request of a queue ends, waits or runs');
  }
}

/** Each job that may be asked for again is open, or on its way to the store. */
function assertRepeats({ repeats, keeper }: BrokerState, open: ReadonlySet<Job>): void {
  const arriving = new Set(keeper.arriving());
  for (const job of repeats.values()) {
    check(repeats.has(job) && job.guarantee, 'only a guaranteed job can be asked for again');
    check(job.isAccepted ? open.has(job) : arriving.has(job), 'a job that is over cannot be asked for again');
  }
}

/** Each peer can be found, can expire and gets heartbeats; each scheduler is given schedules. */
function assertPeers({ peers, assignments, errands }: BrokerState): Set<Job> {
  const running = new Set<Job>();
  const schedulers = new Set<Scheduler>(assignments.values());
  for (const member of peers.values()) {
    check(peers.find(member) === member, 'a peer is found by its id');
    check(peers.dues(member).every(Number.isFinite), 'a peer can expire and gets heartbeats');
    if (member.role === 'scheduler') check(schedulers.delete(member), 'a scheduler is given schedules');
    else assertWorker(member, running, errands);
  }
  check(schedulers.size === 0, 'only registered schedulers are given schedules');
  for (const leaver of peers.leavers()) {
    check(
      peers.findLeaver(leaver) === leaver && Number.isFinite(leaver.life.at),
      'a leaving worker is found and can expire',
    );
    check(leaver.departures.size > 0, 'a leaving worker has jobs');
    for (const open of leaver.departures) {
      check(open.size > 0 && open.leaver === leaver, 'a worker leaves with jobs');
      assertOpen(open, running, errands);
    }
  }
  for (const open of peers.lost) {
    check(errands.has(open), 'the jobs of a lost worker are lost, or go on');
    assertOpen(open, running, errands);
  }
  return running;
}

function assertWorker(worker: Worker, running: Set<Job>, errands: Errands): void {
  check(worker.slots >= 0 && worker.busy >= 0, 'slots are counted');
  let last = Infinity;
  for (const subscription of worker.subscriptions) {
    check(subscription.queue.subscriptions.has(subscription), 'a worker is known to its queues');
    check(subscription.weight <= last, 'a worker’s queues are in the order of weights');
    const isFree = worker.slots > 0 && !worker.isLeaving;
    check(subscription.free.taken === isFree, 'a worker is offered to its queues while it has a free slot');
    const { isStopped, waiting } = subscription.queue;
    check(!isFree || isStopped || waiting.size === 0, 'no job waits while a worker has a free slot');
    last = subscription.weight;
  }
  assertOpen(worker.open, running, errands);
}

function assertOpen(open: WorkerJobs, running: Set<Job>, errands: Errands): void {
  let size = 0;
  let suspects = 0;
  let last = 0;
  for (const job of open.values()) {
    check(job.holder === open && !running.has(job), 'a job is at one worker');
    check(job.attempts > 0 && !job.place.taken, 'a running job was dispatched and waits nowhere');
    check(open.findLatest(job.id) !== undefined && open.find(job.id) !== undefined, 'an open job is found by its id');
    check(job.number > last && job.number <= open.newestNumber, 'open jobs are numbered in their order');
    last = job.number;
    running.add(job);
    size++;
    if (job.number <= open.suspectedTo) suspects++;
  }
  check(size === open.size, 'open jobs are counted');
  check(suspects === open.suspects, 'open jobs that may be lost are counted');
  const isKnown = open.missing > 0 && open.missing >= suspects;
  check(!isKnown || errands.has(open), 'a job that is known to be lost is lost');
}

/** Each queue has a purpose; its waiting jobs are in order, can be sent, and do not wait for ever without a worker. */
function assertQueues({ errands, queues, patience }: BrokerState, running: Set<Job>): Set<Job> {
  const waiting = new Set<Job>();
  const inFlight = new Map<Queue, number>();
  for (const job of running) inFlight.set(job.queue, (inFlight.get(job.queue) ?? 0) + 1);
  let impatient = 0;
  for (const queue of queues.values()) {
    const isUsed = queue.subscriptions.size > 0 || queue.waiting.size > 0 || queue.arriving > 0 || queue.inFlight > 0;
    check(isUsed || queue.isPaused, 'a queue has a purpose');
    check(queue.inFlight === (inFlight.get(queue) ?? 0), 'jobs in flight are counted');
    inFlight.delete(queue);
    const { front } = queue.waiting;
    let last = front?.waitingSince ?? -Infinity;
    for (const job of queue.arrived()) {
      check(job.place.taken && job.waitingSince >= last, 'the job that waits longest is first');
      last = job.waitingSince;
    }
    for (const job of queue.waiting.values()) {
      check(job.queue === queue && job.request !== undefined, 'a waiting job is in its queue and can be sent');
      check(job.waitingSince >= (queue.oldest?.waitingSince ?? Infinity), 'the job that waits longest is known');
      waiting.add(job);
    }
    for (const subscription of queue.free.values())
      check(queue.subscriptions.has(subscription), 'only workers of a queue are offered to it');
    const isNamed = queue.name !== DEFAULT_QUEUE && !queue.isStopped;
    check(!queue.isHeld || errands.has(queue), 'what holds a queue goes on');
    const waitsForNobody = queue.subscriptions.size === 0 && queue.waiting.size > 0 && isNamed;
    check(Number.isFinite(queue.patience.at) === waitsForNobody, 'only a queue without workers loses patience');
    if (waitsForNobody) impatient++;
  }
  check(inFlight.size === 0, 'the queue of a running job exists');
  check(patience.size === impatient, 'only existing queues lose patience');
  patience.assertInvariants();
  queues.assertInvariants();
  return waiting;
}

/** Each open job is in one place and paid for; kept jobs that were started are known by their ids. */
function assertJobs(state: BrokerState, running: Set<Job>, waiting: Set<Job>, open: number): void {
  check(running.size + waiting.size === open, 'every open request runs or waits');
  let cost = 0;
  for (const job of [...running, ...waiting]) {
    check(!(running.has(job) && waiting.has(job)), 'a job runs or waits, not both');
    check(
      (job.request !== undefined) === (waiting.has(job) || job.kept),
      'a request is kept as long as it may be sent',
    );
    check(job.cost === 0 || job.request !== undefined, 'only a kept request is paid for');
    const started = state.kept.get(job.id).includes(job);
    check(
      started === (job.kept && (job.attempts > 0 || running.has(job) || job.isRestored)),
      'a kept job that may have been started is known by its id',
    );
    check(job.awaited || !Number.isFinite(job.route.at), 'only an awaited result has a route');
    check(!Number.isFinite(job.release.at) || (job.isSilent && running.has(job)), 'only silent jobs are released');
    cost += job.cost;
  }
  for (const job of state.keeper.arriving()) cost += job.cost;
  check(state.bytes.used === cost && cost <= state.bytes.max, 'the byte budget is what the kept requests cost');
  let held = 0;
  for (const job of [...running, ...waiting, ...state.keeper.arriving()]) {
    check((job.slack !== undefined) === (job.request !== undefined), 'a kept request is settled');
    held += job.slack ?? 0;
  }
  check(state.slack.used === held, 'slack is what kept requests hold beyond their bytes');
  for (const job of state.routes.values()) check(running.has(job) || waiting.has(job), 'only open jobs are awaited');
  state.releases.assertInvariants();
}
