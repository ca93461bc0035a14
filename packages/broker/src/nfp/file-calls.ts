/** NFP broker: calls to `fss.service.broker` (rule 21). Reads no file itself: it asks by an effect and hears by an event. */
import { encodeNfpJson } from '@proj/frames/nfp';
import type { NfpBody, NfpClientCall, NfpTask } from '@proj/frames/nfp';
import type { Peer } from '@proj/transport';
import type { NfpFileOutcome, NfpFileRequest } from './effects.js';
import type { Asked, Output } from './output.js';

/** Bytes of a chunk unless the client says otherwise, as NORFAB. */
const CHUNK_SIZE = 256_000;

/** A call whose files are being read. Its body is not kept. */
interface Pending {
  readonly peer: Peer;
  readonly asked: Asked & Pick<NfpClientCall, 'command'>;
  readonly request: NfpFileRequest;
}

const encoder = new TextEncoder();

/** Turns calls into requests for files, and what came of them into answers. */
export class FileCalls {
  readonly #max: number;
  readonly #out: Output;
  readonly #pending = new Map<number, Pending>();
  #lastId = 0;

  constructor(options: { readonly fileRequestsMax: number }, out: Output) {
    this.#max = options.fileRequestsMax;
    this.#out = out;
  }

  /** Answers what needs no file at once. */
  accept(peer: Peer, call: NfpClientCall, task: NfpTask): void {
    const request = requestOf(task);
    if ('refusal' in request) {
      this.#out.refuse('task', peer, call, request.refusal);
    } else if ('text' in request) {
      this.#out.tell(peer, call, textBody(task.task, request.text));
    } else if (this.#pending.size >= this.#max) {
      this.#out.refuse('files-busy', peer, call, 'too many requests for files are under way: ask again later', 500);
    } else {
      const { service, uuid, target, command } = call;
      const id = ++this.#lastId;
      this.#pending.set(id, { peer, asked: { service, uuid, target, command }, request });
      this.#out.effects.push({ kind: 'file-request', id, request });
    }
  }

  /** Answers whoever asked; ids of nobody are ignored. */
  answer(id: number, outcome: NfpFileOutcome): void {
    const pending = this.#pending.get(id);
    if (pending === undefined) return;
    this.#pending.delete(id);
    const { peer, asked, request } = pending;
    if (outcome.kind === 'failed') {
      this.#out.refuse('files-failed', peer, asked, outcome.error, 500);
      return;
    }
    if (outcome.kind === 'absent' && outcome.escape) this.#out.dropMessage('fss-escape', peer);
    this.#out.tell(peer, asked, bodyOf(request, outcome));
  }

  /** Rule 14. */
  abandon(): void {
    for (const { peer, asked } of this.#pending.values())
      this.#out.refuse('drained', peer, asked, 'the broker is closing', 500);
    this.#pending.clear();
  }
}

function requestOf({ task, kwargs, args }: NfpTask): NfpFileRequest | { text: string } | { refusal: string } {
  if (task !== 'list_files' && task !== 'file_details' && task !== 'walk' && task !== 'fetch_file')
    return { text: `Unsupported task '${task}'` };
  const { url = args[0], offset = 0, chunk_size: chunkSize = CHUNK_SIZE } = kwargs;
  if (url === undefined || url === null || url === '') return { text: 'No file URL provided' };
  if (typeof url !== 'string') return { refusal: `${task}: url is no text` };
  if (!url.startsWith('nf://')) return { text: `Unsupported URL '${url}': must begin with nf://` };
  if (task !== 'fetch_file') return { task, url };
  if (typeof offset !== 'number' || typeof chunkSize !== 'number')
    return { refusal: 'fetch_file: offset or chunk_size is no number' };
  if (!Number.isSafeInteger(offset) || offset < 0)
    return { text: `Unsupported offset '${offset}': must be a whole number of bytes from 0` };
  if (!Number.isSafeInteger(chunkSize) || chunkSize < 1)
    return { text: `Unsupported chunk_size '${chunkSize}': must be a whole number of bytes from 1` };
  return { task, url, offset, chunkSize };
}

function bodyOf(request: NfpFileRequest, outcome: Exclude<NfpFileOutcome, { kind: 'failed' }>): NfpBody {
  switch (outcome.kind) {
    case 'names':
      return encodeNfpJson(outcome.names);
    case 'details':
      return encodeNfpJson({ md5hash: outcome.md5, size_bytes: outcome.size, exists: true });
    case 'bytes':
      return [outcome.bytes];
    case 'absent':
      return absentBody(request);
  }
}

/** As releases of the program say it. */
function absentBody({ task, url }: NfpFileRequest): NfpBody {
  switch (task) {
    case 'list_files':
      return encodeNfpJson(['Directory Not Found']);
    case 'walk':
      return encodeNfpJson([]);
    case 'file_details':
      return encodeNfpJson({ md5hash: null, size_bytes: null, exists: false });
    case 'fetch_file':
      return textBody(task, `Not Found '${url.slice('nf://'.length)}'`);
  }
}

/** Answers to `fetch_file` are bytes of the file or plain text, all others JSON. */
function textBody(task: string, text: string): NfpBody {
  return task === 'fetch_file' ? [encoder.encode(text)] : encodeNfpJson(text);
}
