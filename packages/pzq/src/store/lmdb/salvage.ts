/** Checks a damaged queue, and copies what is readable to a new folder. */
import { randomBytes } from 'node:crypto';
import { assertNoStore, Damages, LmdbFolder, survey } from '@proj/store/lmdb-folder';
import type { StoreCheck } from '@proj/store/lmdb-folder';
import { drawEpoch } from '../epoch.js';
import { inspectQueue, isIntact } from './inspect.js';
import { idTimeKey, momentKey, readSeqKey } from './keys.js';
import { decodeLedger, emptyLedger, encodeLedger, LEDGER_KEY } from './ledger.js';
import type { Ledger } from './ledger.js';
import { contentOf, decodeHead, encodeRecord } from './record.js';
import type { Head } from './record.js';
import { FILE, TABLES } from './tables.js';
import type { Tables } from './tables.js';
import { decodeTime, encodeNothing } from './values.js';

export type { StoreCheck } from '@proj/store/lmdb-folder';

type Place = 'messages' | 'delayed' | 'dead';

/** The result of the first pass. */
interface Found {
  readonly check: StoreCheck;
  readonly ledger: Ledger | undefined;
  /** Sequences of completely readable messages. */
  readonly whole: ReadonlySet<number>;
}

interface Write {
  readonly table: keyof Tables;
  readonly key: Buffer;
  readonly value: Buffer;
}

const PLACES: ReadonlySet<string> = new Set<Place>(['messages', 'delayed', 'dead']);
const NAMES = new Map<string, keyof Tables>(
  Object.entries(TABLES).map(([name, inFile]) => [inFile, name as keyof Tables]),
);
/** Bytes per copy. */
const BATCH_BYTES = 4 * 2 ** 20;
/** What a write may need besides its bytes: a page of its tree. */
const ENTRY_BYTES = 8192;

/**
 * Checks the queue in a folder that no process has open, without changing anything. Rejects with `OPTIONS_INVALID` if there is none,
 * `UNAVAILABLE` while a process has it open, and `CORRUPT` if nothing can be read.
 */
export async function checkQueue(folder: string): Promise<StoreCheck> {
  return (await find(folder)).check;
}

/**
 * Copies everything readable to a new folder: messages and dead letters with their keys, order, times and delivery counts, and ids of producers.
 * Returns a report. If the ledger is lost, keys are new. Rejects as {@link checkQueue} and as a store do.
 */
export async function salvageQueue(folder: string, newFolder: string): Promise<StoreCheck> {
  const { check, ledger, whole } = await find(folder);
  await assertNoStore(newFolder, FILE);
  const target = await LmdbFolder.open({
    folder: newFolder,
    file: FILE,
    tables: TABLES,
    // The ledger comes last, so that an interrupted copy is not a store.
    enter: () => undefined,
    inspect: inspectQueue,
  });
  try {
    const copy = new Copy(target, ledger, whole);
    await survey(folder, FILE, new Damages(), copy);
    await copy.finish();
    return check;
  } finally {
    await target.close();
  }
}

async function find(folder: string): Promise<Found> {
  const damages = new Damages();
  const heads: { readonly seq: number; readonly place: Place; readonly isApart: boolean }[] = [];
  const bodies = new Set<number>();
  let ledger: Ledger | undefined;
  await survey(folder, FILE, damages, {
    entry: (table, key, value) => {
      if (table === '' && key.toString() === LEDGER_KEY) {
        ledger = readLedger(value, folder);
        return ledger !== undefined;
      }
      const name = NAMES.get(table);
      if (!isIntact(table, key, value)) return false;
      if (name === 'bodies') bodies.add(readSeqKey(key));
      else if (isPlace(name))
        heads.push({ seq: readSeqKey(key), place: name, isApart: headOf(key, value).head.bodyAt === undefined });
      return true;
    },
  });
  const readable = { messages: 0, delayed: 0, dead: 0 };
  const whole = new Set<number>();
  for (const { seq, place, isApart } of heads) {
    if (isApart && !bodies.has(seq)) continue;
    readable[place]++;
    whole.add(seq);
  }
  if (ledger === undefined) damages.add('the ledger cannot be read: the number of messages is unknown');
  else compare(ledger, readable, damages);
  return { check: damages.check(readable), ledger, whole };
}

