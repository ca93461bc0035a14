/** A folder with one LMDB environment, for one process at a time: shared by all LMDB stores. */
import { join } from 'node:path';
import { ProjError } from '@proj/transport';
import { causeOf, freeBytesOf, openRoot, openTable, reasonOf, usageOf } from './environment.js';
import type { Root, Table } from './environment.js';
import { decodeHolder, encodeHolder, isHolding, letGo, takeHold } from './holder.js';
import type { Holder } from './holder.js';
import { writeMarker } from './marker.js';
import type { MarkerState } from './marker.js';
import { prepareFolder, syncFolder } from './prepare.js';
import type { Prepared } from './prepare.js';
import { RESERVE_BYTES, Room } from './room.js';
import { txnOf, walkFile } from './walk.js';
import type { Damage } from './walk.js';

/** How a store opens its folder. */
export interface LmdbFolderPlan<Name extends string, Entered> {
  /** Created if missing. On a local disk, never on a network file system. */
  readonly folder: string;
  /** Its file name, such as `queue.mdb`; unique to this kind of store. */
  readonly file: string;
  /** Its tables: the store's names, and their names in the file. */
  readonly tables: Readonly<Record<Name, string>>;
  /** Reads the store's own record, or writes it if `isEmpty`, in the transaction that takes the folder. If it throws, the transaction is undone. */
  readonly enter: (root: Root) => Entered;
  /**
   * Begins a check of all entries. Tables are reported by their names in the file, the root (`''`) first. Accepts every entry of a store that
   * `enter` will reject.
   */
  readonly inspect: () => Inspect;
}

/** False for an entry with a wrong checksum. */
export type Inspect = (table: string, key: Buffer, value: Buffer) => boolean;

/** The most disk space that a commit needs. */
export interface LmdbNeed {
  readonly bytes: number;
  /** Bytes of it that must be contiguous. */
  readonly pieceBytes: number;
  /** It stores something, so it must leave a reserve for commits that only remove. */
  readonly grows: boolean;
}

/** The holder's key in the root. */
export const HOLDER_KEY = 'holder';
/** Stores up to this size are checked at every start, in less than a tenth of a second. */
const SMALL_BYTES = 64 * 2 ** 20;
/** System errors for a full disk. */
const FULL = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);
/** System errors for a wrong folder. */
const UNFIT = new Set(['EACCES', 'EISDIR', 'ELOOP', 'ENAMETOOLONG', 'ENOENT', 'ENOTDIR', 'EPERM', 'EROFS']);

/** An open environment; a repair replaces it. */
interface Environment<Name extends string, Entered> {
  readonly root: Root;
  readonly tables: Readonly<Record<Name, Table>>;
  readonly room: Room;
  readonly pageSize: number;
  /** LMDB uses no more of the file than this. */
  usedAtMost: number;
  readonly entered: Entered;
}

/** An open folder. Loads `lmdb` when it is opened. */
export class LmdbFolder<Name extends string, Entered> {
  readonly #plan: LmdbFolderPlan<Name, Entered>;
  readonly #holder: Holder;
  #environment: Environment<Name, Entered>;
  /** The environment has panicked and must be reopened. */
  #isBroken = false;

  private constructor(plan: LmdbFolderPlan<Name, Entered>, holder: Holder, environment: Environment<Name, Entered>) {
    this.#plan = plan;
    this.#holder = holder;
    this.#environment = environment;
  }

