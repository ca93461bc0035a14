/** Records in this process's memory: gone with it. For tests, and for users who ask for no durability. */
import type { RecordBatch, RecordStore } from './records.js';

/** A store that forgets everything when the process ends; the object itself can be opened again after `close`. */
export function memoryRecords(): RecordStore {
  const records = new Map<string, Uint8Array>();
  return {
    open: () => Promise.resolve(),
    get: (key) => Promise.resolve(records.get(key)),
    async *entries(prefix = '') {
      await Promise.resolve();
      const keys = Array.from(records.keys()).filter((key) => key.startsWith(prefix));
      for (const key of keys.sort(byBytes)) {
        const value = records.get(key);
        if (value !== undefined) yield [key, value] as const;
      }
    },
    commit({ puts = [], removes = [] }: RecordBatch) {
      for (const key of removes) records.delete(key);
      for (const [key, value] of puts) records.set(key, value);
      return Promise.resolve();
    },
    close: () => Promise.resolve(),
  };
}

/** By code point, which is the order of the UTF-8 bytes. */
function byBytes(one: string, other: string): number {
  const [a, b] = [Array.from(one), Array.from(other)];
  for (let index = 0; index < a.length && index < b.length; index++) {
    const difference = (a[index]?.codePointAt(0) ?? 0) - (b[index]?.codePointAt(0) ?? 0);
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}
