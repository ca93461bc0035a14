/**
 * eMQP/1.0, the broker: who may say what, who is alive, and what follows. The rules are those of docs/protocols/emqp.md,
 * section "Broker".
 *
 * | rules | where |
 * | --- | --- |
 * | 1, 21, 23, 24, 25 what is understood | the decoders in `@proj/frames/emqp` |
 * | 2 to 5 INFORM | `#onInform` |
 * | 6 heartbeats and expiry | `#onTimer`, `peers.ts` |
 * | 7, 8 byes | `output.ts`, `#onBye` |
 * | 9 to 15, 17, 19, 20 requests, results, queues, guarantee | `jobs.ts`, `queues.ts` |
 * | 16, 18 peers that cannot be reached, or leave | `#onUndeliverable`, `#leave` |
 * | 22 schedules | `schedulers.ts` |
 * | 26 DISCONNECT | `#onDisconnect` |
 * | 27 stop | `#onDrain`, `#perhapsSendHome`, `#finish` |
 * | 28 to 30 administration | `#onAdmin`, `admin.ts` |
 * | 35 the store | `jobs.ts`, `keeper.ts`, `records.ts` |
 * | 36 guaranteed jobs that are asked for again | `jobs.ts`, `repeats.ts` |
 * | 33 access | `../parts/rights.ts`, `#isForeign`, `#onAccess` |
 * | 32 PUBLISH | `#onPublish`; the device itself: `pubsub-engine.ts` |
 */
import { latin1 } from '@proj/frames';
import type {
  EmqpInformScheduler,
  EmqpInformWorker,
  EmqpPublish,
  EmqpQueue,
  EmqpRequest,
  EmqpResult,
  EmqpToAdminPort,
  EmqpToBroker,
} from '@proj/frames/emqp';
import type { Access, Engine, Entropy, MemoryStats, Peer, TimerEvent, UndeliverableReason } from '@proj/transport';
import { ENTRY_BYTES } from '../../shared/cost.js';
import { Rights } from '../../shared/rights.js';
import { AdminDesk } from './admin.js';
import { type BrokerState, newBrokerState } from './state.js';
import type {
  EmqpBrokerEffect,
  EmqpBrokerEvent,
  EmqpMessageDrop,
  EmqpParty,
  EmqpPeerLoss,
  EmqpPort,
} from './events.js';
import { assertBooks } from './invariants.js';
import { Dispatcher } from './dispatcher.js';
import type { EmqpBrokerSettings } from '../options.js';
import { Output } from './output.js';
import { Scheduler, SCHEDULER_NAMES, Worker } from './peers.js';
import { routeScheduling } from './schedulers.js';
import { type EmqpBrokerStats, statsOf } from './stats.js';

/** Rule 33: the name that one must be allowed to ask for to ask about the broker, or to stop it. */
const ADMIN = 'admin';

type Inform = EmqpInformWorker | EmqpInformScheduler;

/** The EventMQ broker as a deterministic machine. It never throws on anything a peer can cause. */
export class EmqpBrokerEngine implements Engine<EmqpBrokerEvent, EmqpBrokerEffect> {
  readonly #settings: EmqpBrokerSettings;
  readonly #defaultQueues: readonly EmqpQueue[];
  readonly #books: BrokerState;
  readonly #admins: AdminDesk;
  readonly #out: Output;
  readonly #jobs: Dispatcher;
  readonly #rights = new Rights();
  #state: 'serving' | 'draining' | 'drained' = 'serving';
  #drainUntil = Infinity;
  /** Rule 27: clients that wait for something while we stop, by port and routing id. */
  readonly #awaiters = new Map<string, EmqpParty>();

  /** `memory`: what the process holds for peers, asked when an admin asks; `undefined` where it has no budget. */
  constructor(settings: EmqpBrokerSettings, entropy: Entropy, memory: () => MemoryStats | undefined = () => undefined) {
    this.#settings = settings;
    this.#defaultQueues = settings.defaultQueues.map(([weight, name]) => ({ weight, name }));
    this.#books = newBrokerState(settings);
    this.#admins = new AdminDesk(this.#books, memory);
    this.#out = new Output(settings, entropy);
    this.#jobs = new Dispatcher(settings, this.#books, this.#out);
  }

