/** Majordomo broker: workers that are lost or dismissed. Rules 13, 14, 28 and 30; `dispatcher.ts` finds other workers for their jobs. */
import type { Dispatcher } from './dispatcher.js';
import type { MdpWorkerLoss } from './events.js';
import type { Output } from './output.js';
import type { Worker } from './records.js';
import type { BrokerState } from './state.js';

/** Removes workers, and has their jobs done by others. */
export class LostWorkers {
  readonly #state: BrokerState;
  readonly #out: Output;
  readonly #dispatcher: Dispatcher;

  constructor(state: BrokerState, out: Output, dispatcher: Dispatcher) {
    this.#state = state;
    this.#out = out;
    this.#dispatcher = dispatcher;
  }

  /** Rules 28 and 30: they are told. All are forgotten before the first job is resent, or it could go to one of them. */
  dismiss(workers: readonly Worker[], reason: MdpWorkerLoss = 'dismissed'): void {
    for (const worker of workers) {
      this.#out.disconnect(worker.peer, worker.framing);
      this.forget(worker, reason);
    }
    this.#dispatcher.recover(workers);
  }

  /** Rule 14: nothing more is sent to this worker. */
  lose(worker: Worker, reason: MdpWorkerLoss): void {
    this.forget(worker, reason);
    this.#dispatcher.recover([worker]);
  }

  /** Removes the worker from all tables; its job still has to be recovered. */
  forget(worker: Worker, reason: MdpWorkerLoss): void {
    const { peer, service, framing } = worker;
    this.#state.workers.remove(worker);
    service.idle.remove(worker.idle);
    if (this.#state.services.leave(service)) this.#state.expiry.change(service, this.#out.now);
    this.#out.counters.workersLost++;
    this.#out.effects.push({ kind: 'worker-lost', peer, service: service.name, version: framing.version, reason });
  }

  /** Rule 13: silence. */
  expire(): void {
    const { workers } = this.#state;
    const { now } = this.#out;
    const lost: Worker[] = [];
    for (let worker = workers.takeExpired(now); worker !== undefined; worker = workers.takeExpired(now)) {
      this.forget(worker, 'expired');
      lost.push(worker);
    }
    this.#dispatcher.recover(lost);
  }
}
