/**
 * Majordomo broker: a request's way from acceptance to its one end, answered or given up. Rules 2, 4, 14, 17 to 22, 29; which
 * peer may say what is `engine.ts`.
 */
import type { MdpBody, MdpClientRequest, MdpWorkerFinal, MdpWorkerPartial } from '@proj/frames/mdp';
import type { Peer } from '@proj/transport';
import { requestCost } from '../../shared/cost.js';
import type { BrokerState } from './state.js';
import type { MdpOwnEvent, MdpRefusal, MdpRequestLoss } from './events.js';
import { framingOf } from './framing.js';
import type { ClientEntry } from './clients.js';
import type { MdpBrokerSettings } from '../options.js';
import type { Output } from './output.js';
import { OwnService, type OwnServiceSpec, type Run } from './own-services.js';
import { PartialReplies } from './partials.js';
import { type Request, Requests } from './requests.js';
import type { Service } from './services.js';
import type { Worker } from './workers.js';

/** Accepts requests, finds each a worker, and sees to it that none is lost or answered twice. */
export class Dispatcher {
  readonly #settings: MdpBrokerSettings;
  readonly #books: BrokerState;
  readonly #out: Output;
  readonly #requests = new Requests();
  readonly #perhapsEmpty: Service[] = [];
  #open = 0;

  constructor(settings: MdpBrokerSettings, books: BrokerState, out: Output) {
    this.#settings = settings;
    this.#books = books;
    this.#out = out;
  }

  /** Requests accepted and neither answered nor given up. */
  get open(): number {
    return this.#open;
  }

  /** Rules 4, 18, 19 and 21: takes the request to an idle worker or into the queue, or refuses it. */
  accept(peer: Peer, command: MdpClientRequest): void {
    const { clients, services } = this.#books;
    const known = { client: clients.find(peer.key), service: services.find(command.version, command.service) };
    const cost = requestCost(command.body);
    const refusal = this.#refusal(command, known.client, known.service, cost);
    if (refusal !== undefined) {
      this.#out.dropRequest(refusal, peer, command.service);
      return;
    }
    const client = known.client ?? clients.add(peer);
    const service = known.service ?? services.add(command.version, command.service);
    const request = this.#requests.open(client, service, framingOf(command), command.body);
    client.open++;
    this.#open++;
    this.#out.counters.requests++;
    this.#place(request, 'back');
  }

  /** Rules 20 and 21: a worker without a job takes the next request, or rests as the most recently used one. */
  free(worker: Worker): void {
    const request = worker.service.queue.shift();
    if (request === undefined) {
      worker.service.idle.release(worker.idle);
      this.#books.workers.renew(worker, this.#out.now);
    } else {
      this.#unwait(request);
      this.#dispatch(request, worker);
    }
  }

