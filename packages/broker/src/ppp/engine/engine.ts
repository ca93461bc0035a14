/**
 * 6/PPP, the queue: clients in front, workers behind. The rules are those of docs/protocols/ppp.md, section "Queue".
 *
 * | rule | what | file |
 * | --- | --- | --- |
 * | 1, 6 | READY, first and again | legality.ts, backend.ts |
 * | 2 | nothing to strangers | backend.ts |
 * | 3 | control or reply | frames/src/ppp/decode.ts |
 * | 4 | address stacks | frames/src/ppp/decode.ts, engine.ts |
 * | 5 | two ROUTERs | socket-plans.ts, queue.ts |
 * | 7 | heartbeats | backend.ts, shared/worker-table.ts |
 * | 8 | which worker is next | dispatcher.ts |
 * | 9 | whose reply counts | legality.ts, backend.ts, dispatcher.ts |
 * | 10 | signs of life | legality.ts, backend.ts |
 * | 11 | silent workers | lost-workers.ts, shared/worker-table.ts |
 * | 12 | unreachable workers | lost-workers.ts, backend.ts |
 * | 13 | jobs that go back | lost-workers.ts, dispatcher.ts |
 * | 14 | waiting requests | dispatcher.ts, engine.ts |
 * | 15 | clients that left | engine.ts, dispatcher.ts |
 * | 16 | job timeout | lost-workers.ts, dispatcher.ts |
 * | 17 | a peer replaces its old connection | socket-plans.ts, shared/connections.ts |
 * | 18 | ids are bytes | backend.ts |
 * | 19 | closing | backend.ts |
 * | 20 | access | backend.ts, engine.ts, shared/rights.ts |
 * | 21 | dismissed workers | lost-workers.ts, backend.ts |
 */
import type { PppAddressedReply, PppClientRequest, PppToFrontend } from '@proj/frames/ppp';
import { DeadlineList } from '@proj/heartbeat';
import type { Engine, Peer, TimerEvent } from '@proj/transport';
import { type EngineSnapshot, shown } from '@proj/transport/engine';
import { dueOf } from '../../shared/due.js';
import { ClientTable } from '../../shared/clients.js';
import { ENTRY_BYTES } from '../../shared/cost.js';
import { surplusOf } from '../../shared/displacement.js';
import { HolderClasses } from '../../shared/holder-classes.js';
import type { PppQueueSettings } from '../options.js';
import { Backend, WORK } from './backend.js';
import { detailOf } from './detail.js';
import type { Requester } from './dispatcher.js';
import type { PppFrontendEvent, PppQueueEffect, PppQueueEvent, PppRequestLoss } from './events.js';
import { assertBackend, assertQueue } from './invariants.js';
import { Output } from './output.js';
import { ClientEntry, ClientRequest, type PppQueueStats } from './state.js';

/** A client whose waiting requests cost less never makes room for others. */
const HELD_LEAST_BYTES = 65_536;

/** The Paranoid Pirate queue as a deterministic state machine. Never throws because of a peer. */
export class PppQueueEngine implements Engine<PppQueueEvent, PppQueueEffect> {
  readonly #settings: PppQueueSettings;
  readonly #out = new Output<PppQueueEffect>();
  readonly #clients = new ClientTable(ClientEntry);
  /** Rule 14: which clients have most bytes waiting. */
  readonly #holders = new HolderClasses<ClientEntry>(HELD_LEAST_BYTES);
  /** Rule 14: waiting requests by age. */
  readonly #expiries: DeadlineList<ClientRequest>;
  readonly #backend: Backend<ClientRequest>;

  constructor(settings: PppQueueSettings) {
    this.#settings = settings;
    this.#expiries = new DeadlineList(settings.requestTtlMs);
    this.#backend = new Backend(settings, this.#out, this.#requester);
  }

