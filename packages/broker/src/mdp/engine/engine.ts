/**
 * 18/MDP 0.2, 7/MDP 0.1 and 8/MMI, the broker: which peer may send what, which are alive, what follows. Rules: docs/protocols/mdp.md, "Broker".
 *
 * | rule | what | file |
 * | --- | --- | --- |
 * | 1 | both versions at one ROUTER | records.ts, socket-plans.ts |
 * | 2 | services per version, bridge | state.ts, dispatcher.ts, partials.ts |
 * | 3 | strict frames, `acceptLeadingEmpty` | frames/src/mdp/decode.ts, socket-plans.ts |
 * | 4 | names of services | frames/src/mdp/decode.ts, dispatcher.ts, engine.ts |
 * | 5 | bodies as they came | frames/src/mdp/decode.ts, dispatcher.ts |
 * | 6 | one address of a client | frames/src/mdp/decode.ts, engine.ts |
 * | 7, 9, 10, 12, 15 | what each command of a worker means | legality.ts, engine.ts |
 * | 8 | one DISCONNECT per interval | output.ts |
 * | 11 | heartbeats | engine.ts, shared/worker-table.ts |
 * | 13 | silent workers | lost-workers.ts, shared/worker-table.ts |
 * | 14 | jobs that go back | lost-workers.ts, dispatcher.ts |
 * | 16 | unreachable peers | engine.ts, lost-workers.ts |
 * | 17 | how long requests wait | request-expiry.ts, dispatcher.ts |
 * | 18 | bounds of queues | dispatcher.ts, shared/displacement.ts, shared/budget.ts |
 * | 19 | open requests of a client | dispatcher.ts |
 * | 20 | clients take turns | shared/fair-queue.ts, dispatcher.ts |
 * | 21 | which worker is next | dispatcher.ts |
 * | 22 | PARTIAL and FINAL | dispatcher.ts, partials.ts |
 * | 23 | hint at other intervals | engine.ts, shared/worker-table.ts |
 * | 24 | closing | engine.ts |
 * | 25 to 27 | MMI | management/mmi.ts, engine.ts |
 * | 28 | access | engine.ts, shared/rights.ts, lost-workers.ts |
 * | 29 | services inside the broker | management/own-services.ts, dispatcher.ts, own-handlers.ts |
 * | 30 | dismissed workers | lost-workers.ts, engine.ts |
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
import type { ClientSnapshot, EngineSnapshot } from '@proj/transport/engine';
import { ENTRY_BYTES } from '../../shared/cost.js';
import { Rights } from '../../shared/rights.js';
import type { MdpBrokerSettings } from '../options.js';
import { detailOf } from './detail.js';
import { Dispatcher } from './dispatcher.js';
import type { MdpBrokerEffect, MdpBrokerEvent, MdpMessageDrop, MdpWorkerChoice } from './events.js';
import { assertState } from './invariants.js';
import { LEGALITY, type WorkerCommand } from './legality.js';
import { LostWorkers } from './lost-workers.js';
import { answerMmi, hasWorkers, isListing, isReserved } from './management/mmi.js';
import { Output } from './output.js';
import { framingOf, isMeant, type Request, type Service, Worker } from './records.js';
import { type BrokerState, type MdpBrokerStats, newBrokerState, statsOf } from './state.js';

/** The Majordomo broker as a deterministic state machine. Never throws because of a peer. */
export class MdpBrokerEngine implements Engine<MdpBrokerEvent, MdpBrokerEffect> {
  readonly #settings: MdpBrokerSettings;
  readonly #state: BrokerState;
  readonly #out: Output;
  readonly #dispatcher: Dispatcher;
  readonly #lost: LostWorkers;
  readonly #rights = new Rights();
  #phase: 'serving' | 'draining' | 'drained' = 'serving';
  #drainUntil = Infinity;

  /** `out`: collects effects; a pool has its own. */
  constructor(settings: MdpBrokerSettings, out = new Output(settings)) {
    this.#settings = settings;
    this.#state = newBrokerState(settings);
    this.#out = out;
    this.#dispatcher = new Dispatcher(settings, this.#state, this.#out);
    this.#lost = new LostWorkers(this.#state, this.#out, this.#dispatcher);
  }

