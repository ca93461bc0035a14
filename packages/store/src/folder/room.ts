/**
 * Room on the disk, taken before LMDB needs it. A refused write inside LMDB overruns the buffer of its error message (lmdb-js 3.5.6,
 * mdb_page_flush), so writes of our own, which may fail, make the file long enough first.
 */
import { open } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';

/** Kept beyond what a batch needs, so that removals, which make room, work on a full disk. */
export const RESERVE_BYTES = 8 * 2 ** 20;

/** Written at a time; the file grows by up to {@link GROW_BYTES} more than was asked for. */
const ZEROS = Buffer.alloc(2 ** 20);
const GROW_BYTES = 4 * ZEROS.length;

/** The length of a store's file. */
export class Room {
  readonly #file: FileHandle;
  #bytes: number;

  private constructor(file: FileHandle, bytes: number) {
    this.#file = file;
    this.#bytes = bytes;
  }

  /** For a file that exists. */
  static async of(path: string): Promise<Room> {
    // Appending never overwrites what another process has written meanwhile.
    const file = await open(path, 'a');
    return new Room(file, (await file.stat()).size);
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Makes the file at least this long. Rejects with the system's error, and keeps what was gained. */
  async reach(bytes: number): Promise<void> {
    if (bytes <= this.#bytes) return;
    try {
      for (let left = bytes + GROW_BYTES - this.#bytes; left > 0; left = bytes + GROW_BYTES - this.#bytes) {
        const { bytesWritten } = await this.#file.write(ZEROS, 0, Math.min(left, ZEROS.length));
        this.#bytes += bytesWritten;
      }
    } catch (error) {
      if (this.#bytes < bytes) throw error;
    }
  }

  close(): Promise<void> {
    return this.#file.close();
  }
}
