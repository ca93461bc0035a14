/** What must hold for the state of a Paranoid Pirate queue or pool between any two steps. Called by tests and the simulator. */
import type { DeadlineList } from '@proj/heartbeat';
import type { Budget } from '../../shared/budget.js';
import type { CallTable } from '../../shared/calls.js';
import { check } from '../../shared/check.js';
import type { ClientTable } from '../../shared/clients.js';
import { frameCost, requestCost } from '../../shared/cost.js';
import { ClientQueue } from '../../shared/fair-queue.js';
import type { Backend } from './backend.js';
import type { BrokerState, ClientEntry, ClientRequest, PoolCall, PppPoolStats, Request } from './state.js';

/** All open requests. */
interface OpenRequests<Asked extends Request> {
  readonly running: ReadonlySet<Asked>;
  readonly waiting: ReadonlySet<Asked>;
}

/**
 * The workers' side. Throws an `Error` that names the first broken invariant; linear in everything held. `deadline` is the engine's,
 * `askersDeadline` the part of it that belongs to the side that asks.
 */
export function assertBackend<Asked extends Request>(
  backend: Backend<Asked>,
  deadline: number,
  askersDeadline: number,
): OpenRequests<Asked> {
  const { state } = backend;
  const stats = backend.stats();
  const requests = { running: assertWorkers(state), waiting: assertWaiting(state) };
  assertRequests(requests, state.bytes, stats.openRequests);
  let held = 0;
  for (const request of [...requests.running, ...requests.waiting]) held += request.slack;
  check(state.slack.used === held, 'slack is what waiting requests hold beyond their bytes');
  assertDeadlines(backend, deadline, askersDeadline);
  assertTotals(stats);
  return requests;
}

/** The frontend of a queue: each open request is owed to one client, and can expire while it waits. */
export function assertQueue(
  { running, waiting }: OpenRequests<ClientRequest>,
  clients: ClientTable<ClientEntry>,
  expiries: DeadlineList<ClientRequest>,
): void {
  let orphans = 0;
  for (const request of [...running, ...waiting]) {
    const { client } = request;
    if (client.gone) orphans++;
    else check(clients.find(client.peer.key) === client, 'the client of an open request is known');
  }
  let owed = 0;
  for (const client of clients.values()) {
    check(client.open > 0 && !client.gone, 'a client is known for its open requests');
    owed += client.open;
  }
  check(owed + orphans === running.size + waiting.size, 'clients count their open requests');
  const expiring = new Set(expiries.values());
  check(expiring.size === waiting.size, 'waiting requests, and nothing else, can expire');
  const held = new Map<ClientEntry, number>();
  for (const request of waiting) {
    check(expiring.has(request), 'every waiting request can expire');
    check(
      request.client.waiting === (request.place.queue as ClientQueue<ClientRequest>).owned.queue,
      'a client finds all its waiting requests',
    );
    check(request.held === (isAtFront(request) ? 0 : request.cost), 'what waits at the front makes no room');
    held.set(request.client, (held.get(request.client) ?? 0) + request.held);
  }
  for (const client of new Set([...clients.values(), ...held.keys()]))
    check(client.held.amount === (held.get(client) ?? 0), 'clients count what may make room');
}

function isAtFront({ place }: ClientRequest): boolean {
  return place.queue instanceof ClientQueue && place.queue.client === undefined;
}

/** The calls of a pool. */
export function assertPool(
  { running, waiting }: OpenRequests<PoolCall>,
  calls: CallTable<number, PoolCall, never>,
): void {
  calls.assertInvariants();
  for (const call of calls.values()) {
    check(running.has(call) || waiting.has(call), 'an open call has an open request');
    check(call.abandoned === undefined, 'the request of an open call is not abandoned');
  }
  for (const call of [...running, ...waiting]) {
    check(calls.has(call.key) === (call.abandoned === undefined), 'a request without a call is abandoned');
  }
}

/** Each worker is idle or has a job; no two workers share a job. */
function assertWorkers<Asked extends Request>({ workers, idle, jobs }: BrokerState<Asked>): Set<Asked> {
  const running = new Set<Asked>();
  const idlers = new Set(idle.values());
  const timed = jobs === undefined ? undefined : new Set(jobs.values());
  check(idlers.size === idle.size, 'a worker is idle once');
  for (const worker of workers.values()) {
    const { request } = worker;
    check(workers.find(worker.peer) === worker, 'a worker is found by its id');
    check(idlers.delete(worker) === (request === undefined), 'a worker is idle or has a job');
    check(workers.dues(worker).every(Number.isFinite), 'a worker can expire and gets heartbeats');
    if (timed !== undefined)
      check(timed.delete(worker) === (request !== undefined), 'busy workers, and no others, are timed');
    if (request === undefined) continue;
    check(!running.has(request), 'a job is at one worker');
    check(request.attempts >= 1, 'a running job was dispatched');
    running.add(request);
  }
  check(idlers.size === 0, 'every idle worker is registered');
  check((timed?.size ?? 0) === 0, 'every timed worker is registered');
  return running;
}

/** While a worker is idle nothing waits but what clients left, and the queue counts its requests. */
function assertWaiting<Asked extends Request>({ queue, idle, errands }: BrokerState<Asked>): Set<Asked> {
  const waiting = new Set(queue.values());
  check(waiting.size === queue.size, 'the queue counts its requests');
  for (const request of waiting) {
    check(request.place.taken, 'a waiting request knows that it waits');
    if (request.abandoned === undefined) check(idle.size === 0, 'no request waits while a worker is idle');
    else check(errands.has(request.asker as object), 'a request of a client that is gone waits to be dropped');
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
      'a request costs what it keeps',
    );
    cost += request.cost;
  }
  check(bytes.used === cost && cost <= bytes.max, 'the byte budget is what the open requests cost');
}

/** The engine's deadline is the earliest of all, our own lateness aside. */
function assertDeadlines<Asked extends Request>(
  backend: Backend<Asked>,
  deadline: number,
  askersDeadline: number,
): void {
  const { workers, errands } = backend.state;
  let earliest = Math.min(backend.drainUntil, errands.deadline, askersDeadline);
  for (const worker of workers.values()) earliest = Math.min(earliest, ...workers.dues(worker), worker.jobExpiry.at);
  check(deadline >= earliest, 'nothing is due before the earliest deadline');
  check(deadline <= Math.max(earliest, workers.lateUntil), 'the earliest deadline is not missed');
}

/** Accepted requests are answered, given up, or open. */
function assertTotals({ counters: { requests, replies, dropped }, openRequests }: PppPoolStats): void {
  const lost =
    dropped.expired +
    dropped['attempts-exhausted'] +
    dropped.displaced +
    dropped['client-gone'] +
    dropped.aborted +
    dropped.drained;
  check(requests === replies + lost + openRequests, 'accepted requests are answered, given up or open');
}
