/**
 * Checker of rules 9 to 13 of docs/protocols/nfp.md. Every call is answered at once, except a POST without a present worker, or one for all at a new broker.
 * A 202 names the live workers of the target, each of which gets the call once, and otherwise only absent ones. `any` means the least recently used worker,
 * or one that has or had the job. Other workers get only what waited for them, or what they must drop. GET and DELETE of clients in one-byte form have no
 * 202, and their `any` is all present workers (rule 24).
 */
import { parseNfpTarget } from '@proj/frames/nfp';
import type {
  NfpClientAnswer,
  NfpClientCall,
  NfpDispatch,
  NfpToBroker,
  NfpWorkerAnswer,
  NfpWorkerCall,
} from '@proj/frames/nfp';
import { Followed } from './followed.js';
import { BROKER, dispatchIn, isTakenAway } from './sight.js';
import type { Checker, Sight } from './sight.js';

/** Keeps its own records of registered workers, and of the order in which they were used. */
export class DispatchChecker implements Checker {
  /** Service of each registered worker. */
  readonly #services = new Map<string, string>();
  /** Workers of each service, the least recently used first. */
  readonly #turns = new Map<string, string[]>();
  /** Workers that a 202 has named, which must get the call before the broker reads on. */
  #owed: { readonly worker: string; readonly uuid: string }[] = [];
  /** The call that must be answered before the broker reads on. */
  #asked: { readonly client: string; readonly call: NfpClientCall } | undefined;
  /** The peer whose message the broker is handling. */
  #speaker = '';
  /** That message, if it is a worker's about a job. */
  #said: NfpWorkerAnswer | undefined;
  readonly #followed = new Followed();

  onSight(sight: Sight): void {
    switch (sight.kind) {
      case 'worker-ready':
        this.#services.set(sight.peer.key, sight.service);
        this.#turnsOf(sight.service).push(sight.peer.key);
        // Its registration had outlived its connection, and this is its first message.
        if (this.#said !== undefined && this.#speaker === sight.peer.key)
          this.#followed.heard(sight.peer.key, this.#said);
        break;
      case 'worker-lost':
        this.#services.delete(sight.peer.key);
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
        this.#followed.clear();
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
    if (this.#asked !== undefined && !this.#mayWait(this.#asked.call))
      throw new Error(`a call about ${this.#asked.call.uuid} was not answered`);
    this.#asked = undefined;
    this.#requireRelayed();
    this.#speaker = client;
    this.#said = command.kind === 'worker-answer' ? command : undefined;
    if (this.#said !== undefined && this.#services.has(client)) this.#followed.heard(client, this.#said);
    if (command.kind !== 'client-call' || command.service.endsWith('.broker')) return;
    if (command.command === 'post') this.#followed.posted(command);
    if (command.command === 'post' || command.command === 'get' || command.command === 'delete')
      this.#asked = { client, call: command };
  }

  #answered(client: string, { command, uuid, status, body }: NfpClientAnswer): void {
    const said = command === 'response' ? dispatchIn(body) : undefined;
    const isUnasked = this.#asked?.client !== client || this.#asked.call.uuid !== uuid;
    if (isTakenAway(command, status, body) || (said?.status === 'FAILED' && isUnasked)) this.#followed.takenAway(uuid);
    if (said === undefined) return;
    if (this.#asked?.client === client && this.#asked.call.uuid === uuid) this.#asked = undefined;
    this.#requireRelayed();
    if (status !== 202) return;
    const { workers } = said;
    if (workers === null || workers.length === 0) throw new Error(`${uuid} was dispatched to nobody`);
    const live = workers.filter((worker) => this.#services.get(worker) === said.service);
    const meant = this.#meant(said, live);
    if (JSON.stringify([...live].sort()) !== JSON.stringify([...meant].sort()))
      throw new Error(`${uuid} for ${said.target} was dispatched to ${live.join()}, meant was ${meant.join()}`);
    this.#owed = live.map((worker) => ({ worker, uuid }));
  }

  /** Only workers that must drop it are present, or it is not yet known who all are. */
  #mayWait({ command, target, service, uuid }: NfpClientCall): boolean {
    if (command !== 'post') return false;
    const meant = this.#meant({ target, service, uuid }, []);
    const isDropped = (name: string): boolean => this.#followed.isTold(uuid, name);
    return target === 'all' || meant.length === 0 || (target === 'any' && this.#turnsOf(service).every(isDropped));
  }

  /** If a job was or may be lost with its worker, any worker may have it now. */
  #meant(
    { target: text, service, uuid }: Pick<NfpDispatch, 'target' | 'service' | 'uuid'>,
    named: readonly string[],
  ): readonly string[] {
    const target = parseNfpTarget(text);
    const turns = this.#turnsOf(service);
    const holders = this.#followed.of(uuid);
    const isHeld = holders.some((name) => name !== '') && named.length === 1;
    if (target === undefined) return [];
    // A worker that had it before is not asked for it.
    if (target.kind === 'all')
      return turns.filter(
        (name) =>
          named.includes(name) || !this.#followed.isForAny(uuid) || holders.at(-1) === name || !holders.includes(name),
      );
    if (target.kind === 'any') return isHeld ? named : turns.slice(0, 1);
    const [heir = ''] = isHeld ? named : [];
    const isMoved = heir === holders.at(-1) && !target.names.includes(heir);
    return isMoved && target.names.some((name) => holders.includes(name))
      ? named
      : target.names.filter((name) => turns.includes(name));
  }

  #relayed(worker: string, { command, uuid }: NfpWorkerCall): void {
    const service = this.#services.get(worker);
    const holders = this.#followed.of(uuid);
    if (service === undefined) throw new Error(`${command} of ${uuid} to ${worker}, which is not registered`);
    this.#followed.sent(command, uuid, worker);
    const [next] = this.#owed;
    // What waited for it, or what it must drop, while it was absent.
    const isLate =
      this.#asked?.call.uuid !== uuid &&
      ((command === 'post' && this.#speaker === worker) || (command === 'delete' && holders.includes(worker)));
    if (command !== 'put' && command !== 'mmi' && !(isLate && next?.uuid !== uuid)) {
      if (this.#asked?.call.uuid === uuid && this.#asked.call.form === 'byte' && command !== 'post') {
        const { target, service: name } = this.#asked.call;
        const meant = this.#meant({ target: target === 'any' ? 'all' : target, service: name, uuid }, [worker]);
        const isOne = target === 'any' && holders.at(-1) === worker;
        this.#asked = undefined;
        this.#owed = isOne ? [{ worker, uuid }] : meant.map((each) => ({ worker: each, uuid }));
      }
      const due = this.#owed.shift();
      if (due?.worker !== worker || due.uuid !== uuid)
        throw new Error(`${command} of ${uuid} went to ${worker}, due was ${due?.uuid ?? 'nothing'}`);
    }
    // The broker's own DELETE uses no worker's turn.
    if (command !== 'delete' || !isLate || next?.uuid === uuid)
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
