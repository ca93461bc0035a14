/** What must be true of the EventMQ broker's books between any two steps. Called by tests and the simulator. */
import { check } from '../../shared/check.js';
import type { BrokerState } from './state.js';
import type { EmqpBrokerCounters } from './counters.js';
import type { Job, WorkerJobs } from './job.js';
import type { EmqpBrokerSettings } from '../options.js';
import type { Scheduler, Worker } from './peers.js';
import { DEFAULT_QUEUE, type Queue } from './queues.js';

/** What the engine claims about them. */
export interface Claims {
  /** Requests accepted and neither done nor lost. */
  readonly open: number;
  readonly counters: EmqpBrokerCounters;
  readonly settings: EmqpBrokerSettings;
}

/** Throws an `Error` that names the first thing that does not agree. Linear in everything that is held. */
export function assertBooks(books: BrokerState, { open, counters, settings }: Claims): void {
  const running = assertPeers(books);
  const waiting = assertQueues(books, running);
  assertJobs(books, running, waiting, open);
  check(books.routes.size <= settings.resultRouteMax, 'awaited results are bounded');
  check(books.peers.size <= settings.peersMax, 'peers are bounded');
  assertRepeats(books, new Set([...running, ...waiting]));
  const lost = counters.dropped['jobs-lost'] + counters.dropped['guarantee-exhausted'] + counters.dropped.drained;
  check(
    counters.requests + counters.restored ===
      counters.processed + counters.unconfirmed + lost + counters.leftInStore + open,
    'accepted requests are done, lost or open',
  );
}

/** Of jobs that may be asked for again each is open, or on its way to the store. */
function assertRepeats({ repeats, keeper }: BrokerState, open: ReadonlySet<Job>): void {
  const arriving = new Set(keeper.arriving());
  for (const job of repeats.values()) {
    check(repeats.has(job) && job.guarantee, 'what may be asked for again is guaranteed');
    check(job.isAccepted ? open.has(job) : arriving.has(job), 'what is over cannot be asked for again');
  }
}

/** Everybody can be found, can die, gets heartbeats; schedulers are those that jobs are assigned to. */
function assertPeers({ peers, assignments }: BrokerState): Set<Job> {
  const running = new Set<Job>();
  const schedulers = new Set<Scheduler>(assignments.values());
  for (const member of peers.values()) {
    check(peers.find(member) === member, 'a peer is found by its id');
    check(peers.dues(member).every(Number.isFinite), 'a peer can die and gets heartbeats');
    if (member.role === 'scheduler') check(schedulers.delete(member), 'a scheduler gets schedules');
    else assertWorker(member, running);
  }
  check(schedulers.size === 0, 'who gets schedules is registered');
  for (const leaver of peers.leavers()) {
    check(peers.findLeaver(leaver) === leaver && Number.isFinite(leaver.life.at), 'who leaves is found and ends');
    check(leaver.open.size > 0, 'who leaves has jobs');
    assertOpen(leaver.open, running);
  }
  return running;
}

function assertWorker(worker: Worker, running: Set<Job>): void {
  check(worker.slots >= 0 && worker.busy >= 0, 'slots are counted');
  let last = Infinity;
  for (const seat of worker.seats) {
    check(seat.queue.seats.has(seat), 'a worker is known to its queues');
    check(seat.weight <= last, 'a worker’s queues are in the order of weights');
    check(seat.free.taken === worker.slots > 0, 'a worker is offered where it has a slot, and only then');
    check(worker.slots === 0 || seat.queue.waiting.size === 0, 'nobody waits while a worker has a slot');
    last = seat.weight;
  }
  assertOpen(worker.open, running);
}

function assertOpen(open: WorkerJobs, running: Set<Job>): void {
  let size = 0;
  for (const job of open.values()) {
    check(job.holder === open && !running.has(job), 'a job is at one worker');
    check(job.attempts > 0 && !job.place.taken, 'a running job was dispatched and waits nowhere');
    check(open.findLatest(job.id) !== undefined && open.find(job.id) !== undefined, 'an open job is found by its id');
    running.add(job);
    size++;
  }
  check(size === open.size, 'open jobs are counted');
  for (const job of open.suspects) check(job.holder === open, 'only an open job is suspected to be lost');
  check(open.missing === 0 || open.missing < open.suspects.size, 'what is known to be lost is told');
}

