/** PZQ: the contents of the next group commit besides new messages: removals, counts, dead letters. Rules 7 and 13 of docs/protocols/pzq.md. */
import type { Batch, DeathReason, Removal } from '../../store/store.js';

/** A message to remove: it was in memory, so it exists and was counted; or only its key is known; or the facade discards it. */
export interface PendingRemoval extends Removal {
  readonly origin: 'memory' | 'key' | 'discard';
}

/** A request of the facade, completed by the commit that contains it. */
export interface Request {
  readonly id: number;
  readonly kind: 'revive' | 'discard' | 'purge';
  readonly seqs: readonly number[];
  /** Messages removed by a purge. */
  readonly count?: number;
}

type Burial = Batch['buries'][number];
type Delivery = Batch['deliveries'][number];

/** The changes in one commit. */
export interface TakenChanges extends Omit<Batch, 'puts'> {
  readonly removes: readonly PendingRemoval[];
  readonly requests: readonly Request[];
}

/** Collects changes, one per message and kind. O(1) each. */
export class PendingBatch {
  readonly #removes = new Map<number, PendingRemoval>();
  readonly #deliveries = new Map<number, Delivery>();
  readonly #buries = new Map<number, Burial>();
  readonly #passed = new Set<number>();
  #discards: PendingRemoval[] = [];
  #requests: Request[] = [];

  /** Messages to remove. */
  get removals(): number {
    return this.#removes.size;
  }

  /** True if the message will be removed. */
  removes(seq: number): boolean {
    return this.#removes.has(seq);
  }

  get burials(): number {
    return this.#buries.size;
  }

  /** Moments not yet reported to the store. */
  get moments(): number {
    return this.#passed.size;
  }

  get empty(): boolean {
    return (
      this.#removes.size === 0 &&
      this.#deliveries.size === 0 &&
      this.#buries.size === 0 &&
      this.#passed.size === 0 &&
      this.#requests.length === 0
    );
  }

  remove(seq: number, storedMicros: number, origin: 'memory' | 'key'): void {
    this.#removes.set(seq, { seq, storedMicros, origin });
    this.#deliveries.delete(seq);
    this.#buries.delete(seq);
    this.#passed.delete(seq);
  }

  delivered(seq: number, deliveries: number): void {
    this.#deliveries.set(seq, { seq, deliveries });
  }

  bury(seq: number, reason: DeathReason, diedMicros: number): void {
    this.#buries.set(seq, { seq, reason, diedMicros });
    this.#deliveries.delete(seq);
    this.#passed.delete(seq);
  }

  passed(seq: number): void {
    this.#passed.add(seq);
  }

  revive(id: number, seqs: readonly number[]): void {
    this.#requests.push({ id, kind: 'revive', seqs });
  }

  discard(id: number, letters: readonly Removal[]): void {
    for (const { seq, storedMicros } of letters) this.#discards.push({ seq, storedMicros, origin: 'discard' });
    this.#requests.push({ id, kind: 'discard', seqs: letters.map(({ seq }) => seq) });
  }

  /** A purge removed this many. */
  purged(id: number, count: number): void {
    this.#requests.push({ id, kind: 'purge', seqs: [], count });
  }

  /** Removes at most `max` of each kind, and all requests. */
  take(max: number): TakenChanges {
    const requests = this.#requests;
    const removes = takeFrom(this.#removes, max, this.#discards);
    this.#requests = [];
    this.#discards = [];
    return {
      removes,
      deliveries: takeFrom(this.#deliveries, max),
      buries: takeFrom(this.#buries, max),
      revives: requests.flatMap(({ kind, seqs }) => (kind === 'revive' ? seqs : [])),
      passed: takeSeqs(this.#passed, max),
      requests,
    };
  }

  /** After a failed commit: everything is pending again except the requests, which have failed with it. */
  restore({ removes, deliveries, buries, passed }: TakenChanges): void {
    for (const removal of removes) if (removal.origin !== 'discard') this.#removes.set(removal.seq, removal);
    for (const burial of buries) if (!this.#removes.has(burial.seq)) this.#buries.set(burial.seq, burial);
    for (const delivery of deliveries) {
      const { seq } = delivery;
      if (!this.#deliveries.has(seq) && !this.#removes.has(seq)) this.#deliveries.set(seq, delivery);
    }
    for (const seq of passed) if (!this.#removes.has(seq) && !this.#buries.has(seq)) this.#passed.add(seq);
  }
}

function takeSeqs(set: Set<number>, max: number): number[] {
  const taken: number[] = [];
  for (const seq of set) {
    if (taken.length === max) break;
    set.delete(seq);
    taken.push(seq);
  }
  return taken;
}

/** Appends at most `max` values to `taken`. */
function takeFrom<Value extends { readonly seq: number }>(
  map: Map<number, Value>,
  max: number,
  taken: Value[] = [],
): Value[] {
  let left = max;
  for (const value of map.values()) {
    if (left-- === 0) break;
    map.delete(value.seq);
    taken.push(value);
  }
  return taken;
}
