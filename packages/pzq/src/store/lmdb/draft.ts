/** A group commit being prepared: reads see its own writes, and nothing is written before all of it is known. */
import { hash } from 'node:crypto';
import type { Root, Table } from '@proj/store/lmdb-folder';
import { ProjError } from '@proj/transport';
import type { Batch, NewMessage, Removal } from '../store.js';
import { idTimeKey, momentKey, seqKey } from './keys.js';
import type { Moment } from './keys.js';
import type { Ledger } from './ledger.js';
import { encodeLedger, LEDGER_KEY } from './ledger.js';
import { contentOf, decodeHead, encodeRecord, RecordWriter } from './record.js';
import type { Death, Head } from './record.js';
import type { Tables } from './tables.js';
import { decodeCount, decodeTime, encodeCount, encodeNothing, encodeTime } from './values.js';

/** A table of records whose size is in the ledger. */
type Place = 'messages' | 'delayed' | 'dead';

interface Found {
  readonly place: Place;
  readonly head: Head;
  readonly content: Buffer;
}

interface Write {
  readonly table: Table;
  readonly key: Buffer;
  /** If absent, the entry is removed. */
  readonly value: Buffer | undefined;
}

/** Pages above the leaves of all tables, and the list of free pages. */
const TREE_PAGES = 64;
/** Ids forgotten for each id remembered: more than arrive. */
const FORGET_PER_ID = 2;

/** The changes that one batch makes to the tables. */
export class Draft {
  /** The ledger after this batch. */
  readonly ledger: { -readonly [Field in keyof Ledger]: Ledger[Field] };
  readonly seqs: readonly number[];
  readonly removed: readonly boolean[];
  readonly #tables: Tables;
  readonly #writes: Write[] = [];
  /** Records that this draft has written or removed, by table and sequence. */
  readonly #records = new Map<Table, Map<number, Buffer | undefined>>();
  /** Hashes of ids that it remembers, with their expiry. */
  readonly #ids = new Map<string, number>();

  constructor(tables: Tables, ledger: Ledger, batch: Batch) {
    this.#tables = tables;
    this.ledger = { ...ledger };
    this.#forgetIds(batch.puts);
    const writer = new RecordWriter(batch.puts);
    this.seqs = batch.puts.map((put) => this.#put(put, writer));
    this.removed = batch.removes.map((removal) => this.#remove(removal));
    for (const { seq, deliveries } of batch.deliveries) this.#count(seq, deliveries);
    for (const { seq, reason, diedMicros } of batch.buries) this.#bury(seq, { reason, diedMicros });
    for (const seq of batch.revives) this.#revive(seq);
    for (const seq of batch.passed) this.#pass(seq);
  }

  get isEmpty(): boolean {
    return this.#writes.length === 0;
  }

  /** The most bytes that it may need on disk, in pages of this size: for each entry a page of its tree, plus its own bytes. */
  bytesAtMost(pageSize: number): number {
    const bytes = this.#writes.reduce((sum, { value }) => sum + (value?.length ?? 0), 0);
    return 2 * bytes + (this.#writes.length + TREE_PAGES) * pageSize;
  }

  /** Bytes of entries longer than a page of this size, which must be contiguous. */
  bytesInPieces(pageSize: number): number {
    return this.#writes.reduce((sum, { value }) => {
      const bytes = value?.length ?? 0;
      return bytes > pageSize / 2 ? sum + bytes + pageSize : sum;
    }, 0);
  }

  /** Call this inside the transaction. */
  perform(root: Root): void {
    for (const { table, key, value } of this.#writes) {
      if (value === undefined) void table.remove(key);
      else void table.put(key, value);
    }
    void root.put(LEDGER_KEY, encodeLedger(this.ledger));
  }

  #put(put: NewMessage, writer: RecordWriter): number {
    const { dedupe, storedMicros, readyMicros, expiresMicros } = put;
    if (dedupe !== undefined && !this.#isNew(dedupe.id, dedupe.untilMicros, storedMicros)) return 0;
    const seq = ++this.ledger.lastSeq;
    const { key, record, apart, bytes } = writer.write(put, seq);
    const isDelayed = readyMicros > 0;
    this.ledger.messages++;
    this.ledger.bytes += bytes;
    this.#writes.push({ table: this.#tables[isDelayed ? 'delayed' : 'messages'], key, value: record });
    if (apart !== undefined) this.#writes.push({ table: this.#tables.bodies, key, value: apart });
    if (isDelayed) {
      this.ledger.delayed++;
      this.#setMoment({ micros: readyMicros, seq, what: 'ready' }, true);
    }
    if (expiresMicros > 0) this.#setMoment({ micros: expiresMicros, seq, what: 'expired' }, true);
    return seq;
  }

  #remove({ seq, storedMicros }: Removal): boolean {
    const found = this.#find(seq);
    if (found?.head.storedMicros !== storedMicros) return false;
    this.#unlist(seq, found);
    if (found.head.bodyAt === undefined) this.#set(this.#tables.bodies, seq, undefined);
    return true;
  }

  #count(seq: number, deliveries: number): void {
    const found = this.#find(seq);
    if (found === undefined || found.place === 'dead') return;
    if (this.#deliveriesOf(seq) === 0) this.ledger.counted++;
    this.#set(this.#tables.deliveries, seq, encodeCount(seqKey(seq), deliveries));
  }

