/** What must be true of the NFP broker's books between any two steps. Called by tests and the simulator. */
import { check } from '../parts/check.js';
import { requestCost } from '../parts/cost.js';
import { type Books, TERMS_MAX } from './books.js';
import type { Job } from './jobs.js';
import { isReserved } from './names.js';
import type { NfpBrokerSettings } from './options.js';
import type { Worker } from './workers.js';

/** Throws an `Error` that names the first thing that does not agree. Linear in everything that is held. */
export function assertBooks(books: Books, settings: NfpBrokerSettings): void {
  const members = assertServices(books, settings);
  assertWorkers(books, members, settings);
  assertJobs(books, settings);
  check(books.terms.size <= TERMS_MAX, 'terms are bounded');
  check(
    [...books.terms.keys()].every((key) => books.workers.find(key) === undefined),
    'a worker has its own terms',
  );
  check(books.clients.size <= settings.clientsMax, 'clients are bounded');
  check([...books.clients.values()].length === books.clients.size, 'every client can be forgotten');
}

function assertServices({ services }: Books, { servicesMax }: NfpBrokerSettings): Set<Worker> {
  const members = new Set<Worker>();
  check(services.size <= servicesMax, 'services are bounded');
  for (const service of services.values()) {
    check(services.find(service.name) === service && !isReserved(service.name), 'a service is found by its name');
    check(service.workers.size > 0 || service.queue.size > 0, 'a service has workers or waiting jobs');
    check(service.workers.size === 0 || service.queue.size === 0, 'nobody waits for a service with workers');
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

function assertWorkers({ workers }: Books, members: Set<Worker>, { workersMax }: NfpBrokerSettings): void {
  workers.assertInvariants();
  check(workers.size <= workersMax, 'workers are bounded');
  check(workers.size === members.size, 'every worker is in the list of its service');
  for (const worker of workers.values()) {
    check(members.has(worker) && workers.find(worker.peer.key) === worker, 'a worker is found by its id');
    const { intervalMs, multiplier } = worker.terms;
    check(intervalMs >= 100 && intervalMs <= 600_000 && multiplier >= 2 && multiplier <= 20, 'terms are within limits');
  }
}

/** Each kept body is paid for and has a purpose: its job waits, or is with one worker that has said nothing. */
function assertJobs({ jobs, workers }: Books, settings: NfpBrokerSettings): void {
  let cost = 0;
  let waiting = 0;
  for (const job of jobs.values()) {
    check(jobs.find(job.uuid) === job, 'a job is found by its uuid');
    check(job.waitingAt === undefined || job.worker === undefined, 'a job waits or is with a worker');
    check(job.recent.taken === (job.waitingAt === undefined), 'a job can be forgotten unless it waits');
    check(job.cost === (isKept(job) ? requestCost(job.body) + job.target.length : 0), 'a body is kept for a purpose');
    check(isKept(job) || job.target === '' || job.target === 'any', 'a target is kept for a purpose');
    check(job.worker === undefined || workers.find(job.worker.peer.key) === job.worker, 'who has a job is alive');
    check((job.place?.taken ?? false) === isKept(job), 'a kept job is in one list');
    check((job.patience !== undefined) === (job.waitingAt !== undefined), 'what waits can expire');
    cost += job.cost;
    if (job.waitingAt !== undefined) waiting++;
  }
  check(jobs.bytes === cost && cost <= settings.requestQueueMaxBytes, 'the byte budget is what kept bodies cost');
  check(jobs.waiting === waiting && waiting <= settings.requestQueueMax, 'waiting jobs are counted and bounded');
  check(jobs.size - waiting <= settings.jobsMax, 'jobs are bounded');
}

function isKept({ waitingAt, worker }: Job): boolean {
  return waitingAt !== undefined || worker !== undefined;
}