  get deadline(): number {
    const { peers, routes, patience, releases, settling, keeper } = this.#books;
    const jobs = Math.min(routes.deadline, patience.deadline, releases.deadline, settling.deadline, keeper.deadline);
    return Math.min(peers.deadline, jobs, this.#drainUntil);
  }

  get heldBytes(): number {
    const { bytes, slack, peers, queues } = this.#books;
    // A job that runs is a row as well, and is not paid for when it is not kept.
    return bytes.used + slack.used + (peers.size + queues.size) * ENTRY_BYTES + this.#jobs.open * (ENTRY_BYTES / 2);
  }

  step(event: EmqpBrokerEvent | TimerEvent, now: number): readonly EmqpBrokerEffect[] {
    this.#out.begin(now);
    if (this.#state !== 'drained') this.#handle(event);
    const { peers, keeper } = this.#books;
    if (this.#state === 'draining' && peers.size + peers.leaving === 0 && !keeper.isBusy) this.#finish();
    this.#jobs.tidy();
    if (this.#state !== 'drained') this.#store();
    return this.#out.effects;
  }

  /** Sizes now and totals so far; the cost is linear in the number of queues and registered peers. */
  stats(): EmqpBrokerStats {
    return statsOf(this.#books, this.#out.counters, this.#jobs.open);
  }

  assertInvariants(): void {
    assertBooks(this.#books, {
      counters: this.#out.counters,
      open: this.#jobs.open,
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
        this.#onPeerGone(event);
        break;
      case 'rejected':
        if (!this.#isForeign(event)) this.#heard(event);
        this.#out.dropMessage(event.reason, event);
        break;
      case 'admin':
        this.#onAdmin({ port: 'admin', peer: event.peer }, event.command);
        break;
      case 'access':
        this.#onAccess(event.access);
        break;
      case 'memory':
        this.#books.isTight = event.isTight;
        break;
      case 'restore':
        this.#jobs.restore(event.jobs);
        break;
      case 'stored':
        this.#jobs.stored(event.write, event.error);
        break;
      case 'drain':
        this.#onDrain();
        break;
    }
  }

  #onMessage(from: EmqpParty & { port: EmqpPort }, command: EmqpToBroker): void {
    if (this.#isForeign(from)) this.#fromForeigner(from, command);
    else this.#fromItself(from, command);
  }

  /** Rule 33: what concerns the registration under the same routing id is not for somebody who may not serve. */
  #fromForeigner(from: EmqpParty & { port: EmqpPort }, command: EmqpToBroker): void {
    switch (command.kind) {
      case 'request':
      case 'schedule':
      case 'unschedule':
      case 'publish':
      case 'disconnect':
        this.#obey(from, command);
        break;
      default:
        this.#out.dropMessage('not-allowed', from);
    }
  }

  #fromItself(from: EmqpParty & { port: EmqpPort }, command: EmqpToBroker): void {
    // Rule 6: everything but a farewell is a sign of life, whatever is wrong with it.
    if (command.kind !== 'disconnect' && command.kind !== 'bye') this.#heard(from);
    this.#obey(from, command);
  }

  #obey(from: EmqpParty & { port: EmqpPort }, command: EmqpToBroker): void {
    switch (command.kind) {
      case 'request':
        if (this.#rights.forbid(from.peer, 'request', command.queue))
          this.#out.dropRequest('not-allowed', from, command.queue);
        else this.#onRequest({ port: from.port, peer: from.peer }, command);
        break;
      case 'ready':
        this.#onReady(from);
        break;
      case 'result':
        this.#onResult(from, command);
        break;
      case 'heartbeat':
        if (!this.#isKnown(from)) this.#onFormer(from);
        break;
      case 'inform-worker':
      case 'inform-scheduler':
        this.#onInform(from, command);
        break;
      case 'bye':
        this.#onBye(from);
        break;
      case 'schedule':
      case 'unschedule':
        if (this.#rights.forbid(from.peer, 'request', command.queue)) this.#out.dropMessage('not-allowed', from);
        else routeScheduling(command, from, this.#books, this.#out);
        break;
      case 'publish':
        this.#onPublish(from, command);
        break;
      case 'disconnect':
        this.#onDisconnect(from, command.id);
        break;
      case 'malformed':
        this.#out.dropMessage(command.reason, from);
        break;
    }
  }

  /** A sign of life, and a hint, once, when it was long in coming. */
  #heard(from: EmqpParty): void {
    const { peers } = this.#books;
    const leaver = peers.findLeaver(from);
    if (leaver !== undefined) peers.renew(leaver, this.#out.now);
    const member = peers.find(from);
    const silentMs = member === undefined ? undefined : peers.heard(member, this.#out.now);
    if (silentMs === undefined) return;
    const { port, peer } = from;
    const { expiryMs } = this.#settings;
    this.#out.effects.push({ kind: 'note', code: 'spacing-hint', port, peer, silentMs, expiryMs });
  }

  /** Who has said farewell and asks again begins anew. */
  #onRequest(client: EmqpParty, request: EmqpRequest): void {
    if (this.#books.silenced.why(client) === 'left') this.#books.silenced.remove(client);
    const isRepeat = this.#jobs.repeat(client, request);
    if (this.#state === 'serving') {
      if (!isRepeat) this.#jobs.accept(client, request);
    } else if (isRepeat) this.#await(client);
    else this.#out.dropRequest('draining', client, request.queue);
  }

  /** Rule 27: it hears our farewell when nothing more will come. */
  #await(client: EmqpParty): void {
    if (this.#books.peers.find(client) === undefined) this.#awaiters.set(`${client.port} ${client.peer.key}`, client);
  }

  /**
   * Rule 6: it believes itself registered. Our farewell brings one that understands it back at once; it comes once, and then
   * nothing, since any word of ours would be a sign of life to the others.
   */
  #onFormer(from: EmqpParty): void {
    this.#out.dropMessage('unknown-peer', from);
    const { silenced } = this.#books;
    if (this.#state !== 'serving' || silenced.why(from) !== undefined) return;
    silenced.add({ port: from.port, peer: from.peer }, 'former');
    this.#out.bye(from);
  }

  #isKnown(from: EmqpParty): boolean {
    return this.#books.peers.find(from) !== undefined || this.#books.peers.findLeaver(from) !== undefined;
  }

  /** Rules 2 to 5: what was not understood has not come so far, and gets no ACK. */
  #onInform(from: EmqpParty & { port: EmqpPort }, command: Inform): void {
    const { peers } = this.#books;
    const known = peers.find(from);
    const refusal = this.#refusal(from.peer, command, known === undefined);
    if (refusal !== undefined) {
      this.#out.dropMessage(refusal, from);
      return;
    }
    if (known !== undefined) this.#leave(known, 'informed-again');
    this.#books.silenced.remove(from);
    const member = this.#register(from, command);
    this.#out.counters.peersJoined++;
    this.#out.effects.push({ kind: 'peer-joined', role: member.role, port: from.port, peer: from.peer });
    this.#out.send(member, { kind: 'ack', id: this.#out.newId(), of: command.id });
    // Rule 3: a real job manager says no READY before it has heard one.
    this.#out.heartbeat(member);
  }

  #refusal(peer: Peer, command: Inform, isNew: boolean): EmqpMessageDrop | undefined {
    if (this.#state !== 'serving') return 'stopping';
    const served =
      command.kind === 'inform-scheduler' ? SCHEDULER_NAMES : this.#queuesOf(command).map(({ name }) => name);
    if (served.some((name) => this.#rights.forbid(peer, 'serve', name))) return 'not-allowed';
    if (isNew && this.#books.peers.size >= this.#settings.peersMax) return 'peers-limit';
    if (command.kind === 'inform-scheduler') return undefined;
    const names = new Set(this.#queuesOf(command).map(({ name }) => name));
    return this.#books.queues.mayServe(names) ? undefined : 'queues-limit';
  }

  #queuesOf(command: EmqpInformWorker): readonly EmqpQueue[] {
    return command.queues ?? this.#defaultQueues;
  }

  #register({ port, peer }: EmqpParty & { port: EmqpPort }, command: Inform): Worker | Scheduler {
    const { peers, queues, assignments, settling } = this.#books;
    const { now } = this.#out;
    if (command.kind === 'inform-scheduler') {
      const scheduler = new Scheduler(port, peer, now);
      peers.add(scheduler, now);
      assignments.add(scheduler);
      return scheduler;
    }
    const worker = new Worker(port, peer, now);
    peers.add(worker, now);
    worker.sit(this.#queuesOf(command), queues, now);
    this.#jobs.seated(worker);
    settling.renew(worker.settling, now);
    return worker;
  }

  #onReady(from: EmqpParty): void {
    const member = this.#books.peers.find(from);
    if (member === undefined) {
      this.#out.dropMessage('unknown-peer', from);
    } else if (member.role === 'scheduler') {
      this.#out.dropMessage('unexpected', from);
    } else {
      this.#jobs.ready(member);
      this.#perhapsSendHome(member);
    }
  }

  #onResult(from: EmqpParty, command: EmqpResult): void {
    const { peers } = this.#books;
    const member = peers.find(from);
    const leaver = peers.findLeaver(from);
    if (member === undefined && leaver === undefined) {
      this.#out.dropMessage('unknown-peer', from);
    } else if (member?.role === 'scheduler') {
      this.#out.dropMessage('unexpected', from);
    } else if (
      !this.#jobs.result(member, leaver, command, (queue) => !this.#rights.forbid(from.peer, 'serve', queue))
    ) {
      this.#out.dropMessage(command.of === undefined ? 'reply-ambiguous' : 'reply-unknown', from);
    } else if (member !== undefined) {
      this.#perhapsSendHome(member);
    }
  }

  /** Rule 8: the first farewell is the last word, whoever says it. */
  #onBye(from: EmqpParty): void {
    this.#books.silenced.add({ port: from.port, peer: from.peer }, 'left');
    const member = this.#books.peers.find(from);
    if (member !== undefined) this.#leave(member, 'bye');
  }

  /** Rule 26: not everybody may stop a broker. */
  #onDisconnect(from: EmqpParty, id: string): void {
    if (from.port !== 'admin' && !this.#settings.allowClientDisconnect) {
      this.#out.dropMessage('disconnect-refused', from);
      return;
    }
    if (this.#rights.forbid(from.peer, 'request', ADMIN)) {
      this.#out.dropMessage('not-allowed', from);
      return;
    }
    this.#out.send(from, { kind: 'ack', id: this.#out.newId(), of: id });
    this.#onDrain();
  }

  /** Rules 28 to 30. */
  #onAdmin(from: EmqpParty, command: EmqpToAdminPort): void {
    if (this.#rights.forbid(from.peer, 'request', ADMIN)) {
      this.#out.dropMessage('not-allowed', from);
      return;
    }
    switch (command.kind) {
      case 'status':
      case 'show-workers':
      case 'show-schedulers': {
        const json = this.#admins.answer(command.kind, this.#out.now);
        this.#out.send(from, { kind: 'admin-reply', id: this.#out.newId(), json });
        break;
      }
      case 'disconnect':
        this.#onDisconnect(from, command.id);
        break;
      case 'malformed':
        this.#out.dropMessage(command.reason, from);
        break;
      case 'hello':
      // A console says so when it opens, and takes whatever comes for the answer to its next command.
    }
  }

  /** Rules 4 and 18: gone in order, with jobs it may still finish. Nothing is sent to it from here on. */
  #leave(member: Worker | Scheduler, reason: EmqpPeerLoss): void {
    this.#forget(member, reason);
    if (member.role === 'worker') this.#jobs.leave(member);
  }

  /** Rules 6, 17 and 20: dead. Nothing is sent to it from here on. */
  #lose(member: Worker | Scheduler, reason: EmqpPeerLoss): void {
    this.#forget(member, reason);
    if (member.role === 'worker') this.#jobs.recover(member.open);
  }

  /** Takes the peer out of all books but its own; a worker's jobs remain to be dealt with. */
  #forget(member: Worker | Scheduler, reason: EmqpPeerLoss): void {
    const { role, port, peer } = member;
    this.#books.peers.remove(member);
    if (member.role === 'worker') this.#jobs.unseat(member);
    else this.#books.assignments.remove(member);
    this.#out.counters.peersLeft++;
    this.#out.effects.push({ kind: 'peer-left', role, port, peer, reason });
  }

  /** Rule 33: whether somebody else is, or was, registered under the routing id of this one, who may not serve the same. */
  #isForeign(from: EmqpParty): boolean {
    if (!this.#rights.limited) return false;
    const { peers } = this.#books;
    const member = peers.find(from) ?? peers.findLeaver(from);
    // Whoever has the key of the registration may, since the rules were looked at then.
    if (member === undefined || member.peer.publicKey === from.peer.publicKey) return false;
    return member.names.some((name) => this.#rights.forbid(from.peer, 'serve', name));
  }

  /** Rule 33: all who must go do so before the first job is sent on, or it would be given to one that goes next. */
  #onAccess(access: Access): void {
    this.#rights.replace(access);
    const { peers } = this.#books;
    const mustGo = ({ peer, names }: { readonly peer: Peer; readonly names: readonly string[] }) =>
      names.some((name) => !access.allows(peer, 'serve', name));
    const lost = [];
    for (const member of [...peers.values()].filter(mustGo)) {
      this.#out.bye(member);
      this.#forget(member, 'not-allowed');
      if (member.role === 'worker') lost.push(member.open);
    }
    for (const leaver of [...peers.leavers()].filter(mustGo)) {
      peers.forget(leaver);
      lost.push(leaver.open);
    }
    for (const open of lost) this.#jobs.recover(open);
  }

  /** Rule 16. */
  #onUndeliverable(event: EmqpBrokerEvent & { kind: 'undeliverable' }): void {
    const { command, reason } = event;
    const member = this.#books.peers.find(event);
    switch (command.kind) {
      case 'request':
        this.#onReturned(event, command, reason);
        break;
      case 'schedule':
      case 'unschedule':
        if (member?.role !== 'scheduler') break;
        this.#strand(member, reason);
        // The others have had an UNSCHEDULE already.
        if (command.kind === 'schedule') routeScheduling(command, event, this.#books, this.#out);
        break;
      case 'ack':
      case 'heartbeat':
        if (member !== undefined) this.#strand(member, reason);
        break;
      case 'accepted':
      case 'result':
        this.#out.dropReply('reply-undeliverable', event);
        break;
      case 'bye':
      case 'admin-reply':
      // Nobody is left who would miss it.
    }
  }

  /** Rule 16: the request goes on, behind the guaranteed jobs that its worker was given before. */
  #onReturned(from: EmqpParty, request: EmqpRequest, reason: UndeliverableReason): void {
    const { peers } = this.#books;
    const member = peers.find(from);
    const worker = member?.role === 'worker' ? member : undefined;
    const leaver = peers.findLeaver(from);
    const job =
      (worker && this.#jobs.takeBack(worker.open, request)) ?? (leaver && this.#jobs.takeBack(leaver.open, request));
    if (worker !== undefined) this.#strand(worker, reason);
    if (job !== undefined) this.#jobs.again(job);
  }

  /** Rule 16: not to be reached. Nothing is sent to it from here on, but what was sent may come back yet. */
  #strand(member: Worker | Scheduler, reason: EmqpPeerLoss): void {
    this.#forget(member, reason);
    if (member.role === 'worker') this.#jobs.strand(member);
  }

