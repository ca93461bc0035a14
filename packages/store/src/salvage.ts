/** Checks damaged records, and copies the readable ones to a new folder. */
import { assertNoStore, Damages, survey, unsealed } from './folder/index.js';
import type { StoreCheck } from './folder/index.js';
import { FILE, lmdbRecords, TABLES } from './records.js';

/** Bytes per copy. */
const BATCH_BYTES = 4 * 2 ** 20;

/**
 * Checks the records in a folder without changing anything. Rejects with `OPTIONS_INVALID` if there are none, `UNAVAILABLE` while a process has
 * them open, and `CORRUPT` if nothing can be read.
 */
export async function checkRecords(folder: string): Promise<StoreCheck> {
  return readRecords(folder, () => undefined);
}

/** Copies everything readable to a new folder and returns a report. Rejects as {@link checkRecords} and as a store do. */
export async function salvageRecords(folder: string, newFolder: string): Promise<StoreCheck> {
  await assertNoStore(newFolder, FILE);
  const records = lmdbRecords({ folder: newFolder });
  await records.open();
  try {
    let puts: (readonly [string, Uint8Array])[] = [];
    let bytes = 0;
    const flush = async (): Promise<void> => {
      const batch = puts;
      puts = [];
      bytes = 0;
      await records.commit({ puts: batch });
    };
    const check = await readRecords(
      folder,
      (key, value) => {
        puts.push([key, value]);
        bytes += value.length;
      },
      () => (bytes >= BATCH_BYTES ? flush() : undefined),
    );
    await flush();
    return check;
  } finally {
    await records.close();
  }
}

async function readRecords(
  folder: string,
  onRecord: (key: string, value: Uint8Array) => void,
  rest?: () => Promise<void> | undefined,
): Promise<StoreCheck> {
  const damages = new Damages();
  let records = 0;
  const tell = (key: Buffer, value: Buffer | undefined): boolean => {
    if (value === undefined) return false;
    records++;
    onRecord(key.toString(), value);
    return true;
  };
  await survey(folder, FILE, damages, {
    entry: (table, key, value) => {
      if (table === TABLES.sealed) return tell(key, unsealed(key, value));
      return table !== TABLES.plain || tell(key, value);
    },
    ...(rest === undefined ? {} : { rest }),
  });
  return damages.check({ records });
}
