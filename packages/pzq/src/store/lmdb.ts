/** The queue on one disk, in LMDB: rules 21 and 28, layout of docs/protocols/pzq.md. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { ProjError } from '@proj/transport';
import { unpackBody } from './body.js';
import { drawEpoch } from './epoch.js';
import { Draft, LEDGER_KEY } from './lmdb/draft.js';
import { FILE, prepareFolder, syncFolder } from './lmdb/folder.js';
import { decodeHolder, encodeHolder, isHolding, letGo, takeHold } from './lmdb/holder.js';
import type { Holder } from './lmdb/holder.js';
import { readMomentKey, readSeqKey, seqKey } from './lmdb/keys.js';
import { decodeLedger, emptyLedger, encodeLedger } from './lmdb/ledger.js';
import type { Ledger } from './lmdb/ledger.js';
import { decodeHead } from './lmdb/record.js';
import type { Head } from './lmdb/record.js';
import { RESERVE_BYTES, Room } from './lmdb/room.js';
import { freeBytesOf, openRoot, openTables, reasonOf, usageOf } from './lmdb/tables.js';
import type { Table, Tables } from './lmdb/tables.js';
import type {
  Batch,
  Committed,
  DeadMessage,
  DueMessages,
  OpenedStore,
  QueueStore,
  Removal,
  StoreCounts,
  StoredMessage,
} from './store.js';

/** How an {@link LmdbStore} is made. */
export interface LmdbStoreOptions {
  /** Its folder, made where there is none. On a disk of this machine, never on a network file system. */
  readonly folder: string;
}

const HOLDER_KEY = 'holder';

interface OpenState {
  readonly holder: Holder;
  readonly tables: Tables;
  readonly room: Room;
  ledger: Ledger;
  /** The environment has panicked: nothing but opening it anew helps. */
  isBroken: boolean;
}

/** A {@link QueueStore} in a folder, for one process at a time. Loads `lmdb` when it is opened. */
export class LmdbStore implements QueueStore {
  readonly name = 'lmdb';
  readonly durable = true;
  readonly #folder: string;
  #state: OpenState | undefined;
  /** The write under way. */
  #writing: Promise<unknown> = Promise.resolve();

  constructor({ folder }: LmdbStoreOptions) {
    this.#folder = folder;
  }

