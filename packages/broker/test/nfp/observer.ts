/** Watches an NFP broker engine from outside and holds it to what a peer could notice. Knows nothing of its insides. */
import { latin1 } from '@proj/frames';
import type { NfpClientAnswer, NfpWorkerCall } from '@proj/frames/nfp';
import type { TimerEvent } from '@proj/transport';
import type { NfpBrokerEffect, NfpBrokerEvent } from '../../src/nfp/effects.js';

/** Throws at the first thing that no broker may do. */
export class Observer {
  readonly #workers = new Map<string, string>();
  /** Who posted or asked, by command, client and uuid. */
  readonly #asked = new Set<string>();
  readonly #dismissed = new Map<string, number>();
  /** Who was given a job last, by uuid. */
  readonly #holders = new Map<string, string>();
  /** Jobs their holders have said something about, by uuid. */
  readonly #settled = new Set<string>();
  #drained = false;

  /** To be called with each step's event and effects. */
  observe(event: NfpBrokerEvent | TimerEvent, effects: readonly NfpBrokerEffect[], now: number): void {
    if (this.#drained && effects.length > 0) throw new Error('something after the end (rule 14)');
    this.#hear(event);
    for (const effect of effects) this.#check(effect, now);
    if (event.kind === 'message' && event.command.kind === 'client-call' && !this.#drained)
      this.#checkAnswered(event.peer.key, event.command.command, event.command.uuid, effects);
  }

  #hear(event: NfpBrokerEvent | TimerEvent): void {
    if (event.kind !== 'message') return;
    const { peer, command } = event;
    if (command.kind === 'client-call') {
      this.#asked.add(`${command.command} ${peer.key} ${command.uuid}`);
      if (command.command !== 'post') return;
      // Whoever has the job of old does not speak about this one.
      this.#settled.delete(command.uuid);
      this.#holders.delete(command.uuid);
    } else if (command.kind === 'worker-answer' && this.#workers.has(peer.key)) {
      if (this.#holders.get(command.uuid) === peer.key) this.#settled.add(command.uuid);
    }
  }

  /** Every call but PUT and one to a worker's MMI has an answer of the broker in the same step (rules 9, 11, 12, 17). */
  #checkAnswered(client: string, command: string, uuid: string, effects: readonly NfpBrokerEffect[]): void {
    if (command === 'put') return;
    const answers = effects.filter((effect): effect is NfpBrokerEffect & { command: NfpClientAnswer } =>
      isAnswer(effect, client, uuid),
    );
    const relays = effects.filter((effect) => effect.kind === 'send' && effect.command.kind === 'worker-call');
    if (command === 'mmi' ? answers.length === 0 && relays.length === 0 : answers.length === 0)
      throw new Error(`${command} of ${client} has no answer`);
    if (relays.length > 0 && command !== 'mmi' && effects[0] !== answers[0])
      throw new Error('202 comes first (rule 9)');
  }

  #check(effect: NfpBrokerEffect, now: number): void {
    switch (effect.kind) {
      case 'worker-ready':
        if (this.#workers.has(effect.peer.key)) throw new Error('registered twice');
        this.#workers.set(effect.peer.key, effect.service);
        break;
      case 'worker-lost':
        if (!this.#workers.delete(effect.peer.key)) throw new Error('lost, but never registered');
        for (const [uuid, holder] of this.#holders) if (holder === effect.peer.key) this.#holders.delete(uuid);
        break;
      case 'send':
        this.#checkSend(effect, now);
        break;
      case 'drained':
        if (this.#workers.size > 0) throw new Error('a worker that was not told (rule 14)');
        this.#drained = true;
        break;
      case 'management':
      case 'file-request':
      case 'publish':
      case 'note':
    }
  }

  #checkSend({ peer, command }: NfpBrokerEffect & { kind: 'send' }, now: number): void {
    switch (command.kind) {
      case 'worker-call':
        this.#checkCall(peer.key, command);
        break;
      case 'broker-keepalive':
        if (this.#workers.get(peer.key) !== command.service) throw new Error('KEEPALIVE for another service or nobody');
        break;
      case 'broker-disconnect': {
        if (this.#workers.has(peer.key)) break;
        const last = this.#dismissed.get(peer.key) ?? -Infinity;
        if (now - last < 1000) throw new Error('two DISCONNECTs to a stranger within a second (rule 8)');
        this.#dismissed.set(peer.key, now);
        break;
      }
      case 'worker-table-call':
        throw new Error('a call as in the tables');
      case 'client-answer':
      case 'broker-open':
    }
  }

  #checkCall(worker: string, { command, client, uuid }: NfpWorkerCall): void {
    if (!this.#workers.has(worker)) throw new Error('a call for somebody who is not registered');
    const asked = command === 'mmi' ? ['mmi', 'post', 'get', 'delete', 'put'] : [command];
    if (!asked.some((each) => this.#asked.has(`${each} ${latin1(client)} ${uuid}`)))
      throw new Error('a call that this client did not make');
    if (command !== 'post') return;
    if (this.#settled.has(uuid)) throw new Error('sent again after an answer (rule 13)');
    this.#holders.set(uuid, worker);
  }
}

function isAnswer(effect: NfpBrokerEffect, client: string, uuid: string): boolean {
  if (effect.kind !== 'send' || effect.command.kind !== 'client-answer') return false;
  return effect.peer.key === client && effect.command.uuid === uuid;
}
