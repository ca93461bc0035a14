/**
 * Checker of rules 8, 15 and 24 of docs/protocols/nfp.md. What a registered worker says about a job reaches the client that it is addressed to, once and unchanged, and nothing else reaches a client
 * as a worker's word. Exceptions (rule 13): when a job for any worker has gone to another one, the client gets nothing from its earlier workers; when a job was given up, or deleted while its worker
 * was away, the client gets nothing from its workers. Clients in one-byte form get the statuses of the text, and each of their GETs and DELETEs gets at most one answer that is not a worker's own.
 */
import { latin1 } from '@proj/frames';
import { parseNfpTarget } from '@proj/frames/nfp';
import type { NfpClientAnswer, NfpClientCall, NfpDispatch, NfpWorkerAnswer, NfpWorkerCall } from '@proj/frames/nfp';
import { Followed } from './followed.js';
import { answeredFor, BROKER, dispatchIn, isFate, isTakenAway } from './sight.js';
import type { Checker, Sight } from './sight.js';

/** What clients in one-byte form get instead. */
const OF_TEXT: Readonly<Record<number, number>> = { 201: 202, 102: 300, 404: 400 };

/** Knows what the broker has to forward before it reads on. */
export class AnswersChecker implements Checker {
  readonly #workers = new Set<string>();
  /** Clients in one-byte form: their GETs and DELETEs without an answer, by client and uuid. */
  readonly #open = new Map<string, Map<string, number>>();
  #owed: NfpWorkerAnswer | undefined;
  /** The last message, if it is an answer. */
  #said: NfpWorkerAnswer | undefined;
  /** Its sender. */
  #by = '';
  readonly #followed = new Followed();
  /** The workers that were sent each job and have not said their last word, by uuid. */
  readonly #sentTo = new Map<string, Set<string>>();
  /** Which of them have said something other than a refusal: job and worker. */
  readonly #taken = new Set<string>();
  /** Which of them were away when it was deleted, or when it was given up, by uuid. */
  readonly #overAt = new Map<string, Set<string>>();
  /** The client's call that has had no effect yet. */
  #call: NfpClientCall | undefined;

