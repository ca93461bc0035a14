/** NFP client: fetched files on the local disk. Rule 9 of docs/protocols/nfp.md. */
import { createHash } from 'node:crypto';
import { mkdir, open, rename, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { ProjError } from '@proj/transport';
import { isRecord } from './engine/answers.js';
import type { NfpFileProgress } from './options.js';

/** Size and hash of a file, as its source announces them. */
export interface NfpFileDetails {
  readonly bytes: number;
  /** 32 hex digits. */
  readonly md5: string;
}

/** A file that has arrived. */
export interface NfpFetchedFile extends NfpFileDetails {
  readonly path: string;
}

/** How to store a file. */
export interface StoreFileOptions {
  /** The folder. */
  readonly to: string;
  /** Makes the temporary name unique. */
  readonly uuid: string;
  readonly signal: AbortSignal | undefined;
  readonly onProgress: ((progress: NfpFileProgress) => void) | undefined;
}

/** The name of the fetched file: the last part of its url. Throws `OPTIONS_INVALID` if that is not a plain name. */
export function fileNameOf(url: string): string {
  const name = /^nf:\/\/.*?([^/]+)$/u.exec(url)?.[1] ?? '';
  if (name !== '' && name !== '.' && name !== '..' && !/[\\:\p{Cc}\p{Cs}]/u.test(name)) return name;
  throw new ProjError('OPTIONS_INVALID', `url ${JSON.stringify(url)}: must be nf://folder/file with a plain file name`);
}

/** Decodes an answer to `file_details`. Throws `REJECTED` if there is no such file, `PROTOCOL_REMOTE` for anything else. */
export function readFileDetails(url: string, value: unknown): NfpFileDetails {
  if (isRecord(value) && value['exists'] === false) throw new ProjError('REJECTED', `file ${url}: not found`);
  const { size_bytes: bytes, md5hash: md5 } = isRecord(value) ? value : {};
  if (Number.isSafeInteger(bytes) && (bytes as number) >= 0 && typeof md5 === 'string' && /^[0-9a-f]{32}$/i.test(md5))
    return { bytes: bytes as number, md5: md5.toLowerCase() };
  throw new ProjError('PROTOCOL_REMOTE', `file ${url}: the answer to file_details has no size and hash`);
}

/**
 * Writes the chunks to a temporary file in the folder `to`, compares size and MD5, and only then renames it, replacing an older file. A failure
 * leaves nothing behind. Chunks are written one by one, in order, so they are requested as fast as the disk writes them.
 */
export async function storeFile(
  url: string,
  details: NfpFileDetails,
  chunks: AsyncIterable<readonly Uint8Array[]>,
  { to, uuid, signal, onProgress }: StoreFileOptions,
): Promise<NfpFetchedFile> {
  const name = fileNameOf(url);
  await mkdir(to, { recursive: true });
  const temporary = join(to, `.${uuid}.part`);
  const file = await open(temporary, 'wx');
  try {
    const hash = createHash('md5');
    let bytes = 0;
    try {
      for await (const frames of chunks) {
        signal?.throwIfAborted();
        for (const frame of frames) {
          hash.update(frame);
          await file.writeFile(frame);
          bytes += frame.length;
        }
        onProgress?.({ bytes, totalBytes: details.bytes });
      }
      await file.sync();
    } finally {
      await file.close();
    }
    const md5 = hash.digest('hex');
    if (bytes !== details.bytes || md5 !== details.md5) {
      const text = `file ${url}: received ${bytes} bytes with MD5 ${md5} instead of ${details.bytes} with ${details.md5}; the file may have changed meanwhile`;
      throw new ProjError('PROTOCOL_REMOTE', text);
    }
    const path = join(to, name);
    await rename(temporary, path);
    return { ...details, path };
  } catch (error) {
    await unlink(temporary).catch(() => undefined);
    throw error;
  }
}

/** Offset and length of each chunk. */
export function* chunksOf(totalBytes: number, chunkBytes: number): Generator<{ offset: number; bytes: number }> {
  for (let offset = 0; offset < totalBytes; offset += chunkBytes)
    yield { offset, bytes: Math.min(chunkBytes, totalBytes - offset) };
}
