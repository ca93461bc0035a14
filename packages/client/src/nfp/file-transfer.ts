/** NFP client: where files come from, the broker's file service or a filesharing worker. Rule 9 of docs/protocols/nfp.md. */
import { ProjError } from '@proj/transport';
import { askedChunks, StreamedChunks } from './chunks.js';
import type { ChunkPlan } from './chunks.js';
import { fileNameOf, readFileDetails, storeFile } from './files.js';
import type { NfpFetchedFile, NfpFileDetails } from './files.js';
import type { NfpJob } from './job.js';
import type { NfpFetchSettings, NfpListSettings, NfpPostOptions } from './options.js';
import type { NfpJobResult, NfpJobResults } from './results.js';

/** Service of the workers that have files. */
const FILE_WORKERS = 'filesharing';

/** Limits of one call. */
export interface CallLimits {
  readonly timeoutMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** What transfers need of a client. */
export interface FileClient {
  /** Asks the broker's file service; the body as it came. */
  ask(task: string, kwargs: Readonly<Record<string, unknown>>, limits: CallLimits): Promise<readonly Uint8Array[]>;
  /** The same, for answers in JSON. */
  askJson(task: string, kwargs: Readonly<Record<string, unknown>>, limits: CallLimits): Promise<unknown>;
  post(service: string, task: string, options: NfpPostOptions): Promise<NfpJob>;
  /** PUT to a worker that has the job. */
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
    throw new ProjError('PROTOCOL_REMOTE', `${task} ${url}: the answer is no list: ${JSON.stringify(value)}`);
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
  // A file without bytes needs no chunk.
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
    // Ends the job at the worker when we are the ones who stop.
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

/** The result of the one worker that was asked. Throws its failure. */
function only(subject: string, results: NfpJobResults): NfpJobResult {
  const [result] = Object.values(results);
  if (result === undefined) throw new ProjError('PROTOCOL_REMOTE', `${subject}: no worker has answered`);
  if (!result.failed) return result;
  const code = result.status === 408 ? 'TIMEOUT' : 'REJECTED';
  throw new ProjError(code, `${subject}: ${result.worker}: ${result.errors.join(', ') || 'failed'}`);
}
