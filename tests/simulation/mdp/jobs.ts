/**
 * Checker of rules 7, 14, 15, 21 and 22 of docs/protocols/mdp.md: a worker has one job at a time, and only the reply of the
 * worker that has the job reaches its client, in order, ending with one FINAL.
 */
import { latin1 } from '@proj/frames';
import { peerOf, requestId } from './sight.js';
import type { Checker, Sight } from './sight.js';

interface Job {
  /** The client, as a peer of the same broker. */
  readonly client: string;
  readonly id: string;
}

/** Keeps its own records of which worker has which job. */
export class JobsChecker implements Checker {
  /** Jobs of registered workers; `undefined` for an idle one. */
  readonly #workers = new Map<string, Job | undefined>();
  /** Replies that a broker has received from the right worker and not forwarded yet: one line per reply. */
  readonly #owed = new Map<string, string[]>();
  /**
   * The same for handlers inside the broker, which do not know their client: one line per reply, and how many there
   * are.
   */
  readonly #inside = new Map<string, number>();
  /** Requests that were sent to workers; the number is how often. */
  readonly dispatches = new Map<string, number>();

  onSight(sight: Sight): void {
    switch (sight.kind) {
      case 'worker-ready':
        this.#workers.set(peerOf(sight), undefined);
        break;
      case 'worker-lost':
        this.#workers.delete(peerOf(sight));
        break;
      case 'crashed':
        for (const books of [this.#workers, this.#owed, this.#inside])
          for (const key of books.keys()) if (key.startsWith(`${sight.broker}/`)) books.delete(key);
        break;
      case 'received':
        this.#received(sight);
        break;
      case 'sent':
        this.#sent(sight);
        break;
      case 'inside-reply': {
        const line = `${sight.broker}/${sight.last ? 'final' : 'partial'} ${sight.id}`;
        this.#inside.set(line, (this.#inside.get(line) ?? 0) + 1);
        break;
      }
      default:
        break;
    }
  }

  #received(sight: Sight & { kind: 'received' }): void {
    const { broker, command } = sight;
    if (command.kind !== 'worker-partial' && command.kind !== 'worker-final') return;
    const worker = peerOf(sight);
    const job = this.#workers.get(worker);
    const client = `${broker}/${latin1(command.client)}`;
    // A reply of any other peer must have no effect; if the broker forwards it, no client expects it.
    if (job?.client !== client) return;
    if (job.id !== requestId(command.body))
      throw new Error(`a worker answered ${job.id} with ${requestId(command.body)}`);
    const owed = this.#owed.get(client) ?? [];
    this.#owed.set(client, owed);
    owed.push(`${command.kind === 'worker-final' ? 'final' : 'partial'} ${job.id}`);
    if (command.kind === 'worker-final') this.#workers.set(worker, undefined);
  }

  #sent(sight: Sight & { kind: 'sent' }): void {
    const { broker, command } = sight;
    const peer = peerOf(sight);
    if (command.kind === 'worker-request') {
      const id = requestId(command.body);
      if (!this.#workers.has(peer)) throw new Error(`request ${id} went to a worker that is not registered`);
      const present = this.#workers.get(peer);
      if (present !== undefined) throw new Error(`request ${id} went to a worker that is busy with ${present.id}`);
      this.#workers.set(peer, { client: `${broker}/${latin1(command.client)}`, id });
      this.dispatches.set(id, (this.dispatches.get(id) ?? 0) + 1);
    } else if (command.kind === 'client-partial' || command.kind === 'client-final') {
      if (command.service.startsWith('mmi.')) return;
      const reply = `${command.kind === 'client-final' ? 'final' : 'partial'} ${requestId(command.body)}`;
      const owed = this.#owed.get(peer);
      if (owed?.[0] === reply) owed.shift();
      else if (!this.#takeInside(`${broker}/${reply}`))
        throw new Error(`the client got ${reply}, due was ${owed?.[0] ?? 'nothing'}`);
    }
  }

  #takeInside(line: string): boolean {
    const count = this.#inside.get(line) ?? 0;
    this.#inside.set(line, count - 1);
    return count > 0;
  }
}
