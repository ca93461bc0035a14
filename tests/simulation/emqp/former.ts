/**
 * Checker of broker rule 6 of docs/protocols/emqp.md: a peer that sends heartbeats but was never registered in this life of the broker, or was
 * given up, gets one goodbye and then nothing, neither acceptances nor results, until it sends INFORM.
 */
import type { BrokerChecker, BrokerSight } from './sight.js';

/** KBAI and KBYE. */
const WORDS = 2;

/** Knows the peers that the broker must not know. */
export class FormerChecker implements BrokerChecker {
  readonly #members = new Set<string>();
  /** Peers that said goodbye, may still finish their jobs, or were cut off: only the broker knows their state. */
  readonly #unsure = new Set<string>();
  /** With the goodbye commands that they have received. */
  readonly #former = new Map<string, number>();
  /** Peers that must get their goodbye before the broker reads on. */
  #owed: string | undefined;
  #isDraining = false;

  onSight(sight: BrokerSight): void {
    switch (sight.kind) {
      case 'crashed':
        for (const books of [this.#members, this.#unsure, this.#former]) books.clear();
        this.#owed = undefined;
        this.#isDraining = false;
        break;
      case 'draining':
        this.#isDraining = true;
        break;
      case 'joined':
        this.#members.add(sight.peer);
        this.#former.delete(sight.peer);
        break;
      case 'left':
        this.#members.delete(sight.peer);
        if (sight.reason !== 'expired' && sight.reason !== 'gone') this.#unsure.add(sight.peer);
        break;
      case 'disconnected':
        // Messages sent there reach no peer; whether the broker knew when it comes back, nobody knows.
        if (this.#former.delete(sight.peer)) this.#unsure.add(sight.peer);
        break;
      case 'received':
        this.#onReceived(sight);
        break;
      case 'sent':
        this.#onSent(sight);
        break;
      default:
        break;
    }
  }

  #onReceived({ peer, command: { kind } }: BrokerSight & { kind: 'received' }): void {
    const owed = this.#owed;
    this.#owed = undefined;
    if (owed !== undefined) throw new Error(`${owed} is not registered, and was not told so`);
    if (kind === 'bye') {
      this.#unsure.add(peer);
      this.#former.delete(peer);
    } else if (kind === 'heartbeat' && !this.#isDraining && !this.#isKnown(peer)) {
      this.#former.set(peer, 0);
      this.#owed = peer;
    }
  }

  #onSent({ peer, command: { kind } }: BrokerSight & { kind: 'sent' }): void {
    const words = this.#former.get(peer);
    if (words === undefined) return;
    if (kind !== 'bye' || words === WORDS)
      throw new Error(`${kind} to ${peer}, which must find out that nobody knows it`);
    this.#former.set(peer, words + 1);
    this.#owed = undefined;
  }

  #isKnown(peer: string): boolean {
    return this.#members.has(peer) || this.#unsure.has(peer) || this.#former.has(peer);
  }
}
