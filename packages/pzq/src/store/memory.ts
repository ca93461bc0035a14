/** The queue in memory, for tests and for messages that may be lost. All stores behave like this one: see the compliance suite. */
import { randomBytes } from 'node:crypto';
import { ProjError } from '@proj/transport';
import { memoryOfBody } from './body.js';
import { drawEpoch } from './epoch.js';
import { OrderedList } from './ordered.js';
import type {
  Batch,
  Committed,
  DeadMessage,
  DeathReason,
  DueMessages,
  NewMessage,
  OpenedStore,
  QueueStore,
  Removal,
  StoreCounts,
  StoredMessage,
} from './store.js';

/** Options of {@link MemoryStore}. */
export interface MemoryStoreOptions {
  /** 60 random bits, for repeatable simulations. Default: random. */
  readonly epoch?: bigint;
}

interface Entry {
  readonly seq: number;
  readonly storedMicros: number;
  readonly body: NewMessage['body'];
  readonly bytes: number;
  deliveries: number;
  /** 0: not delayed, or no longer. */
  readyMicros: number;
  expiresMicros: number;
  death: { readonly reason: DeathReason; readonly diedMicros: number } | undefined;
}

/** A time at which a delayed message becomes ready, or a message expires. */
interface Moment {
  readonly micros: number;
  readonly seq: number;
  readonly what: 'ready' | 'expired';
}

const bySeq = (a: { readonly seq: number }, b: { readonly seq: number }): number => a.seq - b.seq;
const byTime = (a: Moment, b: Moment): number =>
  a.micros - b.micros || a.seq - b.seq || Number(a.what === 'expired') - Number(b.what === 'expired');

/** A {@link QueueStore} that ends with its process, and with `close`. */
export class MemoryStore implements QueueStore {
  readonly name = 'memory';
  readonly durable = false;
  readonly #epoch: bigint;
  readonly #entries = new Map<number, Entry>();
  readonly #ready = new OrderedList<{ readonly seq: number }>(bySeq);
  readonly #dead = new OrderedList<{ readonly seq: number }>(bySeq);
  readonly #moments = new OrderedList<Moment>(byTime);
  /** Ids of producers as Latin-1 text, with the end of their window, in order of arrival. */
  readonly #ids = new Map<string, number>();
  #lastSeq = 0;
  #counts = { messages: 0, bytes: 0, delayed: 0, dead: 0 };
  #isOpen = false;

  constructor({ epoch }: MemoryStoreOptions = {}) {
    this.#epoch = epoch ?? drawEpoch(randomBytes(8));
  }

