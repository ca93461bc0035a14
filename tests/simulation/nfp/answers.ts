/**
 * Checker of rules 8, 15 and 24 of docs/protocols/nfp.md: what a registered worker says about a job reaches the client whose address it bears,
 * once and as it is, and nothing else reaches a client as a worker's word; but of a job for any worker that has gone to another one nothing reaches the
 * client that those say who had it before (rule 13). To clients in one-byte form the statuses are those of the text, and each GET and
 * DELETE of theirs has one answer at most that is not a worker's own.
 */
import { latin1 } from '@proj/frames';
import type { NfpClientAnswer, NfpClientCall, NfpWorkerAnswer, NfpWorkerCall } from '@proj/frames/nfp';
import { BROKER, dispatchIn, isFate } from './sight.js';
import type { Checker, Sight } from './sight.js';

/** What is said to clients in one-byte form instead. */
const OF_TEXT: Readonly<Record<number, number>> = { 201: 202, 102: 300, 404: 400 };

/** Knows what the broker has to pass on before it reads on. */
export class AnswersChecker implements Checker {
  readonly #workers = new Set<string>();
  /** Clients in one-byte form: their GETs and DELETEs without an answer, by client and uuid. */
  readonly #open = new Map<string, Map<string, number>>();
  #owed: NfpWorkerAnswer | undefined;
  /** What was said last, if it is an answer. */
  #said: NfpWorkerAnswer | undefined;
  /** Who says it. */
  #by = '';
  /** Jobs for any worker: who was sent each, the last one at the end. */
  readonly #holders = new Map<string, string[]>();
  /** Who was told to drop what: job and worker. */
  readonly #told = new Set<string>();

  onSight(sight: Sight): void {
    switch (sight.kind) {
      case 'worker-ready':
        this.#workers.add(sight.peer.key);
        // Its registration had outlived its connection, and this is the first it says.
        if (this.#by === sight.peer.key) this.#owed = this.#said;
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
        this.#holders.clear();
        this.#owed = undefined;
        break;
      case 'received': {
        const owed = this.#owed;
        this.#owed = undefined;
        if (sight.command.kind === 'client-call') this.#called(sight.peer.key, sight.command);
        // What answers a GET or DELETE may have to wait for what others say.
        if (owed !== undefined && !this.#mayWait(owed))
          throw new Error(`${owed.command} ${owed.status} about ${owed.uuid} was not passed on`);
        this.#said = sight.command.kind === 'worker-answer' ? sight.command : undefined;
        if (this.#workers.has(sight.peer.key)) this.#owed = this.#said;
        this.#by = sight.peer.key;
        break;
      }
      case 'sent':
        if (sight.command.kind === 'client-answer') this.#sent(sight.peer.key, sight.command);
        else if (sight.command.kind === 'worker-call') this.#relayed(sight.peer.key, sight.command);
        break;
      default:
        break;
    }
  }

  #called(client: string, { form, command, uuid, target }: NfpClientCall): void {
    if (command === 'post' && target === 'any') this.#holders.set(uuid, []);
    else if (command === 'post') this.#holders.delete(uuid);
    if (form === 'ascii') this.#open.delete(client);
    else {
      const open = this.#open.get(client) ?? new Map<string, number>();
      this.#open.set(client, open);
      if (command === 'get' || command === 'delete') open.set(uuid, (open.get(uuid) ?? 0) + 1);
    }
  }

  #relayed(worker: string, { command, uuid }: NfpWorkerCall): void {
    if (command === 'post') this.#holders.get(uuid)?.push(worker);
    if (command === 'delete') this.#told.add(`${uuid} ${worker}`);
  }

  #mayWait({ client, command, uuid, status }: NfpWorkerAnswer): boolean {
    // It was asked to drop the job, or does not know the one that is its own.
    const isTold = this.#had(uuid) || this.#told.has(`${uuid} ${this.#by}`);
    if (isTold && command === 'response' && (status === 200 || status === 404)) return true;
    if (this.#isFormer(uuid)) return true;
    return command === 'response' && status !== 201 && status !== 202 && this.#openFor(latin1(client), uuid) > 0;
  }

  #had(uuid: string): boolean {
    return this.#holders.get(uuid)?.includes(this.#by) === true;
  }

  #isFormer(uuid: string): boolean {
    return this.#had(uuid) && this.#holders.get(uuid)?.at(-1) !== this.#by;
  }

  #openFor(client: string, uuid: string): number {
    return this.#open.get(client)?.get(uuid) ?? 0;
  }

  #sent(client: string, answer: NfpClientAnswer): void {
    const { command, uuid, status, service, body } = answer;
    if (service.endsWith('.broker') || (command === 'response' && dispatchIn(body) !== undefined)) return;
    if (isFate(command, status, body)) return;
    const owed = this.#owed;
    this.#owed = undefined;
    const isOwed = owed !== undefined && latin1(owed.client) === client && owed.uuid === uuid;
    // One worker's answer is passed on as it is, asked for or not.
    if (isOwed && isSame(owed, answer)) {
      if (this.#isFormer(uuid)) throw new Error(`${this.#by} is heard about ${uuid}, which another worker has`);
      return;
    }
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
