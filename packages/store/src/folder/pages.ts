/**
 * Reads the pages of an LMDB file without LMDB, which trusts every byte: on a damaged file it ends the process or returns nonsense. Layout of
 * data version 2 on 64 bits, little-endian, as lmdb-js 3.5 writes it.
 */
import { readSync } from 'node:fs';

/** One of the two meta pages of a file: its state after a transaction. */
export interface Meta {
  readonly pageSize: number;
  readonly lastPage: number;
  readonly txn: number;
  /** The list of free pages. */
  readonly free: Tree;
  /** The unnamed table, which holds the others. */
  readonly main: Tree;
}

/** Where a table begins, and the size it claims. */
export interface Tree {
  /** 0 for an empty table. */
  readonly depth: number;
  readonly pages: number;
  readonly entries: number;
  readonly root: number;
}

/** A node in a page of a table: a child or an entry. */
export interface Node {
  readonly key: Buffer;
  /** For branches: the page below. */
  readonly child: number;
  readonly flags: number;
  /** For leaves: size of the value, which may be stored elsewhere. */
  readonly size: number;
  /** For leaves: the value, or its place. */
  readonly data: Buffer;
}

/** Flags of nodes: the value has its own pages, or is the head of a table. */
export const ELSEWHERE = 1;
export const IS_TABLE = 2;

const HEADER_BYTES = 24;
const NODE_BYTES = 8;
const PLACE_BYTES = 24;
const TREE_BYTES = 48;
const BRANCH = 1;
const LEAF = 2;
const OVERFLOW = 4;
const MAGIC = 0xbeefc0de;
const DATA_VERSION = 2;
const META_BYTES = 160;
const AT = { magic: 24, version: 28, pageSize: 48, free: 48, main: 96, lastPage: 144, txn: 152 };
/** The root of an empty table. */
const NO_PAGE = 2n ** 64n - 1n;

/** The newer meta page, and the unreadable ones. */
export interface Heads {
  readonly newest: Meta | undefined;
  readonly damaged: readonly number[];
}

/** Reads both meta pages. If the first is lost, tries page sizes for the second. */
export function readHeads(fd: number): Heads {
  const first = readMeta(fd, 0);
  const sizes = first === undefined ? [4096, 8192, 16_384, 32_768, 65_536] : [first.pageSize];
  const second = sizes.map((size) => readMeta(fd, size)).find((meta) => meta !== undefined);
  const newest = first !== undefined && second !== undefined && second.txn > first.txn ? second : (first ?? second);
  return { newest, damaged: [first, second].flatMap((meta, page) => (meta === undefined ? [page] : [])) };
}

function readMeta(fd: number, at: number): Meta | undefined {
  const memory = Buffer.alloc(META_BYTES);
  if (readSync(fd, memory, 0, META_BYTES, at) < META_BYTES || memory.readUInt32LE(AT.magic) !== MAGIC) return undefined;
  // The upper half holds flags about the pages.
  if ((memory.readUInt32LE(AT.version) & 0xffff) !== DATA_VERSION) return undefined;
  const pageSize = memory.readUInt32LE(AT.pageSize);
  const [lastPage, txn] = [readNumber(memory, AT.lastPage), readNumber(memory, AT.txn)];
  const [free, main] = [readTree(memory.subarray(AT.free)), readTree(memory.subarray(AT.main))];
  if (pageSize < 512 || pageSize > 65_536 || lastPage === undefined || txn === undefined) return undefined;
  return free === undefined || main === undefined ? undefined : { pageSize, lastPage, txn, free, main };
}

/** The head of a table; `undefined` for other bytes. */
export function readTree(memory: Buffer): Tree | undefined {
  if (memory.length < TREE_BYTES) return undefined;
  const numbers = [8, 16, 24, 32].map((at) => readNumber(memory, at));
  const [branches, leaves, overflows, entries] = numbers;
  if (branches === undefined || leaves === undefined || overflows === undefined || entries === undefined)
    return undefined;
  const depth = memory.readUInt16LE(6);
  const isEmpty = memory.readBigUInt64LE(40) === NO_PAGE;
  const root = isEmpty ? 0 : readNumber(memory, 40);
  if (root === undefined || isEmpty !== (depth === 0)) return undefined;
  return { depth, pages: branches + leaves + overflows, entries, root };
}

