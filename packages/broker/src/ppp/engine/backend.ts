/**
 * 6/PPP for a queue or a pool: which workers are registered and alive, and what they are sent. Rules 1 to 3, 6 to 13, 16, 20 and 21 of
 * docs/protocols/ppp.md, section "Queue". `legality.ts` says what their messages mean, `dispatcher.ts` what happens to requests,
 * `lost-workers.ts` which workers are lost.
 */
import { equalBytes } from '@proj/frames';
import type { PppAddressedReply, PppToQueue } from '@proj/frames/ppp';
import type { Access, Peer, RejectReason } from '@proj/transport';
import { isNamed } from '../../shared/figures.js';
import { Rights } from '../../shared/rights.js';
import type { PppBackendSettings } from '../options.js';
import { Dispatcher, type Requester } from './dispatcher.js';
import type { PppBackendEvent, PppDismissal, PppMessageDrop } from './events.js';
import { LEGALITY } from './legality.js';
import { LostWorkers } from './lost-workers.js';
import type { Output } from './output.js';
import { type BrokerState, newBrokerState, type PppPoolStats, type Request, Worker } from './state.js';

/** Rule 20: the name of all work of a queue or pool in access rules. */
export const WORK = 'ppp';

/** The workers' side of an engine. */
export class Backend<Asked extends Request> {
  readonly state: BrokerState<Asked>;
  readonly dispatcher: Dispatcher<Asked>;
  /** Rule 20: who may serve and request {@link WORK}. */
  readonly rights = new Rights();
  readonly #settings: PppBackendSettings;
  readonly #out: Output<unknown>;
  readonly #lost: LostWorkers<Asked>;
  #phase: 'serving' | 'draining' | 'drained' = 'serving';
  #drainUntil = Infinity;

  constructor(settings: PppBackendSettings, out: Output<unknown>, requester: Requester<Asked>) {
    this.#settings = settings;
    this.#out = out;
    this.state = newBrokerState(settings);
    this.dispatcher = new Dispatcher(settings, this.state, out, requester);
    this.#lost = new LostWorkers(this.state, out, this.dispatcher);
  }

  get phase(): 'serving' | 'draining' | 'drained' {
    return this.#phase;
  }

