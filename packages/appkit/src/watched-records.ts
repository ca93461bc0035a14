/** Does a store of records take what is written? What `/readyz` and the overview tell of the store of a broker, scheduler or worker. */
import { systemClock } from '@proj/heartbeat';
import type { Clock, Timer } from '@proj/heartbeat';
import { isProjError } from '@proj/transport';
import type { RecordBatch, RecordStore } from '@proj/transport';

/** From a failed write to a trial; whoever asks meanwhile hears of the failure. */
const TRIAL_MS = 5000;

/** What a trial writes and removes: no job has this key. */
const TRIAL = 'trial';

/** Why a store takes nothing. */
interface StoreFault {
  /** Of the system where it has one, such as `ENOSPC`. */
  readonly code: string;
  readonly text: string;
}

/**
 * A store that remembers a failed write. Owners write when somebody sends them something, which nobody does while they are not ready, so it
 * finds out by itself when the store works again: a write of its own succeeds, {@link TRIAL_MS} after the last failure.
 */
export class WatchedRecords implements RecordStore {
  readonly #store: RecordStore;
  readonly #clock: Clock;
  #fault: StoreFault | undefined;
  #trial: Timer | undefined;
  #failures = 0;
  #isClosed = false;

  constructor(store: RecordStore, clock: Clock = systemClock) {
    this.#store = store;
    this.#clock = clock;
  }

  /** Nothing while it takes what is written. */
  get fault(): StoreFault | undefined {
    return this.#fault;
  }

  open(): Promise<void> {
    return this.#store.open();
  }

  get(key: string): Promise<Uint8Array | undefined> {
    return this.#store.get(key);
  }

  entries(prefix?: string): AsyncIterable<readonly [key: string, value: Uint8Array]> {
    return this.#store.entries(prefix);
  }

  async commit(batch: RecordBatch): Promise<void> {
    try {
      await this.#store.commit(batch);
    } catch (error) {
      this.#failed(error);
      throw error;
    }
  }

  close(): Promise<void> {
    this.#isClosed = true;
    this.#trial?.cancel();
    return this.#store.close();
  }

  #failed(error: unknown): void {
    // What no store would take, or takes any more, says nothing about its disk.
    if (isProjError(error, 'OPTIONS_INVALID') || isProjError(error, 'CLOSED')) return;
    this.#failures++;
    this.#fault = faultOf(error);
    this.#trial?.cancel();
    if (this.#isClosed) return;
    this.#trial = this.#clock.at(this.#clock.now() + TRIAL_MS, () => void this.#try());
  }

  async #try(): Promise<void> {
    const failures = this.#failures;
    try {
      await this.#store.commit({ puts: [[TRIAL, new Uint8Array(1)]] });
      await this.#store.commit({ removes: [TRIAL] });
      // Unless another write has failed meanwhile.
      if (this.#failures === failures) this.#fault = undefined;
    } catch (error) {
      this.#failed(error);
    }
  }
}

function faultOf(error: unknown): StoreFault {
  const text = error instanceof Error ? error.message : String(error);
  if (!isProjError(error)) return { code: 'WRITE_FAILED', text };
  const { code } = (error.details ?? {}) as { readonly code?: unknown };
  return { code: typeof code === 'string' ? code : error.code, text };
}