/** A page of a table (`level` 1: a leaf), or what is wrong with it. */
export function readPage(fd: number, { pageSize }: Meta, page: number, level: number): readonly Node[] | string {
  // Not from a pool, because the caller may keep it.
  const memory = Buffer.allocUnsafeSlow(pageSize);
  if (readSync(fd, memory, 0, pageSize, page * pageSize) < pageSize) return 'lies beyond the end of the file';
  if (readNumber(memory, 0) !== page) return 'is another page';
  if (memory.readUInt16LE(18) !== (level === 1 ? LEAF : BRANCH)) return `is not a ${level === 1 ? 'leaf' : 'branch'}`;
  const [lower, upper] = [memory.readUInt16LE(20), memory.readUInt16LE(22)];
  if (lower % 2 !== 0 || lower > upper || upper > pageSize - HEADER_BYTES || lower < (level === 1 ? 2 : 4))
    return 'is too small for its contents';
  const nodes: Node[] = [];
  for (let at = 0; at < lower; at += 2) {
    const node = readNode(memory, HEADER_BYTES + memory.readUInt16LE(HEADER_BYTES + at), HEADER_BYTES + upper, level);
    if (node === undefined) return `has an entry beyond its bounds, at ${at / 2}`;
    nodes.push(node);
  }
  return nodes;
}

function readNode(memory: Buffer, at: number, from: number, level: number): Node | undefined {
  if (at < from || at + NODE_BYTES > memory.length) return undefined;
  const [low, high, flags] = [memory.readUInt16LE(at), memory.readUInt16LE(at + 2), memory.readUInt16LE(at + 4)];
  const keyAt = at + NODE_BYTES;
  const dataAt = keyAt + memory.readUInt16LE(at + 6);
  const size = low + high * 2 ** 16;
  const isLeaf = level === 1;
  const end = dataAt + (isLeaf ? (flags === ELSEWHERE ? PLACE_BYTES : size) : 0);
  if (end > memory.length || (isLeaf && flags !== 0 && flags !== ELSEWHERE && flags !== IS_TABLE)) return undefined;
  const [key, data] = [memory.subarray(keyAt, dataAt), memory.subarray(dataAt, end)];
  return { key, child: isLeaf ? 0 : size + flags * 2 ** 32, flags, size, data };
}

/** The pages that hold the value of a node with {@link ELSEWHERE}. */
export interface Place {
  readonly page: number;
  readonly pages: number;
}

/** The place of such a value; `undefined` if impossible. */
export function readPlace({ data, size }: Node, { pageSize, lastPage }: Meta): Place | undefined {
  const [page, pages] = [readNumber(data, 0), readNumber(data, 16)];
  if (page === undefined || pages === undefined || page + pages > lastPage + 1) return undefined;
  // More pages if a longer value was there before.
  return pages * pageSize >= HEADER_BYTES + size ? { page, pages } : undefined;
}

/** A value of this size, or what is wrong with it. */
export function readValue(fd: number, { pageSize }: Meta, { page, pages }: Place, size: number): Buffer | string {
  const memory = Buffer.allocUnsafeSlow(HEADER_BYTES + size);
  if (readSync(fd, memory, 0, memory.length, page * pageSize) < memory.length) return 'lies beyond the end of the file';
  if (readNumber(memory, 0) !== page || memory.readUInt16LE(18) !== OVERFLOW) return 'is another page';
  if (memory.readUInt32LE(20) !== pages) return 'holds another value';
  return memory.subarray(HEADER_BYTES);
}

/** The pages in an entry of the list of free pages; `undefined` for an invalid one. A block is a negative length, then a page. */
export function readFreePages(value: Buffer): readonly Place[] | undefined {
  const count = value.length < 8 ? undefined : readNumber(value, 0);
  if (count === undefined || value.length < 8 * (count + 1)) return undefined;
  const places: Place[] = [];
  for (let at = 8; at < 8 * (count + 1); at += 8) {
    const entry = Number(value.readBigInt64LE(at));
    if (entry === 0) continue;
    if (entry < 0) at += 8;
    const page = entry > 0 ? entry : at < 8 * (count + 1) ? readNumber(value, at) : undefined;
    if (page === undefined) return undefined;
    places.push({ page, pages: entry > 0 ? 1 : -entry });
  }
  return places;
}

function readNumber(memory: Buffer, at: number): number | undefined {
  const value = Number(memory.readBigUInt64LE(at));
  return Number.isSafeInteger(value) ? value : undefined;
}
