/**
 * eMQP/1.0, the broker: each event in its place. What a command leads to stands in `legality.ts`; the rules are those of
 * docs/protocols/emqp.md, section "Broker".
 *
 * | rule | what | file |
 * | --- | --- | --- |
 * | 1 | the queues of an INFORM | frames/src/emqp/queues.ts |
 * | 2, 4, 5 | INFORM and ACK | peers/registration.ts |
 * | 3 | heartbeats | peers/registration.ts, peers/peers.ts, output.ts |
 * | 6 | signs of life, silent peers | peers/registration.ts, peers/peers.ts, legality.ts |
 * | 7 | our farewell | output.ts, peers/farewells.ts |
 * | 8 | a peer's farewell | peers/registration.ts, legality.ts, jobs/job-endings.ts |
 * | 9 | acceptance | jobs/dispatcher.ts |
 * | 10, 11 | results | jobs/results.ts, jobs/dispatcher.ts, jobs/job-endings.ts, jobs/job.ts |
 * | 12 | passed on byte for byte | jobs/dispatcher.ts, frames/src/emqp/encode.ts |
 * | 13, 14 | which worker, which queue | jobs/dispatcher.ts, jobs/queues.ts, jobs/results.ts |
 * | 15 | bounds of queues | jobs/queues.ts, jobs/backlogs.ts, jobs/dispatcher.ts |
 * | 16, 18, 20 | lost, unreachable and leaving workers | jobs/lost-workers.ts, peers/registration.ts, jobs/job-endings.ts |
 * | 17 | guaranteed jobs | jobs/lost-workers.ts, jobs/dispatcher.ts, jobs/results.ts |
 * | 19 | silent ends of jobs | jobs/results.ts, jobs/job.ts, peers/peers.ts |
 * | 21 | seven or nine frames | frames/src/emqp/decode.ts |
 * | 22 | which scheduler | peers/schedulers.ts |
 * | 23 to 25 | versions, lower case, any bytes | frames/src/emqp/decode.ts |
 * | 26 | DISCONNECT | engine.ts |
 * | 27 | stopping | peers/farewells.ts, jobs/job-endings.ts |
 * | 28 | the admin port | engine.ts, legality.ts |
 * | 29, 30 | answers to admins | management/admin.ts |
 * | 31, 34 | the pub-sub device | pubsub-engine.ts, pubsub.ts |
 * | 32 | PUBLISH at the broker | engine.ts, pubsub.ts, pubsub-engine.ts |
 * | 33 | access | peers/registration.ts, engine.ts, legality.ts, shared/rights.ts |
 * | 35 | guaranteed jobs in a store | guarantee/guarantee.ts, guarantee/keeper.ts, guarantee/records.ts |
 * | 36 | guaranteed jobs asked for again | guarantee/repeats.ts, guarantee/guarantee.ts |
 * | 37 | dismissed peers | peers/farewells.ts, jobs/dispatcher.ts |
 * | 38, 39 | paused and purged queues | jobs/queue-control.ts, jobs/queues.ts |
 */
import { latin1 } from '@proj/frames';
import type { EmqpPublish, EmqpRequest, EmqpResult, EmqpToAdminPort, EmqpToBroker } from '@proj/frames/emqp';
import type { Engine, Entropy, MemoryStats, TimerEvent } from '@proj/transport';
import type { EngineSnapshot } from '@proj/transport/engine';
import { ENTRY_BYTES } from '../../shared/cost.js';
import { isNamed } from '../../shared/figures.js';
import { Rights } from '../../shared/rights.js';
import type { EmqpBrokerSettings } from '../options.js';
import { AdminAnswers, type AdminQuestion } from './management/admin.js';
import type { EmqpRefusal } from './counters.js';
import { detailOf } from './detail.js';
import { Dispatcher } from './jobs/dispatcher.js';
import type { EmqpBrokerEffect, EmqpBrokerEvent, EmqpParty, EmqpWorkerChoice } from './events.js';
import { Guarantee } from './guarantee/guarantee.js';
import { assertState } from './invariants.js';
import { JobEndings } from './jobs/job-endings.js';
import { ADMIN, DROPPED_AS, LEGALITY } from './legality.js';
import { Output } from './output.js';
import type { Leaver, Scheduler, Worker } from './peers/peers.js';
import { LostWorkers } from './jobs/lost-workers.js';
import { QueueControl } from './jobs/queue-control.js';
import { type PortParty, Registration } from './peers/registration.js';
import { Results } from './jobs/results.js';
import { routeScheduling } from './peers/schedulers.js';
import { Farewells } from './peers/farewells.js';
import { type BrokerState, type EmqpBrokerStats, newBrokerState, statsOf } from './state.js';

