/** What must be true of the books of a Paranoid Pirate queue or pool between any two steps. Called by tests and the simulator. */
import type { DeadlineHeap, DeadlineList } from '@proj/heartbeat';
import type { Budget } from '../../shared/budget.js';
import { check } from '../../shared/check.js';
import type { ClientTable } from '../../shared/clients.js';
import { frameCost, requestCost } from '../../shared/cost.js';
import type { Backend } from './backend.js';
import type { BrokerState } from './state.js';
import type { PoolCall } from './calls.js';
import type { ClientEntry, ClientRequest } from './clients.js';
import type { PppCounters } from './counters.js';
import type { Request } from './requests.js';

/** All open requests, by where they are. */
export interface OpenRequests<Asked extends Request> {
  readonly running: ReadonlySet<Asked>;
  readonly waiting: ReadonlySet<Asked>;
}

/**
 * The workers' side. Throws an `Error` that names the first thing that does not agree; linear in everything that is held.
 * `deadline` is the engine's, `patience` the part of it that the requesters' side has.
 */
export function assertBackend<Asked extends Request>(
  backend: Backend<Asked>,
  counters: PppCounters,
  deadline: number,
  patience: number,
): OpenRequests<Asked> {
  const { books, jobs } = backend;
  const requests = { running: assertWorkers(books), waiting: assertWaiting(books) };
  assertRequests(requests, books.bytes, jobs.open);
  let held = 0;
  for (const request of [...requests.running, ...requests.waiting]) held += request.slack;
  check(books.slack.used === held, 'slack is what waiting requests hold beyond themselves');
  assertDeadlines(backend, deadline, patience);
  assertTotals(counters, jobs.open);
  return requests;
}

/** The frontend of a queue: each open request is owed to one client, and waits no longer than it may. */
export function assertQueue(
  { running, waiting }: OpenRequests<ClientRequest>,
  clients: ClientTable<ClientEntry>,
  patience: DeadlineList<ClientRequest>,
): void {
  let orphans = 0;
  for (const request of [...running, ...waiting]) {
    const { client } = request;
    check(request.owed.taken, 'an open request is owed to a client');
    check(client.gone === (request.abandoned !== undefined), 'requests of clients that are gone are abandoned');
    if (client.gone) orphans++;
    else check(clients.find(client.peer.key) === client, 'the client of an open request is known');
  }
  let owed = 0;
  for (const client of clients.values()) {
    check(client.requests.size > 0 && !client.gone, 'a client is known for its open requests');
    owed += client.requests.size;
  }
  check(owed + orphans === running.size + waiting.size, 'clients count their open requests');
  const impatient = new Set(patience.values());
  check(impatient.size === waiting.size, 'what waits, and nothing else, loses patience');
  for (const request of waiting) check(impatient.has(request), 'all that waits loses patience');
}

/** The requesters' side of a pool: who waits for what. */
export function assertPool(
  { running, waiting }: OpenRequests<PoolCall>,
  calls: ReadonlyMap<number, PoolCall>,
  patience: DeadlineHeap<PoolCall>,
): void {
  patience.assertInvariants();
  check(patience.size === calls.size, 'every call, and nothing else, loses patience');
  for (const call of calls.values()) {
    check(running.has(call) || waiting.has(call), 'somebody waits for open requests only');
    check(call.abandoned === undefined, 'nobody waits for what was abandoned');
  }
  for (const call of [...running, ...waiting]) {
    check(calls.has(call.id) === (call.abandoned === undefined), 'somebody waits for what was not abandoned');
  }
}

/** Each worker has one job or rests in the pool; nobody shares a job. */
function assertWorkers<Asked extends Request>({ workers, idle, jobs }: BrokerState<Asked>): Set<Asked> {
  const running = new Set<Asked>();
  const resting = new Set(idle.values());
  const timed = jobs === undefined ? undefined : new Set(jobs.values());
  check(resting.size === idle.size, 'a worker rests once');
  for (const worker of workers.values()) {
    const { request } = worker;
    check(workers.find(worker.peer) === worker, 'a worker is found by its id');
    check(resting.delete(worker) === (request === undefined), 'a worker is idle or has a job');
    check(workers.dues(worker).every(Number.isFinite), 'a worker can expire and gets heartbeats');
    if (timed !== undefined)
      check(timed.delete(worker) === (request !== undefined), 'jobs, and nothing else, are timed');
    if (request === undefined) continue;
    check(!running.has(request), 'a job is at one worker');
    check(request.attempts >= 1, 'a running job was dispatched');
    running.add(request);
  }
  check(resting.size === 0, 'every idle worker is registered');
  check((timed?.size ?? 0) === 0, 'every timed worker is registered');
  return running;
}

/** Nobody waits while a worker rests, and the queue counts right. */
function assertWaiting<Asked extends Request>({ queue, idle }: BrokerState<Asked>): Set<Asked> {
  const waiting = new Set(queue.values());
  check(waiting.size === queue.size, 'the queue counts its requests');
  check(queue.size === 0 || idle.size === 0, 'nobody waits while a worker is idle');
  for (const request of waiting) {
    check(request.place.taken, 'a waiting request knows that it waits');
    check(request.abandoned === undefined, 'nothing waits that nobody waits for');
  }
  return waiting;
}

function assertRequests({ running, waiting }: OpenRequests<Request>, bytes: Budget, open: number): void {
  check(running.size + waiting.size === open, 'every open request runs or waits');
  let cost = 0;
  for (const request of [...running, ...waiting]) {
    check(!(running.has(request) && waiting.has(request)), 'a request runs or waits, not both');
    check(
      request.cost === requestCost(request.content) + frameCost(request.addresses),
      'a request costs what it holds',
    );
    cost += request.cost;
  }
  check(bytes.used === cost && cost <= bytes.max, 'the byte budget is what the open requests cost');
}

/** The engine's deadline is the earliest of all, but for our own lateness. */
function assertDeadlines<Asked extends Request>(backend: Backend<Asked>, deadline: number, patience: number): void {
  const { workers } = backend.books;
  let earliest = Math.min(backend.drainUntil, patience);
  for (const worker of workers.values()) earliest = Math.min(earliest, ...workers.dues(worker), worker.patience.at);
  check(deadline >= earliest, 'nothing is due before the earliest deadline');
  check(deadline <= Math.max(earliest, workers.lateUntil), 'the earliest deadline is not missed');
}

/** Accepted requests are answered, given up, or open. */
function assertTotals({ requests, replies, dropped }: PppCounters, open: number): void {
  const lost =
    dropped.expired + dropped['attempts-exhausted'] + dropped['client-gone'] + dropped.aborted + dropped.drained;
  check(requests === replies + lost + open, 'accepted requests are answered, given up or open');
}
