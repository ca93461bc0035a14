/** Checker of broker rule 35 of docs/protocols/emqp.md: a guaranteed job is on disk when its client gets the acceptance. */
import { decodeEmqpHeaders } from '@proj/frames/emqp';
import type { RecordObserver } from '../kit/record-disk.js';
import type { BrokerChecker, BrokerSight } from './sight.js';

/** The record that is a job's body has a key with this ending. */
const BODY = '/body';

/** Watches the broker's disk and its messages. */
export class KeptChecker implements BrokerChecker, RecordObserver {
  readonly #isStored: boolean;
  /** Ids of guaranteed jobs, and the numbers of those on disk, by key. */
  readonly #guaranteed = new Set<string>();
  readonly #onDisk = new Map<string, string>();

  /** `isStored`: the broker has a store. */
  constructor(isStored: boolean) {
    this.#isStored = isStored;
  }

  onPut(key: string, value: Uint8Array): void {
    if (key.endsWith(BODY)) return;
    const { id } = JSON.parse(Buffer.from(value).toString()) as { readonly id: string };
    this.#onDisk.set(key, id);
  }

  onRemoved(key: string): void {
    this.#onDisk.delete(key);
  }

  onSight(sight: BrokerSight): void {
    if (!this.#isStored) return;
    if (sight.kind === 'received' && sight.command.kind === 'request') {
      if (decodeEmqpHeaders(sight.command.headers).guarantee) this.#guaranteed.add(sight.command.id);
    } else if (sight.kind === 'sent' && sight.command.kind === 'accepted') {
      const { of } = sight.command;
      if (this.#guaranteed.has(of) && ![...this.#onDisk.values()].includes(of))
        throw new Error(`${of} was accepted and is not on the disk`);
    }
  }
}
