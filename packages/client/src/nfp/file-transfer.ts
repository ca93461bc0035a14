/** NFP client: fetches files from the broker's file service or a filesharing worker, chunk by chunk. Rule 9 of docs/protocols/nfp.md. */
import { totalBytes } from '@proj/frames';
import { ProjError } from '@proj/transport';
import { chunksOf, fileNameOf, readFileDetails, storeFile } from './files.js';
import type { NfpFetchedFile, NfpFileDetails } from './files.js';
import type { NfpJob } from './job.js';
import type { NfpFetchSettings, NfpListSettings, NfpPostOptions } from './options.js';
import type { NfpJobResult, NfpJobResults } from './results.js';

/** The service of workers with files. */
const FILE_WORKERS = 'filesharing';

/** Limits of one call. */
export interface CallLimits {
  readonly timeoutMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** What a transfer needs from a client. */
export interface FileClient {
  /** Calls the broker's file service; the raw body. */
  ask(task: string, kwargs: Readonly<Record<string, unknown>>, limits: CallLimits): Promise<readonly Uint8Array[]>;
  /** The same, for answers in JSON. */
  askJson(task: string, kwargs: Readonly<Record<string, unknown>>, limits: CallLimits): Promise<unknown>;
  post(service: string, task: string, options: NfpPostOptions): Promise<NfpJob>;
  /** Sends PUT to a worker that has the job. */
  put(uuid: string, worker: string, value: unknown): void;
}

/** Lists a folder. */
export async function listFiles(client: FileClient, url: string, options: NfpListSettings): Promise<string[]> {
  const { worker, recursive } = options;
  const task = recursive ? 'walk' : 'list_files';
  const value =
    worker === undefined
      ? await client.askJson(task, { url }, options)
      : (await askWorker(client, worker, task, { url }, options)).result;
  if (!Array.isArray(value))
    throw new ProjError('PROTOCOL_REMOTE', `${task} ${url}: the answer is not a list: ${JSON.stringify(value)}`);
  if (value.length === 1 && value[0] === 'Directory Not Found')
    throw new ProjError('REJECTED', `${task} ${url}: no such folder`);
  // NORFAB on Linux writes three slashes.
  return value.map((entry) => String(entry).replace(/^nf:\/\/\//, 'nf://'));
}

/** Fetches a file; `uuid` makes its temporary name unique. */
export async function fetchFile(
  client: FileClient,
  url: string,
  uuid: string,
  settings: NfpFetchSettings,
): Promise<NfpFetchedFile> {
  const { to, signal, onProgress, chunkBytes, chunksInTransit } = settings;
  fileNameOf(url);
  const { details, worker } = await detailsOf(client, url, settings);
  const plan = { url, totalBytes: details.bytes, chunkBytes, inTransit: chunksInTransit };
  const chunks =
    worker === undefined ? brokerChunks(client, plan, settings) : workerChunks(client, plan, worker, settings);
  return storeFile(url, details, chunks, { to, uuid, signal, onProgress });
}

async function detailsOf(
  client: FileClient,
  url: string,
  settings: NfpFetchSettings,
): Promise<{ readonly details: NfpFileDetails; readonly worker: string | undefined }> {
  if (settings.worker === undefined)
    return {
      details: readFileDetails(url, await client.askJson('file_details', { url }, settings)),
      worker: undefined,
    };
  const { worker, result } = await askWorker(client, settings.worker, 'file_details', { url }, settings);
  return { details: readFileDetails(url, result), worker };
}

function brokerChunks(client: FileClient, plan: ChunkPlan, limits: CallLimits) {
  const { url, chunkBytes } = plan;
  return askedChunks(plan, (offset) => client.ask('fetch_file', { url, offset, chunk_size: chunkBytes }, limits));
}

async function* workerChunks(client: FileClient, plan: ChunkPlan, worker: string, limits: CallLimits) {
  // An empty file needs no chunk.
  if (plan.totalBytes === 0) return;
  const { url, chunkBytes } = plan;
  const given = new AbortController();
  const signals = limits.signal === undefined ? [given.signal] : [given.signal, limits.signal];
  const chunks = new StreamedChunks(plan);
  const job = await client.post(FILE_WORKERS, 'fetch_file', {
    kwargs: { url, offset: 0, chunk_size: chunkBytes },
    target: [worker],
    timeoutMs: limits.timeoutMs,
    signal: AbortSignal.any(signals),
    onStream: chunks.push,
  });
  const end = job.done().then((results) => only(url, results));
  end.catch(() => undefined);
  try {
    yield* chunks.read({
      put: (offset) => {
        client.put(job.uuid, worker, { offset });
      },
      end,
    });
    await end;
  } finally {
    // If we stop first, also ends the job at the worker.
    given.abort();
  }
}

async function askWorker(
  client: FileClient,
  worker: string,
  task: string,
  kwargs: Readonly<Record<string, unknown>>,
  { timeoutMs, signal }: CallLimits,
): Promise<NfpJobResult> {
  const target = worker === 'any' ? worker : [worker];
  const job = await client.post(FILE_WORKERS, task, { kwargs, target, timeoutMs, signal });
  return only(`${task} ${String(kwargs['url'])}`, await job.done());
}

/** The result of the one worker that was called. Throws its failure. */
function only(subject: string, results: NfpJobResults): NfpJobResult {
  const [result] = Object.values(results);
  if (result === undefined) throw new ProjError('PROTOCOL_REMOTE', `${subject}: no worker answered`);
  if (!result.failed) return result;
  const code = result.status === 408 ? 'TIMEOUT' : 'REJECTED';
  throw new ProjError(code, `${subject}: ${result.worker}: ${result.errors.join(', ') || 'failed'}`);
}

/** How a file is divided into chunks. */
interface ChunkPlan {
  readonly url: string;
  readonly totalBytes: number;
  readonly chunkBytes: number;
  readonly inTransit: number;
}

/** Requests chunks from a broker by offset, several at a time. A failure ends it; chunks under way are dropped. */
async function* askedChunks(
  plan: ChunkPlan,
  ask: (offset: number) => Promise<readonly Uint8Array[]>,
): AsyncGenerator<readonly Uint8Array[]> {
  const wanted = chunksOf(plan.totalBytes, plan.chunkBytes);
  const underWay: { readonly bytes: number; readonly answer: Promise<readonly Uint8Array[]> }[] = [];
  for (;;) {
    while (underWay.length < plan.inTransit) {
      const next = wanted.next();
      if (next.done === true) break;
      const answer = ask(next.value.offset);
      // Only the first failure is reported.
      answer.catch(() => undefined);
      underWay.push({ bytes: next.value.bytes, answer });
    }
    const first = underWay.shift();
    if (first === undefined) return;
    yield checked(plan.url, await first.answer, first.bytes);
  }
}

/** What {@link StreamedChunks} needs from the streaming job. */
interface ChunkJob {
  /** Requests the chunk that begins there. */
  put(offset: number): void;
  /** Rejects, or resolves to the reason, when the job ends before everything was sent. */
  readonly end: Promise<unknown>;
}

/** Chunks that a worker streams: the first one unrequested, the others on request, in order. */
class StreamedChunks {
  readonly #plan: ChunkPlan;
  readonly #arrived: (readonly Uint8Array[])[] = [];
  #wake: () => void = () => undefined;
  #failure: { readonly error: unknown } | undefined;

  constructor(plan: ChunkPlan) {
    this.#plan = plan;
  }

  /** Receives a chunk from the worker. */
  readonly push = (frames: readonly Uint8Array[]): void => {
    this.#arrived.push(frames);
    this.#wake();
  };

  /** The chunks in order. Accepts no more than were requested, however many the worker sends. */
  async *read(job: ChunkJob): AsyncGenerator<readonly Uint8Array[]> {
    const { url, totalBytes: total, chunkBytes, inTransit } = this.#plan;
    job.end.then(
      () => this.#fail(new ProjError('PROTOCOL_REMOTE', `file ${url}: the worker ended before it had sent everything`)),
      (error: unknown) => this.#fail(error),
    );
    const wanted = [...chunksOf(total, chunkBytes)];
    let asked = 1;
    for (const [index, { bytes }] of wanted.entries()) {
      const frames = await this.#next();
      // Only after the first one has arrived: NORFAB's workers drop requests that arrive before the job runs.
      for (const most = Math.min(wanted.length, index + 1 + inTransit); asked < most; asked++)
        job.put((wanted[asked] as { offset: number }).offset);
      yield checked(url, frames, bytes);
    }
  }

  async #next(): Promise<readonly Uint8Array[]> {
    for (;;) {
      const frames = this.#arrived.shift();
      if (frames !== undefined) return frames;
      if (this.#failure !== undefined) throw this.#failure.error;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  #fail(error: unknown): void {
    this.#failure = { error };
    this.#wake();
  }
}

/** A chunk of another length is an error text, or from a source with another chunk size. */
function checked(url: string, frames: readonly Uint8Array[], bytes: number): readonly Uint8Array[] {
  const came = totalBytes(frames);
  if (came === bytes) return frames;
  throw new ProjError('PROTOCOL_REMOTE', `file ${url}: received a chunk of ${came} bytes instead of ${bytes}`);
}