  /** Rules 2 and 22: forwarded at once, or kept when the client can take one reply only. */
  partial(worker: Worker, request: Request, { body }: MdpWorkerPartial): void {
    const parts = (worker.parts ??= new PartialReplies());
    if (request.framing.version === '0.1') parts.collect(body, this.#settings, this.#books.bytes);
    else {
      if (this.#answer(request, 'client-partial', body)) parts.forwarded = true;
      this.#out.release(body);
    }
  }

  /** Rules 2 and 22: FINAL closes the request, whatever becomes of the reply, and frees the worker. */
  final(worker: Worker, request: Request, command: MdpWorkerFinal): void {
    const body = worker.parts === undefined ? command.body : worker.parts.join(command.body, this.#settings);
    if (body !== undefined) {
      this.#answer(request, 'client-final', body);
      this.#out.release(body);
    } else this.#out.dropReply('reply-too-large', request.client.peer, request.service.name);
    this.#out.counters.replies++;
    this.#close(request);
    this.#relieve(worker);
    this.free(worker);
  }

  /** Rule 14: the jobs of workers that are no more go to the next ones, or to the front of the queue, or are given up. */
  recover(lost: readonly Worker[]): void {
    for (const worker of lost) {
      this.#perhapsEmpty.push(worker.service);
      const { request, parts } = worker;
      this.#relieve(worker);
      if (request === undefined) continue;
      const loss = this.#lossOf(request, parts);
      if (loss === undefined) this.#resend(request);
      else this.abandon(request, loss);
    }
  }

  /** Nobody waits for these any more. What runs finishes; its reply is dropped, since the id may come back as somebody else. */
  clientGone(peer: Peer): void {
    const client = this.#books.clients.find(peer.key);
    if (client === undefined) return;
    this.#books.clients.leave(client);
    for (const lane of client.waiting.values()) {
      for (const request of lane.values()) this.abandon(request, 'client-gone');
    }
    for (const run of client.runs ?? []) this.#out.effects.push({ kind: 'cancel', run: run.id, reason: 'client-gone' });
  }

  /** Rule 29. */
  onOwn(event: Exclude<MdpOwnEvent, { kind: 'own-request' }>): void {
    switch (event.kind) {
      case 'serve':
        for (const spec of event.services) this.#serve(spec);
        break;
      case 'withdraw':
        this.#withdraw(this.#books.own.find(event.service));
        break;
      case 'own-partial': {
        const run = this.#books.own.run(event.run);
        if (run !== undefined && this.#answer(run.request, 'client-partial', event.body)) run.forwarded = true;
        break;
      }
      case 'own-final':
        this.#ownFinal(this.#books.own.run(event.run), event.body);
        break;
      case 'own-failed':
        this.#ownFailed(this.#books.own.run(event.run));
        break;
    }
  }

  /** Rules 24 and 29: gives up what handlers inside the broker still work at, and forgets their services. */
  endOwn(): void {
    for (const run of this.#books.own.runs()) {
      this.#out.effects.push({ kind: 'cancel', run: run.id, reason: 'drained' });
      this.#books.own.end(run);
      this.#abandon(run.request, 'drained', 'kept');
    }
    for (const own of this.#books.own.values()) this.#remove(own);
  }

  /** Rule 17: gives up what has waited too long. */
  expire(): void {
    for (const request of this.#books.ttl.takeExpired(this.#out.now)) {
      this.abandon(request, request.service.workers === 0 ? 'expired-unserved' : 'expired-busy');
    }
  }

  /** Rule 24: gives up all that waits. */
  abandonWaiting(): void {
    for (const service of this.#books.services.values()) {
      for (const request of service.queue.values()) this.abandon(request, 'drained');
    }
  }

  /** Gives up a request that waits, or whose worker is no more. */
  abandon(request: Request, reason: MdpRequestLoss): void {
    if (request.service.queue.remove(request)) this.#unwait(request);
    this.#abandon(request, reason);
  }

  /** Ends a step: forgets services that nobody serves and nobody waits for. Not earlier, or a job could return to one of them. */
  tidy(): void {
    if (this.#perhapsEmpty.length === 0) return;
    for (const service of this.#perhapsEmpty) {
      if (this.#books.services.tidy(service)) this.#books.ttl.forget(service);
    }
    this.#perhapsEmpty.length = 0;
  }

  /** Why the request is not taken. When it is, its cost has been taken from the byte budget. */
  #refusal(
    command: MdpClientRequest,
    client: ClientEntry | undefined,
    service: Service | undefined,
    cost: number,
  ): MdpRefusal | undefined {
    if (command.service.length > this.#settings.serviceNameMaxBytes) return 'service-invalid';
    if ((client?.open ?? 0) >= this.#settings.clientRequestsMax) return 'client-limit';
    if (service === undefined && !this.#books.services.mayAsk(client?.waiting.size ?? 0)) return 'services-limit';
    if (this.#books.isTight && !mayServeNow(service)) return 'memory';
    if (service?.queue.full === true) return 'queue-full';
    return this.#books.bytes.take(cost) ? undefined : 'queue-full';
  }

  #abandon(request: Request, reason: MdpRequestLoss, body?: 'kept'): void {
    this.#out.dropRequest(reason, request.client.peer, request.service.name);
    this.#close(request, body);
    this.#perhapsEmpty.push(request.service);
  }

  /** Rules 21 and 29: to the worker that has been idle longest; while all are busy, to a service inside the broker. */
  #place(request: Request, where: 'front' | 'back'): void {
    const worker = request.service.idle.take();
    if (worker !== undefined) {
      this.#dispatch(request, worker);
      return;
    }
    const { own } = request.service;
    if (own !== undefined && own.free > 0) this.#run(request, own);
    else this.#wait(request, where);
  }

  #wait(request: Request, where: 'front' | 'back'): void {
    const { queue } = request.service;
    const { peer, waiting } = request.client;
    request.settle(this.#books.slack);
    if (where === 'front') queue.pushFront(request, waiting);
    else queue.push(request, peer.key, waiting);
    this.#books.ttl.start(request, this.#out.now);
  }

  #unwait(request: Request): void {
    this.#books.ttl.stop(request);
    request.leave(this.#books.slack);
  }

  #dispatch(request: Request, worker: Worker): void {
    request.attempts++;
    worker.request = request;
    this.#books.workers.renew(worker, this.#out.now);
    this.#out.counters.dispatches++;
    const { version, leadingEmpty } = worker.framing;
    const client = request.client.peer.id;
    this.#out.send(worker.peer, { kind: 'worker-request', version, leadingEmpty, client, body: request.body });
  }

  /** The worker has no job any more, and what it had answered of it goes with it: another one begins anew. */
  #relieve(worker: Worker): void {
    worker.request = undefined;
    if (worker.parts === undefined) return;
    this.#books.bytes.give(worker.parts.cost);
    worker.parts = undefined;
  }

  #lossOf(request: Request, parts: Pick<PartialReplies, 'forwarded'> | undefined): MdpRequestLoss | undefined {
    if (request.client.gone) return 'client-gone';
    if (parts?.forwarded === true && !this.#settings.resendAfterPartial) return 'lost-after-partial';
    return request.attempts >= this.#settings.maxAttempts ? 'attempts-exhausted' : undefined;
  }

  #resend(request: Request): void {
    this.#out.counters.resends++;
    this.#place(request, 'front');
  }

  #serve(spec: OwnServiceSpec): void {
    const { services, own, ttl } = this.#books;
    const homes = new Set(
      spec.versions.map((version) => services.find(version, spec.name) ?? services.add(version, spec.name)),
    );
    const service = new OwnService(spec, [...homes]);
    own.add(service);
    for (const home of homes) {
      home.own = service;
      if (services.join(home, service.concurrency)) ttl.change(home, this.#out.now);
    }
    this.#fill(service);
  }

  /** It takes no more requests, and is a worker less for each of its handlers once the last of these has ended. */
  #withdraw(own: OwnService | undefined): void {
    if (own === undefined) return;
    own.withdrawn = true;
    if (own.running === 0) this.#remove(own);
  }

  #remove(own: OwnService): void {
    const { services, ttl } = this.#books;
    this.#books.own.remove(own);
    for (const home of own.homes) {
      home.own = undefined;
      if (services.leave(home, own.concurrency)) ttl.change(home, this.#out.now);
      this.#perhapsEmpty.push(home);
    }
  }

  /** Gives it what waits, as far as it may run. */
  #fill(own: OwnService): void {
    while (own.free > 0) {
      const request = own.next();
      if (request === undefined) return;
      this.#unwait(request);
      this.#run(request, own);
    }
  }

  #run(request: Request, own: OwnService): void {
    const { id } = this.#books.own.begin(own, request);
    const { client, framing, body } = request;
    request.attempts++;
    this.#out.counters.runs++;
    this.#out.effects.push({
      kind: 'run',
      run: id,
      service: own.id,
      client: client.peer,
      version: framing.version,
      body,
    });
  }

