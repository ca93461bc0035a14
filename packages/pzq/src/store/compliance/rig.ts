/** Shared by the cases: stores that are closed afterwards, messages, and checks. */
import type { Batch, Committed, NewMessage, OpenedStore, QueueStore, StoredMessage } from '../store.js';

/** An implementation under test. */
export interface StoreSubject {
  /** A new place for messages, such as a folder or a database. */
  place(): Promise<StorePlace>;
  /** The implementation's features. A case that needs more does not apply. */
  readonly capabilities: StoreCapabilities;
}

/** Features that not every implementation has. */
export interface StoreCapabilities {
  /** Commits survive `close` and `open`. */
  readonly durable: boolean;
  /** `due` reports moments: not if servers share the store. */
  readonly moments: boolean;
  /** Only one process and store object at a time. */
  readonly exclusive: boolean;
  /** It has `leases`. */
  readonly shared: boolean;
  /** {@link StorePlace.breakWrites} exists. */
  readonly breakable: boolean;
  /** {@link StorePlace.killWriter} exists. */
  readonly killable: boolean;
}

/** Where a store keeps its messages. */
export interface StorePlace {
  /** A store of this place, not open yet. */
  store(): QueueStore;
  /** Makes writes fail, as on a full disk. The returned function ends that. */
  breakWrites?(): Promise<() => Promise<void>>;
  /** Runs {@link writeUntilKilled} on a store of this place in another process, kills it with SIGKILL, and resolves to the lines it wrote. */
  killWriter?(): Promise<readonly string[]>;
  /** All its stores are closed: the place is no longer needed. */
  remove(): Promise<void>;
}

/** No limit. */
export const ALL = Number.MAX_SAFE_INTEGER;

/** The time of storing messages; any time will do. */
export const NOW = 1_795_199_726_332_593;

const EMPTY: Batch = { puts: [], removes: [], deliveries: [], buries: [], revives: [], passed: [] };

/** An open store, with shortcuts. */
export class OpenStore {
  readonly store: QueueStore;
  /** What `open` said. */
  readonly opened: OpenedStore;

  constructor(store: QueueStore, opened: OpenedStore) {
    this.store = store;
    this.opened = opened;
  }

  /** A commit of these fields. */
  commit(batch: Partial<Batch>): Promise<Committed> {
    return this.store.commit({ ...EMPTY, ...batch });
  }

  /** Stores messages with these texts; returns their sequences. */
  async put(...texts: string[]): Promise<readonly number[]> {
    return (await this.commit({ puts: texts.map((text) => message(text)) })).seqs;
  }

  /** Stores one message with these fields; returns its sequence. */
  async putOne(fields: Partial<NewMessage>): Promise<number> {
    return (await this.commit({ puts: [message('one', fields)] })).seqs[0] ?? Number.NaN;
  }

  /** Removes messages that {@link message} made. */
  remove(...seqs: number[]): Promise<Committed> {
    return this.commit({ removes: seqs.map((seq) => ({ seq, storedMicros: NOW })) });
  }

  /** All ready messages. */
  ready(): Promise<readonly StoredMessage[]> {
    return this.store.scan(0, ALL, ALL);
  }

  /** The first frames of all ready messages, as text. */
  async texts(): Promise<readonly string[]> {
    return (await this.ready()).map(textOf);
  }
}

/** The stores of one case. */
export class StoreRig {
  readonly #subject: StoreSubject;
  readonly #stores: QueueStore[] = [];
  readonly #places: StorePlace[] = [];

  constructor(subject: StoreSubject) {
    this.#subject = subject;
  }

  get capabilities(): StoreCapabilities {
    return this.#subject.capabilities;
  }

  async place(): Promise<StorePlace> {
    const place = await this.#subject.place();
    this.#places.push(place);
    return place;
  }

  /** A store of a place, not open yet. */
  bare(place: StorePlace): QueueStore {
    const store = place.store();
    this.#stores.push(store);
    return store;
  }

  /** An open store, at a new place by default. */
  async store(place?: StorePlace): Promise<OpenStore> {
    const store = this.bare(place ?? (await this.place()));
    return new OpenStore(store, await store.open());
  }

  /** Closes a store and opens another one at its place. */
  async again(place: StorePlace, open: OpenStore): Promise<OpenStore> {
    await open.store.close();
    return this.store(place);
  }

  async close(): Promise<void> {
    await Promise.all(this.#stores.map((store) => store.close()));
    await Promise.all(this.#places.map((place) => place.remove()));
  }
}

/** A message with this text as its only frame. */
export function message(text: string, fields: Partial<NewMessage> = {}): NewMessage {
  return { storedMicros: NOW, body: [Buffer.from(text)], readyMicros: 0, expiresMicros: 0, ...fields };
}

/** The numbers 0 to `count` - 1 as text. */
export function numbered(count: number): string[] {
  return Array.from({ length: count }, (_, index) => index.toString());
}

/** The first frame of a message as text. */
export function textOf({ body: [frame = new Uint8Array(0)] }: StoredMessage): string {
  return Buffer.from(frame).toString();
}

/** Sequence numbers of messages. */
export function seqsOf(messages: readonly { readonly seq: number }[]): number[] {
  return messages.map(({ seq }) => seq);
}

/** Throws unless the condition holds. */
export function check(condition: boolean, text: string): asserts condition {
  if (!condition) throw new Error(text);
}

/** Throws unless both are equal as JSON; `Infinity` differs from null. */
export function equal(actual: unknown, expected: unknown, what: string): void {
  const [have, want] = [write(actual), write(expected)];
  if (have !== want) throw new Error(`${what}: expected ${shorten(want)}, got ${shorten(have)}`);
}

function write(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) =>
    typeof part === 'bigint' || part === Infinity ? part.toString() : part,
  );
}

function shorten(json: string): string {
  return json.length > 300 ? `${json.slice(0, 150)} ... ${json.slice(-150)} (${json.length} characters)` : json;
}

/** Throws unless the promise rejects with a `ProjError` of that code; returns the error. */
export async function rejects(promise: Promise<unknown>, code: string): Promise<Error & { readonly details: unknown }> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason as Error & { readonly code: unknown; readonly details: unknown },
  );
  check(error !== undefined, `nothing was thrown instead of ${code}`);
  equal([error.name, error.code], ['ProjError', code], `error "${error.message}"`);
  return error;
}