  open(): Promise<OpenedStore> {
    this.#isOpen = true;
    return Promise.resolve({ epoch: this.#epoch, lastSeq: this.#lastSeq, counts: this.#snapshot() });
  }

  async commit(batch: Batch): Promise<Committed> {
    await this.#opened();
    const seqs = batch.puts.map((put) => this.#put(put));
    const removed = batch.removes.map(({ seq, storedMicros }) => {
      const entry = this.#entries.get(seq);
      if (entry?.storedMicros !== storedMicros) return false;
      this.#remove(entry);
      return true;
    });
    for (const { seq, deliveries } of batch.deliveries) {
      const entry = this.#queued(seq);
      if (entry !== undefined) entry.deliveries = deliveries;
    }
    for (const { seq, reason, diedMicros } of batch.buries) {
      const entry = this.#queued(seq);
      if (entry !== undefined) this.#bury(entry, { reason, diedMicros });
    }
    for (const seq of batch.revives) this.#revive(seq);
    for (const seq of batch.passed) this.#pass(seq);
    return { seqs, removed, counts: this.#snapshot() };
  }

  async scan(after: number, limit: number, maxBytes: number): Promise<readonly StoredMessage[]> {
    await this.#opened();
    return this.#window(this.#ready, after, limit, maxBytes).map(toMessage);
  }

  async due(nowMicros: number, limit: number): Promise<DueMessages> {
    await this.#opened();
    const ready: StoredMessage[] = [];
    const expired: Removal[] = [];
    for (const { micros, seq, what } of this.#moments.from({ micros: 0, seq: 0, what: 'ready' })) {
      if (micros > nowMicros || ready.length + expired.length >= limit) break;
      const entry = this.#entries.get(seq);
      if (entry === undefined) continue;
      if (what === 'expired') expired.push({ seq, storedMicros: entry.storedMicros });
      else if (entry.expiresMicros === 0 || entry.expiresMicros > nowMicros) ready.push(toMessage(entry));
    }
    return { ready, expired };
  }

  async dead(after: number, limit: number, maxBytes: number): Promise<readonly DeadMessage[]> {
    await this.#opened();
    return this.#window(this.#dead, after, limit, maxBytes).flatMap((entry) =>
      entry.death === undefined ? [] : [{ ...toMessage(entry), ...entry.death }],
    );
  }

  probe(): Promise<void> {
    return this.#opened();
  }

  close(): Promise<void> {
    this.#isOpen = false;
    return Promise.resolve();
  }

  #opened(): Promise<void> {
    if (this.#isOpen) return Promise.resolve();
    return Promise.reject(new ProjError('CLOSED', 'the memory store is not open: call open() first'));
  }

  #snapshot(): StoreCounts {
    const { messages, bytes, delayed, dead } = this.#counts;
    const nextDueMicros = this.#moments.first?.micros ?? Infinity;
    return { messages, bytes, delayed, dead, storeBytes: 0, nextDueMicros };
  }

  #put({ storedMicros, body, dedupe, readyMicros, expiresMicros }: NewMessage): number {
    if (dedupe !== undefined && !this.#isNew(dedupe.id, dedupe.untilMicros, storedMicros)) return 0;
    const bytes = body.reduce((sum, { length }) => sum + length, 0);
    const seq = ++this.#lastSeq;
    const entry = { seq, storedMicros, body, bytes, deliveries: 0, readyMicros, expiresMicros, death: undefined };
    this.#entries.set(seq, entry);
    this.#counts.messages++;
    this.#counts.bytes += bytes;
    if (readyMicros > 0) {
      this.#counts.delayed++;
      this.#moments.add({ micros: readyMicros, seq, what: 'ready' });
    } else this.#ready.add(entry);
    if (expiresMicros > 0) this.#moments.add({ micros: expiresMicros, seq, what: 'expired' });
    return seq;
  }

  #isNew(id: Uint8Array, untilMicros: number, nowMicros: number): boolean {
    for (const [old, until] of this.#ids) {
      if (until > nowMicros) break;
      this.#ids.delete(old);
    }
    const key = Buffer.from(id.buffer, id.byteOffset, id.length).toString('latin1');
    if ((this.#ids.get(key) ?? 0) > nowMicros) return false;
    this.#ids.delete(key);
    this.#ids.set(key, untilMicros);
    return true;
  }

  /** A message that is not a dead letter. */
  #queued(seq: number): Entry | undefined {
    const entry = this.#entries.get(seq);
    return entry?.death === undefined ? entry : undefined;
  }

  /** Removes an entry from every list except {@link MemoryStore.#entries}. */
  #unlist(entry: Entry): void {
    if (entry.death !== undefined) {
      this.#counts.dead--;
      this.#dead.delete(entry);
      return;
    }
    this.#counts.messages--;
    this.#counts.bytes -= entry.bytes;
    if (entry.readyMicros > 0) this.#undelay(entry);
    else this.#ready.delete(entry);
    this.#forgetExpiry(entry);
  }

  #undelay(entry: Entry): void {
    this.#counts.delayed--;
    this.#moments.delete({ micros: entry.readyMicros, seq: entry.seq, what: 'ready' });
    entry.readyMicros = 0;
  }

  #forgetExpiry({ seq, expiresMicros }: Entry): void {
    if (expiresMicros > 0) this.#moments.delete({ micros: expiresMicros, seq, what: 'expired' });
  }

  #remove(entry: Entry): void {
    this.#unlist(entry);
    this.#entries.delete(entry.seq);
  }

  #bury(entry: Entry, death: Entry['death']): void {
    this.#unlist(entry);
    entry.death = death;
    this.#counts.dead++;
    this.#dead.add(entry);
  }

  #revive(seq: number): void {
    const entry = this.#entries.get(seq);
    if (entry?.death === undefined) return;
    this.#unlist(entry);
    Object.assign(entry, { death: undefined, deliveries: 0, expiresMicros: 0 });
    this.#counts.messages++;
    this.#counts.bytes += entry.bytes;
    this.#ready.add(entry);
  }

  #pass(seq: number): void {
    const entry = this.#queued(seq);
    if (entry === undefined) return;
    if (entry.readyMicros > 0) {
      this.#undelay(entry);
      this.#ready.add(entry);
    } else this.#forgetExpiry(entry);
  }

  #window(list: OrderedList<{ readonly seq: number }>, after: number, limit: number, maxBytes: number): Entry[] {
    const window: Entry[] = [];
    let bytes = 0;
    for (const { seq } of list.from({ seq: after + 1 })) {
      const entry = this.#entries.get(seq);
      if (entry === undefined) continue;
      bytes += memoryOfBody(entry.body, entry.bytes);
      if (window.length >= limit || (window.length > 0 && bytes > maxBytes)) break;
      window.push(entry);
    }
    return window;
  }
}

function toMessage({ seq, storedMicros, body, bytes, deliveries, expiresMicros }: Entry): StoredMessage {
  return { seq, storedMicros, body, bytes, deliveries, expiresMicros };
}
