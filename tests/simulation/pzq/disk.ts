/** A disk that outlives the processes of its host: slow, sometimes full, and without what was not flushed when they died. */
import { MemoryStore } from '@proj/pzq';
import type { Batch, Committed, DeadMessage, DueMessages, OpenedStore, QueueStore, StoredMessage } from '@proj/pzq';
import { ProjError } from '@proj/transport';
import type { SeededRandom, VirtualTransport } from '@proj/transport/virtual';
import { sleep } from '../kit/sleep.js';
import { messageId } from './sight.js';

/** Observers that must know what is on disk. */
export interface DiskObserver {
  onStored(seq: number, id: string): void;
  onRemoved(seq: number, id: string): void;
}

/** Its contents: every flushed batch, in order. */
export class Disk {
  readonly epoch = 0x5eed_5eed_5eed_5een;
  readonly log: Batch[] = [];
  /** Messages on it, dead letters included: what each is, by sequence. */
  readonly messages = new Map<number, string>();
  /** Of those, the dead letters. */
  readonly dead = new Set<number>();
  /** The error code of all writes. */
  failing: string | undefined;
  /** Longest time until a write is flushed. Virtual milliseconds. */
  slowestMs = 4;
  readonly #observer: DiskObserver;

  constructor(observer: DiskObserver) {
    this.#observer = observer;
  }

  /** Messages that wait for a consumer to settle them. */
  get queued(): number[] {
    return [...this.messages.keys()].filter((seq) => !this.dead.has(seq));
  }

  /** A batch is flushed. */
  append(batch: Batch, { seqs, removed }: Committed): void {
    this.log.push(batch);
    batch.puts.forEach(({ body }, index) => {
      const seq = seqs[index] ?? 0;
      if (seq === 0) return;
      this.messages.set(seq, messageId(body));
      this.#observer.onStored(seq, messageId(body));
    });
    batch.removes.forEach(({ seq }, index) => {
      if (removed[index] !== true) return;
      const id = this.messages.get(seq) ?? '';
      this.messages.delete(seq);
      this.dead.delete(seq);
      this.#observer.onRemoved(seq, id);
    });
    for (const { seq } of batch.buries) if (this.messages.has(seq)) this.dead.add(seq);
  }
}

/**
 * The store of one process on that disk. The process may die between a write and its report, and the result of a read is as
 * old as the read took.
 */
export class DiskStore implements QueueStore {
  readonly name = 'lmdb';
  readonly durable = true;
  readonly #disk: Disk;
  readonly #transport: VirtualTransport;
  readonly #random: SeededRandom;
  readonly #memory: MemoryStore;
  readonly #busy = new Set<Promise<unknown>>();

  constructor(disk: Disk, transport: VirtualTransport, random: SeededRandom) {
    this.#disk = disk;
    this.#transport = transport;
    this.#random = random;
    this.#memory = new MemoryStore({ epoch: disk.epoch });
  }

  async open(): Promise<OpenedStore> {
    const { epoch, counts } = await this.#memory.open();
    let opened = { epoch, lastSeq: 0, counts };
    for (const batch of this.#disk.log) {
      const done = await this.#memory.commit(batch);
      opened = { epoch, lastSeq: Math.max(opened.lastSeq, ...done.seqs), counts: done.counts };
    }
    return opened;
  }

  commit(batch: Batch): Promise<Committed> {
    return this.#during(async () => {
      await this.#flush();
      const done = await this.#memory.commit(batch);
      this.#disk.append(batch, done);
      await this.#wait(2);
      return done;
    });
  }

  scan(after: number, limit: number, maxBytes: number): Promise<readonly StoredMessage[]> {
    return this.#slowly(this.#memory.scan(after, limit, maxBytes));
  }

  due(nowMicros: number, limit: number): Promise<DueMessages> {
    return this.#slowly(this.#memory.due(nowMicros, limit));
  }

  dead(after: number, limit: number, maxBytes: number): Promise<readonly DeadMessage[]> {
    return this.#slowly(this.#memory.dead(after, limit, maxBytes));
  }

  probe(): Promise<void> {
    return this.#during(() => this.#flush());
  }

  async close(): Promise<void> {
    await Promise.allSettled(this.#busy);
    await this.#memory.close();
  }

  async #flush(): Promise<void> {
    await this.#wait(this.#disk.slowestMs);
    const { failing: code } = this.#disk;
    if (code !== undefined) throw new ProjError('WRITE_FAILED', `disk: ${code}`, { details: { code } });
  }

  #slowly<Result>(reading: Promise<Result>): Promise<Result> {
    return this.#during(async () => {
      const result = await reading;
      await this.#wait(3);
      return result;
    });
  }

  #wait(longestMs: number): Promise<void> {
    return sleep(this.#transport, this.#random.between(0, longestMs));
  }

  async #during<Result>(work: () => Promise<Result>): Promise<Result> {
    const working = work();
    this.#busy.add(working);
    try {
      return await working;
    } finally {
      this.#busy.delete(working);
    }
  }
}
