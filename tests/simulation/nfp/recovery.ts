/**
 * Checker of rule 13 of docs/protocols/nfp.md: if a job for `any` is lost with its worker, or with the last process of its worker, the
 * client is told at once where it is now, that the broker waits for its worker, or that it is given up; unless it was deleted there. A
 * client that asks again would hide such a loss.
 */
import type { NfpToBroker } from '@proj/frames/nfp';
import { BROKER, dispatchIn, isFate } from './sight.js';
import type { Checker, Sight } from './sight.js';

/** Keeps its own records of which workers have not answered which jobs. */
export class RecoveryChecker implements Checker {
  readonly #workers = new Set<string>();
  /** Jobs whose last POST was for `any`. */
  readonly #forAny = new Set<string>();
  /** The workers that have each of them and have not said the last word about it. */
  readonly #holders = new Map<string, string>();
  /** Jobs about which their worker has said something. */
  readonly #taken = new Set<string>();
  readonly #deleted = new Set<string>();
  /** Jobs that a client must be told about before the broker reads on. */
  readonly #owed = new Set<string>();

  onSight(sight: Sight): void {
    switch (sight.kind) {
      case 'worker-ready':
        this.#workers.add(sight.peer.key);
        break;
      case 'worker-lost':
        this.#workers.delete(sight.peer.key);
        if (sight.reason !== 'drained') this.#bereave(sight.peer.key);
        break;
      case 'closing':
        this.#owed.clear();
        break;
      case 'crashed':
        if (sight.process === BROKER) for (const each of [this.#workers, this.#holders, this.#owed]) each.clear();
        break;
      case 'received':
        this.#received(sight.peer.key, sight.command);
        break;
      case 'sent':
        this.#sent(sight);
        break;
      default:
        break;
    }
  }

  #received(peer: string, command: NfpToBroker): void {
    const [lost] = this.#owed;
    this.#owed.clear();
    if (lost !== undefined) throw new Error(`${lost} was lost with its worker, and nobody was told`);
    if (command.kind === 'client-call' && command.command === 'post') {
      this.#deleted.delete(command.uuid);
      // A client that takes one answer to each call gets nothing unasked.
      if (command.target === 'any' && command.form === 'ascii') this.#forAny.add(command.uuid);
      else this.#forAny.delete(command.uuid);
    } else if (command.kind === 'worker-answer') {
      if (this.#holders.get(command.uuid) !== peer) return;
      this.#taken.add(command.uuid);
      if (command.command === 'response' && (command.status === 200 || command.status >= 400))
        this.#holders.delete(command.uuid);
    } else if (command.kind === 'worker-ready' && this.#workers.has(peer)) this.#bereave(peer, true);
  }

  #sent({ peer: { key }, command }: Sight & { kind: 'sent' }): void {
    if (command.kind === 'client-answer') {
      const { command: what, status, body } = command;
      if (what === 'response' ? dispatchIn(body) !== undefined : isFate(what, status, body))
        this.#owed.delete(command.uuid);
      const end = what === 'response' ? dispatchIn(body)?.status : undefined;
      if (end === 'FAILED' || end === 'CANCELLED') this.#holders.delete(command.uuid);
    } else if (command.kind === 'worker-call' && command.command === 'post') {
      if (this.#deleted.has(command.uuid)) throw new Error(`${command.uuid} was deleted, and ${key} gets it`);
      if (this.#holders.get(command.uuid) !== key) this.#taken.delete(command.uuid);
      if (this.#forAny.has(command.uuid)) this.#holders.set(command.uuid, key);
      else this.#holders.delete(command.uuid);
    } else if (
      command.kind === 'worker-call' &&
      command.command === 'delete' &&
      this.#holders.get(command.uuid) === key
    ) {
      this.#holders.delete(command.uuid);
      this.#deleted.add(command.uuid);
    }
  }

  /** `again`: it is present, and has the jobs that it had accepted. */
  #bereave(worker: string, again = false): void {
    for (const [uuid, holder] of this.#holders) {
      if (holder !== worker || (again && this.#taken.has(uuid))) continue;
      this.#owed.add(uuid);
    }
  }
}
