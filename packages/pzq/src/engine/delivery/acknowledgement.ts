/** PZQ: consumers' answers about messages, by key. Rules 13 to 15 and 37 of docs/protocols/pzq.md. */
import { decodePzqKey, type PzqFromConsumer, type PzqKey } from '@proj/frames/pzq';
import type { Peer } from '@proj/transport';
import type { Committed } from '../../store/store.js';
import type { PzqOutletName } from '../events.js';
import { LEGALITY } from '../legality.js';
import type { TakenChanges } from '../producers/pending-batch.js';
import type { FoundMessage, QueueState } from '../state.js';

/** Acts on the answers of consumers. */
export class Acknowledgements {
  readonly #state: QueueState;

  constructor(state: QueueState) {
    this.#state = state;
  }

  /** A consumer of this outlet has sent an answer. */
  receive(outlet: PzqOutletName, command: PzqFromConsumer, peer?: Peer): void {
    const { out } = this.#state;
    if (command.kind === 'malformed') {
      out.drop(command.reason, outlet, peer);
      return;
    }
    const key = decodePzqKey(command.key);
    const found = key && this.#state.find(key.seq);
    if (key === undefined || !this.#isOurs(key, found)) out.drop('key-unknown', outlet, peer);
    else if (command.kind === 'lease-extension') this.#extend(outlet, key, found, peer);
    else if (command.positive) this.#settle(outlet, key, found, peer);
    else this.#giveBack(outlet, key, found, peer);
  }

  /** A commit has removed messages; for those not in memory, only the store knew whether they existed. */
  removed(removes: TakenChanges['removes'], { removed }: Committed): void {
    const { ways, out } = this.#state;
    for (const [index, { seq, origin }] of removes.entries()) {
      for (const { window } of ways) window.flushed(seq);
      if (origin !== 'key') continue;
      if (removed[index] === true) {
        out.counters.acked++;
        out.counters.ackedLate++;
        out.figures.queue.ended('ok');
      } else out.drop('key-unknown', 'queue');
    }
  }

  /** A message in memory must have been stored at the key's time; for others the store checks. */
  #isOurs({ epoch, seq, storedMicros }: PzqKey, found: FoundMessage | undefined): boolean {
    const { store, leases, queue } = this.#state;
    if (epoch !== store.epoch || (leases === undefined && seq > queue.window.top)) return false;
    return found === undefined || found.message.stored.storedMicros === storedMicros;
  }

  /** Rule 13: from here on never delivered again, and removed with the next commit. Rule 14: even if late. */
  #settle(
    outlet: PzqOutletName,
    { seq, storedMicros }: PzqKey,
    found: FoundMessage | undefined,
    peer: Peer | undefined,
  ): void {
    const state = this.#state;
    const { out, pending } = state;
    const [verdict] = LEGALITY[state.whereaboutsOf(seq, found?.message)].ack;
    if (found !== undefined) {
      out.counters.acked++;
      if (verdict === 'settle late') out.counters.ackedLate++;
      const { message, way } = found;
      way.side.done(message);
      way.side.take(message);
      way.window.hide(seq);
      pending.remove(seq, storedMicros, 'memory');
    } else if (verdict === 'drop' || state.unflushedFull) {
      out.drop('key-unknown', outlet, peer);
    } else {
      for (const { window } of state.ways) window.hide(seq);
      pending.remove(seq, storedMicros, 'key');
    }
  }

  /** Rule 11. */
  #giveBack(outlet: PzqOutletName, { seq }: PzqKey, found: FoundMessage | undefined, peer: Peer | undefined): void {
    const { leases, out, settings } = this.#state;
    const [verdict] = LEGALITY[this.#state.whereaboutsOf(seq, found?.message)].nack;
    if (verdict === 'return' || verdict === 'return later') found?.way.side.giveBack(found.message);
    else if (verdict === 'refer' && leases !== undefined) leases.release([seq], settings.nackDelayMs);
    else if (verdict !== 'ignore') out.drop('key-unknown', outlet, peer);
  }

  /** Rule 37. */
  #extend(outlet: PzqOutletName, { seq }: PzqKey, found: FoundMessage | undefined, peer: Peer | undefined): void {
    const { leases, out, settings } = this.#state;
    const [verdict] = LEGALITY[this.#state.whereaboutsOf(seq, found?.message)].extension;
    const isExtended = verdict === 'renew' || (verdict === 'refer' && leases !== undefined);
    if (!settings.extendLease || !isExtended) {
      out.drop('extension-ignored', outlet, peer);
      return;
    }
    if (found !== undefined) found.way.side.extend(found.message);
    out.counters.extended++;
    leases?.extend(seq);
  }
}
