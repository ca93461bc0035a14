/**
 * Checker of rule 12 of docs/protocols/nfp.md: a job for any worker waits only if its service has no workers except those that were told to drop it; the first worker of the service gets
 * all waiting jobs, or their clients a refusal, in the order in which they began to wait; waiting jobs are given up from the front.
 */
import type { NfpClientCall, NfpDispatch } from '@proj/frames/nfp';
import { Followed } from './followed.js';
import { BROKER, dispatchIn } from './sight.js';
import type { Checker, Sight } from './sight.js';

/** Keeps its own records of registered workers and waiting jobs. */
export class WaitingChecker implements Checker {
  /** Registered workers of each service. */
  readonly #workers = new Map<string, Set<string>>();
  /** What waits for each service, the longest-waiting first. */
  readonly #waiting = new Map<string, Set<string>>();
  readonly #followed = new Followed();
  /** What a worker that has just come must get before the broker reads on. */
  #due: string[] = [];
  /** A POST for any worker that has no answer yet: it waits if the broker reads on. */
  #asked: { readonly uuid: string; readonly service: string } | undefined;

  onSight(sight: Sight): void {
    switch (sight.kind) {
      case 'worker-ready': {
        const { key } = sight.peer;
        const isFor = (uuid: string): boolean => !this.#followed.isTold(uuid, key);
        this.#due = [...this.#of(this.#waiting, sight.service)].filter(isFor);
        this.#of(this.#workers, sight.service).add(key);
        break;
      }
      case 'worker-lost':
        this.#of(this.#workers, sight.service).delete(sight.peer.key);
        break;
      case 'closing':
        this.#waiting.clear();
        this.#due = [];
        this.#asked = undefined;
        break;
      case 'crashed':
        if (sight.process !== BROKER) break;
        this.#waiting.clear();
        this.#workers.clear();
        this.#followed.clear();
        this.#due = [];
        this.#asked = undefined;
        break;
      case 'received': {
        const [left] = this.#due;
        if (left !== undefined) throw new Error(`${left} still waits, and its service has a worker`);
        this.#begin();
        const { command } = sight;
        if (command.kind === 'client-call' && command.command === 'post') this.#posted(command);
        break;
      }
      case 'sent': {
        if (sight.command.kind === 'worker-call')
          this.#followed.sent(sight.command.command, sight.command.uuid, sight.peer.key);
        if (sight.command.kind !== 'client-answer' || sight.command.command !== 'response') break;
        const said = dispatchIn(sight.command.body);
        if (said !== undefined) this.#told(said);
        break;
      }
      default:
        break;
    }
  }

  #posted({ uuid, service, target }: NfpClientCall): void {
    const waiting = this.#of(this.#waiting, service);
    if (target === 'any' && !waiting.has(uuid)) this.#asked = { uuid, service };
  }

  #begin(): void {
    if (this.#asked === undefined) return;
    const { uuid, service } = this.#asked;
    this.#asked = undefined;
    const workers = [...this.#of(this.#workers, service)].filter((name) => !this.#followed.isTold(uuid, name));
    if (workers.length > 0) throw new Error(`${uuid} waits for ${service}, which has ${workers.join()}`);
    this.#of(this.#waiting, service).add(uuid);
  }

  #told({ uuid, service, status }: NfpDispatch): void {
    const waiting = this.#of(this.#waiting, service);
    if (status === 'PENDING') {
      if (this.#asked?.uuid === uuid) this.#begin();
      return;
    }
    if (this.#asked?.uuid === uuid) this.#asked = undefined;
    if (!waiting.has(uuid)) return;
    if (this.#due.length > 0) {
      const next = this.#due.shift();
      if (next !== uuid) throw new Error(`${uuid} is served before ${String(next)}, which waits longer`);
    } else if (status === 'DISPATCHED') throw new Error(`${uuid} waits, and was sent to somebody`);
    else if (status === 'FAILED' && waiting.values().next().value !== uuid)
      throw new Error(`${uuid} is given up before what waits longer`);
    waiting.delete(uuid);
  }

  #of(books: Map<string, Set<string>>, service: string): Set<string> {
    const book = books.get(service) ?? new Set();
    books.set(service, book);
    return book;
  }
}
