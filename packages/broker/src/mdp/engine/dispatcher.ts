/**
 * Majordomo broker: a request's path from acceptance to its end, answered or given up. Rules 2, 4, 14 and 17 to 22; `engine.ts` decides which
 * peer may send what.
 */
import type { MdpBody, MdpClientRequest, MdpWorkerFinal, MdpWorkerPartial } from '@proj/frames/mdp';
import type { Peer } from '@proj/transport';
import { setSince } from '@proj/transport/engine';
import { requestCost } from '../../shared/cost.js';
import { chooseDisplaced, type Hoard, surplusOf } from '../../shared/displacement.js';
import { sharerOf } from '../../shared/names.js';
import type { RemovableQueue } from '../../shared/removable-queue.js';
import type { MdpBrokerSettings } from '../options.js';
import type { MdpLostClient, MdpRefusal, MdpRequestLoss } from './events.js';
import type { Output } from './output.js';
import { OwnServiceRunner } from './management/own-services.js';
import { PartialReplies } from './partials.js';
import { framingOf, type ClientEntry, type Request, RequestPool, type Service, type Worker } from './records.js';
import type { BrokerState } from './state.js';

/** Accepts requests, finds a worker for each, and makes sure that none is lost or answered twice. */
export class Dispatcher {
  /** Rule 29. */
  readonly own: OwnServiceRunner;
  readonly #settings: MdpBrokerSettings;
  readonly #state: BrokerState;
  readonly #out: Output;
  readonly #requests = new RequestPool();
  readonly #perhapsEmpty: Service[] = [];
  #open = 0;

  constructor(settings: MdpBrokerSettings, state: BrokerState, out: Output) {
    this.#settings = settings;
    this.#state = state;
    this.#out = out;
    this.own = new OwnServiceRunner(state, out, this);
  }

  /** Requests accepted and neither answered nor given up. */
  get open(): number {
    return this.#open;
  }

