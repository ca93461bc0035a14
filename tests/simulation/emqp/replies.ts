/**
 * Checker of broker rules 9 and 10 of docs/protocols/emqp.md: each REQUEST that is taken is acknowledged once and at once, and at most one
 * result follows, to who asked for it on the same connection.
 */
import { decodeEmqpHeaders } from '@proj/frames/emqp';
import type { EmqpRequest } from '@proj/frames/emqp';
import { jobName } from './sight.js';
import type { BrokerChecker, BrokerSight } from './sight.js';

interface Asked {
  readonly client: string;
  readonly name: string;
  readonly wantsResult: boolean;
  /** The same id was asked for before: a broker that stops may accept it, too. */
  readonly isRepeat: boolean;
  accepted: boolean;
  answered: boolean;
}

/** Follows what clients ask and what they are told. Ids are UUIDs here. */
export class RepliesChecker implements BrokerChecker {
  readonly #asked = new Map<string, Asked>();
  /** The REQUEST that must be acknowledged before the broker reads on. */
  #owed: Asked | undefined;
  #isDraining = false;
  readonly #members = new Set<string>();
  /** Who beats and is not registered: it need not be told anything (rule 6). */
  readonly #former = new Set<string>();

  onSight(sight: BrokerSight): void {
    switch (sight.kind) {
      case 'crashed':
        for (const books of [this.#asked, this.#members, this.#former]) books.clear();
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
    const { replyRequested: wantsResult } = decodeEmqpHeaders(headers);
    const name = jobName(body);
    const isRepeat = this.#asked.has(id);
    const asked: Asked = { client, name, wantsResult, isRepeat, accepted: false, answered: false };
    this.#asked.set(id, asked);
    if (!this.#isDraining && !this.#former.has(client)) this.#owed = asked;
  }

  #onSent({ peer, command }: BrokerSight & { kind: 'sent' }): void {
    if (command.kind !== 'accepted' && command.kind !== 'result') return;
    const asked = command.of === undefined ? undefined : this.#asked.get(command.of);
    if (asked === undefined) throw new Error(`${command.kind} for a REQUEST that nobody has sent`);
    const { client, name } = asked;
    if (client !== peer) throw new Error(`${command.kind} for ${name} went to somebody else`);
    if (command.kind === 'accepted') {
      if (asked.accepted) throw new Error(`${name} was accepted twice`);
      if (this.#isDraining && !asked.isRepeat) throw new Error(`${name} was accepted by a broker that stops`);
      asked.accepted = true;
      if (this.#owed === asked) this.#owed = undefined;
      return;
    }
    if (!asked.accepted && !asked.isRepeat && !this.#former.has(client))
      throw new Error(`${name} was answered and never accepted`);
    if (!asked.wantsResult) throw new Error(`${name} was answered and nobody asked`);
    if (asked.answered) throw new Error(`${name} was answered twice`);
    asked.answered = true;
  }
}
