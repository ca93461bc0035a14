/** Watches an EventMQ broker engine from outside and holds it to what a peer could notice. Knows nothing of its insides. */
import { latin1 } from '@proj/frames';
import { decodeEmqpHeaders } from '@proj/frames/emqp';
import type { TimerEvent } from '@proj/transport';
import type { EmqpBrokerEffect, EmqpBrokerEvent, EmqpParty } from '../../src/emqp/engine/events.js';

interface Asked {
  readonly client: string;
  readonly guarantee: boolean;
  readonly retryCount: number;
  readonly replyRequested: boolean;
  accepted: boolean;
  /** Dispatches that did not come back. */
  started: number;
  answered: boolean;
  done: boolean;
}

interface Registered {
  readonly role: 'worker' | 'scheduler';
  slots: number;
  lastHeartbeat: number;
  readonly jobs: string[];
}

/** Every request must carry an id of its own. Throws at the first thing that no broker may do. */
export class Observer {
  readonly #intervalMs: number;
  readonly #peers = new Map<string, Registered>();
  /** What workers have been given and not answered, whether they are registered or not. */
  readonly #held = new Map<string, string[]>();
  readonly #asked = new Map<string, Asked>();
  /** Who has said HEARTBEAT. */
  readonly #beaten = new Set<string>();

  constructor(intervalMs: number) {
    this.#intervalMs = intervalMs;
  }

  /** Jobs this worker was given and has not answered. */
  jobsOf(worker: string): readonly string[] {
    return this.#held.get(worker) ?? [];
  }

  /** Guaranteed jobs that were accepted and never answered. */
  get unanswered(): string[] {
    return [...this.#asked].filter(([, job]) => job.accepted && job.guarantee && !job.done).map(([id]) => id);
  }

  /** To be called with each step's event and effects. */
  observe(event: EmqpBrokerEvent | TimerEvent, effects: readonly EmqpBrokerEffect[], now: number): void {
    if (event.kind === 'message') this.#hear(event);
    if (event.kind === 'undeliverable' && event.command.kind === 'request') this.#cameBack(event.command.id, event);
    for (const effect of effects) this.#check(effect, now);
  }

  #hear({ port, peer, command }: EmqpBrokerEvent & { kind: 'message' }): void {
    const key = keyOf({ port, peer });
    if (command.kind === 'request') {
      const { guarantee, retryCount, replyRequested } = decodeEmqpHeaders(command.headers);
      const fresh = { accepted: false, started: 0, answered: false, done: false };
      this.#asked.set(command.id, { client: key, guarantee, retryCount, replyRequested, ...fresh });
    } else if (command.kind === 'heartbeat') {
      this.#beaten.add(key);
    } else if (command.kind === 'ready') {
      const worker = this.#peers.get(key);
      if (worker?.role === 'worker') worker.slots++;
    } else if (command.kind === 'result' && command.of !== undefined) {
      const held = this.#held.get(key);
      if (held?.includes(command.of) === true) held.splice(held.indexOf(command.of), 1);
    }
  }

  #cameBack(id: string, party: EmqpParty): void {
    const job = this.#asked.get(id);
    const held = this.#held.get(keyOf(party));
    if (job === undefined || held?.includes(id) !== true) return;
    held.splice(held.lastIndexOf(id), 1);
    job.started--;
  }

  #check(effect: EmqpBrokerEffect, now: number): void {
    switch (effect.kind) {
      case 'peer-joined':
        if (this.#peers.has(keyOf(effect))) throw new Error('registered twice');
        this.#peers.set(keyOf(effect), { role: effect.role, slots: 0, lastHeartbeat: -Infinity, jobs: [] });
        break;
      case 'peer-left':
        if (!this.#peers.delete(keyOf(effect))) throw new Error('lost, but never registered');
        break;
      case 'send':
        this.#checkSend(effect, now);
        break;
      case 'publish':
      case 'store':
      case 'note':
      case 'drained':
    }
  }

  #checkSend(effect: EmqpBrokerEffect & { kind: 'send' }, now: number): void {
    const { command } = effect;
    const key = keyOf(effect);
    const registered = this.#peers.get(key);
    switch (command.kind) {
      case 'request':
        if (registered?.role !== 'worker') throw new Error('a job for somebody who is no worker');
        this.#checkDispatch(key, command.id, registered);
        break;
      case 'heartbeat':
        if (registered === undefined) throw new Error('a heartbeat for somebody who is not registered');
        if (now - registered.lastHeartbeat < (this.#intervalMs * 31) / 32) throw new Error('heartbeats too close');
        registered.lastHeartbeat = now;
        break;
      case 'accepted': {
        const job = this.#asked.get(command.of);
        if (job?.client !== key || job.accepted) throw new Error('an acceptance of nothing, or again (rule 9)');
        job.accepted = true;
        break;
      }
      case 'result':
        this.#checkResult(key, command.of, latin1(command.result));
        break;
      case 'schedule':
      case 'unschedule':
        if (registered?.role !== 'scheduler') throw new Error('a schedule for somebody who is no scheduler');
        break;
      case 'bye':
        if (registered === undefined && !this.#mayHearBye(key))
          throw new Error('a farewell for somebody who is neither registered nor waits nor says HEARTBEAT');
        break;
      case 'ack':
      case 'admin-reply':
    }
  }

  #mayHearBye(key: string): boolean {
    return this.#beaten.has(key) || [...this.#asked.values()].some(({ client }) => client === key);
  }

  #checkDispatch(key: string, id: string, worker: Registered): void {
    const job = this.#asked.get(id);
    // Who beats and is not registered is told nothing (rule 6).
    if (job === undefined || !(job.accepted || this.#beaten.has(job.client)))
      throw new Error('a job that was never accepted');
    if (job.done) throw new Error('a job that is done');
    if (job.started > job.retryCount && !job.guarantee)
      throw new Error('a run too many of a job without guarantee (rule 20)');
    if (worker.slots === 0) throw new Error('a job for a worker without a slot');
    worker.slots--;
    job.started++;
    this.#held.set(key, [...(this.#held.get(key) ?? []), id]);
  }

  #checkResult(key: string, id: string | undefined, text: string): void {
    const job = this.#asked.get(id ?? '');
    if (job?.client !== key || !job.replyRequested) throw new Error('a result for somebody who did not ask');
    if (job.answered) throw new Error('a second result (rule 10)');
    if (text !== id && !text.includes('job lost')) throw new Error('the result of another job');
    job.answered = true;
    job.done = true;
  }
}

function keyOf({ port, peer }: EmqpParty): string {
  return `${port} ${peer.key}`;
}
