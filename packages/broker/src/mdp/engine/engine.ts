/**
 * 18/MDP 0.2, 7/MDP 0.1 and 8/MMI, the broker: who may say what, who is alive, and what follows. The rules are those of
 * docs/protocols/mdp.md, section "Broker".
 *
 * | rules | where |
 * | --- | --- |
 * | 1, 3 versions and framing side by side | `framing.ts`: each answer is framed as the peer's own message was |
 * | 2 services per version, bridge | `services.ts`, `partials.ts` |
 * | 4, 5, 6 names, bodies, addresses | the decoder in `@proj/frames/mdp`; `#onReply` |
 * | 7, 9, 10, 12, 15 which worker command means what | `legality.ts` |
 * | 8 DISCONNECT once per interval | `output.ts` |
 * | 11, 13 heartbeats and expiry | `#onTimer`, `parts/roster.ts` |
 * | 14, 16 resend, unreachable peers | `#lose`, `#onUndeliverable`, `jobs.ts` |
 * | 17 patience | `request-ttl.ts` |
 * | 18 to 22 limits, fairness, choice of worker, replies | `jobs.ts` |
 * | 23 spacing hint | `#heard` |
 * | 24 drain | `#onDrain`, `#finish` |
 * | 25, 26, 27 MMI | `#onRequest`, `mmi.ts` |
 * | 28 access | `../parts/rights.ts`, `#onAccess` |
 * | 29 services inside the broker | `jobs.ts`, `own-services.ts` |
 */
import { equalBytes } from '@proj/frames';
import type {
  MdpClientRequest,
  MdpFraming,
  MdpToBroker,
  MdpWorkerFinal,
  MdpWorkerPartial,
  MdpWorkerReady,
} from '@proj/frames/mdp';
import type { Access, Engine, Peer, TimerEvent } from '@proj/transport';
import { ENTRY_BYTES } from '../../shared/cost.js';
import { Rights } from '../../shared/rights.js';
import { type BrokerState, newBrokerState } from './state.js';
import type { MdpBrokerEffect, MdpBrokerEvent, MdpMessageDrop, MdpWorkerLoss } from './events.js';
import { framingOf } from './framing.js';
import { assertBooks } from './invariants.js';
import { Dispatcher } from './dispatcher.js';
import { LEGALITY, type WorkerCommand } from './legality.js';
import { answerMmi, hasWorkers, isListing, isReserved } from './mmi.js';
import type { MdpBrokerSettings } from '../options.js';
import { Output } from './output.js';
import type { Request } from './requests.js';
import type { Service } from './services.js';
import { type MdpBrokerStats, statsOf } from './stats.js';
import { Worker } from './workers.js';

/** The Majordomo broker as a deterministic machine. It never throws on anything a peer can cause. */
export class MdpBrokerEngine implements Engine<MdpBrokerEvent, MdpBrokerEffect> {
  readonly #settings: MdpBrokerSettings;
  readonly #books: BrokerState;
  readonly #out: Output;
  readonly #jobs: Dispatcher;
  readonly #rights = new Rights();
  #state: 'serving' | 'draining' | 'drained' = 'serving';
  #drainUntil = Infinity;

  /** `out`: where effects go. A pool's has other readers. */
  constructor(settings: MdpBrokerSettings, out = new Output(settings)) {
    this.#settings = settings;
    this.#books = newBrokerState(settings);
    this.#out = out;
    this.#jobs = new Dispatcher(settings, this.#books, this.#out);
  }

