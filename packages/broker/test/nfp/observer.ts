/** Watches an NFP broker engine from outside and holds it to what a peer could notice. Knows nothing of its insides. */
import { latin1 } from '@proj/frames';
import type { NfpClientAnswer, NfpClientCall, NfpFromBroker, NfpWorkerCall } from '@proj/frames/nfp';
import type { TimerEvent } from '@proj/transport';
import type { NfpBrokerEffect, NfpBrokerEvent } from '../../src/nfp/engine/events.js';
import type { NfpBrokerSettings } from '../../src/nfp/options.js';

const FILES = 'fss.service.broker';

/** Settings that a peer can notice. */
type Rules = Pick<
  NfpBrokerSettings,
  'managementCommands' | 'files' | 'fileRequestsMax' | 'publish' | 'queueForService'
>;

/** Throws at the first thing that no broker may do. */
export class Observer {
  readonly #workers = new Map<string, string>();
  /** Who posted or asked, by command, client and uuid. */
  readonly #asked = new Set<string>();
  /** Jobs that a client has deleted. */
  readonly #deleted = new Set<string>();
  readonly #dismissed = new Map<string, number>();
  /** Jobs for any worker: whom they were given to last. */
  readonly #holders = new Map<string, string>();
  /** Those that were given to another worker because theirs was lost, with who has them no more: job and worker. */
  readonly #former = new Set<string>();
  /** What was sent to whom: job and worker. */
  readonly #given = new Set<string>();
  /** The same of jobs that were given up, or posted again since. */
  readonly #past = new Set<string>();
  /** What workers that have never been lost since have answered for: job and worker. */
  readonly #taken = new Set<string>();
  /** Who waits for files, by request. */
  readonly #reading = new Map<number, { readonly client: string; readonly uuid: string }>();
  /** Calls for files without an answer, by client and uuid. */
  readonly #filesAsked = new Map<string, number>();
  readonly #settings: Rules;
  #lastRequest = 0;
  /** Whose files have come in this step. */
  #lastRead: { readonly client: string; readonly uuid: string } | undefined;
  #drained = false;

  constructor(settings: Rules) {
    this.#settings = settings;
  }

