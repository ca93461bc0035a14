/** What must hold for the Majordomo broker's state between any two steps. Called by tests and the simulator. */
import { totalBytes } from '@proj/frames';
import { check } from '../../shared/check.js';
import { requestCost } from '../../shared/cost.js';
import type { WorkerTable } from '../../shared/worker-table.js';
import { type ClientEntry, type OwnService, Request, type Service, type Worker } from './records.js';
import type { BrokerState, MdpBrokerStats, Services } from './state.js';

/**
 * Throws an `Error` that names the first broken invariant. Linear in everything held. `deadline` is the engine's, which includes
 * `drainUntil`.
 */
export function assertState(state: BrokerState, stats: MdpBrokerStats, deadline: number, drainUntil: number): void {
  const known = new Set(state.services.values());
  const running = assertWorkers(state.workers, known);
  assertRuns(state, known, running);
  const waiting = assertServices(known, state.services);
  assertRequests(running, waiting, state, stats.openRequests);
  assertDeadlines(state, waiting, known, deadline, drainUntil);
  assertTotals(stats);
}

/** Each worker is idle or has a job; no two workers share a job. */
function assertWorkers(workers: WorkerTable<Worker>, known: Set<Service>): Set<Request> {
  const running = new Set<Request>();
  const idle = idleWorkers(known);
  const perService = new Map<Service, number>();
  for (const worker of workers.values()) {
    const { request, service, parts } = worker;
    check(workers.find(worker.peer) === worker, 'a worker is found by its id');
    check(known.has(service), 'the service of a worker exists');
    check(idle.has(worker) === (request === undefined), 'a worker is idle or has a job');
    check(workers.dues(worker).every(Number.isFinite), 'a worker can expire and gets heartbeats');
    check(parts === undefined || request !== undefined, 'partial replies are kept only while the job runs');
    check(
      parts === undefined || parts.tooLarge || parts.bytes === totalBytes(parts.frames),
      'partial replies are counted',
    );
    if (request !== undefined) {
      check(!running.has(request), 'a job is at one worker');
      check(request.service === service, 'a job is of its worker’s service');
      check(request.attempts >= 1, 'a running job was dispatched');
      running.add(request);
    }
    idle.delete(worker);
    perService.set(service, (perService.get(service) ?? 0) + 1);
  }
  check(idle.size === 0, 'every idle worker is registered');
  for (const service of known) {
    const workersOf = (perService.get(service) ?? 0) + (service.own?.concurrency ?? 0);
    check(service.workers === workersOf, 'a service counts its workers');
  }
  return running;
}

/** Each run has a request of its own, of its service; the service counts it and the client finds it. */
function assertRuns({ own, clients }: BrokerState, known: Set<Service>, running: Set<Request>): void {
  const perService = new Map<OwnService, number>();
  let owed = 0;
  for (const run of own.runs.values()) {
    const { request, own: service } = run;
    check(!running.has(request), 'a job is at one worker or run');
    check(service.homes.includes(request.service), 'a run has a job of its service');
    check(request.attempts >= 1, 'a running job was dispatched');
    check(request.client.runs?.has(run) === true, 'a client finds its runs');
    if (!request.client.gone) owed++;
    running.add(request);
    perService.set(service, (perService.get(service) ?? 0) + 1);
  }
  for (const service of own.services.values()) {
    check(service.running === (perService.get(service) ?? 0), 'a service inside the broker counts its runs');
    check(service.running <= service.concurrency, 'no more handlers run than concurrency allows');
    check(!service.withdrawn || service.running > 0, 'a withdrawn service is kept only for its last runs');
    for (const home of service.homes)
      check(known.has(home) && home.own === service, 'a service inside the broker has its home');
    perService.delete(service);
  }
  check(perService.size === 0, 'a run belongs to a known service');
  for (const client of clients.values()) owed -= client.runs?.size ?? 0;
  check(owed === 0, 'a client has no run that has ended');
}

function idleWorkers(services: Iterable<Service>): Set<Worker> {
  const idle = new Set<Worker>();
  for (const service of services) {
    for (const worker of service.idle.values()) {
      check(worker.service === service && !idle.has(worker), 'a worker is idle in its own service');
      idle.add(worker);
    }
  }
  return idle;
}