/** Rule 33: the right to `request` this name is required to ask about the broker or to stop it. */
const ADMIN_NAME = 'admin';

/** The EventMQ broker as a deterministic state machine. Never throws because of a peer. */
export class EmqpBrokerEngine implements Engine<EmqpBrokerEvent, EmqpBrokerEffect> {
  readonly #settings: EmqpBrokerSettings;
  readonly #state: BrokerState;
  readonly #out: Output;
  readonly #admin: AdminAnswers;
  readonly #endings: JobEndings;
  readonly #dispatcher: Dispatcher;
  readonly #queues: QueueControl;
  readonly #results: Results;
  readonly #guarantee: Guarantee;
  readonly #registration: Registration;
  readonly #farewells: Farewells;
  readonly #rights = new Rights();

  /** `memory`: what the process holds for peers, called when an admin asks; `undefined` without a budget. */
  constructor(settings: EmqpBrokerSettings, entropy: Entropy, memory: () => MemoryStats | undefined = () => undefined) {
    const state = newBrokerState(settings);
    const out = new Output(settings, entropy);
    const endings = new JobEndings(state, out);
    const dispatcher = new Dispatcher(settings, state, out, endings);
    const lostWorkers = new LostWorkers(settings, state, out, dispatcher, endings);
    const results = new Results(state, out, dispatcher, endings, lostWorkers);
    const guarantee = new Guarantee(state, out, dispatcher, endings);
    const registration = new Registration(settings, state, out, { rights: this.#rights, dispatcher, lostWorkers });
    this.#settings = settings;
    this.#state = state;
    this.#out = out;
    this.#admin = new AdminAnswers(state, memory);
    this.#endings = endings;
    this.#dispatcher = dispatcher;
    this.#queues = new QueueControl(state, out, dispatcher, endings);
    this.#results = results;
    this.#guarantee = guarantee;
    this.#registration = registration;
    this.#farewells = new Farewells(settings, state, out, { registration, results, endings, guarantee, dispatcher });
  }

  get deadline(): number {
    const { peers, routes, patience, releases, settling, keeper, errands } = this.#state;
    const jobs = Math.min(routes.deadline, patience.deadline, releases.deadline, settling.deadline, keeper.deadline);
    return Math.min(peers.deadline, jobs, errands.deadline, this.#farewells.deadline);
  }

  get heldBytes(): number {
    const { bytes, slack, peers, queues } = this.#state;
    // A running job is a row too, and is not charged unless its request is kept.
    const halves = this.#endings.open + queues.backlogs.size;
    return bytes.used + slack.used + (peers.size + queues.size) * ENTRY_BYTES + halves * (ENTRY_BYTES / 2);
  }

  step(event: EmqpBrokerEvent | TimerEvent, now: number): readonly EmqpBrokerEffect[] {
    this.#out.begin(now);
    if (this.#state.phase !== 'drained') this.#handle(event);
    this.#farewells.sendIdleHome();
    this.#farewells.finishIfDone();
    this.#endings.tidy();
    if (this.#state.phase !== 'drained') this.#guarantee.store();
    return this.#out.effects;
  }

  /** Current sizes and totals so far; the cost is linear in the number of queues and registered peers. */
  stats(): EmqpBrokerStats {
    return statsOf(this.#state, this.#out.counters, this.#endings.open);
  }

  /** The peers that an operator's choice matches. */
  chosen(choice: EmqpWorkerChoice): (Worker | Scheduler)[] {
    const isMeant = ({ role, peer, names }: Worker | Scheduler) =>
      'queue' in choice ? role === 'worker' && names.includes(choice.queue) : isNamed(peer, choice.worker);
    return [...this.#state.peers.values()].filter(isMeant);
  }

  /** How many requests wait in the queue; `undefined` if there is none with that name. */
  waitingIn(queue: string): number | undefined {
    return this.#state.queues.find(queue)?.waiting.size;
  }

  /** The operator's view at `now`. */
  detail(now: number): EngineSnapshot {
    return detailOf(this.#state, this.#out, this.#endings.open, now);
  }

  assertInvariants(): void {
    assertState(this.#state, {
      counters: this.#out.counters,
      open: this.#endings.open,
      settings: this.#settings,
    });
  }

  #handle(event: EmqpBrokerEvent | TimerEvent): void {
    switch (event.kind) {
      case 'message':
        this.#onMessage(event, event.command);
        break;
      case 'timer':
        this.#onTimer(event.lateMs);
        break;
      case 'undeliverable':
        this.#onUndeliverable(event);
        break;
      case 'peer-gone':
        this.#registration.gone(event);
        break;
      case 'rejected':
        this.#onRejected(event);
        break;
      case 'admin':
        this.#onAdmin({ port: 'admin', peer: event.peer }, event.command);
        break;
      case 'access':
        this.#registration.changeAccess(event.access);
        break;
      case 'memory':
        this.#state.bytes.isTight = event.isTight;
        break;
      case 'restore':
        this.#guarantee.restore(event.jobs);
        break;
      case 'stored':
        this.#guarantee.stored(event.write, event.error);
        break;
      case 'dismiss':
        this.#farewells.dismiss(this.chosen(event), event.isGraceful);
        break;
      case 'pause':
      case 'purge':
        this.#onQueue(event);
        break;
      case 'drain':
        this.#farewells.begin();
        break;
    }
  }

  #onMessage(from: PortParty, command: EmqpToBroker): void {
    const member = this.#state.peers.find(from);
    const leaver = this.#state.peers.findLeaver(from);
    const standing = this.#registration.standingOf(from, member, leaver);
    const isLife = command.kind !== 'disconnect' && command.kind !== 'bye' && standing !== 'foreigner';
    if (isLife) this.#registration.heard(member, leaver);
    const [verdict] = LEGALITY[standing][command.kind];
    if (verdict === 'accept') this.#obey(from, command, member, leaver);
    else if (verdict === 'farewell') this.#registration.farewellToFormer(from);
    else if (verdict === 'ignore' && command.kind === 'malformed') this.#out.dropMessage(command.reason, from);
    else if (standing !== 'worker') this.#out.dropMessage(DROPPED_AS[standing], from);
  }

  /** A legal command at the frontend or the backend. */
  #obey(
    from: PortParty,
    command: EmqpToBroker,
    member: Worker | Scheduler | undefined,
    leaver: Leaver | undefined,
  ): void {
    switch (command.kind) {
      case 'request':
        if (this.#rights.forbid(from.peer, 'request', command.queue)) this.#refuse('not-allowed', from, command.queue);
        else this.#onRequest({ port: from.port, peer: from.peer }, command);
        break;
      case 'ready':
        this.#onReady(member as Worker);
        break;
      case 'result':
        this.#onResult(from, command, member as Worker | undefined, leaver);
        break;
      case 'inform-worker':
      case 'inform-scheduler':
        this.#registration.inform(from, command);
        break;
      case 'bye':
        this.#registration.bye(from, member);
        break;
      case 'schedule':
      case 'unschedule':
        if (this.#rights.forbid(from.peer, 'request', command.queue)) this.#out.dropMessage('not-allowed', from);
        else routeScheduling(command, from, this.#state, this.#out);
        break;
      case 'publish':
        this.#onPublish(from, command);
        break;
      case 'disconnect':
        this.#onDisconnect(from, command.id);
        break;
      case 'heartbeat':
      case 'malformed':
      // Heartbeats are already handled, and malformed commands are never legal.
    }
  }

  /** A client that said farewell and asks again starts anew. */
  #onRequest(client: EmqpParty, request: EmqpRequest): void {
    const { silenced, phase } = this.#state;
    if (silenced.why(client) === 'left') silenced.remove(client);
    const isRepeat = this.#guarantee.repeat(client, request);
    if (phase === 'serving') {
      if (!isRepeat) this.#dispatcher.accept(client, request);
    } else if (isRepeat) {
      this.#farewells.await(client);
    } else {
      this.#refuse('draining', client, request.queue);
    }
  }

  /** Rules 38 and 39. */
  #onQueue(event: EmqpBrokerEvent & { kind: 'pause' | 'purge' }): void {
    const queue = this.#state.queues.find(event.queue);
    if (queue === undefined) return;
    if (event.kind === 'purge') this.#queues.purge(queue);
    else if (event.isPaused) this.#queues.pause(queue);
    else this.#queues.resume(queue);
  }

  /** A request that has not reached a queue. */
  #refuse(reason: EmqpRefusal, client: EmqpParty, queue: string): void {
    this.#state.queues.find(queue)?.meter.ended(reason);
    this.#out.dropRequest(reason, client, queue);
  }

  #onReady(worker: Worker): void {
    this.#results.ready(worker);
    this.#farewells.perhapsSendHome(worker);
  }

  #onResult(from: EmqpParty, command: EmqpResult, worker: Worker | undefined, leaver: Leaver | undefined): void {
    const mayServe = (queue: string): boolean => !this.#rights.forbid(from.peer, 'serve', queue);
    if (!this.#results.result(worker, leaver, command, mayServe))
      this.#out.dropMessage(command.of === undefined ? 'reply-ambiguous' : 'reply-unknown', from);
    else if (worker !== undefined) this.#farewells.perhapsSendHome(worker);
  }

  #onRejected(event: EmqpBrokerEvent & { kind: 'rejected' }): void {
    const { peers } = this.#state;
    const member = peers.find(event);
    const leaver = peers.findLeaver(event);
    if (this.#registration.standingOf(event, member, leaver) !== 'foreigner') this.#registration.heard(member, leaver);
    this.#out.dropMessage(event.reason, event);
  }

  /** Rule 26: only admins may stop a broker, unless `allowClientDisconnect`. */
  #onDisconnect(from: EmqpParty, id: string): void {
    if (from.port !== 'admin' && !this.#settings.allowClientDisconnect) {
      this.#out.dropMessage('disconnect-refused', from);
    } else if (this.#rights.forbid(from.peer, 'request', ADMIN_NAME)) {
      this.#out.dropMessage('not-allowed', from);
    } else {
      this.#out.send(from, { kind: 'ack', id: this.#out.newId(), of: id });
      this.#farewells.begin();
    }
  }

  /** Rules 28 to 30 and 33. A console says HELLO when it opens, and takes any message as the answer to its next command. */
  #onAdmin(from: EmqpParty, command: EmqpToAdminPort): void {
    const { phase } = this.#state;
    if (phase === 'drained') return;
    if (this.#rights.forbid(from.peer, 'request', ADMIN_NAME)) {
      this.#out.dropMessage('not-allowed', from);
      return;
    }
    const [verdict] = ADMIN[phase][command.kind];
    if (verdict === 'answer') {
      const answer = this.#admin.answer(command.kind as AdminQuestion, this.#out.now);
      this.#out.send(from, { kind: 'admin-reply', id: this.#out.newId(), ...answer });
    } else if (verdict === 'stop' && command.kind === 'disconnect') {
      this.#onDisconnect(from, command.id);
    } else if (command.kind === 'malformed') {
      this.#out.dropMessage(command.reason, from);
    }
  }

  /** Rule 32. */
  #onPublish(from: EmqpParty, { topic, body }: EmqpPublish): void {
    if (this.#settings.pubSub === undefined) {
      this.#out.dropMessage('publish-unserved', from);
    } else if (this.#rights.limited && this.#rights.forbid(from.peer, 'request', latin1(topic))) {
      this.#out.dropMessage('not-allowed', from);
    } else {
      this.#out.counters.handedOver++;
      this.#out.effects.push({ kind: 'publish', topic, body });
    }
  }

