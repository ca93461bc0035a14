/** NFP worker: the tasks of service `filesharing`, which share a folder's files through ordinary jobs. Worker rule 16 of docs/protocols/nfp.md. */
import { Files, isFileUrl } from '@proj/files';
import type { Found } from '@proj/files';
import { systemClock } from '@proj/heartbeat';
import type { Clock } from '@proj/heartbeat';
import { ProjError } from '@proj/transport';
import { NfpTaskFailure } from './task.js';
import type { NfpPut, NfpTask, NfpTaskCall, NfpTaskContext } from './task.js';

/** Default size of a chunk, and how long a client may take to request the next one; both as in NORFAB. */
const CHUNK_SIZE = 256_000;
const CHUNK_TIMEOUT_MS = 5000;

/** Settings of file sharing. */
export interface NfpFileSharingOptions {
  /** How long the client of `fetch_file` may take to request the next chunk. Milliseconds, at least 1; default 5000 (NORFAB). */
  readonly chunkTimeoutMs?: number;
  /** A client requested something outside the folder; the answer was that no such file exists. */
  readonly onEscape?: (attempt: { readonly url: string; readonly client: string; readonly uuid: string }) => void;
  /** Default: the system's. */
  readonly clock?: Clock;
}

/**
 * The tasks of a worker that shares a folder: `list_files`, `file_details`, `walk` and `fetch_file`, each with an `nf://` url as `url` or first
 * argument. Never reads anything outside the folder; a folder that does not exist yet has no files. Throws `OPTIONS_INVALID`.
 *
 * ```ts
 * const worker = new NfpWorker({ service: 'filesharing', name: 'files-1', tasks: fileSharingTasks('/srv/files') });
 * ```
 *
 * `fetch_file` sends one chunk by STREAM at once and one for each PUT `{"offset":n}`, and returns `true` after the last byte. It fails if no PUT
 * arrives within `chunkTimeoutMs`.
 */
export function fileSharingTasks(folder: string, options: NfpFileSharingOptions = {}): Record<string, NfpTask> {
  const { chunkTimeoutMs = CHUNK_TIMEOUT_MS, onEscape, clock = systemClock } = options;
  if (folder === '') throw new ProjError('OPTIONS_INVALID', 'fileSharingTasks: folder = "": must name a folder');
  if (!(chunkTimeoutMs >= 1))
    throw new ProjError('OPTIONS_INVALID', `fileSharingTasks: chunkTimeoutMs = ${chunkTimeoutMs}: must be at least 1`);
  const files = new Files({ folder });

  /** The value, or `undefined` if it is missing or outside the folder. */
  const found = <Value>(answer: Found<Value>, url: string, { client, uuid }: NfpTaskCall): Value | undefined => {
    if (answer.found) return answer.value;
    if (answer.escape) onEscape?.({ url, client, uuid });
    return undefined;
  };

  async function fetchFile(call: NfpTaskCall, { stream, puts, signal }: NfpTaskContext): Promise<true> {
    const url = urlOf(call);
    const { offset: first = 0, chunk_size: size = CHUNK_SIZE } = call.kwargs;
    const chunkSize = wholeNumber('chunk_size', size);
    for (let offset = wholeNumber('offset', first); ; offset = offsetOf(await next(puts))) {
      signal.throwIfAborted();
      const chunk = found(await files.read(url, offset, chunkSize), url, call);
      if (chunk === undefined) throw new ProjError('REJECTED', `Not Found '${url.slice('nf://'.length)}'`);
      await stream(chunk.bytes);
      if (offset + chunk.bytes.length >= chunk.size) return true;
    }
  }

  async function next(puts: NfpTaskContext['puts']): Promise<NfpPut> {
    const late = new AbortController();
    const timer = clock.at(clock.now() + chunkTimeoutMs, () => {
      late.abort();
      void puts.return?.();
    });
    const put: IteratorResult<NfpPut, unknown> = await puts.next().finally(() => {
      timer.cancel();
    });
    if (put.done !== true) return put.value;
    if (!late.signal.aborted) throw new ProjError('CLOSED', 'fetch_file: told to stop');
    throw new ProjError('TIMEOUT', `fetch_file: no PUT for the next chunk within ${chunkTimeoutMs} ms`);
  }

  return {
    list_files: {
      description: 'Names in the folder of kwargs url',
      handler: async (call) => {
        const url = urlOf(call);
        return found(await files.list(url), url, call) ?? ['Directory Not Found'];
      },
    },
    file_details: {
      description: 'Size and MD5 of the file of kwargs url',
      handler: async (call) => {
        const url = urlOf(call);
        const details = found(await files.details(url), url, call);
        if (details !== undefined) return { md5hash: details.md5, size_bytes: details.size, exists: true };
        // NORFAB's clients use the first worker that has not failed, and crash on a file without a size.
        throw new NfpTaskFailure(`'${url}' file not found`, { md5hash: null, size_bytes: null, exists: false });
      },
    },
    walk: {
      description: 'Urls of all files below the folder of kwargs url',
      handler: async (call) => {
        const url = urlOf(call);
        return found(await files.walk(url), url, call) ?? [];
      },
    },
    fetch_file: {
      description: 'Streams the file of kwargs url from offset on, in chunks of chunk_size bytes',
      handler: fetchFile,
    },
  };
}

function urlOf({ kwargs, args }: NfpTaskCall): string {
  const { url = args[0] } = kwargs;
  if (typeof url === 'string' && isFileUrl(url)) return url;
  if (url === undefined || url === null || url === '') throw new ProjError('REJECTED', 'No file URL provided');
  throw new ProjError('REJECTED', `Unsupported URL ${JSON.stringify(url)}: must begin with nf://`);
}

function offsetOf({ value }: NfpPut): number {
  if (typeof value === 'object' && value !== null && 'offset' in value) return wholeNumber('offset', value.offset);
  throw new ProjError('REJECTED', 'fetch_file: a PUT has no offset');
}

/** A number of bytes. */
function wholeNumber(name: string, value: unknown): number {
  const least = name === 'chunk_size' ? 1 : 0;
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= least) return value;
  throw new ProjError('REJECTED', `fetch_file: ${name} must be an integer, at least ${least}`);
}
