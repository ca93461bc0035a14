/**
 * PZQ, the queue server: what is stored, which consumer gets it, and when it is done. The rules are those of docs/protocols/pzq.md.
 *
 * | rule | what | file |
 * | --- | --- | --- |
 * | 1, 3, 4, 6 | producers and their answers | producers/producer-side.ts |
 * | 2 | stored, then answered | producers/commits.ts, producers/producer-side.ts |
 * | 5 | words of a refusal | output.ts, producers/producer-side.ts |
 * | 7 | group commit | producers/pending-batch.ts, producers/commits.ts, producers/producer-side.ts |
 * | 8, 9 | one commit, failed commits | producers/commits.ts |
 * | 10 | order, messages in memory | delivery/window.ts, delivery/consumer-side.ts, delivery/loading.ts |
 * | 11 | messages that came back | delivery/consumer-side.ts, delivery/dead-letters.ts, delivery/in-flight.ts |
 * | 12 | leases | delivery/consumer-side.ts |
 * | 13 to 15 | acknowledgements | delivery/acknowledgement.ts, legality.ts |
 * | 16 | bounds of messages in flight | delivery/in-flight.ts, delivery/consumers.ts, delivery/consumer-side.ts |
 * | 17 | no consumer | delivery/consumer-side.ts, socket-plans.ts |
 * | 18 | bounds of the queue | producers/producer-side.ts, engine.ts |
 * | 19 | draining | engine.ts |
 * | 20 | the start | delivery/window.ts, store/lmdb.ts, store/lmdb/draft.ts |
 * | 21 | one process, undamaged | store/lmdb.ts, store/src/folder/holder.ts |
 * | 22 | monitor | monitor.ts, frames/src/pzq/monitor.ts |
 * | 25 | who keeps leases | store-calls.ts, delivery/window.ts, store/store.ts |
 * | 26 | what every store does | store/compliance/suite.ts, store/store.ts |
 * | 27 | keys | frames/src/pzq/key.ts, store/epoch.ts |
 * | 28 | LMDB | store/lmdb.ts |
 * | 29 | PostgreSQL | store/postgres.ts |
 * | 30 | several servers | delivery/shared-leases.ts, delivery/loading.ts, store/postgres.ts |
 * | 31 | memory is not durable | store/memory.ts |
 * | 32 | delays | delivery/delays.ts, delivery/loading.ts |
 * | 33 | lifetimes | delivery/dead-letters.ts, delivery/delays.ts, delivery/loading.ts |
 * | 34 | too many deliveries | delivery/dead-letters.ts |
 * | 35 | dead letters | delivery/dead-letters.ts, dead-letter-requests.ts |
 * | 36 | rests after a return | delivery/dead-letters.ts, delivery/consumer-side.ts |
 * | 37 | extended leases | delivery/acknowledgement.ts, delivery/consumer-side.ts, legality.ts |
 * | 38 | headers | frames/src/pzq/headers.ts, producers/producer-side.ts |
 * | 39 | access | engine.ts |
 * | 40 | pause | delivery/loading.ts, engine.ts |
 * | 41 | purge | delivery/purge.ts |
 * | 42 | drained consumers | delivery/consumers.ts |
 */
import { totalBytes } from '@proj/frames';
import type { PzqFromMonitor, PzqFromProducer, PzqProduce, PzqUnusable } from '@proj/frames/pzq';
import type { Access, Engine, Entropy, MemoryBudget, Peer, TimerEvent } from '@proj/transport';
import type { EngineSnapshot } from '@proj/transport/engine';
import type { PzqSettings } from '../options.js';
import { Acknowledgements } from './delivery/acknowledgement.js';
import { DeadLetters } from './delivery/dead-letters.js';
import { detailOf } from './detail.js';
import type { PzqEffect, PzqEvent, PzqStats, PzqStoreInfo } from './events.js';
import { assertState } from './invariants.js';
import { monitorText, statsOf } from './monitor.js';
import { type Refusal, REFUSALS } from './output.js';
import { Purge } from './delivery/purge.js';
import { type Owners, QueueState } from './state.js';
import { Loading } from './delivery/loading.js';

/** What may wait for the disk while the process is short of memory. */
const RESERVE_BYTES = 2 ** 20;

/** If a timer is later than this, acknowledgements may be unread in our sockets. */
const LATE_MS = 100;

/** The PZQ server as a deterministic state machine. Never throws because of a peer. */
export class PzqEngine implements Engine<PzqEvent, PzqEffect> {
  readonly #state: QueueState;
  readonly #memory: Pick<MemoryBudget, 'stats'> | undefined;
  readonly #deadLetters: DeadLetters;
  readonly #acknowledgements: Acknowledgements;
  readonly #loading: Loading;
  readonly #purge: Purge;
  #startedAt = 0;
  /** Rule 39. */
  #rights: { readonly access: Access; readonly name: string } | undefined;
  #drainUntil = Infinity;
  /** Rule 18: the process has no room for more. */
  #isTight = false;