  /** Rule 16. */
  #onUndeliverable(event: EmqpBrokerEvent & { kind: 'undeliverable' }): void {
    const { command, reason } = event;
    const member = this.#state.peers.find(event);
    switch (command.kind) {
      case 'request':
        this.#registration.returned(event, command, reason);
        break;
      case 'schedule':
      case 'unschedule':
        if (member?.role !== 'scheduler') break;
        this.#registration.strand(member, reason);
        // The other schedulers have already had an UNSCHEDULE.
        if (command.kind === 'schedule') routeScheduling(command, event, this.#state, this.#out);
        break;
      case 'ack':
      case 'heartbeat':
        if (member !== undefined) this.#registration.strand(member, reason);
        break;
      case 'accepted':
      case 'result':
        this.#out.dropReply('reply-undeliverable', event);
        break;
      case 'bye':
      case 'admin-reply':
      // Nobody is left to miss it.
    }
  }

  /** ADR 4: if our process was too busy to listen, silence meanwhile proves nothing about the peers. */
  #onTimer(lateMs: number): void {
    if (lateMs > this.#settings.heartbeatIntervalMs) {
      this.#state.peers.postponeExpiry(lateMs, this.#out.now);
      this.#out.effects.push({ kind: 'note', code: 'running-late', lateMs });
    }
    this.#registration.expire();
    this.#registration.sendHeartbeats();
    this.#state.errands.goOn(this.#out.now);
    this.#dispatcher.expire();
    this.#results.expire();
    this.#farewells.expire();
  }
}
