/**
 * Checker of rules 2, 8 and 9 of docs/protocols/ppp.md: only registered workers get jobs, one at a time, the worker that
 * has been idle longest first, and only the reply of the worker that has the job reaches its client.
 */
import { forgetBroker, peerOf, requesterOf, requestId } from './sight.js';
import type { Checker, Sight } from './sight.js';

interface Job {
  readonly requester: string;
  readonly id: string;
}

/** Keeps its own records of which worker has which job, and which are idle. */
export class JobsChecker implements Checker {
  /** Jobs of registered workers; `undefined` for an idle one. */
  readonly #workers = new Map<string, Job | undefined>();
  /** Idle workers of a broker, by its name, longest idle first. */
  readonly #idle = new Map<string, string[]>();
  /** Ids of replies that a queue has received from the right worker and not forwarded yet, by client. */
  readonly #owed = new Map<string, string[]>();

  onSight(sight: Sight): void {
    switch (sight.kind) {
      case 'worker-ready':
        this.#workers.set(peerOf(sight), undefined);
        this.#idleOf(sight.broker).push(peerOf(sight));
        break;
      case 'worker-lost':
        this.#workers.delete(peerOf(sight));
        this.#wake(sight.broker, peerOf(sight));
        break;
      case 'crashed':
        forgetBroker(sight.broker, this.#workers, this.#owed);
        this.#idle.delete(sight.broker);
        break;
      case 'received':
        this.#received(sight);
        break;
      case 'sent':
        this.#sent(sight);
        break;
      default:
        break;
    }
  }

  #received(sight: Sight & { kind: 'received' }): void {
    const { broker, command } = sight;
    if (command.kind !== 'reply') return;
    const worker = peerOf(sight);
    const job = this.#workers.get(worker);
    // A reply of any other peer must have no effect; if the queue forwards it, no client expects it.
    if (job === undefined || job.requester !== requesterOf(command.addresses)) return;
    const id = requestId(command.content);
    if (job.id !== id) throw new Error(`a worker answered ${job.id} with ${id}`);
    this.#workers.set(worker, undefined);
    this.#idleOf(broker).push(worker);
    const client = `${broker}/${job.requester}`;
    this.#owed.set(client, [...(this.#owed.get(client) ?? []), id]);
  }

  #sent(sight: Sight & { kind: 'sent' }): void {
    const { broker, command } = sight;
    const peer = peerOf(sight);
    if (command.kind === 'request') {
      const job = { requester: requesterOf(command.addresses ?? []), id: requestId(command.content) };
      this.#checkChoice(broker, peer, job.id);
      this.#workers.set(peer, job);
      this.#wake(broker, peer);
    } else if (command.kind === 'client-reply') {
      const id = requestId(command.content);
      const owed = this.#owed.get(peer)?.shift();
      if (owed !== id) throw new Error(`the client got ${id}, due was ${owed ?? 'nothing'}`);
    }
  }

  #checkChoice(broker: string, worker: string, id: string): void {
    if (!this.#workers.has(worker)) throw new Error(`request ${id} went to a worker that is not registered`);
    const present = this.#workers.get(worker);
    if (present !== undefined) throw new Error(`request ${id} went to a worker that is busy with ${present.id}`);
    const idle = this.#idleOf(broker);
    const place = idle.indexOf(worker);
    if (place !== 0) throw new Error(`request ${id} went to idle worker number ${place} of ${idle.length}, not 0`);
  }

  #idleOf(broker: string): string[] {
    const idle = this.#idle.get(broker) ?? [];
    this.#idle.set(broker, idle);
    return idle;
  }

  #wake(broker: string, worker: string): void {
    const idle = this.#idleOf(broker);
    const place = idle.indexOf(worker);
    if (place >= 0) idle.splice(place, 1);
  }
}
