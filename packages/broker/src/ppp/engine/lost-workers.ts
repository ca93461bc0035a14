/** Paranoid Pirate: workers that are lost or dismissed. Rules 11 to 13, 16, 20 and 21; `dispatcher.ts` finds other workers for their jobs. */
import type { Dispatcher } from './dispatcher.js';
import type { PppWorkerLoss } from './events.js';
import type { Output } from './output.js';
import type { BrokerState, Request, Worker } from './state.js';

/** Removes workers, and has their jobs done by others. */
export class LostWorkers<Asked extends Request> {
  readonly #state: BrokerState<Asked>;
  readonly #out: Output<unknown>;
  readonly #dispatcher: Dispatcher<Asked>;

  constructor(state: BrokerState<Asked>, out: Output<unknown>, dispatcher: Dispatcher<Asked>) {
    this.#state = state;
    this.#out = out;
    this.#dispatcher = dispatcher;
  }

  /** Rules 20 and 21. All are forgotten before the first job is resent, or it could go to one of them. */
  dismiss(workers: readonly Worker<Asked>[], reason: PppWorkerLoss = 'dismissed'): void {
    for (const worker of workers) this.forget(worker, reason);
    this.#dispatcher.recover(workers);
  }

  /** Rules 11 to 13: nothing more is sent to this worker. */
  lose(worker: Worker<Asked>, reason: PppWorkerLoss): void {
    this.forget(worker, reason);
    this.#dispatcher.recover([worker]);
  }

  /** Removes the worker from all tables; its job still has to be recovered. */
  forget(worker: Worker<Asked>, reason: PppWorkerLoss): void {
    const { workers, idle, jobs } = this.#state;
    workers.remove(worker);
    idle.remove(worker.idle);
    jobs?.remove(worker.jobExpiry);
    this.#out.counters.workersLost++;
    this.#out.effects.push({ kind: 'worker-lost', peer: worker.peer, reason });
  }

  /** Rules 11 and 16: silence, and jobs that take too long. */
  expire(): void {
    const { workers, jobs } = this.#state;
    const { now } = this.#out;
    const lost: Worker<Asked>[] = [];
    for (let worker = workers.takeExpired(now); worker !== undefined; worker = workers.takeExpired(now)) {
      this.forget(worker, 'expired');
      lost.push(worker);
    }
    for (let worker = jobs?.takeDue(now); worker !== undefined; worker = jobs?.takeDue(now)) {
      this.forget(worker, 'job-timeout');
      lost.push(worker);
    }
    this.#dispatcher.recover(lost);
  }
}
