/** What an NFP worker fetches: its inventory from the broker, and files from the broker or other workers. Worker rule 17 of docs/protocols/nfp.md. */
import { FileCache } from '@proj/files';
import type { DeletedFiles, FileDetails, HeldFile } from '@proj/files';
import { isProjError, ProjError } from '@proj/transport';
import type { NfpAskedJob, NfpBrokerQuestion, NfpBrokerReply } from './engine/events.js';
import type { NfpWorkerSettings } from './options.js';
import type { NfpKwargs } from './task.js';

const INVENTORY_SERVICE = 'sid.service.broker';
const FILES_SERVICE = 'fss.service.broker';
/** Workers that share files; NORFAB's broker has had none since 0.15. */
const FILE_WORKERS = 'filesharing';

/** Bytes of a chunk, and number of chunks requested before the first one has arrived. */
const CHUNK_BYTES = 1_048_576;
const CHUNKS_IN_TRANSIT = 4;

/** How often the connection may be lost while a worker sends one file. */
const LOSSES_MAX = 3;

/** Number of frames of an answer besides its bytes. */
const ENVELOPE_BYTES = 1024;

/** What {@link BrokerServices} need from their worker. */
export interface BrokerServicesHost extends Pick<
  NfpWorkerSettings,
  'name' | 'askTimeoutMs' | 'maxMessageBytes' | 'fetchFiles' | 'fetchMaxBytes'
> {
  newId(): string;
  /** Gives a question to the session; the reply arrives through {@link BrokerServices.settle}. */
  dispatch(question: NfpBrokerQuestion): void;
}

/** A question without the common time limit. */
type Question = Omit<NfpBrokerQuestion, 'timeoutMs'>;

/** A reply without a failure. */
type Answer = Extract<NfpBrokerReply, { kind: 'answered' | 'result' | 'lost' }>;

interface OpenQuestion {
  readonly subject: string;
  resolve(answer: Answer): void;
  reject(error: Error): void;
}

/** Whether the worker has its inventory, in NORFAB's words. */
export type InventoryState = 'initialising' | 'completed' | 'failed';

/** Asks questions for one worker. Every promise rejects with `REJECTED`, `TIMEOUT`, `CLOSED` or `PROTOCOL_REMOTE`. */
export class BrokerServices {
  readonly #host: BrokerServicesHost;
  readonly #cache: FileCache | undefined;
  readonly #asked = new Map<string, OpenQuestion>();
  #inventory: Promise<NfpKwargs> | undefined;
  #state: InventoryState = 'initialising';
  #isClosed = false;

  constructor(host: BrokerServicesHost) {
    this.#host = host;
    const { fetchFiles: folder, fetchMaxBytes: maxBytes } = host;
    this.#cache = folder === undefined ? undefined : new FileCache({ folder, maxBytes });
  }

  get inventoryState(): InventoryState {
    return this.#state;
  }

  /** What the broker's inventory says about this worker; `{}` for nothing. Fetched once, and again after a failure. */
  inventory(): Promise<NfpKwargs> {
    return this.#inventory ?? this.refresh();
  }