/** No queue without purpose; what waits is in order, can be sent, and does not wait for nobody for ever. */
function assertQueues({ queues, patience }: BrokerState, running: Set<Job>): Set<Job> {
  const waiting = new Set<Job>();
  const inFlight = new Map<Queue, number>();
  for (const job of running) inFlight.set(job.queue, (inFlight.get(job.queue) ?? 0) + 1);
  let impatient = 0;
  for (const queue of queues.values()) {
    const isUsed = queue.seats.size > 0 || queue.waiting.size > 0 || queue.arriving > 0 || queue.inFlight > 0;
    check(isUsed, 'a queue has a purpose');
    check(queue.inFlight === (inFlight.get(queue) ?? 0), 'jobs in flight are counted');
    inFlight.delete(queue);
    const { front } = queue.waiting;
    let last = front?.waitingSince ?? -Infinity;
    for (const job of queue.arrived()) {
      check(job.place.taken && job.waitingSince >= last, 'who waits longest is first');
      last = job.waitingSince;
    }
    for (const job of queue.waiting.values()) {
      check(job.queue === queue && job.request !== undefined, 'what waits is in its queue and can be sent');
      check(job.waitingSince >= (queue.oldest?.waitingSince ?? Infinity), 'who waits longest is known');
      waiting.add(job);
    }
    for (const seat of queue.free.values()) check(queue.seats.has(seat), 'only who serves a queue is offered to it');
    const waitsForNobody = queue.seats.size === 0 && queue.waiting.size > 0 && queue.name !== DEFAULT_QUEUE;
    check(Number.isFinite(queue.patience.at) === waitsForNobody, 'only what waits for nobody loses patience');
    if (waitsForNobody) impatient++;
  }
  check(inFlight.size === 0, 'the queue of a running job exists');
  check(patience.size === impatient, 'no queue loses patience that does not exist');
  patience.assertInvariants();
  queues.assertInvariants();
  return waiting;
}

/** Each open job is in one place and paid for; those that are kept and were started are known by their ids. */
function assertJobs(books: BrokerState, running: Set<Job>, waiting: Set<Job>, open: number): void {
  check(running.size + waiting.size === open, 'every open request runs or waits');
  let cost = 0;
  for (const job of [...running, ...waiting]) {
    check(!(running.has(job) && waiting.has(job)), 'a job runs or waits, not both');
    check(
      (job.request !== undefined) === (waiting.has(job) || job.kept),
      'a request is kept as long as it may be sent',
    );
    check(job.cost === 0 || job.request !== undefined, 'only what is kept is paid for');
    const started = books.kept.get(job.id).includes(job);
    check(
      started === (job.kept && (job.attempts > 0 || running.has(job) || job.isRestored)),
      'a job that is kept and may have been started is known by its id',
    );
    check(job.awaited || !Number.isFinite(job.route.at), 'only what is awaited has a way back');
    check(!Number.isFinite(job.release.at) || (job.isSilent && running.has(job)), 'only silent jobs are released');
    cost += job.cost;
  }
  for (const job of books.keeper.arriving()) cost += job.cost;
  check(books.bytes.used === cost && cost <= books.bytes.max, 'the byte budget is what the kept requests cost');
  let held = 0;
  for (const job of [...running, ...waiting, ...books.keeper.arriving()]) {
    check((job.slack !== undefined) === (job.request !== undefined), 'what is kept is settled');
    held += job.slack ?? 0;
  }
  check(books.slack.used === held, 'slack is what kept requests hold beyond themselves');
  for (const job of books.routes.values()) check(running.has(job) || waiting.has(job), 'nobody awaits what is over');
  books.releases.assertInvariants();
}
