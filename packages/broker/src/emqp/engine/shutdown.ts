/** EventMQ broker: how it stops. Rule 27. */
import type { EmqpParty } from './events.js';
import type { Guarantee } from './guarantee.js';
import type { JobEndings } from './job-endings.js';
import type { Output } from './output.js';
import type { Scheduler, Worker } from './peers.js';
import type { Registration } from './registration.js';
import type { Results } from './results.js';
import type { BrokerState } from './state.js';

/** Sends peers home as they finish, and ends when all have gone or the time is up. */
export class Shutdown {
  readonly #drainMs: number;
  readonly #state: BrokerState;
  readonly #out: Output;
  readonly #parts: {
    readonly registration: Registration;
    readonly results: Results;
    readonly endings: JobEndings;
    readonly guarantee: Guarantee;
  };
  /** Clients that wait for something, by port and routing id: they get the farewell last. */
  readonly #awaiters = new Map<string, EmqpParty>();
  #deadline = Infinity;

  constructor(
    options: { readonly drainMs: number },
    state: BrokerState,
    out: Output,
    parts: { registration: Registration; results: Results; endings: JobEndings; guarantee: Guarantee },
  ) {
    this.#drainMs = options.drainMs;
    this.#state = state;
    this.#out = out;
    this.#parts = parts;
  }

  /** When waiting for workers ends; `Infinity` unless the broker stops. */
  get deadline(): number {
    return this.#deadline;
  }

  /** Begins to stop: peers without work may go now, the others when they are done. */
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

  /** While the broker stops, a peer without a job may go. */
  perhapsSendHome(member: Worker | Scheduler): void {
    if (this.#state.phase === 'draining' && (member.role === 'scheduler' || member.isDone)) this.#sendHome(member);
  }

  /** Ends when the last peer has gone and the store has taken everything. */
  finishIfDone(): void {
    const { phase, peers, keeper } = this.#state;
    if (phase === 'draining' && peers.size + peers.leaving === 0 && !keeper.isBusy) this.#finish();
  }

  /** Ends when the time is up. */
  expire(): void {
    if (this.#out.now >= this.#deadline) this.#finish();
  }

  /** Farewell; results of jobs it still has are forwarded all the same. */
  #sendHome(member: Worker | Scheduler): void {
    this.#out.bye(member);
    if (member.role === 'worker') this.#parts.results.releaseSilent(member, true);
    this.#parts.registration.leave(member, 'drained');
  }

  /** Farewell to everybody who is left, then nothing more. */
  #finish(): void {
    const { peers, silenced } = this.#state;
    this.#state.phase = 'drained';
    this.#deadline = Infinity;
    this.#parts.endings.abandonAll();
    for (const member of [...peers.values()]) this.#sendHome(member);
    for (const leaver of [...peers.leavers()]) peers.forget(leaver);
    for (const client of this.#awaiters.values()) if (silenced.why(client) === undefined) this.#out.bye(client);
    this.#parts.guarantee.store();
    this.#out.effects.push({ kind: 'drained' });
  }
}