  #ownFinal(run: Run | undefined, body: MdpBody): void {
    if (run === undefined) return;
    this.#books.own.end(run);
    this.#answer(run.request, 'client-final', body);
    this.#out.counters.replies++;
    this.#close(run.request, 'kept');
    this.#goOn(run.own);
  }

  /** As when a worker is lost: somebody else has the job, or the same service again, or it is given up. */
  #ownFailed(run: Run | undefined): void {
    if (run === undefined) return;
    const { own, request } = run;
    this.#books.own.end(run);
    const loss = this.#lossOf(request, run);
    if (loss === undefined) {
      request.copy();
      this.#resend(request);
    } else this.#abandon(request, loss, 'kept');
    this.#goOn(own);
  }

  #goOn(own: OwnService): void {
    if (own.withdrawn && own.running === 0) this.#remove(own);
    else this.#fill(own);
  }

  /** Sends (a part of) the reply, framed as the client speaks; tells whether the client is still there to get it. */
  #answer({ client, framing, service }: Request, kind: 'client-partial' | 'client-final', body: MdpBody): boolean {
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

  /** The request has come to its end: nothing of it is kept, but by a handler inside the broker, which may do with its body what it likes. */
  #close(request: Request, kept?: 'kept'): void {
    const { body, client } = request;
    this.#open--;
    this.#books.bytes.give(requestCost(body));
    if (--client.open === 0) this.#books.clients.rest(client);
    if (kept === undefined) this.#out.release(body);
    this.#requests.close(request);
  }
}

/** Whether a request for it need not wait. */
function mayServeNow(service: Service | undefined): boolean {
  return service !== undefined && (service.idle.size > 0 || (service.own?.free ?? 0) > 0);
}
