/** Reads what is left of a damaged store, without LMDB and without writing. */
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { ProjError } from '@proj/transport';
import { decodeHolder, isHolding } from './holder.js';
import { describeDamage, HOLDER_KEY } from './lmdb-folder.js';
import { walkFile } from './walk.js';
import type { Walker } from './walk.js';

/** What can and cannot be read of a store. */
export interface StoreCheck {
  /** Number of readable items of each kind, such as messages. */
  readonly readable: Readonly<Record<string, number>>;
  /** Number of damaged places. */
  readonly damaged: number;
  /** Descriptions of the first hundred of them. */
  readonly damages: readonly string[];
}

/** Limit of described places. */
const DESCRIBED_MAX = 100;

/** Collects descriptions of damage. */
export class Damages {
  readonly #texts: string[] = [];
  #count = 0;

  add(text: string): void {
    if (this.#count++ < DESCRIBED_MAX) this.#texts.push(text);
  }

  check(readable: Readonly<Record<string, number>>): StoreCheck {
    return { readable, damaged: this.#count, damages: [...this.#texts] };
  }
}

/**
 * Walks over every readable entry of a store that no process has open. Rejects with `OPTIONS_INVALID` if there is none, `UNAVAILABLE` while a
 * process has it open, and `CORRUPT` if nothing can be read.
 */
export async function survey(
  folder: string,
  file: string,
  damages: Damages,
  walker: Pick<Walker, 'entry' | 'rest'>,
): Promise<void> {
  const path = join(folder, file);
  await access(path).catch((error: unknown) => {
    const { code } = error as NodeJS.ErrnoException;
    throw new ProjError('OPTIONS_INVALID', `${folder} has no ${file} to read (${code ?? 'unknown'})`, { cause: error });
  });
  const walked = await walkFile(path, {
    ...walker,
    entry: (table, key, value) => {
      const holder = table === '' && key.toString() === HOLDER_KEY ? decodeHolder(value) : undefined;
      if (holder !== undefined && isHolding(holder))
        throw new ProjError('UNAVAILABLE', `the store in ${folder} is held by process ${holder.pid}: stop it first`);
      return walker.entry(table, key, value);
    },
    damage: (damage) => {
      damages.add(describeDamage(damage));
    },
  });
  if (walked === undefined)
    throw new ProjError(
      'CORRUPT',
      `${path} is not a database, or both of its meta pages are damaged: restore it from a copy`,
    );
}

/** Rejects with `OPTIONS_INVALID` if the folder already has a store. */
export async function assertNoStore(folder: string, file: string): Promise<void> {
  const isThere = await access(join(folder, file)).then(
    () => true,
    () => false,
  );
  if (isThere) throw new ProjError('OPTIONS_INVALID', `${folder} already has a ${file}: choose a new folder`);
}
