/** A disk with records that outlives the processes of its host: slow, sometimes full, and without what was not flushed when they died. */
import { ProjError } from '@proj/transport';
import type { RecordBatch, RecordStore } from '@proj/transport';
import type { SeededRandom, VirtualTransport } from '@proj/transport/virtual';
import { sleep } from './sleep.js';

/** Observers that must know what is on disk. */
export interface RecordObserver {
  onPut(key: string, value: Uint8Array): void;
  onRemoved(key: string): void;
}

/** Time from a flush until it is reported, and of a read. Virtual milliseconds. */
const WORD_MS = 2;
const READ_MS = 3;

/** Its contents. */
export class RecordDisk {
  readonly records = new Map<string, Uint8Array>();
  /** The error code of all writes. */
  failing: string | undefined;
  /** Longest time until writes are flushed. Virtual milliseconds. */
  slowestMs = 4;
  readonly #observer: RecordObserver | undefined;

  constructor(observer?: RecordObserver) {
    this.#observer = observer;
  }

  /** A group of changes is flushed. */
  write({ puts = [], removes = [] }: RecordBatch): void {
    for (const key of removes) if (this.records.delete(key)) this.#observer?.onRemoved(key);
    for (const [key, value] of puts) {
      this.records.set(key, value);
      this.#observer?.onPut(key, value);
    }
  }
}

interface Waiting {
  readonly batch: RecordBatch;
  resolve(): void;
  reject(error: Error): void;
}

/**
 * The store of one process on that disk. Commits made during a flush share the next one. The process may die between a flush and its
 * report, and the result of a read is as old as the read took.
 */
export class DiskRecords implements RecordStore {
  readonly #disk: RecordDisk;
  readonly #transport: VirtualTransport;
  readonly #random: SeededRandom;
  readonly #reading = new Set<Promise<unknown>>();
  #waiting: Waiting[] = [];
  #flushing: Promise<void> | undefined;
  #isOpen = false;

  constructor(disk: RecordDisk, transport: VirtualTransport, random: SeededRandom) {
    this.#disk = disk;
    this.#transport = transport;
    this.#random = random;
  }

  async open(): Promise<void> {
    await this.#wait(READ_MS);
    this.#isOpen = true;
  }

  get(key: string): Promise<Uint8Array | undefined> {
    return this.#read(() => this.#disk.records.get(key));
  }

  async *entries(prefix = ''): AsyncIterable<readonly [key: string, value: Uint8Array]> {
    const found = await this.#read(() => [...this.#disk.records].filter(([key]) => key.startsWith(prefix)));
    yield* found.sort(([one], [other]) => Buffer.compare(Buffer.from(one), Buffer.from(other)));
  }

  commit(batch: RecordBatch): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#assertOpen();
      this.#waiting.push({ batch, resolve, reject });
      this.#flushing ??= this.#flush();
    });
  }

  async close(): Promise<void> {
    await Promise.allSettled([this.#flushing, ...this.#reading]);
    this.#isOpen = false;
  }

  async #flush(): Promise<void> {
    while (this.#waiting.length > 0) {
      const group = this.#waiting.splice(0);
      await this.#wait(this.#disk.slowestMs);
      const { failing: code } = this.#disk;
      if (code === undefined) for (const { batch } of group) this.#disk.write(batch);
      await this.#wait(WORD_MS);
      for (const { resolve, reject } of group)
        if (code === undefined) resolve();
        else reject(new ProjError('WRITE_FAILED', `disk: ${code}`, { details: { code } }));
    }
    this.#flushing = undefined;
  }

  async #read<Result>(look: () => Result): Promise<Result> {
    this.#assertOpen();
    const found = look();
    const reading = this.#wait(READ_MS);
    this.#reading.add(reading);
    await reading;
    this.#reading.delete(reading);
    return found;
  }

  #assertOpen(): void {
    if (!this.#isOpen) throw new ProjError('CLOSED', 'the records on this disk are not open: call open() first');
  }

  #wait(longestMs: number): Promise<void> {
    return sleep(this.#transport, this.#random.between(0, longestMs));
  }
}