  get deadline(): number {
    return Math.min(this.#state.workers.deadline, this.#dispatcher.deadline, this.#drainUntil);
  }

  get heldBytes(): number {
    const { bytes, slack, workers, services, clients } = this.#state;
    return bytes.used + slack.used + (workers.size + services.size + clients.size) * ENTRY_BYTES;
  }

  step(event: MdpBrokerEvent | TimerEvent, now: number): readonly MdpBrokerEffect[] {
    this.#out.begin(now);
    if (this.#phase !== 'drained') this.#handle(event);
    if (this.#phase === 'draining' && this.#dispatcher.open === 0) this.#finish();
    this.#dispatcher.tidy();
    return this.#out.effects;
  }

  /** Current sizes and running totals; the cost is linear in the number of services. */
  stats(): MdpBrokerStats {
    return statsOf(this.#state, this.#out.counters, this.#dispatcher.open);
  }

  /** The operator's view at `now`; the cost is linear in the services, workers and clients. `calls`: those of a pool, instead of clients. */
  detail(now: number, calls?: ClientSnapshot): EngineSnapshot {
    return detailOf(this.#state, this.#out, this.#dispatcher.open, now, calls);
  }

  /** The registered workers that the choice matches. */
  chosen(choice: MdpWorkerChoice): readonly Worker[] {
    return [...this.#state.workers.values()].filter((worker) => isMeant(worker, choice));
  }

  /** True if any worker is registered for the service, in either version. */
  serves(name: string): boolean {
    return hasWorkers(name, this.#state);
  }

  assertInvariants(): void {
    assertState(this.#state, this.stats(), this.deadline, this.#drainUntil);
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
        this.#state.bytes.isTight = event.isTight;
        break;
      case 'drain':
        this.#onDrain();
        break;
      case 'dismiss':
        this.#onDismiss(event, event.isGraceful);
        break;
      case 'own-request':
        if (this.#phase === 'serving') this.#dispatcher.accept(event.peer, event.command);
        else this.#dispatcher.refuse(event.peer, event.command, 'draining');
        break;
      case 'own-abandoned':
        this.#dispatcher.clientGone(event.peer, event.reason);
        break;
      default:
        this.#dispatcher.own.handle(event);
    }
  }

  #onMessage(peer: Peer, command: MdpToBroker): void {
    if (command.kind === 'client-request') {
      this.#onRequest(peer, command);
    } else if (command.kind === 'malformed' && command.side === 'client') {
      // The same identity may also be a worker; what it sends as a client does not affect the worker.
      this.#out.dropMessage(command.reason, peer);
    } else {
      const worker = this.#state.workers.find(peer);
      if (worker === undefined) this.#fromStranger(peer, command);
      else this.#fromWorker(worker, peer, command);
    }
  }

  /** Rules 24 to 27: MMI is answered at once and enters no queue. */
  #onRequest(peer: Peer, command: MdpClientRequest): void {
    const { service } = command;
    if (this.#phase !== 'serving') {
      this.#dispatcher.refuse(peer, command, 'draining');
    } else if (this.#rights.forbid(peer, 'request', service)) {
      this.#dispatcher.refuse(peer, command, 'not-allowed');
    } else if (this.#state.bytes.isTight && isListing(service)) {
      this.#out.dropRequest('memory', peer, service);
      this.#out.release(command.body);
    } else if (isReserved(service)) {
      this.#out.counters.mmi++;
      const body = answerMmi(command, this.#state, this.#settings.mmiAdditions, this.#out.now);
      this.#out.send(peer, { kind: 'client-final', ...framingOf(command), service, body });
    } else {
      this.#dispatcher.accept(peer, command);
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
    // What remains is DISCONNECT, which is not answered (rule 10).
  }

  /** `peer` is the sender: the worker, or a peer with its routing id but another key, which must not affect the worker. */
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
      this.#lost.lose(worker, 'disconnected');
    } else {
      this.#heard(worker, command.kind === 'heartbeat');
      if (command.kind === 'worker-final' || command.kind === 'worker-partial') this.#onReply(worker, command);
    }
  }

  #onReady(peer: Peer, command: MdpWorkerReady): void {
    const { workers, services, registrations } = this.#state;
    const framing = framingOf(command);
    const known = services.find(command.version, command.service);
    if (command.service.length > this.#settings.serviceNameMaxBytes) this.#out.dropMessage('service-invalid', peer);
    else if (isReserved(command.service)) this.#refuse(peer, framing, 'reserved-service');
    else if (this.#rights.forbid(peer, 'serve', command.service)) this.#refuse(peer, framing, 'not-allowed');
    else if (!services.mayServe(known)) this.#refuse(peer, framing, 'services-limit');
    else if (workers.size >= this.#settings.workersMax) this.#refuse(peer, framing, 'workers-limit');
    else if (!registrations.take(peer.key, this.#out.now)) this.#refuse(peer, framing, 'registrations-limit');
    else this.#register(peer, framing, known ?? services.add(command.version, command.service));
  }

  #register(peer: Peer, framing: MdpFraming, service: Service): void {
    const worker = new Worker(peer, service, framing, this.#out.now);
    this.#state.workers.add(worker, this.#out.now);
    if (this.#state.services.join(service)) this.#state.expiry.change(service, this.#out.now);
    this.#out.counters.workersReady++;
    this.#out.effects.push({ kind: 'worker-ready', peer, service: service.name, version: framing.version });
    this.#dispatcher.free(worker);
  }

  /** Rule 12: records a sign of life. Rule 23: one note if the peer was silent for long. */
  #heard(worker: Worker, beat: boolean): void {
    const { workers } = this.#state;
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
    else if (command.kind === 'worker-partial') this.#dispatcher.partial(worker, request, command);
    else {
      this.#dispatcher.final(worker, request, command);
      if (worker.isLeaving) this.#lost.dismiss([worker]);
    }
  }

  /** Rule 9 and the limits of the socket: the message is dropped, and a registered worker forgotten. */
  #onInvalid(peer: Peer, reason: MdpMessageDrop): void {
    this.#out.dropMessage(reason, peer);
    const worker = this.#state.workers.find(peer);
    if (worker === undefined) return;
    this.#out.disconnect(peer, worker.framing);
    this.#lost.lose(worker, 'invalid');
  }

  /** Rule 7, for a registered worker. */
  #expel(worker: Worker): void {
    this.#out.dropMessage('unexpected', worker.peer);
    this.#out.disconnect(worker.peer, worker.framing);
    this.#lost.lose(worker, 'unexpected');
  }

  /**
   * Rule 28: also for registered workers; accepted requests stay accepted. All dismissed workers are forgotten before the first job is
   * resent, or it could go to one of them.
   */
  #onAccess(access: Access): void {
    this.#rights.replace(access);
    const isOut = ({ peer, service }: Worker) => !access.allows(peer, 'serve', service.name);
    this.#lost.dismiss([...this.#state.workers.values()].filter(isOut), 'not-allowed');
  }

  /** Rule 30: at once, or as soon as their jobs have ended. */
  #onDismiss(choice: MdpWorkerChoice, isGraceful: boolean): void {
    const chosen = this.chosen(choice);
    for (const worker of chosen) worker.isLeaving = true;
    this.#lost.dismiss(isGraceful ? chosen.filter(({ request }) => request === undefined) : chosen);
  }

  /** Rules 7 and 15, for an unregistered peer. */
  #refuse(peer: Peer, framing: MdpFraming, reason: MdpMessageDrop): void {
    this.#out.dropMessage(reason, peer);
    this.#out.disconnect(peer, framing);
  }

  /** Rule 16. */
  #onUndeliverable({ peer, command, reason, others = 0 }: MdpBrokerEvent & { kind: 'undeliverable' }): void {
    const worker = this.#state.workers.find(peer);
    switch (command.kind) {
      case 'worker-request':
        // The request never reached the worker, so this was no attempt.
        if (worker?.request !== undefined) worker.request.attempts--;
        if (worker !== undefined) this.#lost.lose(worker, reason);
        break;
      case 'heartbeat':
        if (worker !== undefined) this.#lost.lose(worker, reason);
        break;
      case 'client-partial':
      case 'client-final':
        this.#out.dropReply('reply-undeliverable', peer, command.service, 1 + others);
        if (reason === 'unreachable') this.#dispatcher.clientGone(peer);
        break;
      default:
      // DISCONNECT: the worker has already been forgotten.
    }
  }

  /** Rule 16, as reported by the transport: both roles of the identity end. */
  #onPeerGone(peer: Peer): void {
    const worker = this.#state.workers.find(peer);
    if (worker !== undefined) this.#lost.lose(worker, 'gone');
    this.#dispatcher.clientGone(peer);
  }

  #onTimer(lateMs: number): void {
    if (lateMs > this.#settings.heartbeatIntervalMs) this.#beLate(lateMs);
    this.#lost.expire();
    this.#sendHeartbeats();
    this.#dispatcher.expire();
    if (this.#out.now >= this.#drainUntil) this.#finish();
  }

  /** Our process was too busy to listen, so silence meanwhile proves nothing about the peers (ADR 4). */
  #beLate(lateMs: number): void {
    this.#state.workers.postponeExpiry(lateMs, this.#out.now);
    this.#state.expiry.postpone(lateMs, this.#out.now);
    this.#out.effects.push({ kind: 'note', code: 'running-late', lateMs });
  }

  /** Rule 11: to all workers, busy or idle, whatever else they are sent. */
  #sendHeartbeats(): void {
    const { workers } = this.#state;
    let worker = workers.takeHeartbeatDue(this.#out.now);
    for (; worker !== undefined; worker = workers.takeHeartbeatDue(this.#out.now)) {
      const { version, leadingEmpty } = worker.framing;
      this.#out.counters.heartbeatsSent++;
      this.#out.send(worker.peer, { kind: 'heartbeat', version, leadingEmpty });
    }
  }

  /** Rule 24: gives up waiting requests; running jobs may finish, and are resent if their worker is lost. */
  #onDrain(): void {
    if (this.#phase !== 'serving') return;
    this.#phase = 'draining';
    this.#drainUntil = this.#out.now + this.#settings.drainMs;
    this.#dispatcher.giveUpWaiting();
  }

  /** Rule 24: DISCONNECT to every worker, then nothing more. */
  #finish(): void {
    this.#phase = 'drained';
    this.#drainUntil = Infinity;
    this.#dispatcher.giveUpWaiting();
    this.#dispatcher.own.end();
    for (const worker of this.#state.workers.values()) {
      this.#out.farewell(worker.peer, worker.framing);
      this.#lost.forget(worker, 'drained');
      if (worker.request !== undefined) this.#dispatcher.giveUp(worker.request, 'drained');
      worker.request = undefined;
      this.#dispatcher.recover([worker]);
    }
    this.#out.effects.push({ kind: 'drained' });
  }
}
