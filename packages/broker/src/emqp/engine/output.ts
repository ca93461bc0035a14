/** EventMQ broker: its messages: heartbeats, farewells, acceptances, results, notes (rules 3, 7, 8, 9). */
import { emqpTime } from '@proj/frames/emqp';
import type { Entropy } from '@proj/transport';
import { RefusedPeers, StepOutput } from '@proj/transport/engine';
import { newCounters } from './counters.js';
import type { EmqpMessageDrop, EmqpRefusal, EmqpReplyLoss, EmqpRequestLoss } from './counters.js';
import type { EmqpBrokerEffect, EmqpBrokerNote, EmqpFromBroker, EmqpParty } from './events.js';

/** Rule 7: the two words for farewell. */
const BYES = { both: ['KBAI', 'KBYE'], kbai: ['KBAI'], kbye: ['KBYE'] } as const;

/** Collects the effects of every part of the engine. */
export class Output extends StepOutput<EmqpBrokerEffect> {
  override readonly counters = newCounters();
  readonly #entropy: Entropy;
  /** For operators: peers with dropped messages. */
  readonly refused = new RefusedPeers();
  readonly #byes: (typeof BYES)[keyof typeof BYES];

  constructor(options: { readonly byes: keyof typeof BYES }, entropy: Entropy) {
    super();
    this.#byes = BYES[options.byes];
    this.#entropy = entropy;
  }

  /** An id for a message of the broker's own. */
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

  /** Rule 7: farewell, in an order that no peer misunderstands. */
  bye(party: EmqpParty): void {
    this.counters.byesSent++;
    for (const word of this.#byes) this.send(party, { kind: 'bye', id: this.newId(), word });
  }

  dropMessage(reason: EmqpMessageDrop, { port, peer }: EmqpParty): void {
    this.counters.dropped[reason]++;
    this.refused.add(peer, reason);
    this.#noteOf({ kind: 'note', code: 'message-dropped', reason, port, peer });
  }

  /** A request of this client was refused or lost. */
  dropRequest(reason: EmqpRefusal | EmqpRequestLoss, { port, peer }: EmqpParty, queue: string): void {
    this.counters.dropped[reason]++;
    this.refused.add(peer, reason);
    this.#noteOf({ kind: 'note', code: 'request-dropped', reason, port, peer, queue });
  }

  /** A reply did not reach this client. */
  dropReply(reason: EmqpReplyLoss, { port, peer }: EmqpParty): void {
    this.counters.dropped[reason]++;
    this.#noteOf({ kind: 'note', code: 'reply-dropped', reason, port, peer });
  }

  storeFailed(error: string): void {
    this.note(`store ${error}`, { kind: 'note', code: 'store-failed', error });
  }

  #noteOf(note: EmqpBrokerNote & EmqpParty & { reason: string }): void {
    this.note(`${note.reason} ${note.port} ${note.peer.key}`, note);
  }
}