  /** When {@link expire} is due. */
  get deadline(): number {
    return Math.min(this.#state.expiry.deadline, this.#state.errands.deadline);
  }

  /** Rules 4, 18, 19 and 21: gives the request to an idle worker or queues it, or refuses it. */
  accept(peer: Peer, command: MdpClientRequest): void {
    const { clients, services } = this.#state;
    const known = { client: clients.find(peer.key), service: services.find(command.version, command.service) };
    const cost = requestCost(command.body);
    const refusal = this.#refusal(command, peer, known.client, known.service, cost);
    if (refusal !== undefined) {
      this.refuse(peer, command, refusal);
      return;
    }
    const client = known.client ?? clients.add(peer);
    const service = known.service ?? services.add(command.version, command.service, sharerOf(peer));
    const request = this.#requests.open(client, service, framingOf(command), command.body);
    request.cost = cost;
    client.open++;
    this.#open++;
    this.#out.counters.requests++;
    service.figures.requests++;
    this.#place(request, 'back');
  }

  /** Refuses a request that was not accepted. */
  refuse(peer: Peer, { version, service, body }: MdpClientRequest, reason: MdpRefusal): void {
    this.#state.services.figuresOf(version, service)?.ended(reason);
    this.#out.dropRequest(reason, peer, service);
    this.#out.release(body);
  }

  /** Rules 20 and 21: a worker without a job takes the next request, or joins the idle workers as the last. */
  free(worker: Worker): void {
    const request = worker.service.queue.shift();
    if (request === undefined) {
      setSince(worker, this.#out.now);
      worker.service.idle.push(worker.idle);
      this.#state.workers.renew(worker, this.#out.now);
    } else {
      this.unwait(request);
      this.#dispatch(request, worker);
    }
  }

  /** Rules 2 and 22: forwards the PARTIAL at once, or keeps it if the client can take only one reply. */
  partial(worker: Worker, request: Request, { body }: MdpWorkerPartial): void {
    const parts = (worker.parts ??= new PartialReplies());
    if (request.framing.version === '0.1') parts.collect(body, this.#settings, this.#state.bytes);
    else {
      if (this.answer(request, 'client-partial', body)) parts.forwarded = true;
      this.#out.release(body);
    }
  }

  /** Rules 2 and 22: FINAL ends the request, whatever happens to the reply, and frees the worker. */
  final(worker: Worker, request: Request, command: MdpWorkerFinal): void {
    let { outcome }: { outcome: string } = request.client;
    const body = worker.parts === undefined ? command.body : worker.parts.join(command.body, this.#settings);
    if (body !== undefined) {
      this.answer(request, 'client-final', body);
      this.#out.release(body);
    } else {
      outcome = 'reply-too-large';
      this.#out.dropReply('reply-too-large', request.client.peer, request.service.name);
    }
    this.#out.counters.replies++;
    worker.done++;
    request.service.figures.finished(request, this.#out.now, outcome);
    this.close(request);
    this.#unburden(worker);
    if (!worker.isLeaving) this.free(worker);
  }

  /** Rule 14: the jobs of lost workers go to idle workers or to the front of the queue, or are given up. */
  recover(lost: readonly Worker[]): void {
    for (const worker of lost) {
      this.mayBeEmpty(worker.service);
      const { request, parts } = worker;
      this.#unburden(worker);
      if (request !== undefined) this.retry(request, parts?.forwarded === true);
    }
  }

  /**
   * Rule 14: another worker gets the request, or it is given up; `forwarded` says that the client has received a part of the reply. `kept`,
   * here and below: a handler inside the broker keeps the body and may change it.
   */
  retry(request: Request, forwarded: boolean, kept?: 'kept'): void {
    const loss = this.#lossOf(request, forwarded);
    if (loss !== undefined) {
      this.giveUp(request, loss, kept);
      return;
    }
    if (kept !== undefined) request.copy();
    this.#out.counters.resends++;
    request.service.figures.resends++;
    this.#place(request, 'front');
  }

  /**
   * A client has gone. Nobody gets what it has waiting, which is dropped a slice at a time. Its running requests finish, but the replies are
   * dropped: the id may return as another client.
   */
  clientGone(peer: Peer, outcome: MdpLostClient = 'client-gone'): void {
    const client = this.#state.clients.find(peer.key);
    if (client === undefined) return;
    this.#state.clients.leave(client);
    client.outcome = outcome;
    for (const queue of client.waiting.values()) queue.first?.service.queue.retire(queue);
    this.#state.errands.begin(client, this.#dropLeft(client), this.#out.now);
    for (const run of client.runs ?? []) this.#out.effects.push({ kind: 'cancel', run: run.id, reason: 'client-gone' });
  }

  /** Rule 17: gives up requests that have waited too long, and those that clients left behind. */
  expire(): void {
    this.#state.errands.goOn(this.#out.now);
    for (const request of this.#state.expiry.takeExpired(this.#out.now)) {
      this.giveUp(request, request.service.workers === 0 ? 'expired-unserved' : 'expired-busy');
    }
  }

  /** Rule 24. */
  giveUpWaiting(): void {
    for (const service of this.#state.services.values()) {
      for (const request of service.queue.values()) this.giveUp(request, 'drained');
    }
    this.#state.errands.clear();
  }

  /** Gives up a request that waits, or whose worker or handler is lost. */
  giveUp(request: Request, reason: MdpRequestLoss, kept?: 'kept'): void {
    if (request.service.queue.remove(request)) this.unwait(request);
    const { client, service } = request;
    service.figures.ended(reason === 'client-gone' ? client.outcome : reason);
    this.#out.dropRequest(reason, client.peer, service.name);
    this.close(request, kept);
    this.mayBeEmpty(service);
  }

  /** The service may have lost its last worker or request. */
  mayBeEmpty(service: Service): void {
    this.#perhapsEmpty.push(service);
  }

  /** Ends a step: forgets services without workers and requests. Not earlier, since a job could return to one of them. */
  tidy(): void {
    if (this.#perhapsEmpty.length === 0) return;
    for (const service of this.#perhapsEmpty) {
      if (this.#state.services.tidy(service)) this.#state.expiry.forget(service);
    }
    this.#perhapsEmpty.length = 0;
  }

  /** Sends a reply, or a part of one, in the client's framing. Returns false if the client is gone. */
  answer({ client, framing, service }: Request, kind: 'client-partial' | 'client-final', body: MdpBody): boolean {
    if (client.gone) {
      this.#out.dropReply('reply-undeliverable', client.peer, service.name);
      return false;
    }
    const { version, leadingEmpty } = framing;
    if (kind === 'client-final') {
      this.#out.send(client.peer, { kind, version, leadingEmpty, service: service.name, body });
    } else {
      this.#out.counters.partials++;
      this.#out.send(client.peer, { kind, version: '0.2', leadingEmpty, service: service.name, body });
    }
    return true;
  }

  /** A worker, or a handler inside the broker, starts the request. */
  begun(request: Request): void {
    request.service.figures.dispatched(request, this.#out.now);
  }

  /** The request has ended: the broker keeps nothing of it. */
  close(request: Request, kept?: 'kept'): void {
    const { body, client, cost } = request;
    this.#open--;
    this.#state.bytes.give(cost);
    if (--client.open === 0) this.#state.clients.rest(client);
    if (kept === undefined) this.#out.release(body);
    this.#requests.close(request);
  }

  /** The request has left its queue. */
  unwait(request: Request): void {
    this.#state.expiry.stop(request);
    request.leave(this.#state.slack);
    this.#state.holders.add(request.client.held, -request.cost);
  }

  /** Why the request is refused. If it is not, its cost has been taken from the byte budget. */
  #refusal(
    command: MdpClientRequest,
    peer: Peer,
    client: ClientEntry | undefined,
    service: Service | undefined,
    cost: number,
  ): MdpRefusal | undefined {
    const { services, bytes } = this.#state;
    if (command.service.length > this.#settings.serviceNameMaxBytes) return 'service-invalid';
    if ((client?.open ?? 0) >= this.#settings.clientRequestsMax) return 'client-limit';
    if (service === undefined && !services.mayAsk(sharerOf(peer))) return 'services-limit';
    if (this.#makeRoom(client, service, cost)) return undefined;
    return bytes.isTight ? 'memory' : 'queue-full';
  }

  /** Rule 18: takes the bytes from the budget. Beyond a limit, clients with far more waiting give up their newest for it. */
  #makeRoom(client: ClientEntry | undefined, service: Service | undefined, cost: number): boolean {
    const { bytes, holders } = this.#state;
    const waits = service?.canTake !== true;
    if (service?.queue.full !== true && bytes.take(cost, waits)) return true;
    // Requests that came back from workers are never refused, so there may be more than one too many.
    const lack = { places: service?.queue.excess ?? 0, bytes: cost - bytes.left(waits) };
    // In a pool every call is a client, so none has too many.
    const isPool = this.#settings.clientRequestsMax === 1;
    const anywhere = isPool ? [] : surplusOf(holders, (client?.held.amount ?? 0) + cost, hoardOf, costOf);
    const others = chooseDisplaced(lack, service?.queue.surplus(client) ?? [], anywhere);
    if (others === undefined) return false;
    for (const other of others) this.giveUp(other, 'displaced');
    return bytes.takeOver(cost, waits);
  }

  /** Rules 21 and 29: to the worker idle longest; if all are busy, to a service inside the broker. */
  #place(request: Request, where: 'front' | 'back'): void {
    const worker = request.service.idle.shift();
    const { own } = request.service;
    setSince(request, this.#out.now);
    if (worker !== undefined) this.#dispatch(request, worker);
    else if (own !== undefined && own.free > 0) this.own.run(request, own);
    else this.#wait(request, where);
  }

  #wait(request: Request, where: 'front' | 'back'): void {
    const { client, service } = request;
    const { queue } = service;
    request.settle(this.#state.slack);
    this.#state.holders.add(client.held, request.cost);
    if (where === 'front') queue.pushFront(request, client.waiting);
    else queue.push(request, client, client.waiting);
    this.#state.expiry.start(request, this.#out.now);
  }

  #dispatch(request: Request, worker: Worker): void {
    request.attempts++;
    this.begun(request);
    worker.request = request;
    this.#state.workers.renew(worker, this.#out.now);
    this.#out.counters.dispatches++;
    const { version, leadingEmpty } = worker.framing;
    const client = request.client.peer.id;
    this.#out.send(worker.peer, { kind: 'worker-request', version, leadingEmpty, client, body: request.body });
  }

  /** Others may be given up between two pieces, so each asks for the first. */
  *#dropLeft({ waiting }: ClientEntry): Generator<void, void, void> {
    for (let left = waiting.first?.first; left !== undefined; left = waiting.first?.first) {
      this.giveUp(left, 'client-gone');
      yield;
    }
  }

  /** Removes the job from the worker, with its partial replies: another worker starts anew. */
  #unburden(worker: Worker): void {
    worker.request = undefined;
    if (worker.parts === undefined) return;
    this.#state.bytes.give(worker.parts.cost);
    worker.parts = undefined;
  }

  #lossOf(request: Request, forwarded: boolean): MdpRequestLoss | undefined {
    if (request.client.gone) return 'client-gone';
    if (forwarded && !this.#settings.resendAfterPartial) return 'lost-after-partial';
    return request.attempts >= this.#settings.maxAttempts ? 'attempts-exhausted' : undefined;
  }
}

/** What a client has waiting. */
function hoardOf({ held, waiting }: ClientEntry): Hoard<Request> {
  return { held: held.amount, newest: newestOf(waiting.newest()) };
}

function* newestOf(queues: Iterable<RemovableQueue<Request>>): Generator<Request> {
  for (const queue of queues) yield* queue.newest();
}

function costOf({ cost }: Request): number {
  return cost;
}