  /**
   * Takes the folder. Rejects with `OPTIONS_INVALID` (it cannot be created, read or written), `UNAVAILABLE` (no driver, or another process or
   * object holds it), `CORRUPT` (it holds something else, is damaged or lost) or `WRITE_FAILED` (the disk is full), and leaves it unchanged. A
   * store that was not closed, or is small, is checked before LMDB touches it.
   */
  static async open<Name extends string, Entered>(
    plan: LmdbFolderPlan<Name, Entered>,
  ): Promise<LmdbFolder<Name, Entered>> {
    const holder = takeHold();
    try {
      const path = join(plan.folder, plan.file);
      const prepared = await prepareFolder(plan.folder, plan.file);
      await lookThrough(plan, prepared);
      const isNew = prepared.usedBytes === 0;
      // If the library crashes from here on, the next start knows by this mark.
      await mark(path, isNew ? 'making' : 'open', holder);
      const environment = await openEnvironment(plan, holder);
      await syncFolder(plan.folder);
      if (isNew) await mark(path, 'open', holder);
      return new LmdbFolder(plan, holder, environment);
    } catch (error) {
      letGo(holder);
      throw openFailure(plan.folder, error);
    }
  }

  /** {@link repair} replaces them. */
  get tables(): Readonly<Record<Name, Table>> {
    return this.#environment.tables;
  }

  /** The result of `enter`. */
  get entered(): Entered {
    return this.#environment.entered;
  }

  /** Size of the file. */
  get bytes(): number {
    return this.#environment.room.bytes;
  }

  get pageSize(): number {
    return this.#environment.pageSize;
  }

