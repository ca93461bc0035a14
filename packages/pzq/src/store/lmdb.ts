/** The queue on one disk, in LMDB: rules 21 and 28, layout of docs/protocols/pzq.md. */
import { randomBytes } from 'node:crypto';
import { isEmpty, LmdbFolder } from '@proj/store/lmdb-folder';
import type { Root, Table } from '@proj/store/lmdb-folder';
import { ProjError } from '@proj/transport';
import { memoryOfBody, unpackBody } from './body.js';
import { drawEpoch } from './epoch.js';
import { Draft } from './lmdb/draft.js';
import { inspectQueue } from './lmdb/inspect.js';
import { readMomentKey, readSeqKey, seqKey } from './lmdb/keys.js';
import { decodeLedger, emptyLedger, encodeLedger, LEDGER_KEY } from './lmdb/ledger.js';
import type { Ledger } from './lmdb/ledger.js';
import { contentOf, decodeHead, readBody } from './lmdb/record.js';
import type { Head } from './lmdb/record.js';
import { FILE, TABLES } from './lmdb/tables.js';
import type { Tables } from './lmdb/tables.js';
import { decodeCount, isNothing } from './lmdb/values.js';
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

/** Options of {@link LmdbStore}. */
export interface LmdbStoreOptions {
  /** Its folder, created if missing. On a local disk, never on a network file system. */
  readonly folder: string;
}

/** Bodies of due messages read at a time: meanwhile, the process does nothing else. */
const DUE_MAX_BYTES = 4 * 2 ** 20;

interface OpenState {
  readonly folder: LmdbFolder<keyof Tables, Ledger>;
  readonly tables: Tables;
  ledger: Ledger;
}

/** A {@link QueueStore} in a folder, for one process at a time. Loads `lmdb` when it is opened. */
export class LmdbStore implements QueueStore {
  readonly name = 'lmdb';
  readonly durable = true;
  readonly #folder: string;
  #state: OpenState | undefined;
  /** The pending write. */
  #writing: Promise<unknown> = Promise.resolve();

  constructor({ folder }: LmdbStoreOptions) {
    this.#folder = folder;
  }

