/** NFP broker: calls to `fss.service.broker` (rule 21). Files are read outside: requested by an effect, answered by an event. */
import { encodeNfpJson } from '@proj/frames/nfp';
import type { NfpBody, NfpClientCall, NfpTask } from '@proj/frames/nfp';
import type { Peer } from '@proj/transport';
import type { NfpFileOutcome, NfpFileRequest } from '../events.js';
import type { Asked, Output } from '../output.js';

/** Default chunk size in bytes, as in NORFAB. */
const CHUNK_SIZE = 256_000;

/** An unanswered call, without its body. */
interface Pending {
  readonly peer: Peer;
  readonly asked: Asked & Pick<NfpClientCall, 'command'>;
  readonly task: string;
  readonly wish: Wish;
}

/** The file request a call makes, or the answer that needs none. */
type Wish = NfpFileRequest | { readonly text: string } | { readonly refusal: string };

const encoder = new TextEncoder();

/**
 * Turns calls into file requests, and their outcomes into answers. Calls of one client under one uuid are answered in order, so only the first
 * is read at a time: NORFAB's clients up to 0.14 request ten chunks at once and append whatever arrives.
 */
export class FileCalls {
  readonly #max: number;
  readonly #out: Output;
  /** Open calls by client and uuid, in order of arrival. */
  readonly #open = new Map<string, Pending[]>();
  /** Key in `#open` of the call that each file request is for. */
  readonly #reading = new Map<number, string>();
  #pending = 0;
  #lastId = 0;

  constructor(options: { readonly fileRequestsMax: number }, out: Output) {
    this.#max = options.fileRequestsMax;
    this.#out = out;
  }

  /** Answers a call that needs no file at once, unless an earlier call must be answered first. */
  accept(peer: Peer, call: NfpClientCall, task: NfpTask): void {
    const { service, uuid, target, command } = call;
    const wish = wishOf(task);
    // A uuid has no NUL.
    const key = `${peer.key}\0${uuid}`;
    const queue = this.#open.get(key);
    const pending = { peer, asked: { service, uuid, target, command }, task: task.task, wish };
    if (queue === undefined && !('task' in wish)) this.#say(pending, wish);
    else if (this.#pending >= this.#max)
      this.#out.refuse('files-busy', peer, call, 'too many requests for files are under way: ask again later', 500);
    else {
      this.#pending++;
      if (queue !== undefined) queue.push(pending);
      else {
        const own = [pending];
        this.#open.set(key, own);
        this.#advance(key, own);
      }
    }
  }

  /** Answers the client that asked. Unknown ids are ignored. */
  answer(id: number, outcome: NfpFileOutcome): void {
    const key = this.#reading.get(id);
    const queue = key === undefined ? undefined : this.#open.get(key);
    const pending = queue?.shift();
    if (key === undefined || queue === undefined || pending === undefined) return;
    this.#reading.delete(id);
    this.#pending--;
    this.#tell(pending, outcome);
    this.#advance(key, queue);
  }

  /** Rule 14: gives up all open calls. */
  abandon(): void {
    for (const queue of this.#open.values())
      for (const { peer, asked } of queue) this.#out.refuse('drained', peer, asked, 'the broker is closing', 500);
    this.#open.clear();
    this.#reading.clear();
    this.#pending = 0;
  }

  /** Answers calls that need no file, up to the next one that does, and requests that. */
  #advance(key: string, queue: Pending[]): void {
    for (let next = queue[0]; next !== undefined; next = queue[0]) {
      const { wish } = next;
      if ('task' in wish) {
        const id = ++this.#lastId;
        this.#reading.set(id, key);
        this.#out.effects.push({ kind: 'file-request', id, request: wish });
        return;
      }
      queue.shift();
      this.#pending--;
      this.#say(next, wish);
    }
    this.#open.delete(key);
  }

  #say({ peer, asked, task }: Pending, wish: Exclude<Wish, NfpFileRequest>): void {
    if ('refusal' in wish) this.#out.refuse('task', peer, asked, wish.refusal);
    else this.#out.tell(peer, asked, textBody(task, wish.text));
  }

  #tell({ peer, asked, wish }: Pending, outcome: NfpFileOutcome): void {
    if (outcome.kind === 'failed') {
      this.#out.refuse('files-failed', peer, asked, outcome.error, 500);
      return;
    }
    if (outcome.kind === 'absent' && outcome.escape) this.#out.dropMessage('fss-escape', peer);
    if ('task' in wish) this.#out.tell(peer, asked, bodyOf(wish, outcome));
  }
}

function wishOf({ task, kwargs, args }: NfpTask): Wish {
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

/** In the words of the product's releases. */
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