  /** Extends the file for a commit before LMDB writes it: see {@link Room}. Rejects with `WRITE_FAILED` if there is no room. */
  async makeRoom({ bytes, pieceBytes, grows }: LmdbNeed): Promise<void> {
    const environment = this.#environment;
    const { root, tables, room } = environment;
    const wanted = grows ? bytes + RESERVE_BYTES : Math.min(bytes, RESERVE_BYTES);
    // Asking LMDB takes 3 % of a small commit.
    if (environment.usedAtMost + wanted > room.bytes) {
      const { usedBytes } = usageOf(root);
      environment.usedAtMost = usedBytes;
      try {
        await room.reach(usedBytes + wanted);
      } catch (error) {
        // A full disk does not matter if the file has room inside. Contiguous bytes must fit after the used part.
        const isRoomy = freeBytesOf(root, Object.values(tables)) >= wanted && room.bytes - usedBytes >= pieceBytes;
        if (!isRoomy) throw failure(this.#plan.folder, error);
      }
    }
    environment.usedAtMost += bytes;
  }

  /** Reads from memory, synchronously. Throws only `CORRUPT`. */
  read<T>(look: (tables: Readonly<Record<Name, Table>>) => T): T {
    try {
      return look(this.tables);
    } catch (error) {
      throw error instanceof ProjError
        ? error
        : damaged(this.#plan.folder, `reading failed (${reasonOf(error).code})`, error);
    }
  }

  /** One transaction; resolves when it is on disk. If it rejects with `WRITE_FAILED` or `CORRUPT`, nothing of it is stored. */
  async flush(write: (root: Root) => void): Promise<void> {
    const { root } = this.#environment;
    try {
      await root.batch(() => write(root));
    } catch (error) {
      const cause = await causeOf(error);
      this.#isBroken ||= reasonOf(cause).isPanic;
      throw failure(this.#plan.folder, cause);
    }
  }

  /** Reopens an environment that has panicked; false if it has not. */
  async repair(): Promise<boolean> {
    if (!this.#isBroken) return false;
    await closeEnvironment(this.#environment);
    this.#environment = await openEnvironment(this.#plan, this.#holder);
    this.#isBroken = false;
    return true;
  }

  /** Call it only when nothing is under way. */
  async close(): Promise<void> {
    // If the holder cannot be erased, as on a full disk, the next process finds it dead.
    await this.#environment.root.remove(HOLDER_KEY).catch((error: unknown) => causeOf(error));
    await closeEnvironment(this.#environment);
    await mark(join(this.#plan.folder, this.#plan.file), 'closed', this.#holder);
    letGo(this.#holder);
  }
}

async function openEnvironment<Name extends string, Entered>(
  plan: LmdbFolderPlan<Name, Entered>,
  holder: Holder,
): Promise<Environment<Name, Entered>> {
  const path = join(plan.folder, plan.file);
  const names = Object.entries<string>(plan.tables);
  const root = await openRoot(path, names.length);
  try {
    const entered = root.transactionSync(() => {
      const own = plan.enter(root);
      takeOver(root, holder, plan.folder);
      return own;
    });
    const tables = Object.fromEntries(names.map(([name, inFile]) => [name, openTable(root, inFile)]));
    const { usedBytes, pageSize } = usageOf(root);
    const room = await Room.of(path);
    return { root, tables: tables as Record<Name, Table>, room, pageSize, usedAtMost: usedBytes, entered };
  } catch (error) {
    await root.close();
    throw error;
  }
}

async function closeEnvironment({ root, room }: Environment<string, unknown>): Promise<void> {
  await root.close();
  await room.close();
}

/** Becomes the holder, in the transaction that checks that there is no other. */
function takeOver(root: Root, holder: Holder, folder: string): void {
  const other = decodeHolder(root.getBinary(HOLDER_KEY) ?? Buffer.alloc(0));
  if (other !== undefined && other.token !== holder.token && isHolding(other)) {
    const text = `the store in ${folder} is held by process ${other.pid}: stop it or choose another folder`;
    throw new ProjError('UNAVAILABLE', text, { details: { pid: other.pid } });
  }
  root.putSync(HOLDER_KEY, encodeHolder(holder));
}

function openFailure(folder: string, error: unknown): unknown {
  const isOurs = error instanceof ProjError;
  const { code } = reasonOf(isOurs ? (error.details ?? {}) : error);
  if (!UNFIT.has(code)) return isOurs ? error : failure(folder, error);
  const why = code === 'ENOTDIR' ? 'it is not a folder' : code;
  const text = `the store in ${folder} cannot be opened (${why}): choose a folder that can be created, read and written`;
  return new ProjError('OPTIONS_INVALID', text, { cause: error, details: { code } });
}

/** Throws `CORRUPT` for a damaged store. Large ones that were closed in order are not checked. */
async function lookThrough(
  { folder, file, inspect }: Pick<LmdbFolderPlan<string, unknown>, 'folder' | 'file' | 'inspect'>,
  { usedBytes, marker }: Prepared,
): Promise<void> {
  if (usedBytes === 0 || (marker?.state === 'closed' && usedBytes > SMALL_BYTES)) return;
  const path = join(folder, file);
  if (marker?.holder !== undefined && isHolding(marker.holder)) return;
  const damages: Damage[] = [];
  const walked = await walkFile(path, { entry: inspect(), damage: (damage) => void damages.push(damage) });
  const [first] = damages;
  // Pages that another process is writing are not damage; that process is reported later.
  if (first === undefined || walked === undefined || txnOf(path) !== walked.txn) return;
  throw damaged(
    folder,
    `${damages.length === 1 ? '' : `${damages.length} places, the first: `}${describeDamage(first)}`,
  );
}

/** A full disk does not prevent opening: a store without a mark is checked next time. */
async function mark(path: string, state: MarkerState, holder: Holder): Promise<void> {
  await writeMarker(path, state, holder).catch((error: unknown) => {
    if (!FULL.has((error as NodeJS.ErrnoException).code ?? '')) throw error;
  });
}

/** For example "page 17 of table messages is not a leaf". */
export function describeDamage({ table, page, what }: Damage): string {
  return `page ${page} of ${table === '' ? 'the list of tables' : `table ${table}`} ${what}`;
}

function damaged(folder: string, what: string, cause?: unknown): ProjError {
  const advice = `restore it from a copy, or run 'proj queue check ${folder}' and recover what is readable with 'proj queue salvage ${folder} NEWFOLDER'`;
  return new ProjError('CORRUPT', `the store in ${folder} is damaged (${what}): ${advice}`, { cause });
}

function failure(folder: string, cause: unknown): ProjError {
  const { code, isCorrupt } = reasonOf(cause);
  if (isCorrupt) return damaged(folder, `writing failed (${code})`, cause);
  return new ProjError('WRITE_FAILED', `the store in ${folder} cannot be written to: ${code}`, {
    cause,
    details: { code },
  });
}