  get deadline(): number {
    return Math.min(this.#books.workers.deadline, this.#books.ttl.deadline, this.#drainUntil);
  }

  get heldBytes(): number {
    const { bytes, slack, workers, services, clients } = this.#books;
    return bytes.used + slack.used + (workers.size + services.size + clients.size) * ENTRY_BYTES;
  }

  step(event: MdpBrokerEvent | TimerEvent, now: number): readonly MdpBrokerEffect[] {
    this.#out.begin(now);
    if (this.#state !== 'drained') this.#handle(event);
    if (this.#state === 'draining' && this.#jobs.open === 0) this.#finish();
    this.#jobs.tidy();
    return this.#out.effects;
  }

  /** Sizes now and totals so far; the cost is linear in the number of services. */
  stats(): MdpBrokerStats {
    return statsOf(this.#books, this.#out.counters, this.#jobs.open);
  }

  /** Whether any worker is registered for the service, in either version. */
  serves(name: string): boolean {
    return hasWorkers(name, this.#books);
  }

  assertInvariants(): void {
    assertBooks(this.#books, {
      counters: this.#out.counters,
      open: this.#jobs.open,
      deadline: this.deadline,
      drainUntil: this.#drainUntil,
      lateUntil: this.#books.workers.lateUntil,
    });
  }

  #handle(event: MdpBrokerEvent | TimerEvent): void {
    switch (event.kind) {
      case 'message':
        this.#onMessage(event.peer, event.command);
        break;
      case 'timer':
        this.#onTimer(event.lateMs);
        break;
      case 'undeliverable':
        this.#onUndeliverable(event);
        break;
      case 'peer-gone':
        this.#onPeerGone(event.peer);
        break;
      case 'rejected':
        this.#onInvalid(event.peer, event.reason);
        break;
      case 'access':
        this.#onAccess(event.access);
        break;
      case 'memory':
        this.#books.isTight = event.isTight;
        break;
      case 'drain':
        this.#onDrain();
        break;
      case 'own-request':
        if (this.#state === 'serving') this.#jobs.accept(event.peer, event.command);
        else this.#out.dropRequest('draining', event.peer, event.command.service);
        break;
      default:
        this.#jobs.onOwn(event);
    }
  }

  #onMessage(peer: Peer, command: MdpToBroker): void {
    if (command.kind === 'client-request') {
      this.#onRequest(peer, command);
    } else if (command.kind === 'malformed' && command.side === 'client') {
      // The same identity may be a worker, too, and what it says as a client costs it nothing there.
      this.#out.dropMessage(command.reason, peer);
    } else {
      const worker = this.#books.workers.find(peer);
      if (worker === undefined) this.#fromStranger(peer, command);
      else this.#fromWorker(worker, peer, command);
    }
  }

  /** Rules 24 to 27: MMI is answered at once and leaves no trace in any queue. */
  #onRequest(peer: Peer, command: MdpClientRequest): void {
    const { service } = command;
    if (this.#state !== 'serving') {
      this.#out.dropRequest('draining', peer, service);
    } else if (this.#rights.forbid(peer, 'request', service)) {
      this.#out.dropRequest('not-allowed', peer, service);
    } else if (this.#books.isTight && isListing(service)) {
      this.#out.dropRequest('memory', peer, service);
    } else if (isReserved(service)) {
      this.#out.counters.mmi++;
      const body = answerMmi(command, this.#books, this.#settings.mmiAdditions, this.#out.now);
      this.#out.send(peer, { kind: 'client-final', ...framingOf(command), service, body });
    } else {
      this.#jobs.accept(peer, command);
    }
  }

  #fromStranger(peer: Peer, command: WorkerCommand): void {
    if (command.kind === 'malformed') {
      this.#out.dropMessage(command.reason, peer);
    } else if (LEGALITY.stranger[command.kind][0] === 'refuse') {
      this.#refuse(peer, framingOf(command), 'unknown-worker');
    } else if (command.kind === 'worker-ready') {
      this.#onReady(peer, command);
    }
    // What remains is DISCONNECT, after which nothing is sent (rule 10).
  }

  /** `peer` is its sender: the worker, or else somebody of its routing id with another key, who can do it no harm. */
  #fromWorker(worker: Worker, peer: Peer, command: WorkerCommand): void {
    if (this.#rights.forbid(peer, 'serve', worker.service.name)) {
      this.#out.dropMessage('not-allowed', peer);
    } else if (command.kind === 'malformed') {
      this.#onInvalid(worker.peer, command.reason);
    } else if (command.version !== worker.framing.version) {
      this.#onInvalid(worker.peer, 'wrong-version');
    } else if (LEGALITY[worker.request === undefined ? 'idle' : 'busy'][command.kind][0] === 'expel') {
      this.#expel(worker);
    } else if (command.kind === 'disconnect') {
      this.#lose(worker, 'disconnected');
    } else {
      this.#heard(worker, command.kind === 'heartbeat');
      if (command.kind === 'worker-final' || command.kind === 'worker-partial') this.#onReply(worker, command);
    }
  }

  #onReady(peer: Peer, command: MdpWorkerReady): void {
    const { workers, services } = this.#books;
    const framing = framingOf(command);
    const known = services.find(command.version, command.service);
    if (command.service.length > this.#settings.serviceNameMaxBytes) this.#out.dropMessage('service-invalid', peer);
    else if (isReserved(command.service)) this.#refuse(peer, framing, 'reserved-service');
    else if (this.#rights.forbid(peer, 'serve', command.service)) this.#refuse(peer, framing, 'not-allowed');
    else if (!services.mayServe(known)) this.#refuse(peer, framing, 'services-limit');
    else if (workers.size >= this.#settings.workersMax) this.#refuse(peer, framing, 'workers-limit');
    else if (this.#books.isTight && (known?.queue.size ?? 0) === 0) this.#refuse(peer, framing, 'memory');
    else this.#register(peer, framing, known ?? services.add(command.version, command.service));
  }

  #register(peer: Peer, framing: MdpFraming, service: Service): void {
    const worker = new Worker(peer, service, framing, this.#out.now);
    this.#books.workers.add(worker, this.#out.now);
    if (this.#books.services.join(service)) this.#books.ttl.change(service, this.#out.now);
    this.#out.counters.workersReady++;
    this.#out.effects.push({ kind: 'worker-ready', peer, service: service.name, version: framing.version });
    this.#jobs.free(worker);
  }

  /** Rule 12: a sign of life. Rule 23: and a hint, once, when it was long in coming. */
  #heard(worker: Worker, beat: boolean): void {
    const { workers } = this.#books;
    const expiryMs = workers.expiryMs(worker);
    const silentMs = workers.heard(worker, this.#out.now, beat);
    if (silentMs === undefined) return;
    const { peer, service } = worker;
    this.#out.effects.push({ kind: 'note', code: 'spacing-hint', peer, service: service.name, silentMs, expiryMs });
  }

  /** Rules 6 and 7: the address of a reply must be that of the job's client. */
  #onReply(worker: Worker, command: MdpWorkerPartial | MdpWorkerFinal): void {
    const request = worker.request as Request;
    if (!equalBytes(command.client, request.client.peer.id)) this.#expel(worker);
    else if (command.kind === 'worker-partial') this.#jobs.partial(worker, request, command);
    else this.#jobs.final(worker, request, command);
  }

  /** Rule 9 and the limits of the socket: dropped; a registered worker pays with its registration. */
  #onInvalid(peer: Peer, reason: MdpMessageDrop): void {
    this.#out.dropMessage(reason, peer);
    const worker = this.#books.workers.find(peer);
    if (worker === undefined) return;
    this.#out.disconnect(peer, worker.framing);
    this.#lose(worker, 'invalid');
  }

  /** Rule 7, to a registered worker. */
  #expel(worker: Worker): void {
    this.#out.dropMessage('unexpected', worker.peer);
    this.#out.disconnect(worker.peer, worker.framing);
    this.#lose(worker, 'unexpected');
  }

  /**
   * Rule 28: also for workers that are registered; requests that were taken stay taken. All who must go do so before the first
   * job is resent, or it would be given to one that goes next.
   */
  #onAccess(access: Access): void {
    this.#rights.replace(access);
    const dismissed: Worker[] = [];
    for (const worker of this.#books.workers.values())
      if (!access.allows(worker.peer, 'serve', worker.service.name)) dismissed.push(worker);
    for (const worker of dismissed) {
      this.#out.disconnect(worker.peer, worker.framing);
      this.#forget(worker, 'not-allowed');
    }
    this.#jobs.recover(dismissed);
  }

  /** Rules 7 and 15, to a stranger. */
  #refuse(peer: Peer, framing: MdpFraming, reason: MdpMessageDrop): void {
    this.#out.dropMessage(reason, peer);
    this.#out.disconnect(peer, framing);
  }

  /** Rule 14: a worker is no more. Nothing is sent to it from here on. */
  #lose(worker: Worker, reason: MdpWorkerLoss): void {
    this.#forget(worker, reason);
    this.#jobs.recover([worker]);
  }