  async open(): Promise<OpenedStore> {
    await prepareFolder(this.#folder).catch((error: unknown) => {
      throw error instanceof ProjError ? error : this.#failure(error, reasonOf(error).code);
    });
    const holder = takeHold();
    const state = await this.#openState(holder).catch((error: unknown) => {
      letGo(holder);
      throw error;
    });
    await syncFolder(this.#folder);
    this.#state = state;
    const { epoch, lastSeq } = state.ledger;
    return { epoch, lastSeq, counts: this.#counts(state) };
  }

  commit(batch: Batch): Promise<Committed> {
    const work = this.#commit(batch);
    this.#writing = work.catch(() => undefined);
    return work;
  }

  scan(after: number, limit: number, maxBytes: number): Promise<readonly StoredMessage[]> {
    return this.#read((state) => this.#window(state, state.tables.messages, after, limit, maxBytes));
  }

  due(nowMicros: number, limit: number): Promise<DueMessages> {
    return this.#read((state) => {
      const { tables } = state;
      const ready: StoredMessage[] = [];
      const expired: Removal[] = [];
      for (const key of tables.moments.getKeys({ end: seqKey(nowMicros + 1) })) {
        if (ready.length + expired.length >= limit) break;
        const { seq, what } = readMomentKey(key);
        const record = tables.delayed.getBinary(seqKey(seq)) ?? tables.messages.getBinary(seqKey(seq));
        if (what === 'expired') expired.push({ seq, storedMicros: this.#head(seq, record).storedMicros });
        else {
          const message = this.#message(state, seq, record);
          if (message.expiresMicros === 0 || message.expiresMicros > nowMicros) ready.push(message);
        }
      }
      return { ready, expired };
    });
  }

  dead(after: number, limit: number, maxBytes: number): Promise<readonly DeadMessage[]> {
    return this.#read((state) =>
      this.#window(state, state.tables.dead, after, limit, maxBytes).filter((message) => 'reason' in message),
    );
  }

  async probe(): Promise<void> {
    let state = this.#opened();
    if (state.isBroken) {
      await state.tables.root.close();
      await state.room.close();
      state = this.#state = await this.#openState(state.holder);
    }
    const { tables, ledger } = state;
    const work = this.#flush(state, () => void tables.root.put(LEDGER_KEY, encodeLedger(ledger)));
    this.#writing = work.catch(() => undefined);
    await work;
  }

  async close(): Promise<void> {
    const state = this.#state;
    if (state === undefined) return;
    this.#state = undefined;
    await this.#writing;
    const { root } = state.tables;
    // A holder that cannot be erased, as on a full disk, is found dead by the next one.
    await root.remove(HOLDER_KEY).catch((error: unknown) => causeOf(error));
    await root.close();
    await state.room.close();
    letGo(state.holder);
  }

  #opened(): OpenState {
    if (this.#state !== undefined) return this.#state;
    throw new ProjError('CLOSED', `the store in ${this.#folder} is not open: call open() first`);
  }

  /** LMDB reads from memory and at once; what it throws is a rejection all the same. */
  #read<T>(look: (state: OpenState) => T): Promise<T> {
    return new Promise((resolve) => {
      resolve(look(this.#opened()));
    });
  }

  async #openState(holder: Holder): Promise<OpenState> {
    const root = await openRoot(this.#folder);
    try {
      const ledger = this.#take(root, holder);
      return {
        holder,
        tables: openTables(root),
        room: await Room.of(join(this.#folder, FILE)),
        ledger,
        isBroken: false,
      };
    } catch (error) {
      await root.close();
      throw error;
    }
  }

  /** Becomes the holder, in one transaction with looking whether there is another one; makes a new store's ledger. */
  #take(root: Tables['root'], holder: Holder): Ledger {
    return root.transactionSync(() => {
      const record = root.getBinary(LEDGER_KEY);
      const isNew = record === undefined && (root.getStats() as { entryCount: number }).entryCount === 0;
      const ledger = isNew
        ? emptyLedger(drawEpoch(randomBytes(8)))
        : decodeLedger(record ?? Buffer.alloc(0), this.#folder);
      const other = decodeHolder(root.getBinary(HOLDER_KEY) ?? Buffer.alloc(0));
      if (other !== undefined && other.token !== holder.token && isHolding(other)) {
        const text = `the store in ${this.#folder} is held by process ${other.pid}: end that one or choose another folder`;
        throw new ProjError('UNAVAILABLE', text, { details: { pid: other.pid } });
      }
      root.putSync(HOLDER_KEY, encodeHolder(holder));
      if (isNew) root.putSync(LEDGER_KEY, encodeLedger(ledger));
      return ledger;
    });
  }

  async #commit(batch: Batch): Promise<Committed> {
    const state = this.#opened();
    const draft = new Draft(state.tables, state.ledger, batch);
    if (!draft.isEmpty) {
      await this.#makeRoom(state, draft, batch.puts.length > 0);
      await this.#flush(state, () => draft.perform());
      state.ledger = draft.ledger;
    }
    return { seqs: draft.seqs, removed: draft.removed, counts: this.#counts(state) };
  }

  /** One transaction; resolves when it is on the disk. */
  async #flush(state: OpenState, write: () => void): Promise<void> {
    try {
      await state.tables.root.batch(write);
    } catch (error) {
      const cause = await causeOf(error);
      const { code, isPanic } = reasonOf(cause);
      state.isBroken ||= isPanic;
      throw this.#failure(cause, code);
    }
  }

  /** Has the file long enough for whatever LMDB makes of the draft; new messages leave a reserve for removals. */
  async #makeRoom({ tables, room }: OpenState, draft: Draft, stores: boolean): Promise<void> {
    const { usedBytes, pageSize } = usageOf(tables.root);
    const needed = draft.bytesAtMost(pageSize);
    const wanted = stores ? needed + RESERVE_BYTES : Math.min(needed, RESERVE_BYTES);
    try {
      await room.reach(usedBytes + wanted);
    } catch (error) {
      // A disk that is full is no harm to a file that has room inside. What lies in one piece must fit behind the rest.
      const isRoomy = freeBytesOf(tables) >= wanted && room.bytes - usedBytes >= draft.bytesInPieces(pageSize);
      if (!isRoomy) throw this.#failure(error, reasonOf(error).code);
    }
  }

  #failure(cause: unknown, code: string): ProjError {
    const text = `the store in ${this.#folder} cannot be written to: ${code}`;
    return new ProjError('WRITE_FAILED', text, { cause, details: { code } });
  }

  #counts({ tables, ledger, room }: OpenState): StoreCounts {
    const { messages, bytes, delayed, dead } = ledger;
    const [first] = tables.moments.getKeys({ limit: 1 });
    return {
      messages,
      bytes,
      delayed,
      dead,
      storeBytes: room.bytes,
      nextDueMicros: first === undefined ? Infinity : readMomentKey(first).micros,
    };
  }

  #window(state: OpenState, table: Table, after: number, limit: number, maxBytes: number) {
    const window: (StoredMessage | DeadMessage)[] = [];
    let bytes = 0;
    for (const { key, value } of table.getRange({ start: seqKey(after + 1) })) {
      if (window.length >= limit) break;
      const message = this.#message(state, readSeqKey(key), value);
      bytes += message.bytes;
      if (window.length > 0 && bytes > maxBytes) break;
      window.push(message);
    }
    return window;
  }

  #message({ tables, ledger }: OpenState, seq: number, record: Buffer | undefined): StoredMessage | DeadMessage {
    const key = seqKey(seq);
    const { storedMicros, expiresMicros, bytes, death, bodyAt } = this.#head(seq, record);
    const packed = bodyAt === undefined ? tables.bodies.getBinary(key) : record;
    const body = packed === undefined ? undefined : unpackBody(packed, bodyAt ?? 0);
    if (body === undefined) throw this.#unreadable(seq);
    const counted = ledger.counted > 0 ? tables.deliveries.getBinary(key) : undefined;
    const deliveries = death?.deliveries ?? counted?.readUInt32BE() ?? 0;
    const message = { seq, storedMicros, body, bytes, deliveries, expiresMicros };
    return death === undefined ? message : { ...message, reason: death.reason, diedMicros: death.diedMicros };
  }

  #head(seq: number, record: Buffer | undefined): Head {
    const head = record === undefined ? undefined : decodeHead(record);
    if (head === undefined) throw this.#unreadable(seq);
    return head;
  }

  #unreadable(seq: number): ProjError {
    const text = `message ${seq} of the store in ${this.#folder} cannot be read: restore the store from a copy`;
    return new ProjError('CORRUPT', text);
  }
}

/** LMDB rejects twice: the commit, and with its cause a promise beside it, which nobody else waits for. */
async function causeOf(error: unknown): Promise<unknown> {
  const { commitError } = error as { readonly commitError?: Promise<unknown> };
  try {
    await commitError;
    return error;
  } catch (cause) {
    return cause;
  }
}
