/**
 * Checker of broker rules 9 and 10 of docs/protocols/emqp.md: each accepted REQUEST is acknowledged once and at once, and at most one
 * result follows, to the client that requested it on the same connection.
 */
import { decodeEmqpHeaders } from '@proj/frames/emqp';
import type { EmqpRequest } from '@proj/frames/emqp';
import { jobName } from './sight.js';
import type { BrokerChecker, BrokerSight } from './sight.js';

interface Asked {
  readonly client: string;
  readonly name: string;
  readonly wantsResult: boolean;
  /** It goes to a store first, and may come back from there. */
  readonly isKept: boolean;
  /** The same id was requested before, or it was on its way to the store: a broker that stops may accept it, too. */
  readonly mayComeLate: boolean;
  /** Clients that requested it before: one of them is told after a crash, if the disk does not know the last one. */
  readonly earlier: readonly string[];
  /** The broker has another life since then. */
  isRestored: boolean;
  /** The same id was requested before, maybe in another life of the broker: its result may come without another acceptance. */
  isOld: boolean;
  accepted: boolean;
  answered: boolean;
}

/** Follows what clients ask and what they are told. Ids are UUIDs here. */
export class RepliesChecker implements BrokerChecker {
  readonly #isStored: boolean;
  readonly #asked = new Map<string, Asked>();
  /** The REQUEST that must be acknowledged before the broker reads on. */
  #owed: Asked | undefined;
  #isDraining = false;
  readonly #members = new Set<string>();
  /** Peers that send heartbeats without being registered: they need no answer (rule 6). */
  readonly #former = new Set<string>();

  /** `isStored`: guaranteed jobs outlive the broker. */
  constructor(isStored = false) {
    this.#isStored = isStored;
  }

  onSight(sight: BrokerSight): void {
    switch (sight.kind) {
      case 'crashed':
        for (const books of [this.#members, this.#former]) books.clear();
        for (const [id, asked] of this.#asked)
          if (!asked.isKept) this.#asked.delete(id);
          // It may run twice, and then be answered twice.
          else [asked.isOld, asked.isRestored, asked.answered] = [true, true, false];
        this.#owed = undefined;
        this.#isDraining = false;
        break;
      case 'joined':
        this.#members.add(sight.peer);
        this.#former.delete(sight.peer);
        break;
      case 'left':
        this.#members.delete(sight.peer);
        break;
      case 'draining':
        this.#isDraining = true;
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

  #onReceived({ peer, command }: BrokerSight & { kind: 'received' }): void {
    const owed = this.#owed;
    this.#owed = undefined;
    if (owed !== undefined) throw new Error(`${owed.name} was not accepted`);
    if (command.kind === 'request') this.#onRequest(peer, command);
    else if (command.kind === 'heartbeat' && !this.#members.has(peer)) this.#former.add(peer);
  }

  #onRequest(client: string, { id, headers, body }: EmqpRequest): void {
    const { replyRequested: wantsResult, guarantee } = decodeEmqpHeaders(headers);
    const known = this.#asked.get(id);
    const isOld = known !== undefined;
    const earlier = isOld ? [...known.earlier, known.client] : [];
    const isKept = this.#isStored && guarantee;
    const mayComeLate = isOld || (isKept && !this.#isDraining);
    const told = { earlier, isRestored: false, accepted: false, answered: false };
    const asked: Asked = { client, name: jobName(body), wantsResult, isKept, mayComeLate, isOld, ...told };
    this.#asked.set(id, asked);
    if (!this.#isDraining && !this.#former.has(client) && !isKept) this.#owed = asked;
  }

  #onSent({ peer, command }: BrokerSight & { kind: 'sent' }): void {
    if (command.kind !== 'accepted' && command.kind !== 'result') return;
    const asked = command.of === undefined ? undefined : this.#asked.get(command.of);
    if (asked === undefined) throw new Error(`${command.kind} for a REQUEST that nobody has sent`);
    const { client, name, earlier, isRestored } = asked;
    if (client !== peer && !(isRestored && earlier.includes(peer)))
      throw new Error(`${command.kind} for ${name} went to somebody else`);
    if (command.kind === 'accepted') {
      if (asked.accepted) throw new Error(`${name} was accepted twice`);
      if (this.#isDraining && !asked.mayComeLate) throw new Error(`${name} was accepted by a broker that stops`);
      asked.accepted = true;
      if (this.#owed === asked) this.#owed = undefined;
      return;
    }
    if (!asked.accepted && !asked.isOld && !this.#former.has(client))
      throw new Error(`${name} was answered and never accepted`);
    if (!asked.wantsResult) throw new Error(`${name} was answered and nobody asked`);
    if (asked.answered) throw new Error(`${name} was answered twice`);
    asked.answered = true;
  }
}
