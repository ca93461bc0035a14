/** EventMQ broker: how it stops, and how peers are dismissed. Rules 27 and 37. */
import type { Dispatcher } from '../jobs/dispatcher.js';
import type { EmqpParty } from '../events.js';
import type { Guarantee } from '../guarantee/guarantee.js';
import type { JobEndings } from '../jobs/job-endings.js';
import type { Output } from '../output.js';
import type { Scheduler, Worker } from './peers.js';
import type { Registration } from './registration.js';
import type { Results } from '../jobs/results.js';
import type { BrokerState } from '../state.js';

/** The parts it uses. */
interface Parts {
  readonly registration: Registration;
  readonly results: Results;
  readonly endings: JobEndings;
  readonly guarantee: Guarantee;
  readonly dispatcher: Dispatcher;
}

/** Dismisses peers as they finish, and ends when all have gone or the time is up. */
export class Farewells {
  readonly #drainMs: number;
  readonly #state: BrokerState;
  readonly #out: Output;
  readonly #parts: Parts;
  /** Clients that await something, by port and routing id: they get the farewell last. */
  readonly #awaiters = new Map<string, EmqpParty>();
  /** Workers that leave when they have no jobs. */
  readonly #leaving = new Set<Worker>();
  #deadline = Infinity;

  constructor(options: { readonly drainMs: number }, state: BrokerState, out: Output, parts: Parts) {
    this.#drainMs = options.drainMs;
    this.#state = state;
    this.#out = out;
    this.#parts = parts;
  }

  /** When waiting for workers ends; `Infinity` unless the broker is stopping. */
  get deadline(): number {
    return this.#deadline;
  }

  /** Begins to stop: peers without work may leave now, the others when they are done. */
  begin(): void {
    if (this.#state.phase !== 'serving') return;
    this.#state.phase = 'draining';
    this.#deadline = this.#out.now + this.#drainMs;
    for (const client of this.#parts.endings.awaiters()) this.await(client);
    for (const member of [...this.#state.peers.values()]) this.perhapsSendHome(member);
  }

  /** The client gets our farewell when nothing more will come. */
  await(client: EmqpParty): void {
    if (this.#state.peers.find(client) === undefined) this.#awaiters.set(`${client.port} ${client.peer.key}`, client);
  }

  /** While the broker is stopping, a peer without a job may leave; so may a worker that an operator dismissed. */
  perhapsSendHome(member: Worker | Scheduler): void {
    if (member.role === 'worker' && !member.isDone) return;
    if (this.#state.phase === 'draining') this.#sendHome(member, 'drained');
    else if (member.role === 'worker' && member.isLeaving) this.#sendHome(member, 'dismissed');
  }

  /** Rule 37: the peers leave, at once or when they have no jobs. */
  dismiss(members: readonly (Worker | Scheduler)[], isGraceful: boolean): void {
    for (const member of members) {
      if (member.role === 'worker') this.#parts.dispatcher.retire(member);
      if (member.role === 'worker' && isGraceful) {
        this.#leaving.add(member);
        this.perhapsSendHome(member);
      } else this.#sendHome(member, 'dismissed');
    }
  }

  /** Ends a step: a job of a leaving worker may have ended without its READY or REPLY. */
  sendIdleHome(): void {
    if (this.#leaving.size === 0 || !this.#parts.endings.hasEnded) return;
    for (const worker of this.#leaving)
      if (this.#state.peers.find(worker) === worker) this.perhapsSendHome(worker);
      else this.#leaving.delete(worker);
  }

  /** Ends when the last peer has gone and the store has written everything. */
  finishIfDone(): void {
    const { phase, peers, keeper } = this.#state;
    const someLeft = peers.size + peers.leaving + peers.lost.size > 0;
    if (phase === 'draining' && !someLeft && !keeper.isBusy) this.#finish();
  }

  /** Ends when the time is up. */
  expire(): void {
    if (this.#out.now >= this.#deadline) this.#finish();
  }

  /** Farewell; results of jobs it still has are forwarded anyway. */
  #sendHome(member: Worker | Scheduler, reason: 'drained' | 'dismissed'): void {
    this.#out.bye(member);
    if (member.role === 'worker') {
      this.#leaving.delete(member);
      this.#parts.results.releaseSilent(member, true);
    }
    this.#parts.registration.leave(member, reason);
  }

  /** Farewell to all remaining peers, then nothing more. */
  #finish(): void {
    const { peers, queues, silenced } = this.#state;
    this.#state.phase = 'drained';
    for (const queue of queues.values()) {
      queue.isPaused = false;
      this.#parts.endings.reviewLater(queue);
    }
    this.#deadline = Infinity;
    this.#parts.endings.abandonAll();
    for (const member of [...peers.values()]) this.#sendHome(member, 'drained');
    for (const leaver of [...peers.leavers()]) peers.forget(leaver);
    for (const client of this.#awaiters.values()) if (silenced.why(client) === undefined) this.#out.bye(client);
    this.#parts.guarantee.store();
    this.#out.effects.push({ kind: 'drained' });
  }
}