  onSight(sight: Sight): void {
    switch (sight.kind) {
      case 'worker-ready':
        this.#workers.add(sight.peer.key);
        // Its registration had outlived its connection, and this is its first message.
        if (this.#by === sight.peer.key) this.#take();
        break;
      case 'worker-lost':
        this.#workers.delete(sight.peer.key);
        break;
      case 'closing':
        this.#owed = undefined;
        break;
      case 'crashed':
        if (sight.process !== BROKER) break;
        for (const each of [this.#workers, this.#open, this.#followed, this.#sentTo, this.#taken, this.#overAt])
          each.clear();
        this.#owed = undefined;
        break;
      case 'received': {
        const owed = this.#owed;
        this.#owed = undefined;
        // The answer to a GET or DELETE may have to wait for other answers.
        if (owed !== undefined && !this.#mayWait(owed))
          throw new Error(`${owed.command} ${owed.status} about ${owed.uuid} was not passed on`);
        this.#call = undefined;
        if (sight.command.kind === 'client-call') this.#called(sight.peer.key, sight.command);
        this.#said = sight.command.kind === 'worker-answer' ? sight.command : undefined;
        this.#by = sight.peer.key;
        if (this.#workers.has(this.#by)) this.#take();
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

  #called(client: string, call: NfpClientCall): void {
    const { form, command, uuid, target } = call;
    this.#call = call;
    if (command === 'post') this.#followed.posted(call);
    if (command === 'post' && target !== 'any') this.#overAt.delete(uuid);
    if (form === 'ascii') this.#open.delete(client);
    else {
      const open = this.#open.get(client) ?? new Map<string, number>();
      this.#open.set(client, open);
      if (command === 'get' || command === 'delete') open.set(uuid, (open.get(uuid) ?? 0) + 1);
    }
  }

  #relayed(worker: string, { command, uuid }: NfpWorkerCall): void {
    this.#followed.sent(command, uuid, worker);
    if (command === 'post') {
      setOf(this.#sentTo, uuid).add(worker);
      this.#taken.delete(`${uuid} ${worker}`);
      this.#overAt.get(uuid)?.delete(worker);
    }
    if (this.#call?.uuid !== uuid) return;
    // In one-byte form the broker itself does not answer GET or DELETE.
    const target = command === 'delete' ? parseNfpTarget(this.#call.target) : undefined;
    const had = [...(this.#sentTo.get(uuid) ?? [])];
    if (target?.kind === 'names') this.#deleted(target.names, uuid);
    else if (target?.kind === 'all') this.#deleted(had, uuid);
    this.#call = undefined;
  }

  /** A registered worker has spoken. A worker that has said its last word is no longer followed. */
  #take(): void {
    const said = this.#said;
    this.#owed = said;
    if (said === undefined) return;
    this.#followed.heard(this.#by, said);
    const which = `${said.uuid} ${this.#by}`;
    const isRefusal = said.status >= 400 && !this.#taken.has(which);
    if (said.command === 'response' && (said.status === 200 || isRefusal))
      this.#sentTo.get(said.uuid)?.delete(this.#by);
    else if (said.command !== 'mmi') this.#taken.add(which);
  }

  /** The broker's own answer: to a call about the job, or unasked, when it gives up the job. */
  #onDispatch({ uuid, workers }: NfpDispatch, status: number): void {
    const call = this.#call?.uuid === uuid ? this.#call : undefined;
    this.#call = undefined;
    if (call?.command === 'delete' && status < 300) this.#deleted(workers ?? [], uuid);
    if (call !== undefined || status !== 400) return;
    this.#followed.takenAway(uuid);
    for (const worker of this.#sentTo.get(uuid) ?? []) setOf(this.#overAt, uuid).add(worker);
  }

  /** A DELETE: absent workers no longer have the job. */
  #deleted(names: readonly string[], uuid: string): void {
    for (const name of names)
      if (!this.#workers.has(name) && this.#sentTo.get(uuid)?.has(name) === true) setOf(this.#overAt, uuid).add(name);
  }

  #mayWait({ client, command, uuid, status }: NfpWorkerAnswer): boolean {
    // It was asked to drop the job, or does not know its own job.
    const isTold = this.#has(uuid) || this.#followed.isTold(uuid, this.#by);
    if (isTold && command === 'response' && (status === 200 || status === 404)) return true;
    if (this.#followed.isFormer(uuid, this.#by) || this.#isOver(uuid)) return true;
    return command === 'response' && status !== 201 && status !== 202 && this.#openFor(latin1(client), uuid) > 0;
  }

  #isOver(uuid: string): boolean {
    return this.#overAt.get(uuid)?.has(this.#by) === true;
  }

  #has(uuid: string): boolean {
    return this.#followed.isForAny(uuid) && this.#followed.of(uuid).includes(this.#by);
  }

  #openFor(client: string, uuid: string): number {
    return this.#open.get(client)?.get(uuid) ?? 0;
  }

  #sent(client: string, answer: NfpClientAnswer): void {
    const { command, uuid, status, service, body } = answer;
    const said = command === 'response' ? dispatchIn(body) : undefined;
    if (said !== undefined) this.#onDispatch(said, status);
    if (service.endsWith('.broker') || said !== undefined) return;
    if (isTakenAway(command, status, body)) this.#followed.takenAway(uuid);
    if (isFate(command, status, body)) {
      // The last word of a lost worker has been said for it: giving up the job does not affect it.
      const late = answeredFor(command, status, body);
      if (late !== undefined && !this.#workers.has(late)) this.#sentTo.get(uuid)?.delete(late);
      return;
    }
    const owed = this.#owed;
    this.#owed = undefined;
    const isOwed = owed !== undefined && latin1(owed.client) === client && owed.uuid === uuid;
    // One worker's answer is forwarded unchanged, requested or not.
    if (isOwed && isSame(owed, answer)) {
      if (this.#followed.isFormer(uuid, this.#by))
        throw new Error(`${this.#by} is heard about ${uuid}, which another worker has`);
      if (this.#isOver(uuid)) throw new Error(`${this.#by} is heard about ${uuid}, which was deleted or given up`);
      return;
    }
    const open = this.#openFor(client, uuid);
    if (answer.form === 'byte' && command === 'response' && status !== 202 && open > 0)
      this.#open.get(client)?.set(uuid, open - 1);
    else throw new Error(`${client} was told ${command} ${status} about ${uuid}, which no worker has said`);
  }
}

function setOf(book: Map<string, Set<string>>, uuid: string): Set<string> {
  const set = book.get(uuid) ?? new Set();
  book.set(uuid, set);
  return set;
}

function isSame(one: NfpWorkerAnswer, other: NfpClientAnswer): boolean {
  const status = other.form === 'byte' ? (OF_TEXT[one.status] ?? one.status) : one.status;
  if (one.command !== other.command || status !== other.status || one.body.length !== other.body.length) return false;
  return one.body.every((frame, i) => Buffer.compare(frame, other.body[i] as Uint8Array) === 0);
}
