/** What must be true of the NFP broker's books between any two steps. Called by tests and the simulator. */
import { check } from '../../shared/check.js';
import { requestCost } from '../../shared/cost.js';
import { type BrokerState, TERMS_MAX } from './state.js';
import type { Job, JobTable } from './job-table.js';
import { EVERY_SERVICE, isReserved } from './names.js';
import type { NfpBrokerSettings } from '../options.js';
import type { Owner } from './owners.js';
import type { Worker } from './workers.js';

/** Throws an `Error` that names the first thing that does not agree. Linear in everything that is held. */
export function assertBooks(books: BrokerState, settings: NfpBrokerSettings): void {
  const members = assertServices(books);
  assertWorkers(books, members, settings);
  assertJobs(books, settings);
  assertHolders(books, settings);
  check(books.terms.size <= TERMS_MAX, 'terms are bounded');
  check(
    [...books.terms.keys()].every((key) => books.workers.find(key) === undefined),
    'a worker has its own terms',
  );
  check(books.clients.size <= settings.clientsMax, 'clients are bounded');
  check([...books.clients.values()].length === books.clients.size, 'every client can be forgotten');
}

function assertServices({ services }: BrokerState): Set<Worker> {
  const members = new Set<Worker>();
  services.assertInvariants();
  for (const service of services.values()) {
    const { name, workers, queue, isServing } = service;
    check(services.find(name) === service, 'a service is found by its name');
    check(!isReserved(name) || (name === EVERY_SERVICE && workers.size === 0), 'nobody serves what is the broker’s');
    check(workers.size > 0 || queue.size > 0, 'a service has workers or waiting jobs');
    for (const { target, attempts, parts } of queue.values())
      check(
        isServing || workers.size === 0 || target !== 'any' || attempts + parts.size > 0,
        'no new job waits for a worker that is there',
      );
    let used = -Infinity;
    for (const worker of service.workers.values()) {
      check(worker.service === service, 'a worker is in the list of its own service');
      check(worker.used >= used || worker.used === 0, 'workers stand in the order of their use');
      used = Math.max(used, worker.used);
      members.add(worker);
    }
  }
  return members;
}

function assertWorkers({ workers }: BrokerState, members: Set<Worker>, { workersMax }: NfpBrokerSettings): void {
  workers.assertInvariants();
  check(workers.size <= workersMax, 'workers are bounded');
  check(workers.size === members.size, 'every worker is in the list of its service');
  for (const worker of workers.values()) {
    check(members.has(worker) && workers.find(worker.peer.key) === worker, 'a worker is found by its id');
    const { intervalMs, multiplier } = worker.terms;
    check(intervalMs >= 100 && intervalMs <= 600_000 && multiplier >= 2 && multiplier <= 20, 'terms are within limits');
  }
}

/** Each kept body is paid for and has a purpose: its job waits, or a worker has said nothing about it, or another one may have to do it. */
function assertJobs(books: BrokerState, settings: NfpBrokerSettings): void {
  const { jobs } = books;
  let cost = 0;
  let slack = 0;
  let waiting = 0;
  for (const job of jobs.values()) {
    check(jobs.find(job.uuid) === job, 'a job is found by its uuid');
    assertParts(job, books);
    const isWaiting = job.waitingAt !== undefined || job.held > 0;
    const isKept = job.waitingAt !== undefined || job.unsaid > 0 || job.current !== undefined;
    check(job.recent.taken === !isWaiting, 'a job can be forgotten unless it waits');
    check((job.patience !== undefined) === isWaiting, 'what waits can expire');
    check(isKept || job.cost === 0, 'a body is kept for a purpose');
    check(!isWaiting || job.cost > 0, 'the body of what waits is kept');
    check(job.cost === 0 || job.cost === requestCost(job.body) + job.target.length, 'a body is paid for');
    check((job.place?.taken ?? false) === (job.place !== undefined), 'a job leaves every list it was in');
    cost += job.cost;
    slack += job.slack;
    if (isWaiting) waiting++;
  }
  assertOwners(jobs);
  check(jobs.bytes === cost && cost <= settings.requestQueueMaxBytes, 'the byte budget is what kept bodies cost');
  check(jobs.slackBytes === slack, 'slack is what kept bodies hold beyond themselves');
  check(jobs.waiting === waiting && waiting <= settings.requestQueueMax, 'waiting jobs are counted and bounded');
  check(jobs.size - waiting <= settings.jobsMax, 'jobs are bounded');
}

/** What each client has is what its jobs are. */
function assertOwners(jobs: JobTable): void {
  const owned = new Map<Owner, Job[]>();
  for (const job of jobs.values()) owned.set(job.owner, [...(owned.get(job.owner) ?? []), job]);
  check(owned.size === jobs.owners, 'a client is remembered for its jobs');
  for (const [{ count, recent, spare, remembered, waiting, parts, bytes }, own] of owned) {
    const sum = (of: (job: Job) => number): number => own.reduce((all, job) => all + of(job), 0);
    const old = sum((job) => (job.recent.taken ? 1 : 0));
    check(count === own.length && recent.size === old && remembered.held === old, 'jobs of a client are counted');
    check(spare.size === sum((job) => (job.ownSpare.taken ? 1 : 0)), 'what may go of a client is found');
    check(waiting.held === count - old, 'what waits of a client is counted');
    check(parts.held === sum((job) => job.parts.size), 'workers with jobs of a client are counted');
    check(bytes.held === sum((job) => job.cost), 'a client has what its bodies cost');
  }
}

function assertParts(job: Job, { holders }: BrokerState): void {
  let held = 0;
  let unsaid = 0;
  for (const part of job.parts) {
    const { holder, state } = part;
    check(part.job === job && holder.parts.get(job.uuid) === part, 'a part is found at its worker');
    check(holders.find(holder.key) === holder, 'who has a job is remembered');
    if (state === 'held') held++;
    if (state === 'held' || state === 'sent') unsaid++;
  }
  check(job.held === held && job.unsaid === unsaid, 'what waits of a job is counted');
  const { current } = job;
  check(current === undefined || (job.parts.has(current) && current.state !== 'moved'), 'a job is where it is');
}

function assertHolders({ holders, workers, jobs }: BrokerState, { workersMax }: NfpBrokerSettings): void {
  let absent = 0;
  for (const holder of holders.values()) {
    const { key, worker, parts, isForgotten } = holder;
    check(holders.find(key) === holder && workers.find(key) === worker, 'a name is that of its worker');
    check(worker?.holder === undefined || worker.holder === holder, 'a worker has its name');
    check(worker !== undefined || parts.size > 0 || holder.memory.list !== undefined, 'a name is kept for a purpose');
    if (worker === undefined && !isForgotten) absent++;
    for (const [uuid, { job }] of parts) check(jobs.find(uuid) === job, 'a worker has jobs that exist');
  }
  check(holders.absent === absent && absent <= workersMax, 'names that are away are counted and bounded');
}
