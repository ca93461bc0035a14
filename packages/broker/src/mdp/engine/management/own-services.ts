/**
 * Majordomo broker, rule 29: services inside it. They take requests for which no worker is idle; a handler that fails is treated as a lost
 * worker.
 */
import type { MdpBody } from '@proj/frames/mdp';
import type { MdpOwnServiceEvent, MdpRequestLoss } from '../events.js';
import type { Output } from '../output.js';
import { OwnService, type OwnServiceSpec, type Request, type Run, type Service } from '../records.js';
import type { BrokerState } from '../state.js';

/** What happens to requests, decided by the dispatcher. `kept` says that a handler keeps the body. */
interface Requests {
  unwait(request: Request): void;
  begun(request: Request): void;
  answer(request: Request, kind: 'client-partial' | 'client-final', body: MdpBody): boolean;
  close(request: Request, kept: 'kept'): void;
  retry(request: Request, forwarded: boolean, kept: 'kept'): void;
  giveUp(request: Request, reason: MdpRequestLoss, kept: 'kept'): void;
  mayBeEmpty(service: Service): void;
}

/** Starts and ends the handlers inside the broker. */
export class OwnServiceRunner {
  readonly #state: BrokerState;
  readonly #out: Output;
  readonly #requests: Requests;

  constructor(state: BrokerState, out: Output, requests: Requests) {
    this.#state = state;
    this.#out = out;
    this.#requests = requests;
  }

  handle(event: MdpOwnServiceEvent): void {
    const { own } = this.#state;
    switch (event.kind) {
      case 'serve':
        for (const spec of event.services) this.#serve(spec);
        break;
      case 'withdraw':
        this.#withdraw(own.services.get(event.service));
        break;
      case 'own-partial': {
        const run = own.runs.get(event.run);
        if (run !== undefined && this.#requests.answer(run.request, 'client-partial', event.body)) run.forwarded = true;
        break;
      }
      case 'own-final':
        this.#onFinal(own.runs.get(event.run), event.body);
        break;
      case 'own-failed':
        this.#onFailed(own.runs.get(event.run));
        break;
    }
  }

  /** Starts a handler with this request. */
  run(request: Request, own: OwnService): void {
    const { id } = this.#state.own.begin(own, request);
    const { client, framing, body } = request;
    request.attempts++;
    this.#requests.begun(request);
    this.#out.counters.runs++;
    const { version } = framing;
    this.#out.effects.push({ kind: 'run', run: id, service: own.id, client: client.peer, version, body });
  }

  /** Rule 24: gives up the requests of all running handlers, and forgets the services. */
  end(): void {
    for (const run of this.#state.own.runs.values()) {
      this.#out.effects.push({ kind: 'cancel', run: run.id, reason: 'drained' });
      this.#state.own.end(run);
      this.#requests.giveUp(run.request, 'drained', 'kept');
    }
    for (const own of this.#state.own.services.values()) this.#remove(own);
  }

  #serve(spec: OwnServiceSpec): void {
    const { services, own, expiry } = this.#state;
    const homes = new Set(
      spec.versions.map((version) => services.find(version, spec.name) ?? services.add(version, spec.name)),
    );
    const service = new OwnService(spec, [...homes]);
    own.add(service);
    for (const home of homes) {
      home.own = service;
      if (services.join(home, service.concurrency)) expiry.change(home, this.#out.now);
    }
    this.#fill(service);
  }

  /** It accepts no more requests, and once its last handler has ended, counts as a worker less for each handler. */
  #withdraw(own: OwnService | undefined): void {
    if (own === undefined) return;
    own.withdrawn = true;
    if (own.running === 0) this.#remove(own);
  }

  #remove(own: OwnService): void {
    const { services, expiry } = this.#state;
    this.#state.own.remove(own);
    for (const home of own.homes) {
      home.own = undefined;
      if (services.leave(home, own.concurrency)) expiry.change(home, this.#out.now);
      this.#requests.mayBeEmpty(home);
    }
  }

  /** Gives it waiting requests while it may start handlers. */
  #fill(own: OwnService): void {
    while (own.free > 0) {
      const request = own.shift();
      if (request === undefined) return;
      this.#requests.unwait(request);
      this.run(request, own);
    }
  }

  #onFinal(run: Run | undefined, body: MdpBody): void {
    if (run === undefined) return;
    this.#state.own.end(run);
    this.#requests.answer(run.request, 'client-final', body);
    this.#out.counters.replies++;
    run.request.service.figures.finished(run.request, this.#out.now, run.request.client.outcome);
    this.#requests.close(run.request, 'kept');
    this.#next(run.own);
  }

  #onFailed(run: Run | undefined): void {
    if (run === undefined) return;
    this.#state.own.end(run);
    this.#requests.retry(run.request, run.forwarded, 'kept');
    this.#next(run.own);
  }

  #next(own: OwnService): void {
    if (own.withdrawn && own.running === 0) this.#remove(own);
    else this.#fill(own);
  }
}
