/**
 * Where messages live: the contract of every store. Narrow, async, shaped for group commit: one call carries everything
 * that changed since the last one, and its promise is the flush. Rules 7 to 9 and 25 to 30 of docs/protocols/pzq.md.
 *
 * One store object has one caller, who never has two `commit`s under way; reads may overlap with a commit and see the state
 * before or after it.
 */

/** Body frames, at least one, blank ones included; never changed once handed over, in either direction. */
export type Body = readonly Uint8Array[];

/** A message to keep. Times are wall-clock microseconds since 1970. */
export interface NewMessage {
  readonly storedMicros: number;
  readonly body: Body;
  /** A second message with the same id before `untilMicros` is not stored. Absent: not checked, not remembered. */
  readonly dedupe?: { readonly id: Uint8Array; readonly untilMicros: number };
  /** Not before this time, 0 for at once. */
  readonly readyMicros: number;
  /** Not after this time, 0 for always. */
  readonly expiresMicros: number;
}

/** A message in the store. */
export interface StoredMessage {
  /** 1 to 2^53 - 1, ascending in the order of arrival, never used twice. */
  readonly seq: number;
  readonly storedMicros: number;
  readonly body: Body;
  /** Bytes of the body. */
  readonly bytes: number;
  /** Deliveries so far, as far as {@link Batch.deliveries} told them. */
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

/** A message to forget. A pair the store does not hold is no error. */
export interface Removal {
  readonly seq: number;
  /** Must be that of the stored message: a key from elsewhere removes nothing. */
  readonly storedMicros: number;
}

/** One group commit: all of it or nothing, performed in the order of the fields. */
export interface Batch {
  readonly puts: readonly NewMessage[];
  /** From wherever they are: ready, delayed or dead. */
  readonly removes: readonly Removal[];
  /** New delivery counts of messages in the queue; others keep theirs. */
  readonly deliveries: readonly { readonly seq: number; readonly deliveries: number }[];
  /** From the queue to the dead letters. */
  readonly buries: readonly { readonly seq: number; readonly reason: DeathReason; readonly diedMicros: number }[];
  /** From the dead letters back to the queue, by their old sequence, without expiry and with no deliveries counted. */
  readonly revives: readonly number[];
  /**
   * Moments that {@link QueueStore.due} told and the caller has acted upon: a delayed message is ready now; of any other
   * one the expiry is not told again, though `expiresMicros` stays.
   */
  readonly passed: readonly number[];
}

/** Sizes, as of the end of the last commit. */
export interface StoreCounts {
  /** Ready, delayed and in flight; without dead letters. */
  readonly messages: number;
  /** Bytes of their bodies. */
  readonly bytes: number;
  /** How many of them are delayed; 0 where servers share the store, which does not count them. */
  readonly delayed: number;
  readonly dead: number;
  /** What the store takes on its disk, in bytes; 0 for memory. */
  readonly storeBytes: number;
  /** Earliest moment that `due` would tell; `Infinity` where there is none. */
  readonly nextDueMicros: number;
}

/** What `open` finds. */
export interface OpenedStore {
  /** 60 random bits, drawn when the store was made: part of every key. */
  readonly epoch: bigint;
  /** Highest sequence ever given out; survives an emptied store. */
  readonly lastSeq: number;
  readonly counts: StoreCounts;
}

/** Outcome of a commit. */
export interface Committed {
  /** One per put: its sequence, or 0 where the id was seen before. */
  readonly seqs: readonly number[];
  /** One per removal: whether the message was there. */
  readonly removed: readonly boolean[];
  readonly counts: StoreCounts;
}

/** Messages whose moment has come. */
export interface DueMessages {
  /** Delayed messages that are ready by now, with what they hold. Not those whose time is over as well. */
  readonly ready: readonly StoredMessage[];
  /** Messages whose time is over, delayed ones included. */
  readonly expired: readonly Removal[];
}

/**
 * A durable queue on one disk or in one database. Every rejection is a `ProjError`: `WRITE_FAILED` with
 * `details: { code }` (such as `ENOSPC`) and the store readable as before, `CORRUPT` for contents that are not ours,
 * `UNAVAILABLE` for a driver that is not installed or a database that is away, `OPTIONS_INVALID` for a folder that cannot be made,
 * read or written to, `CLOSED`.
 */
export interface QueueStore {
  readonly name: 'memory' | 'lmdb' | 'postgres';
  /** False: nothing survives the process. */
  readonly durable: boolean;
  /**
   * Present where several queue servers share the store: {@link SharedLeases}. Then delayed messages get ready by
   * themselves: `scan` is for looking only, leases do not show in it, and `due` tells nothing.
   */
  readonly leases?: SharedLeases;
  /** Makes it ready. Rejects with `UNAVAILABLE` naming the holder when another process has it, and changes nothing then. */
  open(): Promise<OpenedStore>;
  /** Resolves after the flush that holds everything; all or none. */
  commit(batch: Batch): Promise<Committed>;
  /** Messages that are not delayed with a sequence over `after`, ascending, at most `limit` of about `maxBytes` (one at least). */
  scan(after: number, limit: number, maxBytes: number): Promise<readonly StoredMessage[]>;
  /** What is due at `nowMicros`, earliest first, at most `limit` in all. Says the same again until {@link Batch.passed}, `removes` or `buries` answers it. */
  due(nowMicros: number, limit: number): Promise<DueMessages>;
  /** Dead letters, as {@link QueueStore.scan}. */
  dead(after: number, limit: number, maxBytes: number): Promise<readonly DeadMessage[]>;
  /** A durable write of nothing: whether commits can work again. */
  probe(): Promise<void>;
  /** Waits for what is under way, then lets go of everything. Idempotent. */
  close(): Promise<void>;
}

/** Leases in the store, since an acknowledgement may reach another server than the one that delivered. */
export interface SharedLeases {
  /**
   * Up to `limit` messages that are ready and nobody's, by sequence; nobody else gets them before `leaseMs` from now, by the
   * store's clock. Those whose time is over are among them, for the caller to give up.
   */
  take(limit: number, maxBytes: number, leaseMs: number): Promise<readonly StoredMessage[]>;
  /** Gives them back, ready in `delayMs`, in their old places. */
  release(seqs: readonly number[], delayMs: number): Promise<void>;
  /** Leases start anew. */
  extend(seqs: readonly number[], leaseMs: number): Promise<void>;
}