  /** Rules 16 and 18, told by the transport before any send. */
  #onPeerGone(party: EmqpParty): void {
    const { peers, silenced } = this.#books;
    silenced.remove(party);
    const member = peers.find(party);
    if (member !== undefined) this.#lose(member, 'gone');
    const leaver = peers.findLeaver(party);
    if (leaver === undefined) return;
    peers.forget(leaver);
    this.#jobs.recover(leaver.open);
  }

  #onTimer(lateMs: number): void {
    if (lateMs > this.#settings.heartbeatIntervalMs) this.#beLate(lateMs);
    this.#expirePeers();
    this.#sendHeartbeats();
    this.#jobs.expire();
    if (this.#out.now >= this.#drainUntil) this.#finish();
  }

  /** We were too busy to listen: what was not heard meanwhile proves nothing about the peers (ADR 4). */
  #beLate(lateMs: number): void {
    this.#books.peers.postponeExpiry(lateMs, this.#out.now);
    this.#out.effects.push({ kind: 'note', code: 'running-late', lateMs });
  }

  /** Rules 6 and 18. All that are due go before the first job is sent on, or it would be given to one that goes next. */
  #expirePeers(): void {
    const { peers } = this.#books;
    const { now } = this.#out;
    const lost = [];
    for (let member = peers.takeExpired(now); member !== undefined; member = peers.takeExpired(now)) {
      this.#forget(member, 'expired');
      if (member.role === 'worker') lost.push(member.open);
    }
    for (let leaver = peers.takeSilentLeaver(now); leaver !== undefined; leaver = peers.takeSilentLeaver(now)) {
      peers.forget(leaver);
      lost.push(leaver.open);
    }
    for (const open of lost) this.#jobs.recover(open);
  }

  /** Rule 32: for the pub-sub device, if it is in this process. */
  #onPublish(from: EmqpParty, { topic, body }: EmqpPublish): void {
    if (this.#settings.pubSub === undefined) {
      this.#out.dropMessage('publish-unserved', from);
      return;
    }
    if (this.#rights.limited && this.#rights.forbid(from.peer, 'request', latin1(topic))) {
      this.#out.dropMessage('not-allowed', from);
      return;
    }
    this.#out.counters.handedOver++;
    this.#out.effects.push({ kind: 'publish', topic, body });
  }

  #sendHeartbeats(): void {
    const { peers } = this.#books;
    const { now } = this.#out;
    for (let member = peers.takeHeartbeatDue(now); member !== undefined; member = peers.takeHeartbeatDue(now)) {
      this.#out.heartbeat(member);
    }
  }

  /** Rule 27: no new requests; who has nothing to do may go, the others when they are done. */
  #onDrain(): void {
    if (this.#state !== 'serving') return;
    this.#state = 'draining';
    this.#drainUntil = this.#out.now + this.#settings.drainMs;
    for (const client of this.#jobs.awaiters()) this.#await(client);
    for (const member of [...this.#books.peers.values()]) this.#perhapsSendHome(member);
  }

  /** Rule 27: while we stop, whoever has no job may go. */
  #perhapsSendHome(member: Worker | Scheduler): void {
    if (this.#state === 'draining' && (member.role === 'scheduler' || member.isDone)) this.#sendHome(member);
  }

  /** Rule 27: farewell; the results of what it still has are forwarded all the same. */
  #sendHome(member: Worker | Scheduler): void {
    this.#out.bye(member);
    if (member.role === 'worker') this.#jobs.releaseSilent(member, true);
    this.#leave(member, 'drained');
  }

  /** Rule 35: what has changed goes to the store, as soon as that has taken what it was given before. */
  #store(): void {
    const write = this.#books.keeper.flush(this.#out.now);
    if (write !== undefined) this.#out.effects.push(write);
  }

  /** Rule 27: farewell to all who are left, then nothing more. */
  #finish(): void {
    this.#state = 'drained';
    this.#drainUntil = Infinity;
    this.#jobs.abandonAll();
    for (const member of [...this.#books.peers.values()]) this.#sendHome(member);
    for (const leaver of [...this.#books.peers.leavers()]) this.#books.peers.forget(leaver);
    for (const client of this.#awaiters.values())
      if (this.#books.silenced.why(client) === undefined) this.#out.bye(client);
    this.#store();
    this.#out.effects.push({ kind: 'drained' });
  }
}
