/**
 * PZQ: the group commit. What is collected during one commit is the next one. A failed store is a state in which producers are rejected until a
 * write succeeds again. Rules 2 and 7 to 9 of docs/protocols/pzq.md.
 */
import { oncePerMinute } from '@proj/heartbeat';
import type { PzqSettings } from '../../options.js';
import type { Committed, StoreCounts } from '../../store/store.js';
import type { HeldMessage } from '../delivery/in-flight.js';
import type { PzqStoreFailure } from '../events.js';
import { type Output, type Refusal, storeUnavailable } from '../output.js';
import type { PendingBatch, TakenChanges } from './pending-batch.js';
import { type Entry, isPut, type ProducerSide, type Put } from './producer-side.js';

/** The code of a damaged store. */
export const CORRUPT = 'CORRUPT';

/** The effects of a commit on messages. */
export interface CommitOwner {
  /** A new message is durable. Called in the order of sequences. */
  onStored(message: HeldMessage, isDelayed: boolean): void;
  /** These changes are durable. */
  onChanged(changes: TakenChanges, result: Committed): void;
  /** These changes failed and are pending again; their requests have failed permanently. */
  onUnchanged(changes: TakenChanges, code: string): void;
}

interface UnderWay {
  readonly entries: readonly Entry[];
  readonly changes: TakenChanges;
}

/** At most one commit or probe is pending. */
export class Commits {
  readonly #settings: Pick<PzqSettings, 'batchMax' | 'probeIntervalMs'>;
  readonly #producers: ProducerSide;
  readonly #pending: PendingBatch;
  readonly #out: Output;
  readonly #owner: CommitOwner;
  #counts: StoreCounts;
  #underWay: UnderWay | 'probe' | undefined;
  #refusing: string | undefined;
  /** `refusing` was reported, but not yet `resumed`. */
  #isReported = false;
  readonly #reports = oncePerMinute();
  #isCorrupt = false;
  #probeAt = Infinity;
  /** When the pending commit, or the last one, began. */
  #since = 0;

  constructor(
    settings: Pick<PzqSettings, 'batchMax' | 'probeIntervalMs'>,
    counts: StoreCounts,
    producers: ProducerSide,
    pending: PendingBatch,
    out: Output,
    owner: CommitOwner,
  ) {
    this.#settings = settings;
    this.#counts = counts;
    this.#producers = producers;
    this.#pending = pending;
    this.#out = out;
    this.#owner = owner;
  }

  /** The store as of the last commit. */
  get counts(): StoreCounts {
    return this.#counts;
  }

  /** The store's error code while producers are rejected. */
  get refusing(): string | undefined {
    return this.#refusing;
  }

  /** The store is damaged and must no longer be used. */
  get corrupt(): boolean {
    return this.#isCorrupt;
  }

