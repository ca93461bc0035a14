/** The plainest possible store, synchronous and with every message looked at every time: what stores and engine are compared with. */
import type {
  Batch,
  Committed,
  DeadMessage,
  DeathReason,
  DueMessages,
  NewMessage,
  StoreCounts,
  StoredMessage,
} from '../src/store/store.js';

interface Row {
  seq: number;
  message: NewMessage;
  deliveries: number;
  /** 0 when it is ready. */
  readyMicros: number;
  /** 0 when it has none, or it was told. */
  alarmMicros: number;
  expiresMicros: number;
  death: { reason: DeathReason; diedMicros: number } | undefined;
  /** Nobody else gets it before. */
  leasedUntil: number;
}

const bytesOf = (body: readonly Uint8Array[]) => body.reduce((sum, { length }) => sum + length, 0);

/** What a durable disk holds. One commit at a time, all or nothing. */
export class PlainStore {
  readonly epoch = 0xabc_def0_1234_567n;
  lastSeq = 0;
  /** Commits and probes fail with this code. */
  failing: string | undefined;
  readonly rows = new Map<number, Row>();
  readonly #ids = new Map<string, number>();

  get counts(): StoreCounts {
    const queued = [...this.rows.values()].filter(({ death }) => death === undefined);
    const moments = queued.flatMap(({ readyMicros, alarmMicros }) => [readyMicros, alarmMicros].filter((at) => at > 0));
    return {
      messages: queued.length,
      bytes: queued.reduce((sum, { message }) => sum + bytesOf(message.body), 0),
      delayed: queued.filter(({ readyMicros }) => readyMicros > 0).length,
      dead: this.rows.size - queued.length,
      storeBytes: 4096,
      nextDueMicros: Math.min(Infinity, ...moments),
    };
  }

  /** Throws the code it fails with. */
  commit({ puts, removes, deliveries, buries, revives, passed }: Batch): Committed {
    this.probe();
    const seqs = puts.map((put) => this.#put(put));
    const removed = removes.map(({ seq, storedMicros }) => {
      return this.rows.get(seq)?.message.storedMicros === storedMicros && this.rows.delete(seq);
    });
    for (const { seq, deliveries: count } of deliveries) this.#queued(seq, (row) => (row.deliveries = count));
    for (const { seq, reason, diedMicros } of buries) {
      this.#queued(seq, (row) => {
        row.death = { reason, diedMicros };
        row.readyMicros = row.alarmMicros = 0;
      });
    }
    for (const seq of revives) {
      const row = this.rows.get(seq);
      if (row?.death === undefined) continue;
      row.death = undefined;
      row.deliveries = row.expiresMicros = row.leasedUntil = 0;
    }
    for (const seq of passed) {
      this.#queued(seq, (row) => {
        if (row.readyMicros > 0) row.readyMicros = 0;
        else row.alarmMicros = 0;
      });
    }
    return { seqs, removed, counts: this.counts };
  }

  probe(): void {
    if (this.failing !== undefined) throw new Error(this.failing);
  }

  scan(after: number, limit: number, maxBytes: number): StoredMessage[] {
    return this.#list((row) => row.death === undefined && row.readyMicros === 0, after, limit, maxBytes);
  }

  dead(after: number, limit: number, maxBytes: number): DeadMessage[] {
    const listed = this.#list((row) => row.death !== undefined, after, limit, maxBytes);
    return listed.map((message) => ({ ...message, ...this.rows.get(message.seq)!.death! }));
  }

  due(nowMicros: number, limit: number): DueMessages {
    const ready: StoredMessage[] = [];
    const expired: { seq: number; storedMicros: number }[] = [];
    for (const row of this.rows.values()) {
      if (row.death !== undefined || ready.length + expired.length === limit) continue;
      const over = row.alarmMicros > 0 && row.alarmMicros <= nowMicros;
      if (over) expired.push({ seq: row.seq, storedMicros: row.message.storedMicros });
      else if (row.readyMicros > 0 && row.readyMicros <= nowMicros) ready.push(toStored(row));
    }
    return { ready, expired };
  }

  take(limit: number, maxBytes: number, leaseMs: number, nowMs: number): StoredMessage[] {
    const free = (row: Row) => row.death === undefined && row.readyMicros === 0 && row.leasedUntil <= nowMs;
    const taken = this.#list(free, 0, limit, maxBytes);
    for (const { seq } of taken) this.rows.get(seq)!.leasedUntil = nowMs + leaseMs;
    return taken;
  }

  release(seqs: readonly number[], delayMs: number, nowMs: number): void {
    for (const seq of seqs) this.#queued(seq, (row) => (row.leasedUntil = nowMs + delayMs));
  }

  #put(message: NewMessage): number {
    if (message.dedupe !== undefined) {
      const id = message.dedupe.id.join();
      if ((this.#ids.get(id) ?? 0) > message.storedMicros) return 0;
      this.#ids.set(id, message.dedupe.untilMicros);
    }
    const { readyMicros, expiresMicros } = message;
    const fresh = { deliveries: 0, death: undefined, leasedUntil: 0, alarmMicros: expiresMicros };
    const row: Row = { seq: ++this.lastSeq, message, readyMicros, expiresMicros, ...fresh };
    this.rows.set(row.seq, row);
    return row.seq;
  }

  #queued(seq: number, change: (row: Row) => void): void {
    const row = this.rows.get(seq);
    if (row !== undefined && row.death === undefined) change(row);
  }

  #list(wanted: (row: Row) => boolean, after: number, limit: number, maxBytes: number): StoredMessage[] {
    const listed: StoredMessage[] = [];
    let bytes = 0;
    for (const row of [...this.rows.values()]
      .filter((row) => row.seq > after && wanted(row))
      .sort((a, b) => a.seq - b.seq)) {
      const message = toStored(row);
      if (listed.length === limit || (listed.length > 0 && bytes + message.bytes > maxBytes)) break;
      listed.push(message);
      bytes += message.bytes;
    }
    return listed;
  }
}

function toStored({ seq, message, deliveries, expiresMicros }: Row): StoredMessage {
  const { storedMicros, body } = message;
  return { seq, storedMicros, body, bytes: bytesOf(body), deliveries, expiresMicros };
}
