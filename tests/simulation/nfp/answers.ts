/**
 * Checker of rules 8 and 15 of docs/protocols/nfp.md: what a registered worker says about a job reaches the client whose address it bears,
 * once and as it is, and nothing else reaches a client as a worker's word.
 */
import { latin1 } from '@proj/frames';
import type { NfpClientAnswer, NfpWorkerAnswer } from '@proj/frames/nfp';
import { BROKER, dispatchIn } from './sight.js';
import type { Checker, Sight } from './sight.js';

/** Knows what the broker has to pass on before it reads on. */
export class AnswersChecker implements Checker {
  readonly #workers = new Set<string>();
  #owed: NfpWorkerAnswer | undefined;

  onSight(sight: Sight): void {
    switch (sight.kind) {
      case 'worker-ready':
        this.#workers.add(sight.peer.key);
        break;
      case 'worker-lost':
        this.#workers.delete(sight.peer.key);
        break;
      case 'closing':
        this.#owed = undefined;
        break;
      case 'crashed':
        if (sight.process !== BROKER) break;
        this.#workers.clear();
        this.#owed = undefined;
        break;
      case 'received': {
        const owed = this.#owed;
        this.#owed = undefined;
        if (owed !== undefined) throw new Error(`${owed.command} ${owed.status} about ${owed.uuid} was not passed on`);
        if (sight.command.kind === 'worker-answer' && this.#workers.has(sight.peer.key)) this.#owed = sight.command;
        break;
      }
      case 'sent':
        if (sight.command.kind === 'client-answer') this.#sent(sight.peer.key, sight.command);
        break;
      default:
        break;
    }
  }

  #sent(client: string, answer: NfpClientAnswer): void {
    const { command, uuid, status, service, body } = answer;
    if (service.endsWith('.broker') || (command === 'response' && dispatchIn(body) !== undefined)) return;
    const owed = this.#owed;
    this.#owed = undefined;
    const isOwed = owed !== undefined && latin1(owed.client) === client && owed.uuid === uuid;
    if (!isOwed || !isSame(owed, answer))
      throw new Error(`${client} was told ${command} ${status} about ${uuid}, which no worker has said`);
  }
}

function isSame(one: NfpWorkerAnswer, other: NfpClientAnswer): boolean {
  if (one.command !== other.command || one.status !== other.status || one.body.length !== other.body.length)
    return false;
  return one.body.every((frame, i) => Buffer.compare(frame, other.body[i] as Uint8Array) === 0);
}
