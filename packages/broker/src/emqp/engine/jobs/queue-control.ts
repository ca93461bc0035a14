/** EventMQ broker: what an operator does to a queue. Rules 38 and 39. */
import type { BrokerState } from '../state.js';
import type { Output } from '../output.js';
import type { Dispatcher } from './dispatcher.js';
import type { JobEndings } from './job-endings.js';
import type { Queue } from './queues.js';

/** Pauses, resumes and purges queues. What concerns every waiting job is done a slice at a time. */
export class QueueControl {
  readonly #state: BrokerState;
  readonly #out: Output;
  readonly #dispatcher: Dispatcher;
  readonly #endings: JobEndings;

  constructor(state: BrokerState, out: Output, dispatcher: Dispatcher, endings: JobEndings) {
    this.#state = state;
    this.#out = out;
    this.#dispatcher = dispatcher;
    this.#endings = endings;
  }

  /** Rule 38: waiting jobs stay in the queue. */
  pause(queue: Queue): void {
    queue.isPaused = true;
    this.#state.patience.remove(queue.patience);
  }

  /** Rule 38: free workers take waiting jobs; without workers, the queue's jobs time out as usual. */
  resume(queue: Queue): void {
    queue.isPaused = false;
    if (!queue.isHeld) this.#hold(queue, this.#handOut(queue));
  }

  /** Rule 39: gives up all waiting jobs of the queue, oldest first. */
  purge(queue: Queue): void {
    this.#hold(queue, this.#purging(queue, this.#out.now));
  }

  #hold(queue: Queue, work: Generator<void, void, void>): void {
    queue.isHeld = true;
    this.#state.patience.remove(queue.patience);
    this.#state.errands.begin(queue, work, this.#out.now);
  }

  /** What arrives later than `now` stays. */
  *#purging(queue: Queue, now: number): Generator<void, void, void> {
    for (let job = queue.oldest; job !== undefined && job.waitingSince <= now; job = queue.oldest) {
      this.#endings.lose(job, 'purged');
      yield;
    }
    yield* this.#handOut(queue);
  }

  *#handOut(queue: Queue): Generator<void, void, void> {
    while (!queue.isPaused && this.#dispatcher.handOut(queue)) yield;
    queue.isHeld = false;
    this.#dispatcher.beginPatience(queue);
    this.#endings.reviewLater(queue);
  }
}
