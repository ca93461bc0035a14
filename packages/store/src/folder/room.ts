/**
 * Takes disk space before LMDB needs it. A failed write inside LMDB overruns the buffer of its error message (lmdb-js 3.5.6, mdb_page_flush), so
 * our own writes, which may fail, extend the file first.
 */
import { open } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';

/** Reserve beyond the need of a batch, so that removals, which free space, work on a full disk. */
export const RESERVE_BYTES = 8 * 2 ** 20;

/** Bytes per write; the file grows by up to {@link GROW_BYTES} more than requested. */
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

  /** Makes the file at least this long. Rejects with the system's error, and keeps the space gained. */
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
