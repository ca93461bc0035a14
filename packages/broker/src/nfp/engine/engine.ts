/**
 * NFP, the broker: each event in its place. What a command leads to stands in `legality.ts`; the rules are those of docs/protocols/nfp.md,
 * section "Broker".
 *
 * | rule | what | file |
 * | --- | --- | --- |
 * | 1 | dialects of the header | output.ts |
 * | 2 | forms of a command | peers/clients.ts, output.ts |
 * | 3, 4 | OPEN, READY | peers/registration.ts, legality.ts |
 * | 5 | KEEPALIVE | peers/workers.ts, peers/registration.ts |
 * | 6 | signs of life | legality.ts, peers/workers.ts, peers/registration.ts |
 * | 7 | how a registration ends | peers/registration.ts, engine.ts |
 * | 8 | strangers | peers/registration.ts, legality.ts, output.ts |
 * | 9 | calls | jobs/dispatcher.ts, jobs/job-sender.ts |
 * | 10 | targets | jobs/targets.ts |
 * | 11 | targets that mean nobody | jobs/dispatcher.ts, jobs/kept-bodies.ts |
 * | 12 | waiting jobs | jobs/waiting.ts, jobs/worker-names.ts, jobs/dispatcher.ts |
 * | 13 | lost workers | jobs/lost-workers.ts, peers/registration.ts, jobs/dispatcher.ts, jobs/answers.ts |
 * | 14 | closing | engine.ts |
 * | 15 | answers of workers | jobs/answers.ts |
 * | 16 | bad input | engine.ts, legality.ts, frames/src/nfp/decode.ts |
 * | 17 | management | management/mmi.ts, management/own-services.ts |
 * | 18 | management commands | management/own-services.ts, engine.ts |
 * | 19 | bounds | jobs/job-table.ts, jobs/kept-bodies.ts, peers/services.ts, peers/clients.ts |
 * | 20 | inventory | management/inventory.ts, management/own-services.ts |
 * | 21 | files | management/file-calls.ts, file-service.ts |
 * | 22 | events for subscribers | jobs/answers.ts, output.ts, socket-plans.ts, frames/src/nfp/published.ts |
 * | 23 | access | peers/registration.ts, engine.ts, shared/rights.ts |
 * | 24 | one answer of all workers | jobs/gathers.ts, jobs/dispatcher.ts, jobs/answers.ts, output.ts, peers/clients.ts |
 * | 25 | dismissed workers | peers/registration.ts, jobs/targets.ts, jobs/waiting.ts, peers/services.ts |
 */
import type { NfpClientCall, NfpMalformed, NfpMalformedReason, NfpToBroker } from '@proj/frames/nfp';
import type { Engine, Peer, TimerEvent } from '@proj/transport';
import type { EngineSnapshot } from '@proj/transport/engine';
import { ENTRY_BYTES } from '../../shared/cost.js';
import { isNamed } from '../../shared/figures.js';
import { Rights } from '../../shared/rights.js';
import type { NfpBrokerSettings } from '../options.js';
import { Answers } from './jobs/answers.js';
import { detailOf } from './detail.js';
import { Dispatcher } from './jobs/dispatcher.js';
import type { NfpBrokerEffect, NfpBrokerEvent, NfpWorkerChoice } from './events.js';
import { Gathers } from './jobs/gathers.js';
import { assertState } from './invariants.js';
import { JobSender } from './jobs/job-sender.js';
import { type WorkerCommand, WORKERS } from './legality.js';
import type { NfpBrokerAbout } from './management/mmi.js';
import { BROKER_MMI } from './management/reserved-names.js';
import { Output } from './output.js';
import { OwnServices } from './management/own-services.js';
import type { Worker } from './records.js';
import { LostWorkers } from './jobs/lost-workers.js';
import { Registration } from './peers/registration.js';
import { type BrokerState, newBrokerState, type NfpBrokerStats, statsOf } from './state.js';
import { Waiting } from './jobs/waiting.js';

/** Rule 16: errors for which a registered worker may stay, because a newer release may know more commands than we do. */
const UNKNOWN: ReadonlySet<NfpMalformedReason> = new Set(['command', 'status']);

