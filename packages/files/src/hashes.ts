/** MD5 sums of files, computed once per content, remembered by path, identity, size and modification time. */
import { createHash } from 'node:crypto';
import type { Opened } from './confinement.js';

/** Bytes read at a time. */
const BLOCK = 262_144;

/** A least-recently-used cache of hashes. */
export class Hashes {
  readonly #byFile = new Map<string, string>();
  readonly #max: number;

  constructor(max: number) {
    this.#max = max;
  }

  /** The remembered hash of this very content. */
  find(file: Opened): string | undefined {
    const key = keyOf(file);
    const hash = this.#byFile.get(key);
    if (hash !== undefined) this.#remember(key, hash);
    return hash;
  }

  /** Hashes the file, in lower-case hex. Rejects with the reason of `signal`. */
  async compute(file: Opened, signal: AbortSignal): Promise<string> {
    const known = this.find(file);
    if (known !== undefined) return known;
    const md5 = createHash('md5');
    const block = Buffer.allocUnsafe(BLOCK);
    for (let position = 0; ;) {
      signal.throwIfAborted();
      const { bytesRead } = await file.handle.read(block, 0, BLOCK, position);
      if (bytesRead === 0) break;
      md5.update(block.subarray(0, bytesRead));
      position += bytesRead;
    }
    const hash = md5.digest('hex');
    const { size, mtimeNs } = await file.handle.stat({ bigint: true });
    // If the file changed meanwhile, this hash belongs to no version of it.
    if (size === file.stats.size && mtimeNs === file.stats.mtimeNs) this.#remember(keyOf(file), hash);
    return hash;
  }

  #remember(key: string, hash: string): void {
    this.#byFile.delete(key);
    this.#byFile.set(key, hash);
    if (this.#byFile.size <= this.#max) return;
    for (const oldest of this.#byFile.keys()) {
      this.#byFile.delete(oldest);
      return;
    }
  }
}

function keyOf({ path, stats: { dev, ino, size, mtimeNs } }: Opened): string {
  return [path, dev, ino, size, mtimeNs].join('\0');
}
