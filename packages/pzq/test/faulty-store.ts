/** A store in memory that fails on demand, in each way in which a store can fail. */
import { ProjError } from '@proj/transport';
import { MemoryStore } from '../src/store/memory.js';
import type { QueueStore } from '../src/store/store.js';

type Operation = 'open' | 'commit' | 'scan' | 'due' | 'dead' | 'probe';

/** What a {@link FaultyStore} does instead of working. */
export type Fault =
  | { readonly kind: 'rejects'; readonly code: string }
  /** With something that is no error of ours. */
  | { readonly kind: 'rejects oddly' }
  /** In the call itself, which the contract does not allow. */
  | { readonly kind: 'throws' }
  /** Works, but not before this. */
  | { readonly kind: 'waits'; readonly until: Promise<void> };

/** Works as a {@link MemoryStore} but for the operations in {@link FaultyStore.faults}. */
export class FaultyStore implements QueueStore {
  readonly name = 'memory';
  readonly durable = false;
  readonly faults = new Map<Operation, Fault>();
  isOpen = false;
  leases?: NonNullable<QueueStore['leases']>;
  readonly #store = new MemoryStore();

  open: QueueStore['open'] = async () => {
    const opened = await this.#or('open', () => this.#store.open());
    this.isOpen = true;
    return opened;
  };

  commit: QueueStore['commit'] = (batch) => this.#or('commit', () => this.#store.commit(batch));
  scan: QueueStore['scan'] = (...args) => this.#or('scan', () => this.#store.scan(...args));
  due: QueueStore['due'] = (...args) => this.#or('due', () => this.#store.due(...args));
  dead: QueueStore['dead'] = (...args) => this.#or('dead', () => this.#store.dead(...args));
  probe: QueueStore['probe'] = () => this.#or('probe', () => this.#store.probe());

  close: QueueStore['close'] = () => {
    this.isOpen = false;
    return this.#store.close();
  };

  #or<Value>(operation: Operation, work: () => Promise<Value>): Promise<Value> {
    const fault = this.faults.get(operation);
    switch (fault?.kind) {
      case undefined:
        return work();
      case 'rejects':
        return Promise.reject(new ProjError('WRITE_FAILED', operation, { details: { code: fault.code } }));
      case 'rejects oddly':
        // oxlint-disable-next-line typescript/prefer-promise-reject-errors -- what a foreign store may do
        return Promise.reject(undefined);
      case 'waits':
        return fault.until.then(work);
      case 'throws':
        throw Object.assign(new Error(operation), { code: 'EIO' });
    }
  }
}
