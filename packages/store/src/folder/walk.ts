/** Finds every entry of an LMDB file, and every damaged place. */
import { closeSync, openSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { ELSEWHERE, IS_TABLE, readFreePages, readHeads, readPage, readPlace, readTree, readValue } from './pages.js';
import type { Meta, Node, Place, Tree } from './pages.js';

/** A place that cannot be read, with everything below it. */
export interface Damage {
  /** The table's name in the file; `''` holds the names of the others, `free pages` is the list of them. */
  readonly table: string;
  readonly page: number;
  /** Continues "page 17 of table messages ...". */
  readonly what: string;
}

/** Receives what a walk finds. May keep keys and values. */
export interface Walker {
  /** An entry of a table, in key order. Returns false if its checksum does not match. */
  entry(table: string, key: Buffer, value: Buffer): boolean;
  damage(damage: Damage): void;
  /** Called periodically; the walk waits for it. */
  rest?(): Promise<void> | undefined;
}

/** What a walk covered. */
export interface Walked {
  /** The transaction that was walked. If the file has a later one, a process wrote meanwhile. */
  readonly txn: number;
  /** Bytes of the file that LMDB uses. */
  readonly usedBytes: number;
}

type Compare = (one: Buffer, other: Buffer) => number;

/** Its entries are not reported. */
const FREE_PAGES = 'free pages';
/** Number of pages after which other work may run. */
const PAGES_PER_TURN = 1000;

/** Walks over a file; `undefined` if neither of its meta pages can be read. */
export async function walkFile(path: string, walker: Walker): Promise<Walked | undefined> {
  const fd = openSync(path, 'r');
  try {
    const { newest, damaged } = readHeads(fd);
    if (newest === undefined) return undefined;
    for (const page of damaged) walker.damage({ table: '', page, what: 'is not a meta page' });
    await new Walk(fd, newest, walker).run();
    return { txn: newest.txn, usedBytes: (newest.lastPage + 1) * newest.pageSize };
  } finally {
    closeSync(fd);
  }
}

/** The latest transaction in a file. */
export function txnOf(path: string): number | undefined {
  const fd = openSync(path, 'r');
  try {
    return readHeads(fd).newest?.txn;
  } finally {
    closeSync(fd);
  }
}

/** A page to read, and its range of keys: at least `from`, less than `to`. */
interface Step {
  readonly page: number;
  readonly level: number;
  readonly from: Buffer | undefined;
  readonly to: Buffer | undefined;
}

class Walk {
  readonly #fd: number;
  readonly #meta: Meta;
  readonly #walker: Walker;
  /** A bit for each page in use. */
  readonly #used: Uint8Array;
  readonly #tables: (readonly [name: string, tree: Tree])[] = [];
  #seen = 0;

  constructor(fd: number, meta: Meta, walker: Walker) {
    this.#fd = fd;
    this.#meta = meta;
    this.#walker = walker;
    this.#used = new Uint8Array((meta.lastPage >> 3) + 1);
    this.#use({ page: 0, pages: 2 });
  }

  async run(): Promise<void> {
    await this.#tree('', this.#meta.main);
    for (const [name, tree] of this.#tables) await this.#tree(name, tree);
    await this.#tree(FREE_PAGES, this.#meta.free);
  }

  async #tree(table: string, { depth, pages, entries, root }: Tree): Promise<void> {
    const compare: Compare = table === FREE_PAGES ? compareNumbers : compareBytes;
    const steps: Step[] = depth === 0 ? [] : [{ page: root, level: depth, from: undefined, to: undefined }];
    const seen = { pages: 0, entries: 0, damages: 0 };
    for (let step = steps.pop(); step !== undefined; step = steps.pop()) {
      if (this.#seen++ % PAGES_PER_TURN === 0) await setImmediate();
      const rest = this.#walker.rest?.();
      if (rest !== undefined) await rest;
      seen.pages++;
      const nodes = this.#nodes(step, compare);
      if (typeof nodes === 'string') {
        seen.damages++;
        this.#walker.damage({ table, page: step.page, what: nodes });
      } else if (step.level > 1) {
        const { level, from, to } = step;
        for (let at = nodes.length - 1; at >= 0; at--)
          steps.push({
            page: nodes[at]?.child ?? 0,
            level: level - 1,
            from: at === 0 ? from : nodes[at]?.key,
            to: nodes[at + 1]?.key ?? to,
          });
      } else
        for (const node of nodes) {
          seen.entries++;
          const read = this.#entry(table, node);
          seen.pages += read.pages;
          if (read.what === undefined) continue;
          seen.damages++;
          this.#walker.damage({ table, page: step.page, what: read.what });
        }
    }
    const isWhole = seen.entries === entries && seen.pages === pages;
    if (!isWhole && seen.damages === 0)
      this.#walker.damage({ table, page: root, what: `has ${seen.entries} entries below it instead of ${entries}` });
  }

  /** The nodes of a page, in order and within its bounds, or what is wrong. */
  #nodes({ page, level, from, to }: Step, compare: Compare): readonly Node[] | string {
    if (!this.#use({ page, pages: 1 })) return 'is in use elsewhere, or beyond the last page';
    const nodes = readPage(this.#fd, this.#meta, page, level);
    if (typeof nodes === 'string') return nodes;
    const keys = (level === 1 ? nodes : nodes.slice(1)).map(({ key }) => key);
    const isOrdered = keys.every((key, at) => at === 0 || compare(keys[at - 1] as Buffer, key) < 0);
    const [first, last] = [keys[0], keys.at(-1)];
    const isWithin =
      (from === undefined || first === undefined || compare(from, first) <= 0) &&
      (to === undefined || last === undefined || compare(last, to) < 0);
    return isOrdered && isWithin ? nodes : 'has keys out of order';
  }

  #entry(table: string, node: Node): { readonly pages: number; readonly what?: string } {
    let value = node.data;
    let pages = 0;
    if (node.flags === ELSEWHERE) {
      const place = readPlace(node, this.#meta);
      if (place === undefined || !this.#use(place))
        return { pages, what: 'has a value in pages that belong elsewhere' };
      const read = readValue(this.#fd, this.#meta, place, node.size);
      if (typeof read === 'string') return { pages, what: `has a value whose page ${place.page} ${read}` };
      value = read;
      ({ pages } = place);
    }
    return { pages, ...this.#told(table, node, value) };
  }

  /** Reports an entry; returns what is wrong with it. */
  #told(table: string, { key, flags }: Node, value: Buffer): { readonly what?: string } {
    if (table === FREE_PAGES) {
      const isFree = readFreePages(value)?.every((place) => this.#use(place)) === true;
      return isFree ? {} : { what: 'lists pages as free that are in use' };
    }
    if (flags === IS_TABLE) {
      const tree = table === '' ? readTree(value) : undefined;
      if (tree === undefined) return { what: 'has an entry that is not a table' };
      // LMDB ends names with a zero byte.
      this.#tables.push([key.toString('latin1').replace(/\0$/, ''), tree]);
      return {};
    }
    return this.#walker.entry(table, key, value) ? {} : { what: `has an entry that does not match its checksum` };
  }

  /** Marks pages as used; false if one is already used or does not exist. */
  #use({ page, pages }: Place): boolean {
    if (page + pages > this.#meta.lastPage + 1) return false;
    for (let one = page; one < page + pages; one++) {
      const bit = 1 << (one & 7);
      const at = Math.floor(one / 8);
      if (((this.#used[at] as number) & bit) !== 0) return false;
      this.#used[at] = (this.#used[at] as number) | bit;
    }
    return true;
  }
}

function compareBytes(one: Buffer, other: Buffer): number {
  return one.compare(other);
}

function compareNumbers(one: Buffer, other: Buffer): number {
  if (one.length !== 8 || other.length !== 8) return 0;
  return Number(one.readBigUInt64LE() - other.readBigUInt64LE());
}