/** Rule 16: how a client's invalid message is explained to it. */
const COMPLAINTS: Readonly<Record<NfpMalformedReason, string>> = {
  header: 'the header is unknown',
  command: 'Unsupported client command',
  direction: 'Unsupported client command',
  short: 'the message has no body',
  shape: 'the message has a wrong shape',
  service: 'the service is not 1 to 255 bytes of printable text',
  target: 'the target is not UTF-8 of at most 65536 bytes',
  uuid: 'the uuid is not 1 to 255 bytes of printable text',
  status: 'the status is not three digits',
};

/** The NFP broker as a deterministic state machine. Never throws because of a peer. */
export class NfpBrokerEngine implements Engine<NfpBrokerEvent, NfpBrokerEffect> {
  readonly #settings: NfpBrokerSettings;
  readonly #state: BrokerState;
  readonly #out: Output;
  readonly #gathers: Gathers;
  readonly #dispatcher: Dispatcher;
  readonly #waiting: Waiting;
  readonly #lostWorkers: LostWorkers;
  readonly #registration: Registration;
  readonly #answers: Answers;
  readonly #own: OwnServices;
  readonly #rights = new Rights();
  #drained = false;

  constructor(settings: NfpBrokerSettings, about: NfpBrokerAbout = { versions: {}, endpoint: '' }) {
    this.#settings = settings;
    this.#state = newBrokerState(settings);
    this.#out = new Output(settings, this.#state);
    this.#gathers = new Gathers(settings, this.#state.jobs, this.#out);
    const sender = new JobSender(settings, this.#state, this.#out);
    this.#waiting = new Waiting(settings, this.#state, this.#out, sender);
    this.#lostWorkers = new LostWorkers(settings, this.#state, this.#out, sender, this.#waiting);
    this.#dispatcher = new Dispatcher(this.#state, this.#out, sender, this.#waiting, this.#gathers);
    this.#answers = new Answers(settings, this.#state, this.#out, this.#lostWorkers, this.#gathers);
    this.#registration = new Registration(settings, this.#state, this.#out, {
      rights: this.#rights,
      lostWorkers: this.#lostWorkers,
      gathers: this.#gathers,
    });
    this.#own = new OwnServices(settings, this.#state, this.#out, about, this.#registration);
  }

  get deadline(): number {
    if (this.#drained) return Infinity;
    const { workers, jobs, holders, errands } = this.#state;
    return Math.min(
      workers.deadline,
      jobs.deadline,
      holders.deadline,
      errands.deadline,
      this.#waiting.deadline,
      this.#gathers.deadline,
    );
  }

  get heldBytes(): number {
    const { workers, services, clients, terms, jobs, holders } = this.#state;
    const rows = workers.size + services.size + clients.size + terms.size + holders.size;
    return jobs.heldBytes + this.#gathers.heldBytes + rows * ENTRY_BYTES;
  }

  step(event: NfpBrokerEvent | TimerEvent, now: number): readonly NfpBrokerEffect[] {
    this.#out.begin(now);
    this.#state.figures.now = now;
    if (!this.#drained) this.#handle(event);
    this.#registration.dismissIdle();
    return this.#out.effects;
  }

  /** Current sizes and totals so far; the cost is linear in the number of services. */
  stats(): NfpBrokerStats {
    return statsOf(this.#state, this.#out.counters);
  }

  /** The workers that an operator's choice matches. */
  chosen(choice: NfpWorkerChoice): Worker[] {
    return [...this.#state.workers.values()].filter(({ peer, service }) =>
      'service' in choice ? service.name === choice.service : isNamed(peer, choice.worker),
    );
  }

  /** The operator's view at `now`. */
  detail(now: number): EngineSnapshot {
    return detailOf(this.#state, this.#out.counters, now);
  }

  assertInvariants(): void {
    assertState(this.#state, this.#settings);
    this.#gathers.assertInvariants();
  }

  #handle(event: NfpBrokerEvent | TimerEvent): void {
    switch (event.kind) {
      case 'started':
        this.#waiting.begin();
        break;
      case 'message':
        if (event.at === 'management') this.#onManagement(event.peer, event.command);
        else this.#onMessage(event.peer, event.command);
        break;
      case 'timer':
        this.#onTimer(event.lateMs);
        break;
      case 'undeliverable':
        this.#onUndeliverable(event);
        break;
      case 'peer-gone': {
        const worker = this.#state.workers.find(event.peer.key);
        if (worker !== undefined) this.#registration.lose([worker], 'gone');
        this.#state.terms.delete(event.peer.key);
        this.#gathers.leave(event.peer);
        break;
      }
      case 'rejected':
        this.#out.dropMessage(event.reason, event.peer);
        break;
      case 'file-answer':
        this.#own.onFileAnswer(event.id, event.outcome);
        break;
      case 'inventory':
        this.#state.inventory = event.inventory;
        break;
      case 'memory':
        this.#state.jobs.bodies.isTight = this.#gathers.isTight = event.isTight;
        break;
      case 'access':
        this.#registration.changeAccess(event.access);
        break;
      case 'dismiss':
        if (event.isGraceful) this.#registration.drain(this.chosen(event));
        else this.#registration.dismiss(this.chosen(event), 'dismissed');
        break;
      case 'drain':
        this.#finish();
        break;
    }
  }

  #onMessage(peer: Peer, command: NfpToBroker): void {
    switch (command.kind) {
      case 'client-call':
        this.#onCall(peer, command);
        break;
      case 'client-open':
        this.#state.clients.heard(peer, command.form, this.#out.now);
        this.#registration.open(peer, command);
        break;
      case 'malformed':
        this.#onMalformed(peer, command);
        break;
      default:
        this.#onWorkerCommand(peer, command);
    }
  }

  /** Rule 23: a client without the right is refused and leaves no trace; PUT has no answer. */
  #onCall(from: Peer, call: NfpClientCall): void {
    if (this.#rights.forbid(from, 'request', call.service)) {
      if (call.command === 'put') this.#out.dropMessage('not-allowed', from);
      else this.#out.refuse('not-allowed', from, call, 'the rules of access do not let this key request the service');
      return;
    }
    const peer = this.#heard(from, call);
    if (this.#own.accept(peer, call, false)) {
      this.#out.release(call.body);
      return;
    }
    if (call.command === 'get' || call.command === 'put') this.#lostWorkers.hurry(call.uuid);
    this.#dispatcher.accept(peer, call);
  }

  #heard(from: Peer, { form, command }: NfpClientCall): Peer {
    const client = this.#state.clients.heard(from, form, this.#out.now);
    this.#out.counters.calls[command]++;
    if (command === 'post') client.jobs++;
    return client.peer;
  }

  /** Rule 18: this endpoint serves management to every peer that reaches it, and nothing else. */
  #onManagement(peer: Peer, command: NfpToBroker): void {
    switch (command.kind) {
      case 'client-call':
        this.#heard(peer, command);
        if (command.service === BROKER_MMI) this.#own.accept(peer, command, true);
        else this.#out.refuse('not-management', peer, command, `only ${BROKER_MMI} is served at this endpoint`);
        break;
      case 'client-open':
      case 'malformed':
        this.#onMessage(peer, command);
        break;
      default:
        this.#out.dropMessage('direction', peer);
    }
  }

  /** `peer` may be another sender that uses a worker's routing id: without the right to serve it cannot harm the worker. */
  #onWorkerCommand(peer: Peer, command: WorkerCommand): void {
    const worker = this.#state.workers.find(peer.key);
    if (worker !== undefined) {
      if (this.#rights.forbid(peer, 'serve', worker.service.name)) {
        this.#out.dropMessage('not-allowed', peer);
        return;
      }
      worker.form = command.form;
      worker.lastSeen = this.#out.now;
    }
    const away = worker === undefined ? this.#registration.awayOf(peer) : undefined;
    const standing = worker !== undefined ? 'registered' : away !== undefined ? 'away' : 'stranger';
    const isElsewhere = command.kind === 'worker-ready' && command.service !== (worker ?? away)?.service.name;
    const [verdict] = WORKERS[standing][isElsewhere ? 'ready-elsewhere' : command.kind];
    if (verdict === 'refuse') {
      this.#refuse(peer, command);
    } else if (verdict === 'expel') {
      this.#registration.dismiss([worker as Worker], 'unexpected');
    } else if (verdict === 'resume') {
      const resumed = this.#registration.resume(peer, command.form, away as Worker);
      if (resumed === undefined) this.#refuse(peer, command);
      else this.#fromWorker(resumed, command);
    } else if (worker === undefined) {
      this.#fromStranger(peer, command);
    } else {
      this.#fromWorker(worker, command);
    }
  }

  /** Rule 8. */
  #refuse(peer: Peer, command: WorkerCommand): void {
    this.#registration.refuse(peer, command.form, 'service' in command ? command.service : '', 'unknown-worker');
  }

  /** A command that is legal without a connected registration. */
  #fromStranger(peer: Peer, command: WorkerCommand): void {
    if (command.kind === 'worker-open') this.#registration.open(peer, command);
    else if (command.kind === 'worker-ready') this.#registration.ready(peer, command);
    else this.#registration.forgetTerms(peer);
  }

  /** A legal command of a registered worker. */
  #fromWorker(worker: Worker, command: WorkerCommand): void {
    switch (command.kind) {
      case 'worker-open':
        this.#registration.open(worker.peer, command);
        break;
      case 'worker-ready':
        this.#registration.readyAgain(worker);
        break;
      case 'worker-keepalive':
        worker.keepalivesReceived++;
        break;
      case 'worker-answer':
        this.#answers.addressed(worker, command);
        break;
      case 'worker-table-answer':
        this.#answers.unaddressed(worker, command);
        break;
      case 'worker-disconnect':
        this.#registration.lose([worker], 'disconnected');
        break;
    }
  }

  /** Rule 16. */
  #onMalformed(peer: Peer, { reason, side, answer }: NfpMalformed): void {
    const worker = side === 'worker' ? this.#state.workers.find(peer.key) : undefined;
    if (worker !== undefined && this.#rights.forbid(peer, 'serve', worker.service.name)) {
      this.#out.dropMessage('not-allowed', peer);
      return;
    }
    this.#out.dropMessage(reason, peer);
    if (answer !== undefined) {
      this.#state.clients.heard(peer, answer.form, this.#out.now);
      const complaint = COMPLAINTS[reason];
      const isCommand = reason === 'command' || reason === 'direction';
      this.#out.fail(peer, answer, isCommand ? `${complaint} '${answer.command}'` : complaint);
    }
    if (worker === undefined) return;
    const [verdict] = WORKERS.registered[UNKNOWN.has(reason) ? 'unknown' : 'malformed'];
    if (verdict === 'expel') this.#registration.dismiss([worker], 'invalid');
  }

  /** Rule 7: for a worker this is a loss; for a client only the answer is lost. OPEN and DISCONNECT have nobody left to reach. */
  #onUndeliverable({ peer, command, reason, others = 0 }: NfpBrokerEvent & { kind: 'undeliverable' }): void {
    if (command.kind === 'client-answer') {
      this.#out.dropAnswer('unroutable', peer, command.service, 1 + others);
    } else if (command.kind !== 'broker-open' && command.kind !== 'broker-disconnect') {
      const worker = this.#state.workers.find(peer.key);
      if (worker !== undefined) this.#registration.lose([worker], reason);
    }
  }

  #onTimer(lateMs: number): void {
    const { workers, jobs, holders, errands } = this.#state;
    const { now } = this.#out;
    if (lateMs > this.#settings.keepaliveIntervalMs) {
      workers.postponeExpiry(lateMs, now);
      jobs.postpone(lateMs, now);
      holders.postpone(lateMs, now);
      this.#gathers.postpone(lateMs);
      this.#out.effects.push({ kind: 'note', code: 'running-late', lateMs });
    }
    this.#registration.keepAlive();
    this.#lostWorkers.expire();
    this.#waiting.settle();
    this.#waiting.expire();
    this.#gathers.expire();
    errands.goOn(now);
  }

  /** Rule 14: the broker does no work itself, so there is nothing to wait for. */
  #finish(): void {
    this.#state.errands.clear();
    this.#waiting.abandon();
    this.#gathers.abandon();
    this.#own.abandon();
    this.#drained = true;
    this.#registration.dismiss([...this.#state.workers.values()], 'drained');
    this.#out.effects.push({ kind: 'drained' });
  }
}