  get deadline(): number {
    return Math.min(this.#backend.deadline, this.#expiries.deadline);
  }

  get heldBytes(): number {
    const { bytes, slack, workers } = this.#backend.state;
    return bytes.used + slack.used + (workers.size + this.#clients.size) * ENTRY_BYTES;
  }

  step(event: PppQueueEvent | TimerEvent, now: number): readonly PppQueueEffect[] {
    this.#out.begin(now);
    if (this.#backend.phase !== 'drained') this.#handle(event);
    this.#backend.settle();
    return this.#out.effects;
  }

  /** Current sizes and running totals. */
  stats(): PppQueueStats {
    return { ...this.#backend.stats(), clients: this.#clients.size };
  }

  /** How many workers have this routing id, as text or in hex. */
  named(worker: string): number {
    return this.#backend.named(worker).length;
  }

  /** The operator's view at `now`; the cost is linear in the workers and clients. */
  detail(now: number): EngineSnapshot {
    const clients = Array.from(this.#clients.values(), ({ peer, open }) => ({
      ...shown(peer),
      open,
      refused: this.#out.refused.frontend.of(peer.key),
    }));
    const strangers = this.#out.refused.frontend.clients(({ key }) => this.#clients.find(key) !== undefined);
    return detailOf(this.#backend, this.#out, [...clients, ...strangers], now);
  }

  assertInvariants(): void {
    const requests = assertBackend(this.#backend, this.deadline, this.#expiries.deadline);
    assertQueue(requests, this.#clients, this.#expiries);
  }

  #handle(event: PppQueueEvent | TimerEvent): void {
    if (event.kind === 'timer') this.#onTimer(event.lateMs);
    else if (event.kind === 'drain') this.#backend.drain();
    else if (event.kind === 'memory') this.#backend.state.bytes.isTight = event.isTight;
    else if (event.kind === 'access') this.#backend.replaceRights(event.access);
    else if (event.kind === 'dismiss') this.#backend.dismiss(event);
    else if (event.socket === 'backend') this.#backend.handle(event);
    else this.#onFrontend(event);
  }

  #onFrontend(event: PppFrontendEvent): void {
    const { peer } = event;
    switch (event.kind) {
      case 'message':
        this.#onMessage(peer, event.command);
        break;
      case 'rejected':
        this.#out.dropMessage(event.reason === 'too-many-frames' ? 'too-large' : event.reason, 'frontend', peer);
        break;
      case 'undeliverable':
        this.#out.dropReply(peer, 1 + (event.others ?? 0));
        if (event.reason === 'unreachable') this.#clientGone(peer);
        break;
      case 'peer-gone':
        this.#clientGone(peer);
        break;
    }
  }

  #onMessage(peer: Peer, command: PppToFrontend): void {
    if (command.kind === 'malformed') this.#out.dropMessage(command.reason, 'frontend', peer);
    else if (this.#backend.phase !== 'serving') this.#out.refuseRequest('draining', peer);
    else if (this.#backend.rights.forbid(peer, 'request', WORK)) this.#out.refuseRequest('not-allowed', peer);
    else this.#onRequest(peer, command);
  }

  #onRequest(peer: Peer, command: PppClientRequest): void {
    const client = this.#clients.find(peer.key) ?? this.#clients.add(peer);
    const request = new ClientRequest(client, command);
    client.open++;
    if (this.#backend.dispatcher.accept(request)) return;
    this.#settle(request);
    this.#out.refuseRequest('queue-full', peer);
  }

  /** Rule 15. A running request finishes, but its reply is dropped: the id may return as another client. */
  #clientGone(peer: Peer): void {
    const client = this.#clients.find(peer.key);
    if (client === undefined) return;
    this.#clients.leave(client);
    this.#backend.dispatcher.leave(client, client.waiting);
  }

  #onTimer(lateMs: number): void {
    this.#backend.onTimer(lateMs);
    // Our process was too busy to listen: a worker's READY may be unread.
    if (lateMs > this.#settings.heartbeatIntervalMs) this.#expiries.postpone(lateMs, this.#out.now);
    this.#expire();
  }

  /** Rule 14. */
  #expire(): void {
    for (const request of dueOf(this.#expiries, this.#out.now)) this.#backend.dispatcher.giveUp(request, 'expired');
  }

  /** The client is owed one reply less. */
  #settle({ client }: ClientRequest): void {
    if (--client.open === 0) this.#clients.rest(client);
  }

  readonly #requester: Requester<ClientRequest> = {
    onWaiting: (request, where) => {
      this.#expiries.renew(request.expiry, this.#out.now);
      if (where === 'front') return;
      request.held = request.cost;
      this.#holders.add(request.client.held, request.held);
    },
    linesOf: ({ client }) => client.waiting,
    onWaited: (request) => {
      this.#expiries.remove(request.expiry);
      this.#holders.add(request.client.held, -request.held);
      request.held = 0;
    },
    surplus: ({ client, cost }) =>
      surplusOf(
        this.#holders,
        client.held.amount + cost,
        (owner) => ({ held: owner.held.amount, newest: this.#backend.state.queue.newest(owner) }),
        (request) => request.cost,
      ),
    onReply: (request, { addresses, content }: PppAddressedReply) => {
      const { client, bare } = request;
      const { peer, gone } = client;
      this.#settle(request);
      if (gone) this.#out.dropReply(peer);
      else {
        // Rules 4 and 9: the worker's frames unchanged, without the client's own address, which the socket adds.
        const command = { kind: 'client-reply', hops: bare ? undefined : addresses.slice(1), content } as const;
        this.#out.effects.push({ kind: 'send', socket: 'frontend', peer, command });
      }
    },
    onLost: (request, reason: PppRequestLoss) => {
      this.#settle(request);
      this.#out.noteRequestDropped(reason, request.client.peer);
    },
  };
}
