/** Watches a PZQ engine from outside and holds it to what producers and consumers could notice. Knows nothing of its insides. */
import { decodePzqKey } from '@proj/frames/pzq';
import { latin1 } from '@proj/frames';
import type { QueueUnderTest } from './queue-under-test.js';

/** Every message must have its own id, which is its body as well. Throws at the first thing that no queue may do. */
export class Observer {
  readonly #queue: QueueUnderTest;
  /** Messages sent and not answered, per producer, in order. */
  readonly #open = new Map<string, string[]>();
  /** Messages acknowledged `1` that nobody has settled. */
  readonly #owed = new Set<string>();
  readonly #settled = new Set<string>();
  /** Settled while they were on offer: the socket may still deliver them, once. */
  readonly #excused = new Set<string>();
  /** Highest message delivered for the first time in this life, and those delivered since. */
  #furthest = 0;
  readonly #seen = new Set<number>();
  #looked = 0;

  constructor(queue: QueueUnderTest) {
    this.#queue = queue;
  }

  /** Messages acknowledged and not settled yet. */
  get owed(): ReadonlySet<string> {
    return this.#owed;
  }

  /** To be called before a message is sent. */
  onProduce(producer: string, id: string): void {
    this.#open.set(producer, [...(this.#open.get(producer) ?? []), id]);
  }

  /** A message was dropped without an answer. */
  onDropped(producer: string): void {
    this.#open.get(producer)?.pop();
  }

  /** To be called when a consumer is about to say that it is done with a message. */
  onSettle(id: string): void {
    this.#owed.delete(id);
    this.#settled.add(id);
    if (this.#queue.offered.includes(id)) this.#excused.add(id);
  }

  /** The process died: answers that were not sent never come, and what is still stored may come again. */
  onCrash(): void {
    this.#open.clear();
    this.#furthest = 0;
    this.#seen.clear();
    for (const { message } of this.#queue.store.rows.values()) this.#settled.delete(latin1(message.body[0]!));
  }

  /** To be called with what each step has shown. `fifo`: nothing was delayed or came back from the dead. */
  observe(lines: readonly string[], fifo: boolean): void {
    for (const line of lines) this.#onAnswer(line);
    this.#checkDeliveries(fifo);
    for (const id of this.#excused) if (!this.#queue.offered.includes(id)) this.#excused.delete(id);
    const stored = new Set([...this.#queue.store.rows.values()].map(({ message }) => latin1(message.body[0]!)));
    for (const id of this.#owed) if (!stored.has(id)) throw new Error(`${id} was acknowledged, and is lost (rule 2)`);
  }

  #onAnswer(line: string): void {
    const [, producer = '', id = '', status] = /^(?:\d+ms: )?-> (p\d) "([^"]*)" ([01])/.exec(line) ?? [];
    if (status === undefined) return;
    const expected = this.#open.get(producer)?.shift();
    if (expected !== id) throw new Error(`${producer} was answered ${id} instead of ${expected} (rule 3)`);
    if (status === '1' && !this.#settled.has(id)) this.#owed.add(id);
  }

  #checkDeliveries(fifo: boolean): void {
    const { deliveries } = this.#queue;
    for (; this.#looked < deliveries.length; this.#looked++) {
      const { command, outlet } = deliveries[this.#looked]!;
      const id = latin1(command.body[0]!);
      const seq = decodePzqKey(command.key)!.seq;
      if (this.#settled.has(id) && !this.#excused.delete(id))
        throw new Error(`${id} is settled and was delivered again (rule 13)`);
      if (outlet !== 'queue' || this.#seen.has(seq)) continue;
      this.#seen.add(seq);
      if (fifo && seq < this.#furthest) throw new Error(`${seq} was delivered after ${this.#furthest} (rule 10)`);
      this.#furthest = Math.max(this.#furthest, seq);
    }
  }
}