  /** Requests for files that are under way, the oldest first. */
  get reading(): readonly number[] {
    return [...this.#reading.keys()];
  }

  /** To be called with each step's event and effects. */
  observe(event: NfpBrokerEvent | TimerEvent, effects: readonly NfpBrokerEffect[], now: number): void {
    if (this.#drained && effects.length > 0) throw new Error('something after the end (rule 14)');
    this.#hear(event, effects);
    if (event.kind === 'file-answer') this.#checkRead(event.id, effects);
    for (const effect of effects) this.#check(effect, event, now);
    if (event.kind === 'drain' && this.#reading.size > 0) this.#checkDrained(effects);
    if (event.kind === 'message' && event.command.kind === 'client-call' && !this.#drained)
      this.#checkAnswered(event.peer.key, event.command, effects);
  }

  #hear(event: NfpBrokerEvent | TimerEvent, effects: readonly NfpBrokerEffect[]): void {
    if (event.kind !== 'message') return;
    const { peer, command } = event;
    if (command.kind === 'client-call') {
      this.#asked.add(`${command.command} ${peer.key} ${command.uuid}`);
      if (command.command === 'delete') this.#deleted.add(command.uuid);
      if (command.command !== 'post' || event.at === 'management' || command.service.endsWith('.broker')) return;
      if (effects.some((effect) => isAnswer(effect, peer.key, command.uuid, 400))) return;
      // A job of its own, or the old one once more: either way nobody is known to have it.
      this.#forget(command.uuid);
      if (command.target === 'any') this.#holders.set(command.uuid, '');
    } else if (command.kind === 'worker-ready') {
      for (const taken of this.#taken) if (taken.endsWith(` ${peer.key}`)) this.#taken.delete(taken);
    } else if (command.kind === 'worker-answer' && this.#workers.has(peer.key)) {
      const which = `${command.uuid} ${peer.key}`;
      if (command.command === 'response' && command.status === 404) this.#taken.delete(which);
      else if (this.#given.has(which)) this.#taken.add(which);
    }
  }

  #forget(uuid: string): void {
    this.#holders.delete(uuid);
    for (const which of this.#given) if (which.startsWith(`${uuid} `)) this.#past.add(which);
    for (const set of [this.#former, this.#given, this.#taken])
      for (const which of set) if (which.startsWith(`${uuid} `)) set.delete(which);
  }

  /**
   * Every call but PUT, one to a worker's MMI and a POST that waits has an answer of the broker in the same step (rules 9, 11, 12, 17), but for files that
   * are read, or wait their turn (rule 21), and what workers answer together (rule 24).
   */
  #checkAnswered(client: string, call: NfpClientCall, effects: readonly NfpBrokerEffect[]): void {
    const { command, uuid } = call;
    const key = `${client} ${uuid}`;
    const answers = effects.filter((effect): effect is NfpBrokerEffect & { command: NfpClientAnswer } =>
      isAnswer(effect, client, uuid),
    );
    const waits = effects.some(({ kind }) => kind === 'file-request') || this.#filesAsked.has(key);
    if (call.service === FILES && answers.length === 0 && waits) {
      this.#filesAsked.set(key, (this.#filesAsked.get(key) ?? 0) + 1);
      return;
    }
    if (command === 'put') return;
    const relays = effects.filter((effect) => effect.kind === 'send' && effect.command.kind === 'worker-call');
    const isGathered =
      call.form === 'byte' && (command === 'get' || command === 'delete') && call.service !== 'mmi.service.worker';
    if (relays.length > 0 && (isGathered || command === 'mmi')) {
      if (isGathered && answers.length > 0) throw new Error('a second answer (rule 24)');
      return;
    }
    const mayWait = command === 'post' && relays.length === 0 && this.#settings.queueForService !== false;
    if (answers.length === 0 && !mayWait) throw new Error(`${command} of ${client} has no answer`);
    if (relays.length > 0 && effects[0] !== answers[0]) throw new Error('202 comes first (rule 9)');
  }

  /** Rule 21: who waits for files has one answer, two at most where MMI is answered twice; nobody else has any. */
  #checkRead(id: number, effects: readonly NfpBrokerEffect[]): void {
    const waits = this.#reading.get(id);
    this.#reading.delete(id);
    this.#lastRead = waits;
    if (waits === undefined) {
      if (effects.length > 0) throw new Error('an answer to a request for files that nobody made');
      return;
    }
    const sent = effects.filter(({ kind }) => kind === 'send');
    if (sent.length === 0 || !sent.every((effect) => isAnswer(effect, waits.client, waits.uuid)))
      throw new Error('who waits for files has no answer');
    const key = `${waits.client} ${waits.uuid}`;
    const answered = sent.filter((effect) => effect.kind === 'send' && isResponse(effect.command)).length;
    const left = (this.#filesAsked.get(key) ?? 0) - answered;
    if (left < 0) throw new Error('more answers than calls for files');
    if (left === 0) this.#filesAsked.delete(key);
    else this.#filesAsked.set(key, left);
    if (left > 0 !== effects.some(({ kind }) => kind === 'file-request'))
      throw new Error('the next call for files waits for nothing');
  }

  /** Rule 21, and what rule 19 says of it. */
  #checkRequest(id: number, event: NfpBrokerEvent | TimerEvent): void {
    const asker = askerOf(event) ?? this.#lastRead;
    if (asker === undefined) throw new Error('files that nobody asked for');
    if (this.#settings.files === undefined) throw new Error('a request for files without a folder');
    if (id <= this.#lastRequest) throw new Error('a number of a request that was used before');
    this.#lastRequest = id;
    this.#reading.set(id, asker);
    if (this.#reading.size > this.#settings.fileRequestsMax) throw new Error('too many requests for files');
  }

  /** Rule 14: nobody who waits for files is left without an answer. */
  #checkDrained(effects: readonly NfpBrokerEffect[]): void {
    for (const { client, uuid } of this.#reading.values())
      if (!effects.some((effect) => isAnswer(effect, client, uuid))) throw new Error('files that nobody waits for');
    for (const [key, calls] of this.#filesAsked) {
      const answered = effects.filter(
        (effect) =>
          effect.kind === 'send' &&
          isResponse(effect.command) &&
          `${effect.peer.key} ${effect.command.uuid}` === key &&
          effect.command.service === FILES,
      );
      if (answered.length < calls) throw new Error('a call for files that waits its turn is forgotten');
    }
    this.#reading.clear();
  }

  #check(effect: NfpBrokerEffect, event: NfpBrokerEvent | TimerEvent, now: number): void {
    switch (effect.kind) {
      case 'worker-ready':
        if (this.#workers.has(effect.peer.key)) throw new Error('registered twice');
        this.#workers.set(effect.peer.key, effect.service);
        break;
      case 'worker-lost':
        if (!this.#workers.delete(effect.peer.key)) throw new Error('lost, but never registered');
        for (const taken of this.#taken) if (taken.endsWith(` ${effect.peer.key}`)) this.#taken.delete(taken);
        break;
      case 'send':
        this.#checkSend(effect, now);
        break;
      case 'release':
        if (event.kind !== 'message' || event.command.kind !== 'client-call' || event.command.body !== effect.body)
          throw new Error('a body was returned that is not of this call (rule 17)');
        break;
      case 'drained':
        if (this.#workers.size > 0) throw new Error('a worker that was not told (rule 14)');
        this.#drained = true;
        break;
      case 'management':
        if (!this.#settings.managementCommands && !(event.kind === 'message' && event.at === 'management'))
          throw new Error('management for somebody who may not (rule 18)');
        break;
      case 'file-request':
        this.#checkRequest(effect.id, event);
        break;
      case 'publish':
        if (this.#settings.publish === undefined) throw new Error('nobody wants to hear events (rule 22)');
        if (!isEvent(event) && !isOwnEvent(effect.event.body)) throw new Error('no event was told (rule 22)');
        break;
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
        // A job that is given up is dropped by whoever has it.
        if (isResponse(command) && command.status === 400)
          for (const which of this.#given) if (which.startsWith(`${command.uuid} `)) this.#past.add(which);
        break;
      case 'broker-open':
    }
  }

  #checkCall(worker: string, { command, client, uuid }: NfpWorkerCall): void {
    if (!this.#workers.has(worker)) throw new Error('a call for somebody who is not registered');
    const asked = command === 'mmi' ? ['mmi', 'post', 'get', 'delete', 'put'] : [command];
    const isAsked = asked.some((each) => this.#asked.has(`${each} ${latin1(client)} ${uuid}`));
    const which = `${uuid} ${worker}`;
    // A job is whose who knows its uuid: what anybody deletes is dropped in the name of who posted it.
    const isDrop =
      this.#former.has(which) || this.#past.has(which) || this.#isFormer(uuid, worker) || this.#deleted.has(uuid);
    if (!isAsked && !(command === 'delete' && isDrop)) throw new Error('a call that this client did not make');
    if (command !== 'post') return;
    if (this.#taken.has(which)) throw new Error('sent again after an answer (rule 13)');
    this.#given.add(which);
    const before = this.#holders.get(uuid);
    if (before === undefined) return;
    if (before !== '' && before !== worker) this.#former.add(`${uuid} ${before}`);
    this.#holders.set(uuid, worker);
  }

  /** It had the job, and another worker was to have it since. */
  #isFormer(uuid: string, worker: string): boolean {
    return this.#holders.has(uuid) && this.#holders.get(uuid) === worker;
  }
}

function isOwnEvent(body: readonly Uint8Array[]): boolean {
  return /"status":"(worker-lost|worker-back|redispatched)"/.test(body.map(latin1).join(''));
}

function isEvent(event: NfpBrokerEvent | TimerEvent): boolean {
  if (event.kind !== 'message') return false;
  const { command } = event;
  return (command.kind === 'worker-answer' || command.kind === 'worker-table-answer') && command.command === 'event';
}

function askerOf(event: NfpBrokerEvent | TimerEvent): { readonly client: string; readonly uuid: string } | undefined {
  if (event.kind !== 'message' || event.command.kind !== 'client-call') return undefined;
  return { client: event.peer.key, uuid: event.command.uuid };
}

function isResponse(command: NfpFromBroker): command is NfpClientAnswer {
  return command.kind === 'client-answer' && command.command === 'response';
}

function isAnswer(effect: NfpBrokerEffect, client: string, uuid: string, status?: number): boolean {
  if (effect.kind !== 'send' || effect.command.kind !== 'client-answer') return false;
  if (status !== undefined && effect.command.status !== status) return false;
  return effect.peer.key === client && effect.command.uuid === uuid;
}