  async open(): Promise<OpenedStore> {
    const where = this.#folder;
    const enter = (root: Root): Ledger => enterStore(root, where);
    const plan = { folder: where, file: FILE, tables: TABLES, enter, inspect: inspectQueue };
    const folder = await LmdbFolder.open(plan);
    const state = (this.#state = stateOf(folder));
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
      let bytes = 0;
      for (const { key, value } of tables.moments.getRange({ end: seqKey(nowMicros + 1) })) {
        if (ready.length + expired.length >= limit || bytes >= DUE_MAX_BYTES) break;
        const { seq, what } = readMomentKey(key);
        if (!isNothing(key, value)) throw this.#unreadable(seq);
        const record = tables.delayed.getBinary(seqKey(seq)) ?? tables.messages.getBinary(seqKey(seq));
        if (what === 'expired') expired.push({ seq, storedMicros: this.#head(seq, record).head.storedMicros });
        else {
          const message = this.#message(state, seq, record);
          if (message.expiresMicros !== 0 && message.expiresMicros <= nowMicros) continue;
          ready.push(message);
          bytes += memoryOfBody(message.body, message.bytes);
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
    const { folder } = state;
    if (await folder.repair()) state = this.#state = stateOf(folder);
    const { ledger } = state;
    const work = folder.flush((root) => void root.put(LEDGER_KEY, encodeLedger(ledger)));
    this.#writing = work.catch(() => undefined);
    await work;
  }

  async close(): Promise<void> {
    const state = this.#state;
    if (state === undefined) return;
    this.#state = undefined;
    await this.#writing;
    await state.folder.close();
  }

  #opened(): OpenState {
    if (this.#state !== undefined) return this.#state;
    throw new ProjError('CLOSED', `the store in ${this.#folder} is not open: call open() first`);
  }

  /** LMDB reads from memory, synchronously. Errors become rejections. */
  #read<T>(look: (state: OpenState) => T): Promise<T> {
    return new Promise((resolve) => {
      const state = this.#opened();
      resolve(state.folder.read(() => look(state)));
    });
  }

  async #commit(batch: Batch): Promise<Committed> {
    const state = this.#opened();
    const { folder, tables, ledger } = state;
    const draft = folder.read(() => new Draft(tables, ledger, batch));
    if (!draft.isEmpty) {
      const { pageSize } = folder;
      const need = {
        bytes: draft.bytesAtMost(pageSize),
        pieceBytes: draft.bytesInPieces(pageSize),
        grows: batch.puts.length > 0,
      };
      await folder.makeRoom(need);
      await folder.flush((root) => draft.perform(root));
      state.ledger = draft.ledger;
    }
    return { seqs: draft.seqs, removed: draft.removed, counts: this.#counts(state) };
  }

  #counts({ tables, ledger, folder }: OpenState): StoreCounts {
    const { messages, bytes, delayed, dead } = ledger;
    const [first] = tables.moments.getKeys({ limit: 1 });
    return {
      messages,
      bytes,
      delayed,
      dead,
      storeBytes: folder.bytes,
      nextDueMicros: first === undefined ? Infinity : readMomentKey(first).micros,
    };
  }

  #window(state: OpenState, table: Table, after: number, limit: number, maxBytes: number) {
    const window: (StoredMessage | DeadMessage)[] = [];
    let bytes = 0;
    for (const { key, value } of table.getRange({ start: seqKey(after + 1) })) {
      if (window.length >= limit) break;
      const message = this.#message(state, readSeqKey(key), value);
      bytes += memoryOfBody(message.body, message.bytes);
      if (window.length > 0 && bytes > maxBytes) break;
      window.push(message);
    }
    return window;
  }

  #message({ tables, ledger }: OpenState, seq: number, record: Buffer | undefined): StoredMessage | DeadMessage {
    const key = seqKey(seq);
    const { head, content } = this.#head(seq, record);
    const { storedMicros, expiresMicros, bytes, death, bodyAt } = head;
    const apart = bodyAt === undefined ? tables.bodies.getBinary(key) : undefined;
    const body = bodyAt === undefined ? apart && readBody(key, apart) : unpackBody(content, bodyAt);
    const counted = ledger.counted > 0 ? tables.deliveries.getBinary(key) : undefined;
    const deliveries = death?.deliveries ?? (counted === undefined ? 0 : decodeCount(key, counted));
    if (body === undefined || deliveries === undefined) throw this.#unreadable(seq);
    const message = { seq, storedMicros, body, bytes, deliveries, expiresMicros };
    return death === undefined ? message : { ...message, reason: death.reason, diedMicros: death.diedMicros };
  }

  #head(seq: number, record: Buffer | undefined): { readonly head: Head; readonly content: Buffer } {
    const content = record && contentOf(seqKey(seq), record);
    const head = content && decodeHead(content);
    if (content === undefined || head === undefined) throw this.#unreadable(seq);
    return { head, content };
  }

  #unreadable(seq: number): ProjError {
    const text = `message ${seq} of the store in ${this.#folder} does not match its checksum`;
    return new ProjError('CORRUPT', `${text}: see 'proj queue check ${this.#folder}'`);
  }
}

function stateOf(folder: LmdbFolder<keyof Tables, Ledger>): OpenState {
  return { folder, tables: folder.tables, ledger: folder.entered };
}

/** The ledger of a store, or that of a new one. */
function enterStore(root: Root, where: string): Ledger {
  const record = root.getBinary(LEDGER_KEY);
  if (record !== undefined || !isEmpty(root)) return decodeLedger(record ?? Buffer.alloc(0), where);
  const ledger = emptyLedger(drawEpoch(randomBytes(8)));
  root.putSync(LEDGER_KEY, encodeLedger(ledger));
  return ledger;
}
