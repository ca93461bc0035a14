/** Records in this process's memory, lost with it. For tests, and for users who ask for no durability. */
import { ProjError } from './errors.js';
import { checkRecords } from './records.js';
import type { RecordBatch, RecordStore } from './records.js';

/** A store that forgets everything when the process ends. The same object can be opened again after `close`. */
export function memoryRecords(): RecordStore {
  return new MemoryRecords();
}

class MemoryRecords implements RecordStore {
  readonly #records = new Map<string, Uint8Array>();
  #isOpen = false;

  open(): Promise<void> {
    this.#isOpen = true;
    return Promise.resolve();
  }

  get(key: string): Promise<Uint8Array | undefined> {
    return new Promise((resolve) => {
      resolve(this.#opened().get(key));
    });
  }

  async *entries(prefix = ''): AsyncIterable<readonly [key: string, value: Uint8Array]> {
    // Compared as bytes: by UTF-16 code units, characters beyond U+FFFF would come too early.
    const keys = Array.from(await Promise.resolve(this.#opened().keys()))
      .filter((key) => key.startsWith(prefix))
      .map((key) => [Buffer.from(key), key] as const)
      .sort(([one], [other]) => Buffer.compare(one, other));
    for (const [, key] of keys) {
      const value = this.#opened().get(key);
      if (value !== undefined) yield [key, value];
    }
  }

  commit(batch: RecordBatch): Promise<void> {
    return new Promise((resolve) => {
      const records = this.#opened();
      checkRecords(batch);
      for (const key of batch.removes ?? []) records.delete(key);
      for (const [key, value] of batch.puts ?? []) records.set(key, value);
      resolve();
    });
  }

  close(): Promise<void> {
    this.#isOpen = false;
    return Promise.resolve();
  }

  #opened(): Map<string, Uint8Array> {
    if (!this.#isOpen) throw new ProjError('CLOSED', 'the records in memory are not open: call open() first');
    return this.#records;
  }
}