/** Reports messages that the ledger counts but that are lost. */
function compare(ledger: Ledger, { messages, delayed, dead }: Record<Place, number>, damages: Damages): void {
  const rows = [
    ['messages', ledger.messages - ledger.delayed, messages],
    ['delayed messages', ledger.delayed, delayed],
    ['dead letters', ledger.dead, dead],
  ] as const;
  for (const [what, wanted, found] of rows)
    if (found !== wanted) damages.add(`${found} of ${wanted} ${what} can be read`);
}

/** Writes what is intact to the new folder. */
class Copy {
  readonly #target: LmdbFolder<keyof Tables, undefined>;
  readonly #whole: ReadonlySet<number>;
  readonly #ledger: { -readonly [Field in keyof Ledger]: Ledger[Field] };
  #writes: Write[] = [];
  #bytes = 0;

  constructor(target: LmdbFolder<keyof Tables, undefined>, ledger: Ledger | undefined, whole: ReadonlySet<number>) {
    this.#target = target;
    this.#whole = whole;
    const { epoch, lastSeq } = ledger ?? { epoch: drawEpoch(randomBytes(8)), lastSeq: 0 };
    this.#ledger = { ...emptyLedger(epoch), lastSeq };
  }

  readonly entry = (table: string, key: Buffer, value: Buffer): boolean => {
    const name = NAMES.get(table);
    if (name === undefined || !isIntact(table, key, value)) return false;
    if (name === 'ids') {
      this.#add({ table: name, key, value });
      const timeKey = idTimeKey(decodeTime(key, value) ?? 0, key);
      this.#add({ table: 'idTimes', key: timeKey, value: encodeNothing(timeKey) });
    } else if (isPlace(name)) this.#addMessage(name, key, value);
    else if ((name === 'bodies' || name === 'deliveries') && this.#whole.has(readSeqKey(key))) {
      if (name === 'deliveries') this.#ledger.counted++;
      this.#add({ table: name, key, value });
    }
    return true;
  };

  readonly rest = (): Promise<void> | undefined => (this.#bytes >= BATCH_BYTES ? this.#flush() : undefined);

  /** Writes the ledger, which makes it a store. */
  async finish(): Promise<void> {
    await this.#flush();
    const ledger = encodeLedger(this.#ledger);
    await this.#target.flush((root) => void root.put(LEDGER_KEY, ledger));
  }

  #addMessage(table: Place, key: Buffer, value: Buffer): void {
    const seq = readSeqKey(key);
    if (!this.#whole.has(seq)) return;
    const { head, content } = headOf(key, value);
    this.#add({ table, key, value: encodeRecord(head, content, key) });
    this.#ledger.lastSeq = Math.max(this.#ledger.lastSeq, seq);
    if (table === 'dead') {
      this.#ledger.dead++;
      return;
    }
    this.#ledger.messages++;
    this.#ledger.bytes += head.bytes;
    if (table === 'delayed') {
      this.#ledger.delayed++;
      this.#addMoment(head.readyMicros, seq, 'ready');
    }
    if (head.expiresMicros > 0) this.#addMoment(head.expiresMicros, seq, 'expired');
  }

  #addMoment(micros: number, seq: number, what: 'ready' | 'expired'): void {
    const key = momentKey({ micros, seq, what });
    this.#add({ table: 'moments', key, value: encodeNothing(key) });
  }

  #add(write: Write): void {
    this.#writes.push(write);
    this.#bytes += write.key.length + write.value.length;
  }

  async #flush(): Promise<void> {
    const [writes, bytes] = [this.#writes, this.#bytes];
    this.#writes = [];
    this.#bytes = 0;
    await this.#target.makeRoom({ bytes: 2 * bytes + writes.length * ENTRY_BYTES, pieceBytes: bytes, grows: true });
    await this.#target.flush(() => {
      for (const { table, key, value } of writes) void this.#target.tables[table].put(key, value);
    });
  }
}

function isPlace(name: string | undefined): name is Place {
  return name !== undefined && PLACES.has(name);
}

/** Reads an intact record. */
function headOf(key: Buffer, value: Buffer): { readonly head: Head; readonly content: Buffer } {
  const content = contentOf(key, value) as Buffer;
  return { content, head: decodeHead(content) as Head };
}

function readLedger(value: Buffer, where: string): Ledger | undefined {
  try {
    return decodeLedger(value, where);
  } catch {
    return undefined;
  }
}