  /** Takes the worker out of all books but its own; its job remains to be recovered. */
  #forget(worker: Worker, reason: MdpWorkerLoss): void {
    const { peer, service, framing } = worker;
    this.#books.workers.remove(worker);
    service.idle.remove(worker.idle);
    if (this.#books.services.leave(service)) this.#books.ttl.change(service, this.#out.now);
    this.#out.counters.workersLost++;
    this.#out.effects.push({ kind: 'worker-lost', peer, service: service.name, version: framing.version, reason });
  }

  /** Rule 16. */
  #onUndeliverable({ peer, command, reason }: MdpBrokerEvent & { kind: 'undeliverable' }): void {
    const worker = this.#books.workers.find(peer);
    switch (command.kind) {
      case 'worker-request':
        // It never got there, so it was no attempt: the request is not to blame for a worker that was gone already.
        if (worker?.request !== undefined) worker.request.attempts--;
        if (worker !== undefined) this.#lose(worker, reason);
        break;
      case 'heartbeat':
        if (worker !== undefined) this.#lose(worker, reason);
        break;
      case 'client-partial':
      case 'client-final':
        this.#out.dropReply('reply-undeliverable', peer, command.service);
        if (reason === 'unreachable') this.#jobs.clientGone(peer);
        break;
      default:
      // A DISCONNECT that finds nobody has nothing left to do.
    }
  }

  /** Rule 16, told by the transport before any send: both roles of the identity are over. */
  #onPeerGone(peer: Peer): void {
    const worker = this.#books.workers.find(peer);
    if (worker !== undefined) this.#lose(worker, 'gone');
    this.#jobs.clientGone(peer);
  }

  #onTimer(lateMs: number): void {
    if (lateMs > this.#settings.heartbeatIntervalMs) this.#beLate(lateMs);
    this.#expireWorkers();
    this.#sendHeartbeats();
    this.#jobs.expire();
    if (this.#out.now >= this.#drainUntil) this.#finish();
  }

  /** We were too busy to listen: what was not heard meanwhile proves nothing about the peers (ADR 4). */
  #beLate(lateMs: number): void {
    const { now } = this.#out;
    this.#books.workers.postponeExpiry(lateMs, now);
    this.#books.ttl.postpone(lateMs, now);
    this.#out.effects.push({ kind: 'note', code: 'running-late', lateMs });
  }

  /** Rule 13. All that are due go before the first job is resent, or it would be given to one that goes next. */
  #expireWorkers(): void {
    const { workers } = this.#books;
    let expired = workers.takeExpired(this.#out.now);
    if (expired === undefined) return;
    const lost: Worker[] = [];
    for (; expired !== undefined; expired = workers.takeExpired(this.#out.now)) {
      this.#forget(expired, 'expired');
      lost.push(expired);
    }
    this.#jobs.recover(lost);
  }

  /** Rule 11: to all, busy or idle, whatever else they were sent. */
  #sendHeartbeats(): void {
    const { workers } = this.#books;
    let worker = workers.takeHeartbeatDue(this.#out.now);
    for (; worker !== undefined; worker = workers.takeHeartbeatDue(this.#out.now)) {
      const { version, leadingEmpty } = worker.framing;
      this.#out.counters.heartbeatsSent++;
      this.#out.send(worker.peer, { kind: 'heartbeat', version, leadingEmpty });
    }
  }

  /** Rule 24: no new requests, and none that waits is started; what runs, resends included, may finish. */
  #onDrain(): void {
    if (this.#state !== 'serving') return;
    this.#state = 'draining';
    this.#drainUntil = this.#out.now + this.#settings.drainMs;
    this.#jobs.abandonWaiting();
  }

  /** Rule 24: DISCONNECT to every worker, then nothing more. */
  #finish(): void {
    this.#state = 'drained';
    this.#drainUntil = Infinity;
    this.#jobs.abandonWaiting();
    this.#jobs.endOwn();
    for (const worker of this.#books.workers.values()) {
      this.#out.farewell(worker.peer, worker.framing);
      this.#forget(worker, 'drained');
      if (worker.request !== undefined) this.#jobs.abandon(worker.request, 'drained');
      worker.request = undefined;
      this.#jobs.recover([worker]);
    }
    this.#out.effects.push({ kind: 'drained' });
  }
}