/** Each service has a worker or a request, nothing but what clients left waits while a worker is idle, and queues count their requests. */
function assertServices(known: Set<Service>, services: Services): Set<Request> {
  const waiting = new Set<Request>();
  services.assertInvariants();
  for (const service of known) {
    check(service.workers > 0 || service.queue.size > 0, 'a service has workers or requests');
    const before = waiting.size;
    for (const request of service.queue.values()) {
      check(request.client.gone || !service.canTake, 'no request waits while a worker is idle or a handler may start');
      check(request.service === service && request.taken, 'a waiting request is in its own service’s queue');
      waiting.add(request);
    }
    check(waiting.size - before === service.queue.size, 'a queue counts its requests');
  }
  return waiting;
}

/** Each open request is in one place, is owed to one client, and is paid for. */
function assertRequests(running: Set<Request>, waiting: Set<Request>, state: BrokerState, open: number): void {
  const { workers, clients, errands, bytes, slack } = state;
  check(running.size + waiting.size === open, 'every open request runs or waits');
  let cost = 0;
  for (const { parts } of workers.values()) cost += parts?.cost ?? 0;
  const owed = new Map<ClientEntry, number>();
  for (const request of [...running, ...waiting]) {
    check(!(running.has(request) && waiting.has(request)), 'a request runs or waits, not both');
    const { client } = request;
    if (!client.gone) owed.set(client, (owed.get(client) ?? 0) + 1);
    if (client.gone)
      check(running.has(request) || errands.has(client), 'a request of a client that is gone waits to be dropped');
    else check(clients.find(client.peer.key) === client, 'the client of an open request is known');
    cost += requestCost(request.body);
  }
  check(bytes.used === cost && cost <= bytes.max, 'the byte budget is what the open requests cost');
  let held = 0;
  for (const request of waiting) held += request.slack;
  check(slack.used === held, 'slack is what waiting requests hold beyond their bytes');
  let found = 0;
  for (const client of clients.values()) {
    check(client.open > 0 && !client.gone, 'a client is known for its open requests');
    check(client.open === owed.get(client), 'a client counts its open requests');
    found += waitingOf(client, waiting);
  }
  const gone = [...waiting].map(({ client }) => client).filter((client) => client.gone);
  for (const client of new Set(gone)) found += waitingOf(client, waiting);
  check(found === waiting.size, 'a client finds all its waiting requests');
}

/** Number of waiting requests that a client lists. */
function waitingOf(client: ClientEntry, waiting: Set<Request>): number {
  let found = 0;
  let cost = 0;
  for (const queue of client.waiting.values()) {
    check(queue.size > 0, 'a client lists no empty queue');
    for (const request of queue.values()) {
      check(request.client === client && waiting.has(request), 'a client finds its own waiting requests');
      found++;
      cost += requestCost(request.body);
    }
  }
  check(client.held.amount === cost, 'a client knows what its waiting requests cost');
  return found;
}

/** Only waiting requests and their services expire, and the engine's deadline is the earliest of all, our own lateness aside. */
function assertDeadlines(
  { workers, expiry, errands }: BrokerState,
  waiting: Set<Request>,
  known: Set<Service>,
  deadline: number,
  drainUntil: number,
): void {
  let earliest = Math.min(drainUntil, errands.deadline, expiry.deadline);
  for (const worker of workers.values()) earliest = Math.min(earliest, ...workers.dues(worker));
  for (const { value } of expiry.values())
    check(value instanceof Request ? waiting.has(value) : known.has(value), 'only waiting requests expire');
  check(deadline >= earliest, 'nothing is due before the earliest deadline');
  check(deadline <= Math.max(earliest, workers.lateUntil), 'the earliest deadline is not missed');
}

/** Accepted requests are answered, given up, or open. */
function assertTotals({ counters, openRequests }: MdpBrokerStats): void {
  const { dropped } = counters;
  const lost =
    dropped['expired-unserved'] +
    dropped['expired-busy'] +
    dropped['client-gone'] +
    dropped['attempts-exhausted'] +
    dropped['lost-after-partial'] +
    dropped.displaced +
    dropped.drained;
  check(
    counters.requests === counters.replies + lost + openRequests,
    'accepted requests are answered, given up or open',
  );
}
