/**
 * EventMQ broker: which peers are registered, alive, or get nothing. Rules 2 to 6, 8, 16, 18 and 33; `../jobs/lost-workers.ts` handles the
 * jobs of a lost worker.
 */
import type { EmqpInformScheduler, EmqpInformWorker, EmqpQueue, EmqpRequest } from '@proj/frames/emqp';
import type { Access, Peer, UndeliverableReason } from '@proj/transport';
import type { Rights } from '../../../shared/rights.js';
import type { EmqpBrokerSettings } from '../../options.js';
import type { EmqpMessageDrop } from '../counters.js';
import type { Dispatcher } from '../jobs/dispatcher.js';
import type { EmqpParty, EmqpPeerLoss, EmqpPort } from '../events.js';
import type { Standing } from '../legality.js';
import type { Output } from '../output.js';
import { type Leaver, Scheduler, SCHEDULER_NAMES, Worker } from './peers.js';
import type { LostWorkers } from '../jobs/lost-workers.js';
import type { BrokerState } from '../state.js';

type Inform = EmqpInformWorker | EmqpInformScheduler;

/** A peer at one of the ports for registration. */
export type PortParty = EmqpParty & { readonly port: EmqpPort };

/** Registers workers and schedulers, keeps them alive, and removes them. */
export class Registration {
  readonly #settings: EmqpBrokerSettings;
  readonly #defaultQueues: readonly EmqpQueue[];
  readonly #state: BrokerState;
  readonly #out: Output;
  readonly #rights: Rights;
  readonly #dispatcher: Dispatcher;
  readonly #lostWorkers: LostWorkers;

  constructor(
    settings: EmqpBrokerSettings,
    state: BrokerState,
    out: Output,
    parts: { readonly rights: Rights; readonly dispatcher: Dispatcher; readonly lostWorkers: LostWorkers },
  ) {
    this.#settings = settings;
    this.#defaultQueues = settings.defaultQueues.map(([weight, name]) => ({ weight, name }));
    this.#state = state;
    this.#out = out;
    this.#rights = parts.rights;
    this.#dispatcher = parts.dispatcher;
    this.#lostWorkers = parts.lostWorkers;
  }

