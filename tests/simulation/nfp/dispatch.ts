/**
 * Checker of rules 9 to 13 of docs/protocols/nfp.md: every call is answered at once; a 202 names live workers, those that the target means, and
 * each of them gets the call once; `any` means the worker that has been left alone longest, or one that was started again and had the job;
 * nobody else gets anything. GET and DELETE of clients in one-byte form have no 202, and `any` is all there (rule 24).
 */
import { parseNfpTarget } from '@proj/frames/nfp';
import type { NfpClientAnswer, NfpClientCall, NfpDispatch, NfpToBroker, NfpWorkerCall } from '@proj/frames/nfp';
import { BROKER, dispatchIn } from './sight.js';
import type { Checker, Sight } from './sight.js';

/** Keeps its own books of who is registered, and in which order they were used. */
export class DispatchChecker implements Checker {
  /** Service of each registered worker. */
  readonly #services = new Map<string, string>();
  /** Workers of each service, the least recently used first. */
  readonly #turns = new Map<string, string[]>();
  /** Workers that a 202 has named, which must get the call before the broker reads on. */
  #owed: { readonly worker: string; readonly uuid: string }[] = [];
  /** The call that must be answered before the broker reads on. */
  #asked: { readonly client: string; readonly call: NfpClientCall } | undefined;
  /** Whose word the broker is at, if that is a READY of somebody who is registered. */
  #restarted: string | undefined;
  /** Whom each job was last sent to. */
  readonly #holders = new Map<string, string>();

  onSight(sight: Sight): void {
    switch (sight.kind) {
      case 'worker-ready':
        this.#services.set(sight.peer.key, sight.service);
        this.#turnsOf(sight.service).push(sight.peer.key);
        break;
      case 'worker-lost':
        this.#services.delete(sight.peer.key);
        this.#restarted = undefined;
        this.#turns.set(
          sight.service,
          this.#turnsOf(sight.service).filter((name) => name !== sight.peer.key),
        );
        break;
      case 'crashed':
      case 'closing':
        if (sight.kind === 'crashed' && sight.process !== BROKER) break;
        this.#owed = [];
        this.#asked = undefined;
        if (sight.kind === 'closing') break;
        this.#services.clear();
        this.#turns.clear();
        break;
      case 'received':
        this.#received(sight.peer.key, sight.command);
        break;
      case 'sent':
        if (sight.command.kind === 'worker-call') this.#relayed(sight.peer.key, sight.command);
        else if (sight.command.kind === 'client-answer') this.#answered(sight.peer.key, sight.command);
        break;
      default:
        break;
    }
  }

  #received(client: string, command: NfpToBroker): void {
    if (this.#asked !== undefined) throw new Error(`a call about ${this.#asked.call.uuid} was not answered`);
    this.#requireRelayed();
    this.#restarted = command.kind === 'worker-ready' && this.#services.has(client) ? client : undefined;
    if (command.kind !== 'client-call' || command.service.endsWith('.broker')) return;
    if (command.command === 'post' || command.command === 'get' || command.command === 'delete')
      this.#asked = { client, call: command };
  }

  #answered(client: string, { command, uuid, status, body }: NfpClientAnswer): void {
    const said = command === 'response' ? dispatchIn(body) : undefined;
    if (said === undefined) return;
    if (this.#asked?.client === client && this.#asked.call.uuid === uuid) this.#asked = undefined;
    this.#requireRelayed();
    if (status !== 202) return;
    const { workers } = said;
    if (workers === null || workers.length === 0) throw new Error(`${uuid} was dispatched to nobody`);
    const meant = this.#meant(said);
    if (JSON.stringify([...workers].sort()) !== JSON.stringify([...meant].sort()))
      throw new Error(`${uuid} for ${said.target} was dispatched to ${workers.join()}, meant was ${meant.join()}`);
    this.#owed = workers.map((worker) => ({ worker, uuid }));
  }

  #meant({ target: text, service, uuid }: Pick<NfpDispatch, 'target' | 'service' | 'uuid'>): readonly string[] {
    const target = parseNfpTarget(text);
    if (target?.kind === 'any' && this.#restarted !== undefined) {
      if (this.#holders.get(uuid) !== this.#restarted) throw new Error(`${this.#restarted} did not have ${uuid}`);
      return [this.#restarted];
    }
    const turns = this.#turnsOf(service);
    if (target === undefined) return [];
    if (target.kind === 'names') return target.names.filter((name) => turns.includes(name));
    return target.kind === 'any' ? turns.slice(0, 1) : turns;
  }

  #relayed(worker: string, { command, uuid }: NfpWorkerCall): void {
    const service = this.#services.get(worker);
    if (command === 'post') this.#holders.set(uuid, worker);
    if (service === undefined) throw new Error(`${command} of ${uuid} to ${worker}, which is not registered`);
    if (command !== 'put' && command !== 'mmi') {
      if (this.#asked?.call.uuid === uuid && this.#asked.call.form === 'byte' && command !== 'post') {
        const { target, service: name } = this.#asked.call;
        const meant = this.#meant({ target: target === 'any' ? 'all' : target, service: name, uuid });
        this.#asked = undefined;
        this.#owed = meant.map((each) => ({ worker: each, uuid }));
      }
      const due = this.#owed.shift();
      if (due?.worker !== worker || due.uuid !== uuid)
        throw new Error(`${command} of ${uuid} went to ${worker}, due was ${due?.uuid ?? 'nothing'}`);
    }
    this.#turns.set(service, [...this.#turnsOf(service).filter((name) => name !== worker), worker]);
  }

  #requireRelayed(): void {
    const [due] = this.#owed;
    this.#owed = [];
    if (due !== undefined) throw new Error(`${due.worker} was named for ${due.uuid} and did not get it`);
  }

  #turnsOf(service: string): string[] {
    const turns = this.#turns.get(service) ?? [];
    this.#turns.set(service, turns);
    return turns;
  }
}
