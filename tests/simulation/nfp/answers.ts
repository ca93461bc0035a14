/**
 * Checker of rules 8, 15 and 24 of docs/protocols/nfp.md: what a registered worker says about a job reaches the client whose address it bears,
 * once and as it is, and nothing else reaches a client as a worker's word. To clients in one-byte form the statuses are those of the text, and each GET and
 * DELETE of theirs has one answer at most that is not a worker's own.
 */
import { latin1 } from '@proj/frames';
import type { NfpClientAnswer, NfpClientCall, NfpWorkerAnswer } from '@proj/frames/nfp';
import { BROKER, dispatchIn } from './sight.js';
import type { Checker, Sight } from './sight.js';

/** What is said to clients in one-byte form instead. */
const OF_TEXT: Readonly<Record<number, number>> = { 201: 202, 102: 300, 404: 400 };

/** Knows what the broker has to pass on before it reads on. */
export class AnswersChecker implements Checker {
  readonly #workers = new Set<string>();
  /** Clients in one-byte form: their GETs and DELETEs without an answer, by client and uuid. */
  readonly #open = new Map<string, Map<string, number>>();
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
        this.#open.clear();
        this.#owed = undefined;
        break;
      case 'received': {
        const owed = this.#owed;
        this.#owed = undefined;
        if (sight.command.kind === 'client-call') this.#called(sight.peer.key, sight.command);
        // What answers a GET or DELETE may have to wait for what others say.
        if (owed !== undefined && !this.#mayWait(owed))
          throw new Error(`${owed.command} ${owed.status} about ${owed.uuid} was not passed on`);
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

  #called(client: string, { form, command, uuid }: NfpClientCall): void {
    if (form === 'ascii') this.#open.delete(client);
    else {
      const open = this.#open.get(client) ?? new Map<string, number>();
      this.#open.set(client, open);
      if (command === 'get' || command === 'delete') open.set(uuid, (open.get(uuid) ?? 0) + 1);
    }
  }

  #mayWait({ client, command, uuid, status }: NfpWorkerAnswer): boolean {
    return command === 'response' && status !== 201 && status !== 202 && this.#openFor(latin1(client), uuid) > 0;
  }

  #openFor(client: string, uuid: string): number {
    return this.#open.get(client)?.get(uuid) ?? 0;
  }

  #sent(client: string, answer: NfpClientAnswer): void {
    const { command, uuid, status, service, body } = answer;
    if (service.endsWith('.broker') || (command === 'response' && dispatchIn(body) !== undefined)) return;
    const owed = this.#owed;
    this.#owed = undefined;
    const isOwed = owed !== undefined && latin1(owed.client) === client && owed.uuid === uuid;
    // One worker's answer is passed on as it is, asked for or not.
    if (isOwed && isSame(owed, answer)) return;
    const open = this.#openFor(client, uuid);
    if (answer.form === 'byte' && command === 'response' && status !== 202 && open > 0)
      this.#open.get(client)?.set(uuid, open - 1);
    else throw new Error(`${client} was told ${command} ${status} about ${uuid}, which no worker has said`);
  }
}

function isSame(one: NfpWorkerAnswer, other: NfpClientAnswer): boolean {
  const status = other.form === 'byte' ? (OF_TEXT[one.status] ?? one.status) : one.status;
  if (one.command !== other.command || status !== other.status || one.body.length !== other.body.length) return false;
  return one.body.every((frame, i) => Buffer.compare(frame, other.body[i] as Uint8Array) === 0);
}