  /** The sender's role: the column of the legality table. */
  standingOf(from: EmqpParty, member: Worker | Scheduler | undefined, leaver: Leaver | undefined): Standing {
    const registered = member ?? leaver;
    if (registered === undefined) return 'stranger';
    // The registration's own key may serve: the rules were checked then.
    if (
      this.#rights.limited &&
      registered.peer.publicKey !== from.peer.publicKey &&
      registered.names.some((name) => this.#rights.forbid(from.peer, 'serve', name))
    )
      return 'foreigner';
    return member?.role ?? 'leaving';
  }

  /** Rule 6: records a sign of life; gives a hint, once, if the peer was silent for long. */
  heard(member: Worker | Scheduler | undefined, leaver: Leaver | undefined): void {
    const { peers } = this.#state;
    if (leaver !== undefined) peers.renew(leaver, this.#out.now);
    const silentMs = member === undefined ? undefined : peers.heard(member, this.#out.now);
    if (member === undefined || silentMs === undefined) return;
    const { port, peer } = member;
    const { expiryMs } = this.#settings;
    this.#out.effects.push({ kind: 'note', code: 'spacing-hint', port, peer, silentMs, expiryMs });
  }

  /**
   * Rule 6: the peer believes it is registered. Our farewell makes a peer that understands it register again at once. It is sent once, and
   * nothing after it: other peers would take any message of ours for a sign of life.
   */
  farewellToFormer(from: EmqpParty): void {
    this.#out.dropMessage('unknown-peer', from);
    const { silenced, phase } = this.#state;
    if (phase !== 'serving' || silenced.why(from) !== undefined) return;
    silenced.add({ port: from.port, peer: from.peer }, 'former');
    this.#out.bye(from);
  }

  /** Rules 2 to 5: a refused INFORM gets no ACK. */
  inform(from: PortParty, command: Inform): void {
    const known = this.#state.peers.find(from);
    const refusal = this.#refusal(from.peer, command, known === undefined);
    if (refusal !== undefined) {
      this.#out.dropMessage(refusal, from);
      return;
    }
    if (known !== undefined) this.leave(known, 'informed-again');
    this.#state.silenced.remove(from);
    const member = this.#register(from, command);
    this.#out.counters.peersJoined++;
    this.#out.effects.push({ kind: 'peer-joined', role: member.role, port: from.port, peer: from.peer });
    this.#out.send(member, { kind: 'ack', id: this.#out.newId(), of: command.id });
    // Rule 3: a real job manager sends no READY before it has received a heartbeat.
    this.#out.heartbeat(member);
  }

  /** Rule 8: the first farewell is the last message between the two, whichever side sends it. */
  bye(from: EmqpParty, member: Worker | Scheduler | undefined): void {
    this.#state.silenced.add({ port: from.port, peer: from.peer }, 'left');
    if (member !== undefined) this.leave(member, 'bye');
  }

  /** Rules 4 and 18: it left in order, with jobs it may still finish. It gets nothing more. */
  leave(member: Worker | Scheduler, reason: EmqpPeerLoss): void {
    this.#forget(member, reason);
    if (member.role === 'worker') this.#lostWorkers.leave(member);
  }

  /** Rule 16: unreachable. It gets nothing more, but what was sent may still come back. */
  strand(member: Worker | Scheduler, reason: UndeliverableReason): void {
    this.#forget(member, reason);
    if (member.role === 'worker') this.#lostWorkers.strand(member);
  }

  /** Rule 16: a request came back. It continues, behind guaranteed jobs that its worker got before. */
  returned(from: EmqpParty, request: EmqpRequest, reason: UndeliverableReason): void {
    const { peers } = this.#state;
    const member = peers.find(from);
    const worker = member?.role === 'worker' ? member : undefined;
    const job = worker?.open.findLatest(request.id) ?? peers.findLeaver(from)?.findLatest(request.id);
    if (job !== undefined) this.#lostWorkers.takeBack(job, request);
    if (worker !== undefined) this.strand(worker, reason);
    if (job !== undefined) this.#dispatcher.again(job);
  }

  /** Rules 16 and 18: the transport reports that the connection has ended. */
  gone(party: EmqpParty): void {
    const { peers, silenced } = this.#state;
    silenced.remove(party);
    const member = peers.find(party);
    if (member !== undefined) this.#forget(member, 'gone');
    if (member?.role === 'worker') this.#lostWorkers.recover(member.open);
    const leaver = peers.findLeaver(party);
    if (leaver === undefined) return;
    peers.forget(leaver);
    for (const open of leaver.departures) this.#lostWorkers.recover(open);
  }

  /** Rule 33. All peers that must leave do so before the first job is resent, or it might go to one of them. */
  changeAccess(access: Access): void {
    this.#rights.replace(access);
    const { peers } = this.#state;
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
      lost.push(...leaver.departures);
    }
    for (const open of lost) this.#lostWorkers.recover(open);
  }

  /** Rules 6 and 18. All expired peers leave before the first job is resent, or it might go to one of them. */
  expire(): void {
    const { peers } = this.#state;
    const { now } = this.#out;
    const lost = [];
    for (let member = peers.takeExpired(now); member !== undefined; member = peers.takeExpired(now)) {
      this.#forget(member, 'expired');
      if (member.role === 'worker') lost.push(member.open);
    }
    for (let leaver = peers.takeSilentLeaver(now); leaver !== undefined; leaver = peers.takeSilentLeaver(now)) {
      peers.forget(leaver);
      lost.push(...leaver.departures);
    }
    for (const open of lost) this.#lostWorkers.recover(open);
  }

  /** Rule 3. */
  sendHeartbeats(): void {
    const { peers } = this.#state;
    const { now } = this.#out;
    for (let member = peers.takeHeartbeatDue(now); member !== undefined; member = peers.takeHeartbeatDue(now))
      this.#out.heartbeat(member);
  }

  #refusal(peer: Peer, command: Inform, isNew: boolean): EmqpMessageDrop | undefined {
    if (this.#state.phase !== 'serving') return 'stopping';
    const isScheduler = command.kind === 'inform-scheduler';
    const names = isScheduler ? SCHEDULER_NAMES : this.#queuesOf(command).map(({ name }) => name);
    if (names.some((name) => this.#rights.forbid(peer, 'serve', name))) return 'not-allowed';
    if (isNew && this.#state.peers.size >= this.#settings.peersMax) return 'peers-limit';
    if (!isScheduler && !this.#state.queues.mayServe(new Set(names))) return 'queues-limit';
    return this.#state.registrations.take(peer.key, this.#out.now) ? undefined : 'registrations-limit';
  }

  #queuesOf(command: EmqpInformWorker): readonly EmqpQueue[] {
    return command.queues ?? this.#defaultQueues;
  }

  #register({ port, peer }: PortParty, command: Inform): Worker | Scheduler {
    const { peers, queues, assignments, settling } = this.#state;
    const { now } = this.#out;
    if (command.kind === 'inform-scheduler') {
      const scheduler = new Scheduler(port, peer, now);
      peers.add(scheduler, now);
      assignments.add(scheduler);
      return scheduler;
    }
    const worker = new Worker(port, peer, now);
    peers.add(worker, now);
    worker.subscribe(this.#queuesOf(command), queues, now);
    this.#dispatcher.subscribed(worker);
    settling.renew(worker.settling, now);
    return worker;
  }

  /** Removes the peer from all tables; a worker's jobs still have to be handled. It gets nothing more. */
  #forget(member: Worker | Scheduler, reason: EmqpPeerLoss): void {
    const { role, port, peer } = member;
    this.#state.peers.remove(member);
    if (member.role === 'worker') this.#dispatcher.unsubscribe(member);
    else this.#state.assignments.remove(member);
    this.#out.counters.peersLeft++;
    this.#out.effects.push({ kind: 'peer-left', role, port, peer, reason });
  }
}
