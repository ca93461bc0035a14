/** PZQ server: dead letters: the store lists them, the engine returns or removes them. Rule 35 of docs/protocols/pzq.md. */
import { decodePzqKey, encodePzqKey } from '@proj/frames/pzq';
import { ProjError, toBuffers } from '@proj/transport';
import type { PzqEvent } from './engine/events.js';
import type { DeadMessage, DeathReason, QueueStore, Removal } from './store/store.js';

/** A message that was given up. */
export interface PzqDeadLetter {
  /** The queue's key for it, as its consumers see it: 53 characters. */
  readonly key: string;
  readonly reason: DeathReason;
  /** How often it was delivered. */
  readonly deliveries: number;
  /** Microseconds since 1970, as below. */
  readonly storedMicros: number;
  readonly diedMicros: number;
  readonly body: readonly Buffer[];
}

/** Dead letters listed or changed at a time. */
const PAGE_MAX = 100;
const PAGE_BYTES = 8 * 2 ** 20;

interface OpenRequest {
  readonly resolve: (count: number) => void;
  readonly reject: (error: ProjError) => void;
}

/** All dead letters of a store, read page by page. */
export async function* listDeadLetters(
  store: QueueStore,
  epoch: bigint,
): AsyncGenerator<PzqDeadLetter, void, undefined> {
  for (let after: number | undefined = 0; after !== undefined;) {
    const page: readonly DeadMessage[] = await store.dead(after, PAGE_MAX, PAGE_BYTES);
    for (const { seq, storedMicros, diedMicros, reason, deliveries, body } of page) {
      const key = Buffer.from(encodePzqKey({ storedMicros, epoch, seq })).toString('latin1');
      yield { key, reason, deliveries, storedMicros, diedMicros, body: toBuffers(body) };
    }
    after = page.at(-1)?.seq;
  }
}

/** Requests to return or remove dead letters, or to purge the queue, until they are durable. */
export class DeadLetterRequests {
  readonly #dispatch: (event: PzqEvent) => void;
  readonly #open = new Map<number, OpenRequest>();
  #lastId = 0;
  #isClosed = false;

  constructor(dispatch: (event: PzqEvent) => void) {
    this.#dispatch = dispatch;
  }

  /** Resolves when all are back in the queue. */
  async revive(keys: Iterable<string>, epoch: bigint): Promise<void> {
    for (const letters of pagesOf(keys, epoch, 'returnDeadLetters'))
      await this.#request((id) => ({ kind: 'revive', id, seqs: letters.map(({ seq }) => seq) }));
  }

  /** Resolves when all are removed. */
  async discard(keys: Iterable<string>, epoch: bigint): Promise<void> {
    for (const letters of pagesOf(keys, epoch, 'removeDeadLetters'))
      await this.#request((id) => ({ kind: 'discard', id, letters }));
  }

  /** Resolves to the number of messages removed, once that is on disk. */
  purge(): Promise<number> {
    return this.#request((id) => ({ kind: 'purge', id }));
  }

  /** The request with this id is done, or has failed with the store's code. */
  settle(id: number, code: string | undefined, count = 0): void {
    const request = this.#open.get(id);
    this.#open.delete(id);
    if (code === undefined) request?.resolve(count);
    else request?.reject(errorOf(code));
  }

  /** Rejects all requests with `CLOSED` from now on. */
  close(): void {
    this.#isClosed = true;
    for (const id of this.#open.keys()) this.settle(id, 'CLOSED');
  }

  #request(event: (id: number) => PzqEvent): Promise<number> {
    return new Promise((resolve, reject) => {
      if (this.#isClosed) {
        reject(errorOf('CLOSED'));
        return;
      }
      const id = ++this.#lastId;
      this.#open.set(id, { resolve, reject });
      this.#dispatch(event(id));
    });
  }
}

/** Keys in the form that the engine uses for messages, in batches. All are validated before the first is acted upon. */
function pagesOf(keys: Iterable<string>, epoch: bigint, what: string): readonly (readonly Removal[])[] {
  const letters = Array.from(keys, (text) => {
    const key = decodePzqKey(Buffer.from(text, 'latin1'));
    if (key?.epoch !== epoch)
      throw new ProjError('OPTIONS_INVALID', `${what}: ${JSON.stringify(text)} is not a key of this queue`);
    return { seq: key.seq, storedMicros: key.storedMicros };
  });
  const pages: Removal[][] = [];
  for (let from = 0; from < letters.length; from += PAGE_MAX) pages.push(letters.slice(from, from + PAGE_MAX));
  return pages;
}

function errorOf(code: string): ProjError {
  if (code === 'CLOSED') return new ProjError('CLOSED', 'PzqServer: closed before this was done');
  if (code === 'CORRUPT') return new ProjError('CORRUPT', 'the store is damaged: nothing was changed');
  return new ProjError('WRITE_FAILED', `the store cannot be written to: ${code}`, { details: { code } });
}
