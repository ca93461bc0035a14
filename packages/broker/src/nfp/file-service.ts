/** NFP broker: answers the file requests of `engine/management/file-calls.ts` from a folder (rule 21). */
import type { Files, Found } from '@proj/files';
import type { NfpFileOutcome, NfpFileRequest } from './engine/events.js';

/** Never rejects: a failure is an outcome. */
export async function answerFileRequest(files: Files, request: NfpFileRequest): Promise<NfpFileOutcome> {
  try {
    return await answer(files, request);
  } catch (error) {
    return { kind: 'failed', error: error instanceof Error ? error.message : String(error) };
  }
}

async function answer(files: Files, request: NfpFileRequest): Promise<NfpFileOutcome> {
  const { url } = request;
  switch (request.task) {
    case 'list_files':
      return outcome(await files.list(url), (names) => ({ kind: 'names', names }));
    case 'walk':
      return outcome(await files.walk(url), (names) => ({ kind: 'names', names }));
    case 'file_details':
      return outcome(await files.details(url), ({ size, md5 }) => ({ kind: 'details', size, md5 }));
    case 'fetch_file':
      return outcome(await files.read(url, request.offset, request.chunkSize), ({ bytes }) => ({
        kind: 'bytes',
        bytes,
      }));
  }
}

function outcome<Value>(found: Found<Value>, of: (value: Value) => NfpFileOutcome): NfpFileOutcome {
  return found.found ? of(found.value) : { kind: 'absent', escape: found.escape };
}
