/**
 * PZQ: the group commit. Whatever has gathered while the last one was flushed is the next one; a store that fails is a state, in
 * which producers are refused until a write succeeds again. Rules 2 and 7 to 9 of docs/protocols/pzq.md.
 */
import { type PendingBatch, type TakenChanges } from './pending-batch.js';
import type { PzqStoreFailure } from './events.js';
import { type Entry, type ProducerSide, isPut, type Put } from './producer-side.js';
import type { Output } from './output.js';
import { type Refusal, storeUnavailable } from './refusals.js';
import type { PzqSettings } from './settings.js';
import type { Committed, StoreCounts, StoredMessage } from '../store/store.js';

/** The code of a store that is damaged. */
export const CORRUPT = 'CORRUPT';

/** What follows from a commit for the messages in memory. */
export interface CommitOwner {
  /** A new message is durable. Called in the order of sequences. */
  onStored(message: StoredMessage, delayed: boolean): void;
  /** These changes are durable. */
  onChanged(changes: TakenChanges, result: Committed): void;
  /** They are not, and are pending again; their requests have failed. */
  onUnchanged(changes: TakenChanges, code: string): void;
}

interface UnderWay {
  readonly entries: readonly Entry[];
  readonly changes: TakenChanges;
}

/** At most one commit, or one probe, is under way. */
export class Commits {
  readonly #settings: Pick<PzqSettings, 'batchMax' | 'probeIntervalMs'>;
  readonly #intake: ProducerSide;
  readonly #changes: PendingBatch;
  readonly #out: Output;
  readonly #owner: CommitOwner;
  #counts: StoreCounts;
  #underWay: UnderWay | 'probe' | undefined;
  #refusing: string | undefined;
  /** It was told that the store refuses, and not yet that it takes messages again. */
  #isTold = false;
  #isCorrupt = false;
  #probeAt = Infinity;

  constructor(
    settings: Pick<PzqSettings, 'batchMax' | 'probeIntervalMs'>,
    counts: StoreCounts,
    intake: ProducerSide,
    changes: PendingBatch,
    out: Output,
    owner: CommitOwner,
  ) {
    this.#settings = settings;
    this.#counts = counts;
    this.#intake = intake;
    this.#changes = changes;
    this.#out = out;
    this.#owner = owner;
  }

  /** The store as of the last commit. */
  get counts(): StoreCounts {
    return this.#counts;
  }

  /** The code the store failed with, while producers are refused. */
  get refusing(): string | undefined {
    return this.#refusing;
  }

  /** The store is damaged, and not to be used any more. */
  get corrupt(): boolean {
    return this.#isCorrupt;
  }

  /** When the failed store is tried again. */
  get deadline(): number {
    return this.#underWay === undefined && !this.#isCorrupt ? this.#probeAt : Infinity;
  }

  /** Nothing waits for the store, nothing is there that could be written. */
  get idle(): boolean {
    return this.#underWay === undefined && this.#intake.queued === 0 && (this.#isCorrupt || this.#changes.empty);
  }

  /** Changes in the commit under way. */
  get changing(): TakenChanges | undefined {
    return this.#underWay === 'probe' ? undefined : this.#underWay?.changes;
  }

  /** For invariants: entries in the commit under way. */
  get committing(): number {
    return this.#underWay === 'probe' ? 0 : (this.#underWay?.entries.length ?? 0);
  }

  /** Why producers are refused now, if they are. */
  get refusal(): Refusal | undefined {
    return this.#refusing === undefined ? undefined : storeUnavailable(this.#refusing);
  }

  /** Begins the next commit if there is anything to write and the store is free. */
  pump(): void {
    if (this.#underWay !== undefined || this.#out.now < this.#tryAt) return;
    if (this.#isCorrupt) {
      this.#refuseAll();
      return;
    }
    this.#intake.answerHead();
    if (this.#intake.queued > 0 || !this.#changes.empty) this.#commit();
    else if (this.#refusing !== undefined) this.#probe();
  }

  committed(result: Committed): void {
    const done = this.#finish();
    this.#counts = result.counts;
    this.#out.counters.commits++;
    let puts = 0;
    for (const entry of done.entries) {
      if (isPut(entry)) this.#onStored(entry, result.seqs[puts++] as number);
      else this.#intake.refused(entry, entry.content as Refusal);
    }
    this.#owner.onChanged(done.changes, result);
    // Rule 9: that something could be removed does not say that something can be stored.
    if (this.#refusing !== undefined && !this.#isCorrupt) this.#probe();
  }

  failed(failure: PzqStoreFailure): void {
    const { entries, changes } = this.#finish();
    this.#out.counters.commitsFailed++;
    this.#refuse(failure);
    const refusal = storeUnavailable(failure.code);
    for (const entry of entries) this.#intake.refused(entry, refusal);
    this.#intake.refuseAll(refusal);
    this.#changes.restore(changes);
    this.#owner.onUnchanged(changes, failure.code);
  }

  probed(): void {
    this.#underWay = undefined;
    if (this.#isCorrupt) return;
    this.#refusing = undefined;
    this.#probeAt = Infinity;
    if (this.#isTold) this.#out.push({ kind: 'resumed' });
    this.#isTold = false;
  }

  probeFailed(failure: PzqStoreFailure): void {
    this.#underWay = undefined;
    this.#refuse(failure);
  }

  /** The store was found damaged: from here on nothing is asked of it. */
  damaged(what: string): void {
    if (this.#isCorrupt) return;
    this.#isCorrupt = true;
    this.#refusing = CORRUPT;
    this.#out.push({ kind: 'corrupt', what });
  }

  get #tryAt(): number {
    return this.#refusing === undefined || this.#isCorrupt ? -Infinity : this.#probeAt;
  }

  #commit(): void {
    const entries = this.#intake.takeBatch();
    const changes = this.#changes.take(this.#settings.batchMax);
    this.#underWay = { entries, changes };
    const { removes, deliveries, buries, revives, passed } = changes;
    const puts = entries.filter(isPut).map(({ content }) => content);
    this.#out.push({ kind: 'commit', batch: { puts, removes, deliveries, buries, revives, passed } });
  }

  #probe(): void {
    this.#underWay = 'probe';
    this.#out.push({ kind: 'probe' });
  }

  #onStored(entry: Put, seq: number): void {
    this.#intake.stored(entry);
    if (seq === 0) {
      this.#out.counters.deduplicated++;
      return;
    }
    this.#out.counters.stored++;
    const { storedMicros, body, readyMicros, expiresMicros } = entry.content;
    const message = { seq, storedMicros, body, bytes: entry.bytes, deliveries: 0, expiresMicros };
    this.#owner.onStored(message, readyMicros > 0);
  }

  #refuse({ code, what = code }: PzqStoreFailure): void {
    if (code === CORRUPT) this.damaged(what);
    if (this.#isCorrupt) return;
    if (!this.#isTold && this.#out.mayTellRefusing()) {
      this.#isTold = true;
      this.#out.push({ kind: 'refusing', code });
    }
    this.#refusing = code;
    this.#probeAt = this.#out.now + this.#settings.probeIntervalMs;
  }

  #refuseAll(): void {
    this.#intake.refuseAll(storeUnavailable(CORRUPT));
    const changes = this.#changes.take(0);
    if (changes.requests.length > 0) this.#owner.onUnchanged(changes, CORRUPT);
  }

  #finish(): UnderWay {
    const done = this.#underWay;
    this.#underWay = undefined;
    if (done === undefined || done === 'probe') throw new Error('the outcome of a commit that nobody asked for');
    return done;
  }
}
