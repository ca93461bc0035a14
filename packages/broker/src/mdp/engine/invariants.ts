/** What must be true of the Majordomo broker's books between any two steps. Called by tests and the simulator. */
import { totalBytes } from '@proj/frames';
import { check } from '../../shared/check.js';
import { requestCost } from '../../shared/cost.js';
import type { WorkerTable } from '../../shared/worker-table.js';
import type { BrokerState } from './state.js';
import type { ClientEntry } from './clients.js';
import type { MdpBrokerCounters } from './counters.js';
import type { OwnService } from './own-services.js';
import { Request } from './requests.js';
import type { Service, Services } from './services.js';
import type { Worker } from './workers.js';

/** What the engine claims about them. */
export interface Claims {
  /** Requests accepted and neither answered nor given up. */
  readonly open: number;
  readonly counters: MdpBrokerCounters;
  readonly deadline: number;
  readonly drainUntil: number;
  /** Until when expiry is put off. */
  readonly lateUntil: number;
}

/** Throws an `Error` that names the first thing that does not agree. Linear in everything that is held. */
export function assertBooks(books: BrokerState, claims: Claims): void {
  const { open } = claims;
  const known = new Set(books.services.values());
  const running = assertWorkers(books.workers, known);
  assertRuns(books, known, running);
  const waiting = assertServices(known, books.services);
  assertRequests(running, waiting, books, open);
  assertDeadlines(books, waiting, known, claims);
  assertTotals(claims);
}

/** Each worker has one job or rests in the pool of its service; nobody shares a job. */
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
    check(parts === undefined || request !== undefined, 'nothing is kept of a job that is over');
    check(parts === undefined || parts.tooLarge || parts.bytes === totalBytes(parts.frames), 'parts are counted');
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

/** Each run has a job of its own, of its service; runs are counted, and found by the client. */
function assertRuns({ own, clients }: BrokerState, known: Set<Service>, running: Set<Request>): void {
  const perService = new Map<OwnService, number>();
  let owed = 0;
  for (const run of own.runs()) {
    const { request, own: service } = run;
    check(!running.has(request), 'a job is at one worker or run');
    check(service.homes.includes(request.service), 'a run has a job of its service');
    check(request.attempts >= 1, 'a running job was dispatched');
    check(request.client.runs?.has(run) === true, 'a client finds its runs');
    if (!request.client.gone) owed++;
    running.add(request);
    perService.set(service, (perService.get(service) ?? 0) + 1);
  }
  for (const service of own.values()) {
    check(service.running === (perService.get(service) ?? 0), 'a service inside the broker counts its runs');
    check(service.running <= service.concurrency, 'no more handlers run than may');
    check(!service.withdrawn || service.running > 0, 'what was withdrawn is kept for its last runs only');
    for (const home of service.homes) check(known.has(home) && home.own === service, 'a service has its home');
    perService.delete(service);
  }
  check(perService.size === 0, 'a run is of a service that there is');
  for (const client of clients.values()) owed -= client.runs?.size ?? 0;
  check(owed === 0, 'a client has no run that has ended');
}

function idleWorkers(services: Iterable<Service>): Set<Worker> {
  const idle = new Set<Worker>();
  for (const service of services) {
    for (const worker of service.idle.values()) {
      check(worker.service === service && !idle.has(worker), 'a worker rests in the pool of its own service');
      idle.add(worker);
    }
  }
  return idle;
}

/** No service without purpose, nobody waits while a worker rests, queues count right. */
function assertServices(known: Set<Service>, services: Services): Set<Request> {
  const waiting = new Set<Request>();
  check(services.size === known.size, 'services are counted');
  check(services.served === [...known].filter(({ workers }) => workers > 0).length, 'those with workers are counted');
  for (const service of known) {
    check(service.workers > 0 || service.queue.size > 0, 'a service has workers or requests');
    check(service.queue.size === 0 || service.idle.size === 0, 'nobody waits while a worker is idle');
    check(service.queue.size === 0 || (service.own?.free ?? 0) === 0, 'nobody waits while a handler may run');
    const before = waiting.size;
    for (const request of service.queue.values()) {
      check(request.service === service && request.taken, 'a waiting request is in its own service’s queue');
      waiting.add(request);
    }
    check(waiting.size - before === service.queue.size, 'a queue counts its requests');
  }
  return waiting;
}

/** Each open request is in one place, owed to one client, and paid for. */
function assertRequests(running: Set<Request>, waiting: Set<Request>, books: BrokerState, open: number): void {
  const { workers, clients, bytes, slack } = books;
  check(running.size + waiting.size === open, 'every open request runs or waits');
  let cost = 0;
  for (const { parts } of workers.values()) cost += parts?.cost ?? 0;
  const owed = new Map<ClientEntry, number>();
  for (const request of [...running, ...waiting]) {
    check(!(running.has(request) && waiting.has(request)), 'a request runs or waits, not both');
    const { client } = request;
    if (!client.gone) owed.set(client, (owed.get(client) ?? 0) + 1);
    if (client.gone) check(running.has(request), 'nobody waits for a client that is gone');
    else check(clients.find(client.peer.key) === client, 'the client of an open request is known');
    cost += requestCost(request.body);
  }
  check(bytes.used === cost && cost <= bytes.max, 'the byte budget is what the open requests cost');
  let held = 0;
  for (const request of waiting) held += request.slack;
  check(slack.used === held, 'slack is what waiting requests hold beyond themselves');
  let found = 0;
  for (const client of clients.values()) {
    check(client.open > 0 && !client.gone, 'a client is known for its open requests');
    check(client.open === owed.get(client), 'a client counts its open requests');
    found += waitingOf(client, waiting);
  }
  check(found === waiting.size, 'what waits is found by its client');
}

/** Number of requests that a client finds to wait. */
function waitingOf(client: ClientEntry, waiting: Set<Request>): number {
  let found = 0;
  for (const lane of client.waiting.values()) {
    check(lane.size > 0, 'a client knows of no lane without requests');
    for (const request of lane.values()) {
      check(request.client === client && waiting.has(request), 'a client finds what it has waiting');
      found++;
    }
  }
  return found;
}

/** Nothing has a deadline that is not there, and the engine's deadline is the earliest of all, but for our own lateness. */
function assertDeadlines(
  { workers, ttl }: BrokerState,
  waiting: Set<Request>,
  known: Set<Service>,
  claims: Claims,
): void {
  let earliest = claims.drainUntil;
  for (const worker of workers.values()) earliest = Math.min(earliest, ...workers.dues(worker));
  for (const deadline of ttl.values()) {
    const holder = deadline.value;
    check(holder instanceof Request ? waiting.has(holder) : known.has(holder), 'only what waits loses patience');
    earliest = Math.min(earliest, deadline.at);
  }
  check(claims.deadline >= earliest, 'nothing is due before the earliest deadline');
  check(claims.deadline <= Math.max(earliest, claims.lateUntil), 'the earliest deadline is not missed');
}

/** Accepted requests are answered, given up, or open. */
function assertTotals({ counters, open }: Claims): void {
  const { dropped } = counters;
  const lost =
    dropped['expired-unserved'] +
    dropped['expired-busy'] +
    dropped['client-gone'] +
    dropped['attempts-exhausted'] +
    dropped['lost-after-partial'] +
    dropped.drained;
  check(counters.requests === counters.replies + lost + open, 'accepted requests are answered, given up or open');
}