  /** When something is due on this side; `drainUntil` included. */
  get deadline(): number {
    const { workers, jobs, errands } = this.state;
    return Math.min(workers.deadline, jobs?.deadline ?? Infinity, errands.deadline, this.#drainUntil);
  }

  /** When a drain ends at the latest. */
  get drainUntil(): number {
    return this.#drainUntil;
  }

  stats(): PppPoolStats {
    const { workers, idle, queue, bytes } = this.state;
    const { counters } = this.#out;
    return {
      counters: { ...counters, dropped: { ...counters.dropped } },
      workers: workers.size,
      busy: workers.size - idle.size,
      waiting: queue.size,
      openRequests: this.dispatcher.open,
      openBytes: bytes.used,
    };
  }

  handle(event: PppBackendEvent): void {
    const { peer } = event;
    if ((event.kind === 'message' || event.kind === 'rejected') && this.rights.forbid(peer, 'serve', WORK)) {
      this.#out.dropMessage('not-allowed', 'backend', peer);
      return;
    }
    const worker = this.state.workers.find(peer);
    switch (event.kind) {
      case 'message':
        this.#onMessage(peer, worker, event.command);
        break;
      case 'rejected':
        this.#drop(peer, worker, dropReason(event.reason));
        break;
      case 'undeliverable':
        // Rule 12. The request never reached the worker, so this was no attempt.
        if (event.command.kind === 'request' && worker?.request !== undefined) worker.request.attempts--;
        if (worker !== undefined) this.#lost.lose(worker, event.reason);
        break;
      case 'peer-gone':
        if (worker !== undefined) this.#lost.lose(worker, 'gone');
        break;
    }
  }

  /** Rule 20: also for registered workers; accepted requests stay accepted. */
  replaceRights(access: Access): void {
    this.rights.replace(access);
    const dismissed = [...this.state.workers.values()].filter(({ peer }) => !access.allows(peer, 'serve', WORK));
    this.#lost.dismiss(dismissed, 'not-allowed');
  }

  /** The workers with this routing id, as text or in hex. */
  named(name: string): Worker<Asked>[] {
    return [...this.state.workers.values()].filter(({ peer }) => isNamed(peer, name));
  }

  /** Rule 21: at once, or as soon as their jobs have ended. PPP cannot tell them. */
  dismiss({ worker, isGraceful }: PppDismissal): void {
    const chosen = this.named(worker);
    for (const each of chosen) each.isLeaving = true;
    const now = isGraceful ? chosen.filter(({ request }) => request === undefined) : chosen;
    this.#lost.dismiss(now);
  }

  /** Does what is due: what clients left, expiry, job timeouts, heartbeats, the end of a drain. `lateMs` as in a timer event. */
  onTimer(lateMs: number): void {
    if (lateMs > this.#settings.heartbeatIntervalMs) this.#beLate(lateMs);
    this.state.errands.goOn(this.#out.now);
    this.#lost.expire();
    this.#sendHeartbeats();
    if (this.#out.now >= this.#drainUntil) this.#finish();
  }

  /** Rule 19: gives up waiting requests; running jobs may finish, and are resent if their worker is lost. */
  drain(): void {
    if (this.#phase !== 'serving') return;
    this.#phase = 'draining';
    this.#drainUntil = this.#out.now + this.#settings.drainMs;
    this.dispatcher.giveUpWaiting('drained');
  }

  /** Ends a step: a drain ends once nothing runs. */
  settle(): void {
    if (this.#phase === 'draining' && this.dispatcher.open === 0) this.#finish();
  }

  #onMessage(peer: Peer, worker: Worker<Asked> | undefined, command: PppToQueue): void {
    const standing = worker === undefined ? 'stranger' : worker.request === undefined ? 'idle' : 'busy';
    const [verdict] = LEGALITY[standing][command.kind];
    if (command.kind === 'malformed') this.#drop(peer, worker, command.reason);
    else if (verdict === 'drop') this.#drop(peer, worker, worker === undefined ? 'unregistered' : 'reply-unexpected');
    else if (worker === undefined) this.#onReady(peer);
    else if (verdict === 'restart') {
      this.#lost.lose(worker, 'restarted');
      this.#onReady(peer, worker);
    } else if (command.kind === 'reply') this.#onReply(worker, command);
    else this.#heard(worker, command.kind === 'heartbeat');
  }

  /** `before`: its state before it restarted. */
  #onReady(peer: Peer, before?: Worker<Asked>): void {
    const { workers, registrations } = this.state;
    if (workers.size >= this.#settings.workersMax) this.#drop(peer, undefined, 'workers-limit');
    else if (!registrations.take(peer.key, this.#out.now)) this.#drop(peer, undefined, 'registrations-limit');
    else this.#register(peer, before);
  }

  /** Rule 9: the reply counts if its address is that of the job. Rule 18: ids are compared as bytes. */
  #onReply(worker: Worker<Asked>, reply: PppAddressedReply): void {
    const request = worker.request as Asked;
    const [asked] = request.addresses;
    const [address] = reply.addresses;
    if (asked !== undefined && address !== undefined && equalBytes(asked, address)) {
      this.#heard(worker, false);
      this.dispatcher.reply(worker, request, reply);
      if (worker.isLeaving) this.#lost.forget(worker, 'dismissed');
    } else this.#drop(worker.peer, worker, 'reply-address');
  }

  #register(peer: Peer, before: Worker<Asked> | undefined): void {
    const { now } = this.#out;
    const worker = new Worker<Asked>(peer, now);
    worker.done = before?.done ?? 0;
    worker.resends = before?.resends ?? 0;
    this.state.workers.add(worker, now);
    this.#out.counters.workersReady++;
    this.#out.effects.push({ kind: 'worker-ready', peer });
    this.dispatcher.free(worker);
  }

  /** Rules 1, 2 and 10: dropped messages are counted and never answered, but show that their sender is alive. */
  #drop(peer: Peer, worker: Worker<Asked> | undefined, reason: PppMessageDrop): void {
    this.#out.dropMessage(reason, 'backend', peer);
    if (worker !== undefined) this.#heard(worker, false);
  }

  #heard(worker: Worker<Asked>, beat: boolean): void {
    const { workers } = this.state;
    const expiryMs = workers.expiryMs(worker);
    const silentMs = workers.heard(worker, this.#out.now, beat);
    if (silentMs === undefined) return;
    const { peer } = worker;
    this.#out.effects.push({ kind: 'note', code: 'spacing-hint', socket: 'backend', peer, silentMs, expiryMs });
  }

  /** Our process was too busy to listen, so silence meanwhile proves nothing about the workers (ADR 4). */
  #beLate(lateMs: number): void {
    this.state.workers.postponeExpiry(lateMs, this.#out.now);
    this.state.jobs?.postpone(lateMs, this.#out.now);
    this.#out.effects.push({ kind: 'note', code: 'running-late', lateMs });
  }

  /** Rule 7: to all workers, busy or idle, whatever else they are sent. */
  #sendHeartbeats(): void {
    const { workers } = this.state;
    let worker = workers.takeHeartbeatDue(this.#out.now);
    for (; worker !== undefined; worker = workers.takeHeartbeatDue(this.#out.now)) {
      this.#out.counters.heartbeatsSent++;
      this.#out.sendToWorker(worker.peer, { kind: 'heartbeat' });
    }
  }

  /** Rule 19: PPP has no goodbye, so workers are forgotten without a message. */
  #finish(): void {
    this.#phase = 'drained';
    this.#drainUntil = Infinity;
    this.dispatcher.giveUpWaiting('drained');
    for (const worker of this.state.workers.values()) {
      this.#lost.forget(worker, 'drained');
      const { request } = worker;
      worker.request = undefined;
      if (request !== undefined) this.dispatcher.giveUp(request, 'drained');
    }
    this.#out.effects.push({ kind: 'drained' });
  }
}

function dropReason(reason: RejectReason): PppMessageDrop {
  return reason === 'too-many-frames' ? 'too-large' : reason;
}