  /**
   * `store` is what opening it returned; events of commits keep its `counts` and `lastSeq` up to date. `memory` is read when the monitor is
   * asked.
   */
  constructor(settings: PzqSettings, store: PzqStoreInfo, entropy: Entropy, memory?: Pick<MemoryBudget, 'stats'>) {
    this.#state = new QueueState(settings, store, entropy, this.#owners());
    this.#memory = memory;
    this.#deadLetters = new DeadLetters(this.#state);
    this.#acknowledgements = new Acknowledgements(this.#state);
    this.#purge = new Purge(this.#state);
    this.#loading = new Loading(this.#state, this.#deadLetters, this.#purge);
  }

  get deadline(): number {
    const { phase, queue, dead, commits, delivers, isPaused } = this.#state;
    if (phase === 'new' || phase === 'drained') return Infinity;
    return Math.min(
      queue.side.deadline(delivers && !isPaused),
      dead?.side.deadline(delivers) ?? Infinity,
      commits.deadline,
      this.#drainUntil,
      this.#loading.deadline,
    );
  }

  get heldBytes(): number {
    return this.#state.heldBytes;
  }

  step(event: PzqEvent | TimerEvent, now: number): readonly PzqEffect[] {
    const state = this.#state;
    const { out, commits } = state;
    out.begin(now);
    if (state.phase === 'drained') return out.effects;
    this.#handle(event);
    if (state.phase !== 'new') commits.pump();
    this.#loading.checkCounts();
    // A commit that has begun makes room for deliveries, and those may give up messages, which must be written again.
    if (state.phase === 'serving') {
      this.#loading.run();
      commits.pump();
    }
    if (state.phase === 'draining' && this.#isOver) this.#finish();
    return out.effects;
  }

  /** Current sizes and totals so far. */
  stats(): PzqStats {
    return statsOf(this.#state);
  }

  /** The operator's view at `now` of the queue with this name; linear in its peers and in the messages in memory. */
  detail(name: string, now: number): EngineSnapshot {
    return detailOf(this.#state, name, now);
  }

  /** How many connected consumers have this routing id, as text or in hex. */
  named(consumer: string): number {
    return this.#state.ways.reduce((count, { side }) => count + side.consumers.named(consumer).length, 0);
  }

  assertInvariants(): void {
    assertState(this.#state);
  }

  #handle(event: PzqEvent | TimerEvent): void {
    const { commits, out, pending } = this.#state;
    switch (event.kind) {
      case 'start':
        this.#onStart();
        break;
      case 'produce':
        this.#onProduce(event.peer, event.command, event.acksWaiting);
        break;
      case 'consumer':
        this.#acknowledgements.receive(event.outlet, event.command, event.peer?.key === '' ? undefined : event.peer);
        break;
      case 'delivered':
        this.#state.way(event.outlet).side.delivered(event.peer);
        this.#loading.delivered(event.outlet);
        break;
      case 'blocked':
        this.#state.way(event.outlet).side.blocked();
        this.#loading.blocked(event.outlet);
        break;
      case 'consumer-came':
        this.#state.way(event.outlet).side.consumers.came(event.peer);
        break;
      case 'consumer-gone':
        this.#state.way(event.outlet).side.consumers.gone(event.peer);
        break;
      case 'committed':
        commits.committed(event.result);
        break;
      case 'commit-failed':
        commits.failed(event);
        break;
      case 'probed':
        commits.probed();
        break;
      case 'probe-failed':
        commits.probeFailed(event);
        break;
      case 'timer':
        this.#onTimer(event.lateMs);
        break;
      case 'loaded':
        this.#state.way(event.outlet).window.loaded(event.messages);
        break;
      case 'load-failed':
        this.#loading.loadFailed(event.outlet, event);
        break;
      case 'due':
        this.#loading.due(event.messages);
        break;
      case 'due-failed':
        this.#loading.dueFailed(event);
        break;
      case 'taken':
        this.#loading.taken(event.messages);
        break;
      case 'take-failed':
        this.#loading.takeFailed(event);
        break;
      case 'monitor':
        this.#onMonitor(event.peer, event.command);
        break;
      case 'rejected':
        out.drop(event.reason, event.socket, event.peer);
        break;
      case 'ack-undeliverable':
        out.loseAcks(event.reason, event.peer, 1 + (event.others ?? 0));
        break;
      case 'revive':
        this.#deadLetters.withdraw(event.seqs);
        pending.revive(event.id, event.seqs);
        break;
      case 'discard':
        this.#deadLetters.withdraw(event.letters.map(({ seq }) => seq));
        pending.discard(event.id, event.letters);
        break;
      case 'pause':
        this.#state.isPaused = event.isPaused;
        break;
      case 'purge':
        this.#purge.begin(event.id);
        break;
      case 'dismiss':
        for (const { side } of this.#state.ways) side.consumers.dismiss(event.consumer);
        break;
      case 'access':
        this.#rights = event;
        break;
      case 'memory':
        this.#isTight = event.isTight;
        break;
      case 'drain':
        this.#onDrain();
        break;
    }
  }

  #onStart(): void {
    this.#state.phase = 'serving';
    this.#startedAt = this.#state.out.now;
    this.#state.out.sawWall(this.#state.entropy.wallMicros());
    this.#loading.committed(this.#state.commits.counts.nextDueMicros);
  }

  #onProduce(peer: Peer, command: PzqFromProducer, acksWaiting: number): void {
    const { commits, out, producers } = this.#state;
    if (command.kind === 'malformed') out.drop(command.reason, 'receive', peer);
    else producers.accept(peer, command, acksWaiting, commits.counts, this.#closedTo(peer, command));
  }

  /** Why this is not accepted from this producer, whatever it has waiting. */
  #closedTo(peer: Peer, command: PzqProduce | PzqUnusable): Refusal | undefined {
    const { commits, phase } = this.#state;
    if (this.#forbids(peer, '')) return REFUSALS['not-allowed'];
    if (phase === 'draining') return REFUSALS.draining;
    return commits.refusal ?? (this.#lacksMemory(command) ? REFUSALS['queue-full-bytes'] : undefined);
  }

  /** Rule 18: little may wait for the disk while memory is short. In a queue that is kept in memory, nothing. */
  #lacksMemory(command: PzqProduce | PzqUnusable): boolean {
    if (!this.#isTight) return false;
    const { producers, store } = this.#state;
    const bytes = command.kind === 'produce' ? totalBytes(command.body) : 0;
    return store.name === 'memory' || producers.heldBytes + bytes > RESERVE_BYTES;
  }

  /** Rule 39: true if this peer may not `request` the queue's name with this suffix. */
  #forbids(peer: Peer, suffix: string): boolean {
    return this.#rights !== undefined && !this.#rights.access.allows(peer, 'request', this.#rights.name + suffix);
  }

  #onMonitor(peer: Peer, command: PzqFromMonitor): void {
    const { out, settings } = this.#state;
    if (command.kind === 'malformed') {
      out.drop(command.reason, 'monitor', peer);
    } else if (this.#forbids(peer, '.monitor')) {
      out.drop('not-allowed', 'monitor', peer);
    } else {
      out.counters.monitorReplies++;
      const text = monitorText(this.stats(), out.now - this.#startedAt, settings.version, this.#memory?.stats());
      out.effects.push({ kind: 'monitor-reply', peer, command: { kind: 'monitor-reply', text } });
    }
  }

  /** Rule 12: expired leases end. */
  #onTimer(lateMs: number): void {
    const { out, settings, ways } = this.#state;
    if (lateMs > LATE_MS) {
      for (const { side } of ways) side.postpone(Math.min(lateMs, settings.ackTimeoutMs));
      out.runningLate(lateMs);
    }
    for (const { side } of ways) side.onTimer();
  }

  #onDrain(): void {
    const { out, settings } = this.#state;
    if (this.#state.phase === 'draining') return;
    this.#state.phase = 'draining';
    this.#drainUntil = out.now + settings.drainMs;
    this.#loading.releaseReady();
  }

  /** Rule 19: everything is written, and no consumer has a message, or the time for it is over. */
  get #isOver(): boolean {
    const { commits, out, ways } = this.#state;
    if (out.now >= this.#drainUntil) return true;
    return commits.idle && !ways.some(({ side }) => side.inFlight > 0 || side.offering);
  }

  #finish(): void {
    const { commits, out, pending, producers } = this.#state;
    this.#state.phase = 'drained';
    producers.refuseQueued(REFUSALS.draining, Infinity);
    this.#purge.abandon('CLOSED');
    const open = [...pending.take(Infinity).requests, ...(commits.changing?.requests ?? [])];
    for (const { id } of open) out.effects.push({ kind: 'done', id, code: 'CLOSED' });
    out.effects.push({ kind: 'drained' });
  }

  #owners(): Owners {
    return {
      queue: {
        overdue: (message) => this.#deadLetters.overdue(message),
        onReturned: (message, how) => this.#deadLetters.onReturned(message, how),
      },
      dead: {
        overdue: () => false,
        onReturned: (message) => {
          this.#state.dead?.side.putBack(message);
          return true;
        },
      },
      commits: {
        onStored: (message, isDelayed) => {
          this.#loading.stored(message, isDelayed);
        },
        onChanged: ({ removes, buries, requests }, result) => {
          this.#acknowledgements.removed(removes, result);
          this.#deadLetters.committed(buries, requests);
          this.#loading.committed(result.counts.nextDueMicros);
        },
        onUnchanged: ({ requests }, code) => {
          this.#deadLetters.failed(requests, code);
        },
      },
    };
  }
}
