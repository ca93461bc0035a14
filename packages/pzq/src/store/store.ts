/**
 * The contract of every store, shaped for group commit: one call carries everything that changed since the last one, and resolves when
 * that is flushed. Rules 7 to 9 and 25 to 30 of docs/protocols/pzq.md.
 *
 * A store has one caller, which never has two `commit`s under way. Reads may overlap with a commit, and see the state before or after it.
 */

/** Body frames: at least one, blank ones included. Neither side changes them once handed over. */
export type Body = readonly Uint8Array[];

/** A message to keep. Times are wall-clock microseconds since 1970. */
export interface NewMessage {
  readonly storedMicros: number;
  readonly body: Body;
  /** Another message with the same id before `untilMicros` is not stored. Absent: not checked, not remembered. */
  readonly dedupe?: { readonly id: Uint8Array; readonly untilMicros: number };
  /** Not delivered before this time; 0 for no delay. */
  readonly readyMicros: number;
  /** Not delivered after this time; 0 for no limit. */
  readonly expiresMicros: number;
}

/** A message in the store. */
export interface StoredMessage {
  /** 1 to 2^53 - 1, ascending in order of arrival, never used twice. */
  readonly seq: number;
  readonly storedMicros: number;
  readonly body: Body;
  /** Bytes of the body. */
  readonly bytes: number;
  /** Deliveries so far, as {@link Batch.deliveries} has reported them. */
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

/** A message to remove. A pair that the store does not hold is no error. */
export interface Removal {
  readonly seq: number;
  /** Must match the stored message, so that a foreign key removes nothing. */
  readonly storedMicros: number;
}

/** One group commit: all or nothing, performed in the order of the fields. */
export interface Batch {
  readonly puts: readonly NewMessage[];
  /** Ready, delayed or dead. */
  readonly removes: readonly Removal[];
  /** New delivery counts of messages in the queue. */
  readonly deliveries: readonly { readonly seq: number; readonly deliveries: number }[];
  /** From the queue to the dead letters. */
  readonly buries: readonly { readonly seq: number; readonly reason: DeathReason; readonly diedMicros: number }[];
  /** From the dead letters back to the queue, with their old sequence, no expiry and no deliveries counted. */
  readonly revives: readonly number[];
  /**
   * Moments that {@link QueueStore.due} has reported and the caller has acted on. A delayed message is now ready; for others the expiry
   * is not reported again, though `expiresMicros` stays.
   */
  readonly passed: readonly number[];
}

/** Sizes, as of the end of the last commit. */
export interface StoreCounts {
  /** Ready, delayed and in flight; without dead letters. */
  readonly messages: number;
  /** Bytes of their bodies. */
  readonly bytes: number;
  /** Delayed ones among them; 0 where servers share the store, which does not count them. */
  readonly delayed: number;
  readonly dead: number;
  /** Bytes of the store on its disk; 0 for memory. */
  readonly storeBytes: number;
  /** Earliest moment that `due` would report; `Infinity` if there is none. */
  readonly nextDueMicros: number;
}

/** What `open` finds. */
export interface OpenedStore {
  /** 60 random bits, drawn when the store was made: part of every key. */
  readonly epoch: bigint;
  /** Highest sequence ever used, also in a store that was emptied. */
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
  /** Delayed messages that are ready now, but for those that have expired as well. */
  readonly ready: readonly StoredMessage[];
  /** Messages that have expired, delayed ones included. */
  readonly expired: readonly Removal[];
}

/**
 * A queue on one disk or in one database. Every rejection is a `ProjError`: `WRITE_FAILED` with `details: { code }` (such as `ENOSPC`),
 * and the store readable as before; `CORRUPT` for contents that are damaged or foreign; `UNAVAILABLE` for a missing driver or a database
 * that is away; `OPTIONS_INVALID` for a folder that cannot be made, read or written to; `CLOSED`.
 */
export interface QueueStore {
  readonly name: 'memory' | 'lmdb' | 'postgres';
  /** False if nothing survives the process. */
  readonly durable: boolean;
  /**
   * Present where several queue servers share the store. Then delayed messages become ready by themselves, `due` reports nothing, and
   * `scan` ignores leases.
   */
  readonly leases?: SharedLeases;
  /** Opens it. Rejects with `UNAVAILABLE`, naming the holder, if another process has it, and changes nothing then. */
  open(): Promise<OpenedStore>;
  /** Resolves when everything is flushed. */
  commit(batch: Batch): Promise<Committed>;
  /** Messages after `after` that are not delayed, by sequence, at most `limit` and about `maxBytes`, but at least one. */
  scan(after: number, limit: number, maxBytes: number): Promise<readonly StoredMessage[]>;
  /** Moments due at `nowMicros`, earliest first, at most `limit`. Reported again until {@link Batch.passed}, `removes` or `buries` answers them. */
  due(nowMicros: number, limit: number): Promise<DueMessages>;
  /** Dead letters, as {@link QueueStore.scan}. */
  dead(after: number, limit: number, maxBytes: number): Promise<readonly DeadMessage[]>;
  /** An empty durable write, to find out whether commits work again. */
  probe(): Promise<void>;
  /** Waits for calls under way, then closes. Idempotent. */
  close(): Promise<void>;
}

/** Leases in the store, because an acknowledgement may reach another server than the one that delivered. */
export interface SharedLeases {
  /**
   * Leases up to `limit` ready messages for `leaseMs`, by sequence and by the store's clock. Expired ones are among them, for the caller
   * to give up.
   */
  take(limit: number, maxBytes: number, leaseMs: number): Promise<readonly StoredMessage[]>;
  /** Returns messages to their old places, ready in `delayMs`. */
  release(seqs: readonly number[], delayMs: number): Promise<void>;
  /** Starts leases anew. */
  extend(seqs: readonly number[], leaseMs: number): Promise<void>;
}
