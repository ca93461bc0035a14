/** What can be read of records that were damaged, and how it is carried over into a new folder. */
import { assertNoStore, Damages, survey, unsealed } from './folder/index.js';
import type { StoreCheck } from './folder/index.js';
import { FILE, lmdbRecords, TABLES } from './records.js';

/** So many bytes are carried over at a time. */
const BATCH_BYTES = 4 * 2 ** 20;

/**
 * Looks through the records in a folder, which nobody may have open, and changes nothing. Rejects with `OPTIONS_INVALID` where there
 * are none, `UNAVAILABLE` while a process has them, and `CORRUPT` where nothing at all can be read.
 */
export async function checkRecords(folder: string): Promise<StoreCheck> {
  return readRecords(folder, () => undefined);
}

/** Carries what can be read over into a new folder, and tells what that was. Rejects as {@link checkRecords}, and as a store does. */
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
