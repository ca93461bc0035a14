/** The file beside a database that records how it was left, and distinguishes an empty store from a lost one. */
import { open, readFile } from 'node:fs/promises';
import { decodeHolder, encodeHolder } from './holder.js';
import type { Holder } from './holder.js';

/** `making`: nothing was ever stored. `open`: a process has it open, or died with it open. `closed`: it was closed in order. */
export type MarkerState = 'making' | 'open' | 'closed';

export interface Marker {
  readonly state: MarkerState;
  /** The process that wrote it; absent if unreadable. */
  readonly holder: Holder | undefined;
}

/** Fixed size, so that overwriting needs no room on a full disk; a block is written atomically. */
const BYTES = 512;
const STATES: readonly MarkerState[] = ['making', 'open', 'closed'];

export function markerOf(path: string): string {
  return `${path}-state`;
}

/** `undefined` if it does not exist. An unreadable one counts as `open`, so the store is checked. */
export async function readMarker(path: string): Promise<Marker | undefined> {
  const text = await readFile(markerOf(path), 'utf8').catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  });
  if (text === undefined) return undefined;
  const [word, holder = ''] = text.split('\n');
  return { state: STATES.find((state) => state === word) ?? 'open', holder: decodeHolder(Buffer.from(holder)) };
}

/** Writes it durably. */
export async function writeMarker(path: string, state: MarkerState, holder: Holder): Promise<void> {
  const text = Buffer.concat([Buffer.from(`${state}\n`), encodeHolder(holder), Buffer.from('\n')]);
  const file = await openMarker(markerOf(path));
  try {
    await file.write(Buffer.concat([text, Buffer.alloc(Math.max(BYTES - text.length, 0), ' ')]), 0, undefined, 0);
    await file.datasync();
  } finally {
    await file.close();
  }
}

async function openMarker(path: string) {
  try {
    return await open(path, 'r+');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return open(path, 'w');
  }
}
