/** What an NFP worker has of its broker besides jobs: its inventory, and files. Worker rule 17 of docs/protocols/nfp.md. */
import { FileCache } from '@proj/files';
import type { DeletedFiles, FileDetails, HeldFile } from '@proj/files';
import { ProjError } from '@proj/transport';
import type { NfpBrokerQuestion, NfpBrokerReply } from './engine/events.js';
import type { NfpKwargs } from './task.js';

const INVENTORY_SERVICE = 'sid.service.broker';
const FILES_SERVICE = 'fss.service.broker';

/** Bytes of a chunk of a file, and chunks that are asked for before the first one has come. */
const CHUNK_BYTES = 1_048_576;
const CHUNKS_IN_TRANSIT = 4;

/** Frames of an answer besides its bytes. */
const ENVELOPE_BYTES = 1024;

/** What {@link BrokerServices} need of their worker. */
export interface BrokerServicesHost {
  readonly name: string;
  readonly askTimeoutMs: number;
  readonly maxMessageBytes: number;
  /** Where fetched files are kept; `undefined` when nowhere. */
  readonly fetchFiles?: string | undefined;
  readonly fetchMaxBytes: number;
  newId(): string;
  /** Gives a question to the session; {@link BrokerServices.settle} says what came of it. */
  dispatch(question: NfpBrokerQuestion): void;
}

interface Asked {
  readonly subject: string;
  resolve(body: readonly Uint8Array[]): void;
  reject(error: Error): void;
}

/** How the worker stands with the inventory, in the words of NORFAB. */
export type InventoryState = 'initialising' | 'completed' | 'failed';

/** Asks the broker on behalf of one worker. All that it promises rejects with `REJECTED`, `TIMEOUT`, `CLOSED` or `PROTOCOL_REMOTE`. */
export class BrokerServices {
  readonly #host: BrokerServicesHost;
  readonly #cache: FileCache | undefined;
  readonly #asked = new Map<string, Asked>();
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

  /** What the broker's inventory says of this worker, nothing being `{}`; asked for once, and again after a failure. */
  inventory(): Promise<NfpKwargs> {
    return this.#inventory ?? this.refresh();
  }

  /** Asks for the inventory anew. When that fails, what was known before stays. */
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

  /** It is asked for when somebody wants it next. */
  forgetInventory(): void {
    this.#inventory = undefined;
  }

  /** The file of an `nf://` url on this disk, for as long as it is held. Rejects as {@link FileCache.fetch}, too. */
  async fetch(url: string): Promise<HeldFile> {
    if (this.#cache === undefined)
      throw new ProjError('OPTIONS_INVALID', `file ${url}: set the option fetchFiles to the folder it is to lie in`);
    return this.#cache.fetch(url, {
      details: () => this.#detailsOf(url),
      chunks: ({ size }) => this.#chunksOf(url, size),
    });
  }

  /** Deletes files that were fetched, by pattern. */
  async deleteFetched(pattern: string): Promise<DeletedFiles> {
    return (await this.#cache?.delete(pattern)) ?? { deleted: [], errors: [] };
  }

  /** What came of a question. */
  settle(uuid: string, reply: NfpBrokerReply): void {
    const asked = this.#asked.get(uuid);
    if (asked === undefined) return;
    this.#asked.delete(uuid);
    const { subject } = asked;
    if (reply.kind === 'answered') asked.resolve(reply.body);
    else if (reply.kind === 'refused') asked.reject(new ProjError('REJECTED', `${subject}: ${reply.error}`));
    else if (reply.kind === 'closed') asked.reject(new ProjError('CLOSED', `${subject}: the worker has ended`));
    else asked.reject(new ProjError('TIMEOUT', `${subject}: no answer within ${this.#host.askTimeoutMs} ms`));
  }

  /** The worker has ended. */
  close(): void {
    this.#isClosed = true;
    for (const uuid of [...this.#asked.keys()]) this.settle(uuid, { kind: 'closed' });
  }

  async #askInventory(): Promise<NfpKwargs> {
    const value = await this.#askJson(INVENTORY_SERVICE, 'get_inventory', { name: this.#host.name });
    if (value === null) return {};
    if (typeof value === 'object' && !Array.isArray(value)) return value as NfpKwargs;
    throw new ProjError(
      'PROTOCOL_REMOTE',
      `inventory: the answer is no object: ${JSON.stringify(value).slice(0, 200)}`,
    );
  }

  async #detailsOf(url: string): Promise<FileDetails> {
    const value = await this.#askJson(FILES_SERVICE, 'file_details', { url });
    const { md5hash, size_bytes: size, exists } = (value ?? {}) as Record<string, unknown>;
    if (exists === false) throw new ProjError('REJECTED', `file ${url}: the broker has none of this name`);
    if (typeof md5hash === 'string' && typeof size === 'number' && Number.isSafeInteger(size) && size >= 0)
      return { md5: md5hash.toLowerCase(), size };
    throw new ProjError('PROTOCOL_REMOTE', `file ${url}: the answer to file_details has no size and hash`);
  }

  async *#chunksOf(url: string, size: number): AsyncGenerator<Uint8Array> {
    const chunk = Math.max(1, Math.min(CHUNK_BYTES, this.#host.maxMessageBytes - ENVELOPE_BYTES));
    const onTheWay: Promise<readonly Uint8Array[]>[] = [];
    let offset = 0;
    const ask = (): void => {
      if (offset >= size) return;
      const next = this.#ask(FILES_SERVICE, 'fetch_file', { url, offset, chunk_size: chunk });
      // Whoever reads no further does not hear of it.
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

  async #askJson(service: string, task: string, kwargs: NfpKwargs): Promise<unknown> {
    const body = await this.#ask(service, task, kwargs);
    try {
      return JSON.parse(Buffer.concat(body).toString());
    } catch (cause) {
      throw new ProjError('PROTOCOL_REMOTE', `${task} of ${service}: the answer is no JSON`, { cause });
    }
  }

  #ask(service: string, task: string, kwargs: NfpKwargs): Promise<readonly Uint8Array[]> {
    const uuid = this.#host.newId();
    return new Promise((resolve, reject) => {
      this.#asked.set(uuid, { subject: `${task} of ${service}`, resolve, reject });
      if (this.#isClosed) this.settle(uuid, { kind: 'closed' });
      else this.#host.dispatch({ uuid, service, task, kwargs, timeoutMs: this.#host.askTimeoutMs });
    });
  }
}
