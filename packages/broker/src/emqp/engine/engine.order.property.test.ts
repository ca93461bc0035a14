/** Rule 13, exactly: which worker gets which job, compared with a slow and simple model. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { BrokerUnderTest } from '../../../test/emqp/broker-under-test.js';

interface Place {
  readonly queue: string;
  readonly weight: number;
  /** When the worker last got a job from it; at first, the order of INFORM. */
  served: number;
}

interface ModelWorker {
  readonly name: string;
  readonly places: Place[];
  slots: number;
  /** When it last got a job, or a slot if it had none. */
  used: number;
}

/** Workers, queues and a clock that counts. */
class Model {
  readonly #workers: ModelWorker[] = [];
  readonly #waiting = new Map<string, { readonly client: string; readonly id: string }[]>();
  #time = 0;

  inform(name: string, places: readonly (readonly [queue: string, weight: number])[]): void {
    const kept = new Map(places);
    const subscriptions = [...kept].map(([queue, weight]): Place => ({ queue, weight, served: this.#time++ }));
    this.#workers.push({ name, places: subscriptions, slots: 0, used: 0 });
  }

  request(client: string, id: string, queue: string): string | undefined {
    const best = this.#workers
      .filter(({ slots }) => slots > 0)
      .flatMap((worker) => worker.places.filter((place) => place.queue === queue).map((place) => ({ worker, place })))
      .sort((a, b) => b.place.weight - a.place.weight || a.worker.used - b.worker.used)[0];
    if (best !== undefined) return this.#give(best.worker, best.place, id);
    this.#waiting.set(queue, [...(this.#waiting.get(queue) ?? []), { client, id }]);
    return undefined;
  }

  ready(name: string): string | undefined {
    const worker = this.#workers.find((each) => each.name === name);
    if (worker === undefined) return undefined;
    worker.slots++;
    const place = worker.places
      .filter(({ queue }) => (this.#waiting.get(queue) ?? []).length > 0)
      .sort((a, b) => b.weight - a.weight || a.served - b.served)[0];
    const id = place && this.#next(place.queue);
    if (place !== undefined && id !== undefined) return this.#give(worker, place, id);
    if (worker.slots === 1) worker.used = this.#time++;
    return undefined;
  }

  /** The first job of the client whose turn it is; its other jobs go behind everything that waits by now. */
  #next(queue: string): string | undefined {
    const [first, ...others] = this.#waiting.get(queue) ?? [];
    const isMine = ({ client }: { readonly client: string }) => client === first?.client;
    this.#waiting.set(queue, [...others.filter((each) => !isMine(each)), ...others.filter(isMine)]);
    return first?.id;
  }

  #give(worker: ModelWorker, place: Place, id: string): string {
    worker.slots--;
    worker.used = this.#time++;
    place.served = this.#time++;
    return `-> ${worker.name} REQUEST ${id} ${place.queue}`;
  }
}

const NAMES = ['w1', 'w2', 'w3', 'w4'];
const queue = fc.constantFrom('a', 'b', 'c');
const crew = fc.array(fc.array(fc.tuple(queue, fc.constantFrom(1, 1, 2, 3)), { minLength: 1, maxLength: 3 }), {
  minLength: 1,
  maxLength: NAMES.length,
});
const client = fc.constantFrom('c1', 'c2', 'c3');
const story = fc.array(fc.oneof(fc.record({ queue, client }), fc.record({ ready: fc.constantFrom(...NAMES) })), {
  maxLength: 60,
  size: 'max',
});

it('rule 13: jobs go to the workers that the model names, in the same order', () => {
  fc.assert(
    fc.property(crew, story, (workers, events) => {
      const [broker, model] = [new BrokerUnderTest(), new Model()];
      // No client uses an unknown queue, and this one never has a worker.
      broker.inform('w9', 'a', 'b', 'c');
      for (const [i, places] of workers.entries()) {
        broker.inform(NAMES[i] ?? '', ...places.map(([name, weight]) => `${name}:${weight}`));
        model.inform(NAMES[i] ?? '', places);
      }
      for (const [i, event] of events.entries()) {
        const isRequest = 'queue' in event;
        if (!isRequest && NAMES.indexOf(event.ready) >= workers.length) continue;
        const expected = isRequest ? model.request(event.client, `m${i}`, event.queue) : model.ready(event.ready);
        const said = isRequest ? broker.request(event.client, `m${i}`, event.queue) : broker.ready(event.ready);
        expect(said.filter((line) => line.includes(' REQUEST '))).toEqual(expected === undefined ? [] : [expected]);
      }
    }),
    { numRuns: 400 },
  );
});