  #bury(seq: number, cause: Pick<Death, 'reason' | 'diedMicros'>): void {
    const found = this.#find(seq);
    if (found === undefined || found.place === 'dead') return;
    const deliveries = this.#deliveriesOf(seq);
    this.#unlist(seq, found);
    this.ledger.dead++;
    const head = { ...found.head, readyMicros: 0, death: { ...cause, deliveries } };
    this.#set(this.#tables.dead, seq, encodeRecord(head, found.content, seqKey(seq)));
  }

  #revive(seq: number): void {
    const found = this.#find(seq);
    if (found?.place !== 'dead') return;
    this.#unlist(seq, found);
    this.ledger.messages++;
    this.ledger.bytes += found.head.bytes;
    const head = { ...found.head, expiresMicros: 0, death: undefined };
    this.#set(this.#tables.messages, seq, encodeRecord(head, found.content, seqKey(seq)));
  }

  #pass(seq: number): void {
    const found = this.#find(seq);
    if (found === undefined || found.place === 'dead') return;
    const { readyMicros, expiresMicros } = found.head;
    if (found.place === 'delayed') {
      this.ledger.delayed--;
      this.#set(this.#tables.delayed, seq, undefined);
      this.#setMoment({ micros: readyMicros, seq, what: 'ready' }, false);
      this.#set(
        this.#tables.messages,
        seq,
        encodeRecord({ ...found.head, readyMicros: 0 }, found.content, seqKey(seq)),
      );
    } else if (expiresMicros > 0) this.#setMoment({ micros: expiresMicros, seq, what: 'expired' }, false);
  }

  #find(seq: number): Found | undefined {
    return (
      this.#findIn('messages', seq) ??
      (this.ledger.delayed > 0 ? this.#findIn('delayed', seq) : undefined) ??
      (this.ledger.dead > 0 ? this.#findIn('dead', seq) : undefined)
    );
  }

  #findIn(place: Place, seq: number): Found | undefined {
    const record = this.#get(this.#tables[place], seq);
    if (record === undefined) return undefined;
    const content = contentOf(seqKey(seq), record);
    const head = content && decodeHead(content);
    if (content === undefined || head === undefined) throw unreadable(`message ${seq}`);
    return { place, head, content };
  }

  /** Removes the record, and everything that depends on its place. */
  #unlist(seq: number, { place, head }: Found): void {
    this.#set(this.#tables[place], seq, undefined);
    if (place === 'dead') {
      this.ledger.dead--;
      return;
    }
    this.ledger.messages--;
    this.ledger.bytes -= head.bytes;
    if (this.#deliveriesOf(seq) > 0) {
      this.ledger.counted--;
      this.#set(this.#tables.deliveries, seq, undefined);
    }
    if (place === 'delayed') {
      this.ledger.delayed--;
      this.#setMoment({ micros: head.readyMicros, seq, what: 'ready' }, false);
    }
    if (head.expiresMicros > 0) this.#setMoment({ micros: head.expiresMicros, seq, what: 'expired' }, false);
  }

  #deliveriesOf(seq: number): number {
    if (this.ledger.counted === 0) return 0;
    const value = this.#get(this.#tables.deliveries, seq);
    if (value === undefined) return 0;
    const count = decodeCount(seqKey(seq), value);
    if (count === undefined) throw unreadable(`the number of deliveries of message ${seq}`);
    return count;
  }

  #get(table: Table, seq: number): Buffer | undefined {
    const changed = this.#records.get(table);
    return changed?.has(seq) === true ? changed.get(seq) : table.getBinary(seqKey(seq));
  }

  #set(table: Table, seq: number, value: Buffer | undefined): void {
    const changed = this.#records.get(table) ?? new Map<number, Buffer | undefined>();
    this.#records.set(table, changed.set(seq, value));
    this.#writes.push({ table, key: seqKey(seq), value });
  }

  #setMoment(moment: Moment, isSet: boolean): void {
    const key = momentKey(moment);
    this.#writes.push({ table: this.#tables.moments, key, value: isSet ? encodeNothing(key) : undefined });
  }

  #isNew(id: Uint8Array, untilMicros: number, nowMicros: number): boolean {
    // Hashed, because keys are bounded and ids are not.
    const key = hash('sha256', id, 'buffer');
    const name = key.toString('latin1');
    const { ids, idTimes } = this.#tables;
    const known = ids.getBinary(key);
    const stored = known === undefined ? 0 : decodeTime(key, known);
    if (stored === undefined) throw unreadable("a producer's id");
    if (Math.max(stored, this.#ids.get(name) ?? 0) > nowMicros) return false;
    if (stored > 0) this.#writes.push({ table: idTimes, key: idTimeKey(stored, key), value: undefined });
    const timeKey = idTimeKey(untilMicros, key);
    this.#writes.push(
      { table: ids, key, value: encodeTime(key, untilMicros) },
      { table: idTimes, key: timeKey, value: encodeNothing(timeKey) },
    );
    this.#ids.set(name, untilMicros);
    return true;
  }

  #forgetIds(puts: readonly NewMessage[]): void {
    const dated = puts.filter(({ dedupe }) => dedupe !== undefined);
    const [first] = dated;
    if (first === undefined) return;
    const { ids, idTimes } = this.#tables;
    const range = { end: seqKey(first.storedMicros + 1), limit: FORGET_PER_ID * dated.length };
    for (const key of idTimes.getKeys(range)) {
      this.#writes.push({ table: idTimes, key, value: undefined });
      this.#writes.push({ table: ids, key: key.subarray(8), value: undefined });
    }
  }
}

function unreadable(what: string): ProjError {
  return new ProjError('CORRUPT', `${what} does not match its checksum: see 'proj queue check'`);
}
