/** EventMQ broker: the effects of the step under way, the totals, and the limit on notes. */
import { emqpTime } from '@proj/frames/emqp';
import { type OncePer, oncePerMinute } from '@proj/heartbeat';
import type { Entropy } from '@proj/transport';
import { newCounters } from './counters.js';
import type {
  EmqpBrokerEffect,
  EmqpBrokerNote,
  EmqpFromBroker,
  EmqpMessageDrop,
  EmqpParty,
  EmqpRefusal,
  EmqpReplyLoss,
  EmqpRequestLoss,
} from './events.js';

/** Rule 7: what the two words for farewell are. */
const BYES = { both: ['KBAI', 'KBYE'], kbai: ['KBAI'], kbye: ['KBYE'] } as const;

/** Where every part of the engine puts its effects. */
export class Output {
  /** Running totals. */
  readonly counters = newCounters();
  /** Time of the step under way. */
  now = 0;
  effects: EmqpBrokerEffect[] = [];
  readonly #entropy: Entropy;
  readonly #byes: (typeof BYES)[keyof typeof BYES];
  readonly #notes: OncePer = oncePerMinute();

  constructor(options: { readonly byes: keyof typeof BYES }, entropy: Entropy) {
    this.#byes = BYES[options.byes];
    this.#entropy = entropy;
  }

  /** Begins a step. The effects of the last one are its receiver's. */
  begin(now: number): void {
    this.now = now;
    this.effects = [];
  }

  /** An id for a message of ours. */
  newId(): string {
    return this.#entropy.uuid();
  }

  send({ port, peer }: EmqpParty, command: EmqpFromBroker): void {
    this.effects.push({ kind: 'send', port, peer, command });
  }

  heartbeat(party: EmqpParty): void {
    this.counters.heartbeatsSent++;
    this.send(party, { kind: 'heartbeat', id: this.newId(), time: emqpTime(this.#entropy.wallMicros()) });
  }

  /** Rule 7: farewell, in the order in which nobody misunderstands it. */
  bye(party: EmqpParty): void {
    this.counters.byesSent++;
    for (const word of this.#byes) this.send(party, { kind: 'bye', id: this.newId(), word });
  }

  /** A message of this peer was dropped. */
  dropMessage(reason: EmqpMessageDrop, { port, peer }: EmqpParty): void {
    this.counters.dropped[reason]++;
    this.#note({ kind: 'note', code: 'message-dropped', reason, port, peer });
  }

  /** A request of this client was refused or lost. */
  dropRequest(reason: EmqpRefusal | EmqpRequestLoss, { port, peer }: EmqpParty, queue: string): void {
    this.counters.dropped[reason]++;
    this.#note({ kind: 'note', code: 'request-dropped', reason, port, peer, queue });
  }

  /** A reply did not get to this client. */
  dropReply(reason: EmqpReplyLoss, { port, peer }: EmqpParty): void {
    this.counters.dropped[reason]++;
    this.#note({ kind: 'note', code: 'reply-dropped', reason, port, peer });
  }

  /** The store could not write. */
  storeFailed(error: string): void {
    if (this.#notes.allow(`store ${error}`, this.now)) this.effects.push({ kind: 'note', code: 'store-failed', error });
    else this.counters.notesWithheld++;
  }

  #note(note: EmqpBrokerNote & EmqpParty & { reason: string }): void {
    if (this.#notes.allow(`${note.reason} ${note.port} ${note.peer.key}`, this.now)) this.effects.push(note);
    else this.counters.notesWithheld++;
  }
}