  /** Fetches the inventory again. If that fails, the old one stays. */
  async refresh(): Promise<NfpKwargs> {
    const before = this.#inventory;
    const asking = this.#askInventory();
    this.#inventory = asking;
    try {
      const inventory = await asking;
      this.#state = 'completed';
      return inventory;
    } catch (error) {
      this.#state = 'failed';
      if (this.#inventory === asking) this.#inventory = before;
      throw error;
    }
  }

  /** Makes the next {@link inventory} fetch it again. */
  forgetInventory(): void {
    this.#inventory = undefined;
  }

  /** A local copy of the file of an `nf://` url, as long as it is held. Also rejects as {@link FileCache.fetch} does. */
  async fetch(url: string): Promise<HeldFile> {
    if (this.#cache === undefined)
      throw new ProjError('OPTIONS_INVALID', `file ${url}: set the option fetchFiles to a folder for copies`);
    let worker: string | undefined;
    return this.#cache.fetch(url, {
      details: async () => {
        const found = await this.#find(url);
        worker = found.worker;
        return readDetails(url, found.value, worker ?? 'the broker');
      },
      chunks: ({ size }) => (worker === undefined ? this.#chunksOf(url, size) : this.#streamOf(url, size, worker)),
    });
  }

  async deleteFetched(pattern: string): Promise<DeletedFiles> {
    return (await this.#cache?.delete(pattern)) ?? { deleted: [], errors: [] };
  }

  settle(uuid: string, reply: NfpBrokerReply): void {
    const asked = this.#asked.get(uuid);
    if (asked === undefined) return;
    this.#asked.delete(uuid);
    const { subject } = asked;
    if (reply.kind === 'refused') asked.reject(new ProjError('REJECTED', `${subject}: ${reply.error}`));
    else if (reply.kind === 'closed') asked.reject(new ProjError('CLOSED', `${subject}: the worker has ended`));
    else if (reply.kind === 'timeout')
      asked.reject(new ProjError('TIMEOUT', `${subject}: no answer within ${this.#host.askTimeoutMs} ms`));
    else asked.resolve(reply);
  }

  /** The worker has ended. */
  close(): void {
    this.#isClosed = true;
    for (const uuid of [...this.#asked.keys()]) this.settle(uuid, { kind: 'closed' });
  }

  async #askInventory(): Promise<NfpKwargs> {
    const body = await this.#ask(INVENTORY_SERVICE, 'get_inventory', { name: this.#host.name });
    const value = parse(body, INVENTORY_SERVICE, 'get_inventory');
    if (value === null) return {};
    if (typeof value === 'object' && !Array.isArray(value)) return value as NfpKwargs;
    throw new ProjError(
      'PROTOCOL_REMOTE',
      `inventory: the answer is not an object: ${JSON.stringify(value).slice(0, 200)}`,
    );
  }

  /** Details of a file from the broker or, if it has no file service, from the first worker that has the file. */
  async #find(url: string): Promise<{ readonly value: unknown; readonly worker?: string }> {
    const refusals: string[] = [];
    const onRefused = (error: unknown): undefined => {
      // A broker may let a job wait for workers that have just left.
      const isLate = refusals.length > 0 && isProjError(error, 'TIMEOUT');
      if (!isLate && !isProjError(error, 'REJECTED')) throw error;
      refusals.push(error.message);
    };
    const kwargs = { url };
    const body = await this.#ask(FILES_SERVICE, 'file_details', kwargs).catch(onRefused);
    if (body !== undefined) return { value: parse(body, FILES_SERVICE, 'file_details') };
    const job = { target: 'all', awaits: 'result' } as const;
    const answer = await this.#post({ uuid: this.#host.newId(), task: 'file_details', kwargs, job }).catch(onRefused);
    if (answer?.kind === 'result') return answer;
    throw new ProjError(
      'REJECTED',
      `file ${url}: ${refusals.join('; ')}; have the broker, or a worker of service ${FILE_WORKERS}, share its folder`,
    );
  }

  /** Streams the file through a job of a worker that has it, one PUT per chunk. */
  async *#streamOf(url: string, size: number, worker: string): AsyncGenerator<Uint8Array> {
    const chunk = this.#chunkBytes;
    const target = JSON.stringify([worker]);
    let uuid: string | undefined;
    for (let offset = 0, losses = 0; offset < size;) {
      const put = uuid === undefined ? undefined : { offset };
      uuid ??= this.#host.newId();
      const kwargs = { url, offset, chunk_size: chunk };
      const answer = await this.#post({ uuid, task: 'fetch_file', kwargs, job: { target, awaits: 'chunk', put } });
      if (answer.kind === 'answered') {
        yield* answer.body;
        offset += chunk;
      } else if (++losses <= LOSSES_MAX) uuid = undefined;
      else throw new ProjError('UNAVAILABLE', `file ${url}: the broker was lost ${losses} times during the transfer`);
    }
  }

  async *#chunksOf(url: string, size: number): AsyncGenerator<Uint8Array> {
    const chunk = this.#chunkBytes;
    const onTheWay: Promise<readonly Uint8Array[]>[] = [];
    let offset = 0;
    const ask = (): void => {
      if (offset >= size) return;
      const next = this.#ask(FILES_SERVICE, 'fetch_file', { url, offset, chunk_size: chunk });
      // A reader that stops early does not learn of it.
      next.catch(() => undefined);
      onTheWay.push(next);
      offset += chunk;
    };
    for (let count = 0; count < CHUNKS_IN_TRANSIT; count++) ask();
    for (let next = onTheWay.shift(); next !== undefined; next = onTheWay.shift()) {
      yield* await next;
      ask();
    }
  }

  get #chunkBytes(): number {
    return Math.max(1, Math.min(CHUNK_BYTES, this.#host.maxMessageBytes - ENVELOPE_BYTES));
  }

  async #ask(service: string, task: string, kwargs: NfpKwargs): Promise<readonly Uint8Array[]> {
    const answer = await this.#dispatch({ uuid: this.#host.newId(), service, task, kwargs });
    // Only jobs get other replies.
    return answer.kind === 'answered' ? answer.body : [];
  }

  #post(question: Omit<Question, 'service'> & { readonly job: NfpAskedJob }): Promise<Answer> {
    return this.#dispatch({ ...question, service: FILE_WORKERS });
  }

  #dispatch(question: Question): Promise<Answer> {
    const { uuid, service, task } = question;
    return new Promise((resolve, reject) => {
      this.#asked.set(uuid, { subject: `${task} of ${service}`, resolve, reject });
      if (this.#isClosed) this.settle(uuid, { kind: 'closed' });
      else this.#host.dispatch({ ...question, timeoutMs: this.#host.askTimeoutMs });
    });
  }
}

function parse(body: readonly Uint8Array[], service: string, task: string): unknown {
  try {
    return JSON.parse(Buffer.concat(body).toString());
  } catch (cause) {
    throw new ProjError('PROTOCOL_REMOTE', `${task} of ${service}: the answer is not JSON`, { cause });
  }
}

function readDetails(url: string, value: unknown, source: string): FileDetails {
  const { md5hash, size_bytes: size, exists } = (value ?? {}) as Record<string, unknown>;
  if (exists === false) throw new ProjError('REJECTED', `file ${url}: ${source} has no file with this name`);
  if (typeof md5hash === 'string' && typeof size === 'number' && Number.isSafeInteger(size) && size >= 0)
    return { md5: md5hash.toLowerCase(), size };
  throw new ProjError('PROTOCOL_REMOTE', `file ${url}: the answer to file_details has no size and hash`);
}
