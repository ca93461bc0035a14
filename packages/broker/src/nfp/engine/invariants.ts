/** What must hold in the NFP broker between any two steps. Called by tests and the simulator. */
import { check } from '../../shared/check.js';
import { requestCost } from '../../shared/cost.js';
import { type BrokerState, TERMS_MAX } from './state.js';
import type { JobTable } from './jobs/job-table.js';
import { EVERY_SERVICE, isReserved } from './management/reserved-names.js';
import type { NfpBrokerSettings } from '../options.js';
import type { Job, Owner, Part, Worker } from './records.js';

/** Throws an `Error` that names the first broken rule. Linear in the size of the state. */
export function assertState(state: BrokerState, settings: NfpBrokerSettings): void {
  const members = assertServices(state);
  assertWorkers(state, members, settings);
  assertJobs(state, settings);
  assertHolders(state, settings);
  check(state.terms.size <= TERMS_MAX, 'terms are bounded');
  check(
    [...state.terms.keys()].every((key) => state.workers.find(key) === undefined),
    'a worker has its own terms',
  );
  check(state.clients.size <= settings.clientsMax, 'clients are bounded');
  check([...state.clients.values()].length === state.clients.size, 'every client can be forgotten');
}

function assertServices({ services }: BrokerState): Set<Worker> {
  const members = new Set<Worker>();
  services.assertInvariants();
  for (const service of services.values()) {
    const { name, workers, queue, isServing } = service;
    check(services.find(name) === service, 'a service is found by its name');
    check(!isReserved(name) || (name === EVERY_SERVICE && workers.size === 0), 'no worker serves a reserved name');
    check(workers.size > 0 || queue.size > 0, 'a service has workers or waiting jobs');
    check(service.meter.isOpen, 'a service that exists is measured');
    for (const { target, attempts, partCount } of queue.values())
      check(
        isServing || [...workers.values()].every((w) => w.isLeaving) || target !== 'any' || attempts + partCount > 0,
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

/** Each kept body is paid for and has a purpose: its job waits, a worker has said nothing about it yet, or another worker may have to do it. */
function assertJobs(state: BrokerState, settings: NfpBrokerSettings): void {
  const { jobs } = state;
  let cost = 0;
  let slack = 0;
  let waiting = 0;
  for (const job of jobs.values()) {
    check(jobs.find(job.uuid) === job, 'a job is found by its uuid');
    assertParts(job, state);
    const isWaiting = job.waitingAt !== undefined || job.held > 0;
    const isKept = job.waitingAt !== undefined || job.unsaid > 0 || job.current !== undefined;
    check(job.taken === !isWaiting, 'every job that does not wait can be forgotten');
    check((job.patience !== undefined) === isWaiting, 'a waiting job can expire');
    check(isKept || job.cost === 0, 'a body is kept for a purpose');
    check(!isWaiting || job.cost > 0, 'the body of a waiting job is kept');
    check(job.cost === 0 || job.cost === requestCost(job.body) + job.target.length, 'a body is paid for');
    check((job.place?.taken ?? false) === (job.place !== undefined), 'a job leaves every list it was in');
    cost += job.cost;
    slack += job.slack;
    if (isWaiting) waiting++;
  }
  let running = 0;
  for (const [, meter] of state.figures.entries()) running += meter.running;
  check(running === assertOwners(jobs), 'running jobs of all services are counted');
  check(
    jobs.bodies.bytes === cost && cost <= settings.requestQueueMaxBytes,
    'the byte budget is what kept bodies cost',
  );
  check(jobs.bodies.slackBytes === slack, 'slack is what kept bodies hold beyond their bytes');
  check(jobs.waiting === waiting && waiting <= settings.requestQueueMax, 'waiting jobs are counted and bounded');
  check(jobs.size - waiting <= settings.jobsMax, 'jobs are bounded');
}

/** What jobs of one client add up to. */
interface Owned {
  count: number;
  old: number;
  spare: number;
  parts: number;
  running: number;
  bytes: number;
}

/** Each client is charged for exactly its own jobs. Returns how many jobs run. */
function assertOwners(jobs: JobTable): number {
  let all = 0;
  const owned = new Map<Owner, Owned>();
  for (const job of jobs.values()) {
    let own = owned.get(job.owner);
    if (own === undefined) owned.set(job.owner, (own = { count: 0, old: 0, spare: 0, parts: 0, running: 0, bytes: 0 }));
    const running = runningOf(job.parts);
    own.count++;
    if (job.taken) own.old++;
    if (job.ownSpare?.taken === true) own.spare++;
    own.parts += job.partCount;
    own.running += running;
    own.bytes += job.cost;
    all += running;
  }
  check(owned.size === jobs.owners, 'a client is remembered for its jobs');
  for (const [{ jobCount, recent, spare, remembered, waiting, parts, bytes, running }, own] of owned) {
    const { count, old } = own;
    check(jobCount === count && recent.size === old && remembered.held === old, 'jobs of a client are counted');
    check(spare.size === own.spare, 'spare bodies of a client are counted');
    check(waiting.held === jobCount - old, 'waiting jobs of a client are counted');
    check(parts.held === own.parts, 'workers with jobs of a client are counted');
    check(running === own.running, 'running jobs of a client are counted');
    check(bytes.held === own.bytes, 'bodies of a client are charged to it');
  }
  return all;
}

function runningOf(parts: Iterable<Part>): number {
  let running = 0;
  for (const { state } of parts) if (state === 'sent' || state === 'taken') running++;
  return running;
}

function assertParts(job: Job, { holders }: BrokerState): void {
  let held = 0;
  let unsaid = 0;
  for (const part of job.parts) {
    const { holder, state } = part;
    check(
      part.job === job && job.partAt(holder) === part && part.queue === holder.parts,
      'a part is found at its worker',
    );
    check(holders.find(holder.key) === holder, 'a name with a job is remembered');
    if (state === 'held') held++;
    if (state === 'held' || state === 'sent') unsaid++;
  }
  check(job.held === held && job.unsaid === unsaid, 'waiting parts of a job are counted');
  const { current } = job;
  check(
    current === undefined || (job.partAt(current.holder) === current && current.state !== 'moved'),
    'the current part is one of the job’s',
  );
}

function assertHolders({ holders, workers, jobs }: BrokerState, { workersMax }: NfpBrokerSettings): void {
  let absent = 0;
  for (const holder of holders.values()) {
    const { key, worker, parts, isForgotten } = holder;
    check(holders.find(key) === holder && workers.find(key) === worker, 'a name is that of its worker');
    check(worker?.holder === undefined || worker.holder === holder, 'a worker has its name');
    check(worker !== undefined || parts.size > 0 || holder.memory.list !== undefined, 'a name is kept for a purpose');
    if (worker === undefined && !isForgotten) absent++;
    for (const { job } of parts.values()) check(jobs.find(job.uuid) === job, 'a worker has jobs that exist');
    check(holder.running === runningOf(parts.values()), 'running jobs of a worker are counted');
  }
  check(holders.absent === absent && absent <= workersMax, 'absent names are counted and bounded');
}
