/** A folder with one environment in it, for one process at a time: what every store in LMDB has in common. */
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

/** What a store says of itself. */
export interface LmdbFolderPlan<Name extends string, Entered> {
  /** Made where there is none. On a disk of this machine, never on a network file system. */
  readonly folder: string;
  /** The name of its file, such as `queue.mdb`; of no other kind of store. */
  readonly file: string;
  /** Its tables, by what the store calls them, and their names in the file. */
  readonly tables: Readonly<Record<Name, string>>;
  /**
   * Reads what the store says of itself, or writes it where `isEmpty`. In the transaction that takes hold of the folder; what
   * it throws undoes that, and the file stays as it was.
   */
  readonly enter: (root: Root) => Entered;
  /**
   * Begins to look through a store: says of each entry whether its checksum agrees, false where not. Tables come by their names
   * in the file, first the root, `''`. Of a store that `enter` will not take it denies nothing.
   */
  readonly inspect: () => Inspect;
}

/** False for an entry that its checksum denies. */
export type Inspect = (table: string, key: Buffer, value: Buffer) => boolean;

/** What a commit takes of the disk, at most. */
export interface LmdbNeed {
  readonly bytes: number;
  /** Of that, bytes that must lie in one piece each. */
  readonly pieceBytes: number;
  /** It stores something: then a reserve stays free for commits that only remove. */
  readonly grows: boolean;
}

/** Where the holder lies in the root. */
export const HOLDER_KEY = 'holder';
/** A store of up to so many bytes is looked through at every start: that takes less than a tenth of a second. */
const SMALL_BYTES = 64 * 2 ** 20;
/** Errors of a disk that is full. */
const FULL = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);
/** Errors of the system by which it is the folder that is wrong. */
const UNFIT = new Set(['EACCES', 'EISDIR', 'ELOOP', 'ENAMETOOLONG', 'ENOENT', 'ENOTDIR', 'EPERM', 'EROFS']);

/** What is open of a folder: another one after a repair. */
interface Environment<Name extends string, Entered> {
  readonly root: Root;
  readonly tables: Readonly<Record<Name, Table>>;
  readonly room: Room;
  readonly entered: Entered;
}

/** An open folder. Loads `lmdb` when it is opened. */
export class LmdbFolder<Name extends string, Entered> {
  readonly #plan: LmdbFolderPlan<Name, Entered>;
  readonly #holder: Holder;
  #environment: Environment<Name, Entered>;
  /** The environment has panicked: nothing but opening it anew helps. */
  #isBroken = false;

  private constructor(plan: LmdbFolderPlan<Name, Entered>, holder: Holder, environment: Environment<Name, Entered>) {
    this.#plan = plan;
    this.#holder = holder;
    this.#environment = environment;
  }

  /**
   * Takes hold of the folder. Rejects with `OPTIONS_INVALID` (it cannot be made, read or written to), `UNAVAILABLE` (no driver, held
   * by another process or another object of this one), `CORRUPT` (something else is in it, it is damaged or lost) or `WRITE_FAILED`
   * (the disk is full); it is left as it was then. A store that nobody has closed, or a small one, is looked through before LMDB
   * touches it.
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
      // What happens inside of the library from here on is told to the next one by this.
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

  /** Other objects after {@link repair}. */
  get tables(): Readonly<Record<Name, Table>> {
    return this.#environment.tables;
  }

  /** What `enter` gave, this time. */
  get entered(): Entered {
    return this.#environment.entered;
  }

  /** What the file takes on the disk. */
  get bytes(): number {
    return this.#environment.room.bytes;
  }