  /** When the failed store is probed again, or more of what waits for it is rejected. */
  get deadline(): number {
    if (this.#underWay !== undefined) return Infinity;
    if (this.#refusing !== undefined && this.#producers.queued > 0) return this.#out.now + 1;
    return this.#isCorrupt ? Infinity : this.#probeAt;
  }

  /** Nothing waits for the store, and there is nothing to write. */
  get idle(): boolean {
    return this.#underWay === undefined && this.#producers.queued === 0 && (this.#isCorrupt || this.#pending.empty);
  }

  /** Changes in the pending commit. */
  get changing(): TakenChanges | undefined {
    return this.#underWay === 'probe' ? undefined : this.#underWay?.changes;
  }

  /** For invariants: entries in the pending commit. */
  get committing(): number {
    return this.#underWay === 'probe' ? 0 : (this.#underWay?.entries.length ?? 0);
  }

  /** Why producers are rejected, if they are. */
  get refusal(): Refusal | undefined {
    return this.#refusing === undefined ? undefined : storeUnavailable(this.#refusing);
  }

  /** Begins the next commit if there is something to write and none is pending. */
  pump(): void {
    if (this.#underWay !== undefined) return;
    if (this.refusal !== undefined) this.#producers.refuseQueued(this.refusal);
    if (this.#isCorrupt) this.#failRequests();
    if (this.#isCorrupt || this.#out.now < this.#tryAt) return;
    this.#producers.answerHead();
    if (this.#producers.queued > 0 || !this.#pending.empty) this.#commit();
    else if (this.#refusing !== undefined) this.#probe();
  }

  committed(result: Committed): void {
    const done = this.#finish();
    this.#counts = result.counts;
    this.#out.counters.commits++;
    this.#out.commitMs.record(this.#out.now - this.#since);
    let puts = 0;
    for (const entry of done.entries) {
      if (isPut(entry)) this.#onStored(entry, result.seqs[puts++] as number);
      else this.#producers.refused(entry, entry.content as Refusal);
    }
    this.#owner.onChanged(done.changes, result);
    // Rule 9: a successful removal does not prove that a message can be stored.
    if (this.#refusing !== undefined && !this.#isCorrupt) this.#probe();
  }

  failed(failure: PzqStoreFailure): void {
    const { entries, changes } = this.#finish();
    this.#out.counters.commitsFailed++;
    this.#out.commitMs.record(this.#out.now - this.#since);
    this.#refuse(failure);
    const refusal = storeUnavailable(failure.code);
    for (const entry of entries) this.#producers.refused(entry, refusal);
    this.#pending.restore(changes);
    this.#owner.onUnchanged(changes, failure.code);
  }

  probed(): void {
    this.#underWay = undefined;
    if (this.#isCorrupt) return;
    this.#refusing = undefined;
    this.#probeAt = Infinity;
    if (this.#isReported) this.#out.effects.push({ kind: 'resumed' });
    this.#isReported = false;
  }

  probeFailed(failure: PzqStoreFailure): void {
    this.#underWay = undefined;
    this.#refuse(failure);
  }

  /** The store was found damaged: it is not used from here on. */
  damaged(what: string): void {
    if (this.#isCorrupt) return;
    this.#isCorrupt = true;
    this.#refusing = CORRUPT;
    this.#out.effects.push({ kind: 'corrupt', what });
  }

  get #tryAt(): number {
    return this.#refusing === undefined ? -Infinity : this.#probeAt;
  }

  #commit(): void {
    const entries = this.#producers.takeBatch();
    const changes = this.#pending.take(this.#settings.batchMax);
    this.#underWay = { entries, changes };
    this.#since = this.#out.now;
    const { removes, deliveries, buries, revives, passed } = changes;
    const puts = this.#producers.newMessages(entries);
    this.#out.effects.push({ kind: 'commit', batch: { puts, removes, deliveries, buries, revives, passed } });
  }

  #probe(): void {
    this.#underWay = 'probe';
    this.#out.effects.push({ kind: 'probe' });
  }

  #onStored(entry: Put, seq: number): void {
    this.#producers.stored(entry);
    if (seq === 0) {
      this.#out.counters.deduplicated++;
      this.#out.figures.queue.ended('deduplicated');
      return;
    }
    this.#out.counters.stored++;
    this.#out.figures.queue.requests++;
    const { storedMicros, body, readyMicros, expiresMicros } = entry.content;
    const message = { seq, storedMicros, body, bytes: entry.bytes, deliveries: 0, expiresMicros };
    this.#owner.onStored(message, readyMicros > 0);
  }

  #refuse({ code, what = code }: PzqStoreFailure): void {
    if (code === CORRUPT) this.damaged(what);
    if (this.#isCorrupt) return;
    if (!this.#isReported && this.#reports.allow('refusing', this.#out.now)) {
      this.#isReported = true;
      this.#out.effects.push({ kind: 'refusing', code });
    }
    this.#refusing = code;
    this.#probeAt = this.#out.now + this.#settings.probeIntervalMs;
  }

  #failRequests(): void {
    const changes = this.#pending.take(0);
    if (changes.requests.length > 0) this.#owner.onUnchanged(changes, CORRUPT);
  }

  #finish(): UnderWay {
    const done = this.#underWay;
    this.#underWay = undefined;
    if (done === undefined || done === 'probe') throw new Error('the outcome of a commit that was not asked for');
    return done;
  }
}
