/**
 * The contract of every store, designed for group commit: one call carries everything that changed since the last one, and resolves when that is
 * flushed. Rules 7 to 9 and 25 to 30 of docs/protocols/pzq.md.
 *
 * A store has one caller, which never has two pending `commit`s. Reads may overlap with a commit, and see the state before or after it.
 */

/** Body frames: at least one; frames may be empty. Neither side changes them after the call. */
export type Body = readonly Uint8Array[];

/** A message to store. Times are wall-clock microseconds since 1970. */
export interface NewMessage {
  readonly storedMicros: number;
  readonly body: Body;
  /** Another message with the same id before `untilMicros` is not stored. Absent: not checked and not remembered. */
  readonly dedupe?: { readonly id: Uint8Array; readonly untilMicros: number };
  /** Not delivered before this time; 0 for no delay. */
  readonly readyMicros: number;
  /** Not delivered after this time; 0 for no limit. */
  readonly expiresMicros: number;
}

/** A message in the store. */
export interface StoredMessage {
  /** 1 to 2^53 - 1, ascending in order of arrival, never reused. */
  readonly seq: number;
  readonly storedMicros: number;
  readonly body: Body;
  /** Bytes of the body. */
  readonly bytes: number;
  /** Deliveries so far, as reported in {@link Batch.deliveries}. */
  readonly deliveries: number;
  readonly expiresMicros: number;
}

/** Why a message was given up. */
export type DeathReason = 'max-deliveries' | 'expired';

/** A message among the dead letters. */
export interface DeadMessage extends StoredMessage {
  readonly reason: DeathReason;
  readonly diedMicros: number;
}

/** A message to remove. Unknown pairs are ignored. */
export interface Removal {
  readonly seq: number;
  /** Must match the stored message, so that a foreign key removes nothing. */
  readonly storedMicros: number;
}

/** One group commit: atomic, performed in the order of the fields. */
export interface Batch {
  readonly puts: readonly NewMessage[];
  /** Ready, delayed or dead. */
  readonly removes: readonly Removal[];
  /** New delivery counts of messages in the queue. */
  readonly deliveries: readonly { readonly seq: number; readonly deliveries: number }[];
  /** From the queue to the dead letters. */
  readonly buries: readonly { readonly seq: number; readonly reason: DeathReason; readonly diedMicros: number }[];
  /** From the dead letters back to the queue, with their old sequence, no expiry and no counted deliveries. */
  readonly revives: readonly number[];
  /**
   * Moments that {@link QueueStore.due} reported and the caller has handled. A delayed message is now ready; for others the expiry is not
   * reported again, though `expiresMicros` stays.
   */
  readonly passed: readonly number[];
}

/** Sizes, as of the end of the last commit. */
export interface StoreCounts {
  /** Ready, delayed and in flight; without dead letters. */
  readonly messages: number;
  /** Bytes of their bodies. */
  readonly bytes: number;
  /** Delayed ones among them; 0 if servers share the store, which does not count them. */
  readonly delayed: number;
  readonly dead: number;
  /** Bytes of the store on disk; 0 for memory. */
  readonly storeBytes: number;
  /** Earliest moment that `due` would report; `Infinity` if there is none. */
  readonly nextDueMicros: number;
}

/** The result of `open`. */
export interface OpenedStore {
  /** 60 random bits from the store's creation: part of every key. */
  readonly epoch: bigint;
  /** Highest sequence ever used, even if the store was emptied. */
  readonly lastSeq: number;
  readonly counts: StoreCounts;
}

/** The result of a commit. */
export interface Committed {
  /** One per put: its sequence, or 0 if the id was seen before. */
  readonly seqs: readonly number[];
  /** One per removal: whether the message was there. */
  readonly removed: readonly boolean[];
  readonly counts: StoreCounts;
}

/** Messages whose moment has come. */
export interface DueMessages {
  /** Delayed messages that are ready now, except those that have also expired. */
  readonly ready: readonly StoredMessage[];
  /** Messages that have expired, including delayed ones. */
  readonly expired: readonly Removal[];
}

/**
 * A queue on one disk or in one database. Every rejection is a `ProjError`: `WRITE_FAILED` with `details: { code }` (such as `ENOSPC`), and the
 * store readable as before; `CORRUPT` for damaged or foreign contents; `UNAVAILABLE` for a missing driver or an unreachable database;
 * `OPTIONS_INVALID` for a folder that cannot be created, read or written; `CLOSED`.
 */
export interface QueueStore {
  readonly name: 'memory' | 'lmdb' | 'postgres';
  /** False if nothing survives the process. */
  readonly durable: boolean;
  /**
   * Present if several queue servers share the store. Then delayed messages become ready by themselves, `due` reports nothing, and `scan`
   * ignores leases.
   */
  readonly leases?: SharedLeases;
  /** Opens it. If another process has it, rejects with `UNAVAILABLE`, naming the holder, without changing anything. */
  open(): Promise<OpenedStore>;
  /** Resolves when everything is flushed. */
  commit(batch: Batch): Promise<Committed>;
  /** Messages after `after` that are not delayed, by sequence, at most `limit` and about `maxBytes`, but at least one. */
  scan(after: number, limit: number, maxBytes: number): Promise<readonly StoredMessage[]>;
  /** Moments due at `nowMicros`, earliest first, at most `limit`, fewer if bodies are long. Reported again until {@link Batch.passed}, `removes` or `buries` answers them. */
  due(nowMicros: number, limit: number): Promise<DueMessages>;
  /** Dead letters, as {@link QueueStore.scan}. */
  dead(after: number, limit: number, maxBytes: number): Promise<readonly DeadMessage[]>;
  /** An empty durable write, to find out whether commits work again. */
  probe(): Promise<void>;
  /** Waits for pending calls, then closes. Idempotent. */
  close(): Promise<void>;
}

/** Leases in the store, because an acknowledgement may reach another server than the one that delivered. */
export interface SharedLeases {
  /**
   * Leases up to `limit` ready messages for `leaseMs`, by sequence and by the store's clock. Includes expired messages, which the caller must
   * give up.
   */
  take(limit: number, maxBytes: number, leaseMs: number): Promise<readonly StoredMessage[]>;
  /** Returns messages to their old places, ready in `delayMs`. */
  release(seqs: readonly number[], delayMs: number): Promise<void>;
  /** Restarts leases. */
  extend(seqs: readonly number[], leaseMs: number): Promise<void>;
}