  /** Of the file. */
  get pageSize(): number {
    return usageOf(this.#environment.root).pageSize;
  }

  /**
   * Has the file long enough for whatever LMDB makes of a commit, before it is written: see {@link Room}. Rejects with
   * `WRITE_FAILED` where there is no room.
   */
  async makeRoom({ bytes, pieceBytes, grows }: LmdbNeed): Promise<void> {
    const { root, tables, room } = this.#environment;
    const { usedBytes } = usageOf(root);
    const wanted = grows ? bytes + RESERVE_BYTES : Math.min(bytes, RESERVE_BYTES);
    try {
      await room.reach(usedBytes + wanted);
    } catch (error) {
      // A disk that is full is no harm to a file that has room inside. What lies in one piece must fit behind the rest.
      const isRoomy = freeBytesOf(root, Object.values(tables)) >= wanted && room.bytes - usedBytes >= pieceBytes;
      if (!isRoomy) throw failure(this.#plan.folder, error);
    }
  }

  /** Reads: LMDB does so from memory and at once. What it throws is `CORRUPT`: there is nothing else that can fail. */
  read<T>(look: (tables: Readonly<Record<Name, Table>>) => T): T {
    try {
      return look(this.tables);
    } catch (error) {
      throw error instanceof ProjError
        ? error
        : damaged(this.#plan.folder, `reading failed (${reasonOf(error).code})`, error);
    }
  }

  /** One transaction; resolves when it is on the disk. Rejects with `WRITE_FAILED` or `CORRUPT`, and nothing of it was kept. */
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

  /** After a write that has left the environment useless, opens it anew and tells so. */
  async repair(): Promise<boolean> {
    if (!this.#isBroken) return false;
    await closeEnvironment(this.#environment);
    this.#environment = await openEnvironment(this.#plan, this.#holder);
    this.#isBroken = false;
    return true;
  }

  /** Nothing may be under way any more. */
  async close(): Promise<void> {
    // A holder that cannot be erased, as on a full disk, is found dead by the next one.
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
    return { root, tables: tables as Record<Name, Table>, room: await Room.of(path), entered };
  } catch (error) {
    await root.close();
    throw error;
  }
}

async function closeEnvironment({ root, room }: Environment<string, unknown>): Promise<void> {
  await root.close();
  await room.close();
}

/** Becomes the holder, in one transaction with looking whether there is another one. */
function takeOver(root: Root, holder: Holder, folder: string): void {
  const other = decodeHolder(root.getBinary(HOLDER_KEY) ?? Buffer.alloc(0));
  if (other !== undefined && other.token !== holder.token && isHolding(other)) {
    const text = `the store in ${folder} is held by process ${other.pid}: end that one or choose another folder`;
    throw new ProjError('UNAVAILABLE', text, { details: { pid: other.pid } });
  }
  root.putSync(HOLDER_KEY, encodeHolder(holder));
}

function openFailure(folder: string, error: unknown): unknown {
  const isOurs = error instanceof ProjError;
  const { code } = reasonOf(isOurs ? (error.details ?? {}) : error);
  if (!UNFIT.has(code)) return isOurs ? error : failure(folder, error);
  const why = code === 'ENOTDIR' ? 'it is no folder' : code;
  const text = `the store in ${folder} cannot be opened (${why}): name a folder that can be made, read and written to`;
  return new ProjError('OPTIONS_INVALID', text, { cause: error, details: { code } });
}

/** Throws `CORRUPT` for a store that is damaged, where that is to be feared. */
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
  // Pages that somebody writes to meanwhile are no damage: who that is will be told.
  if (first === undefined || walked === undefined || txnOf(path) !== walked.txn) return;
  throw damaged(
    folder,
    `${damages.length === 1 ? '' : `${damages.length} places, the first: `}${describeDamage(first)}`,
  );
}

/** A disk that is full is no reason not to open: what is not marked is looked through the next time. */
async function mark(path: string, state: MarkerState, holder: Holder): Promise<void> {
  await writeMarker(path, state, holder).catch((error: unknown) => {
    if (!FULL.has((error as NodeJS.ErrnoException).code ?? '')) throw error;
  });
}

/** Such as "page 17 of table messages is no leaf". */
export function describeDamage({ table, page, what }: Damage): string {
  return `page ${page} of ${table === '' ? 'the list of tables' : `table ${table}`} ${what}`;
}

/** The store is not to be used any more. */
function damaged(folder: string, what: string, cause?: unknown): ProjError {
  const advice = `restore it from a copy, or see 'proj queue check ${folder}' and carry over what is readable with 'proj queue salvage ${folder} NEWFOLDER'`;
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
