/**
 * Room on the disk, taken before LMDB needs it. A write that the system refuses inside of LMDB overruns a buffer of its error
 * message (lmdb-js 3.5.6, mdb_page_flush); so the file is made long enough first, by writes of our own that may fail.
 */
import { open } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';

/** Beyond what a batch needs: so removals, which make room, find some on a disk that is full. */
export const RESERVE_BYTES = 8 * 2 ** 20;

/** Written at a time, and as much more than was asked for as there is room for. */
const ZEROS = Buffer.alloc(2 ** 20);
const GROW_BYTES = 4 * ZEROS.length;

/** The file of a store, as long as it is. */
export class Room {
  readonly #file: FileHandle;
  #bytes: number;

  private constructor(file: FileHandle, bytes: number) {
    this.#file = file;
    this.#bytes = bytes;
  }

  /** Of a file that exists. */
  static async of(path: string): Promise<Room> {
    // Appending never writes over what somebody else has made of the file meanwhile.
    const file = await open(path, 'a');
    return new Room(file, (await file.stat()).size);
  }

  /** What the file takes on the disk. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Makes the file at least that long. Rejects with the system's error, and keeps what was gained. */
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
