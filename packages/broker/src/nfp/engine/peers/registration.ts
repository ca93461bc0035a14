/**
 * NFP broker: which workers are registered, for which service and on which terms. Rules 3 to 8, 23 and 25; `../jobs/lost-workers.ts` handles the
 * jobs of a lost worker.
 */
import { decodeNfpJson, decodeNfpOpenInfo, encodeNfpJson } from '@proj/frames/nfp';
import type { NfpClientOpen, NfpCommandForm, NfpWorkerOpen, NfpWorkerReady } from '@proj/frames/nfp';
import type { Access, Peer } from '@proj/transport';
import type { Rights } from '../../../shared/rights.js';
import type { NfpBrokerSettings } from '../../options.js';
import type { NfpMessageDrop } from '../counters.js';
import type { NfpWorkerLoss } from '../events.js';
import type { Gathers } from '../jobs/gathers.js';
import { isReserved } from '../management/reserved-names.js';
import type { Output } from '../output.js';
import { type Terms, Worker } from '../records.js';
import type { LostWorkers } from '../jobs/lost-workers.js';
import { type BrokerState, TERMS_MAX } from '../state.js';

/** Rule 13: a worker with more open jobs than this that repeats READY within the period gets them with its next KEEPALIVE. */
const REPAY_AT_ONCE = 16;
const REPAY_PERIOD_MS = 1000;

/** The contents of the broker's OPEN: a name, and the protocol version that the headers stand for. */
const SELF = { name: 'proj-broker', version: '0.1' };

/** Losses from which a worker usually returns soon: its registration continues until it has been silent too long. */
const STAYS_AWAY: ReadonlySet<NfpWorkerLoss> = new Set(['gone', 'unreachable', 'dismissed']);

/** Registers workers, keeps them alive, and removes them. */
export class Registration {
  readonly #settings: NfpBrokerSettings;
  readonly #terms: Terms;
  readonly #state: BrokerState;
  readonly #out: Output;
  readonly #rights: Rights;
  readonly #lostWorkers: LostWorkers;
  readonly #gathers: Gathers;
  /** Rule 25. */
  readonly #leaving = new Set<Worker>();

  constructor(
    settings: NfpBrokerSettings,
    state: BrokerState,
    out: Output,
    parts: { readonly rights: Rights; readonly lostWorkers: LostWorkers; readonly gathers: Gathers },
  ) {
    this.#settings = settings;
    this.#terms = { intervalMs: settings.keepaliveIntervalMs, multiplier: settings.keepaliveMultiplier };
    this.#state = state;
    this.#out = out;
    this.#rights = parts.rights;
    this.#lostWorkers = parts.lostWorkers;
    this.#gathers = parts.gathers;
  }

  /** Rule 3: answers with the terms that apply from now on. */
  open(peer: Peer, { kind, form, body }: NfpClientOpen | NfpWorkerOpen): void {
    const { workers } = this.#state;
    const info = decodeNfpOpenInfo(body);
    if (info === undefined && decodeNfpJson(body) === undefined) this.#out.dropMessage('open-body', peer);
    const agreed = info === undefined ? this.#terms : termsOf(info.keepalive);
    if (kind === 'worker-open') {
      const worker = workers.find(peer.key);
      if (worker !== undefined) workers.change(worker, agreed, this.#out.now);
      else this.#remember(peer, agreed);
    }
    const keepalive = { interval: agreed.intervalMs, multiplier: agreed.multiplier };
    this.#out.open(peer, form, encodeNfpJson({ ...SELF, keepalive }));
  }

  /** Rule 4. */
  ready(peer: Peer, { form, service }: NfpWorkerReady): void {
    if (isReserved(service)) this.refuse(peer, form, service, 'reserved-service');
    else if (this.#rights.forbid(peer, 'serve', service)) this.refuse(peer, form, service, 'not-allowed');
    else this.#register(peer, form, service, this.#state.terms.get(peer.key) ?? this.#terms);
  }

  /** Rule 4: a worker that repeats READY was restarted, and may have lost what it was sent (rule 13). */
  readyAgain(worker: Worker): void {
    this.#out.counters.repeatedReadies++;
    this.#lostWorkers.owe(worker);
    this.#repay(worker);
  }

  /** Rule 13: the registration under this routing id that continues without a connection, if its sender may have it. */
  awayOf(peer: Peer): Worker | undefined {
    const away = this.#state.holders.find(peer.key)?.away;
    if (away === undefined || away.until <= this.#out.now) return undefined;
    return this.#rights.forbid(peer, 'serve', away.worker.service.name) ? undefined : away.worker;
  }

  /** Rule 13: the worker of a registration that was away is back. `undefined` if it was refused. */
  resume(peer: Peer, form: NfpCommandForm, { service, terms }: Worker): Worker | undefined {
    return this.#register(peer, form, service.name, terms);
  }

  /** Rule 7: DISCONNECT from a peer without a connected registration. */
  forgetTerms(peer: Peer): void {
    this.#state.terms.delete(peer.key);
    const holder = this.#state.holders.find(peer.key);
    if (holder !== undefined) holder.away = undefined;
  }

  /** Rule 8. */
  refuse(peer: Peer, form: NfpCommandForm, service: string, reason: NfpMessageDrop): void {
    this.#out.dropMessage(reason, peer);
    this.#out.disconnect(peer, form, service);
  }

  /** Sends DISCONNECT to registered workers, then drops them. */
  dismiss(workers: readonly Worker[], reason: NfpWorkerLoss): void {
    for (const { peer, form, service } of workers) this.#out.farewell(peer, form, service.name);
    this.lose(workers, reason);
  }

  /** Rule 25: they are dismissed once they have no jobs. */
  drain(workers: readonly Worker[]): void {
    for (const worker of workers) {
      this.#state.services.retire(worker);
      this.#leaving.add(worker);
    }
  }

  /** Ends a step: dismisses leaving workers without jobs. */
  dismissIdle(): void {
    if (this.#leaving.size === 0) return;
    const isIdle = (worker: Worker) => worker.holder.running === 0 && !this.#gathers.awaits(worker);
    const idle = [...this.#leaving].filter(isIdle);
    if (idle.length > 0) this.dismiss(idle, 'dismissed');
  }

  /** Drops registered workers, all of them before their jobs go to others. They get nothing more. */
  lose(lost: readonly Worker[], reason: NfpWorkerLoss): void {
    const { workers, services, holders } = this.#state;
    const { now } = this.#out;
    const isAway = STAYS_AWAY.has(reason);
    for (const worker of lost) {
      const { peer, service } = worker;
      this.#leaving.delete(worker);
      workers.remove(worker);
      services.leave(worker);
      services.tidy(service);
      this.#gathers.lose(worker);
      holders.leave(worker.holder, isAway ? workers.lifeOf(worker) : undefined, now);
      this.#out.counters.workersLost++;
      this.#out.effects.push({ kind: 'worker-lost', peer, service: service.name, reason });
    }
    if (reason === 'drained') this.#lostWorkers.letGo();
    else this.#lostWorkers.lost(lost, reason === 'dismissed');
  }

  /** Rule 23: new rules apply to registered workers too; calls already accepted stay accepted. */
  changeAccess(access: Access): void {
    this.#rights.replace(access);
    const mustGo = ({ peer, service }: Worker) => !access.allows(peer, 'serve', service.name);
    this.dismiss([...this.#state.workers.values()].filter(mustGo), 'not-allowed');
  }

  /** Rule 5: sends the KEEPALIVEs that are due. All silent workers are removed before the first job is resent, or it might go to one of them. */
  keepAlive(): void {
    const { workers } = this.#state;
    const { now } = this.#out;
    const silent: Worker[] = [];
    for (let due = workers.takeDue(now); due !== undefined; due = workers.takeDue(now)) {
      if (due.silent) {
        silent.push(due.worker);
      } else {
        workers.beat(due.worker, now);
        this.#out.keepalive(due.worker);
        if (due.worker.isOwed) this.#repay(due.worker);
      }
    }
    if (silent.length > 0) this.lose(silent, 'expired');
  }

  /** Remembers terms until READY. Bounded: the oldest go first. */
  #remember(peer: Peer, agreed: Terms): void {
    const { terms } = this.#state;
    terms.delete(peer.key);
    terms.set(peer.key, agreed);
    const [oldest] = terms.keys();
    if (terms.size > TERMS_MAX && oldest !== undefined) terms.delete(oldest);
  }

  /** Rules 4 and 19. Jobs the worker may not have, or must drop, follow at once (rule 13). */
  #register(peer: Peer, form: NfpCommandForm, name: string, terms: Terms): Worker | undefined {
    const { workers, services, holders, registrations } = this.#state;
    const known = services.find(name);
    if (!services.mayServe(known)) {
      this.refuse(peer, form, name, 'services-limit');
      return undefined;
    }
    if (workers.size >= this.#settings.workersMax) {
      this.refuse(peer, form, name, 'workers-limit');
      return undefined;
    }
    if (!registrations.take(peer.key, this.#out.now)) {
      this.refuse(peer, form, name, 'registrations-limit');
      return undefined;
    }
    const worker = new Worker(peer, known ?? services.add(name), form, terms, this.#out.now);
    const wasLost = holders.find(peer.key) !== undefined;
    this.#state.terms.delete(peer.key);
    workers.add(worker);
    worker.holder = holders.arrive(worker);
    services.join(worker);
    this.#out.counters.workersReady++;
    this.#out.effects.push({ kind: 'worker-ready', peer, service: name });
    this.#lostWorkers.returned(worker, wasLost);
    return worker;
  }

  /** Sends a worker what it may not have. READY costs it a few bytes, and may cost us many: so not too often. */
  #repay(worker: Worker): void {
    const { now } = this.#out;
    worker.isOwed = worker.holder.parts.size > REPAY_AT_ONCE && now - worker.repaidAt < REPAY_PERIOD_MS;
    if (worker.isOwed) return;
    worker.repaidAt = now;
    this.#lostWorkers.returned(worker, false);
  }
}

/** Rule 3: the peer's wishes, within limits. */
function termsOf({ interval, multiplier }: { readonly interval: number; readonly multiplier: number }): Terms {
  return { intervalMs: clamp(Math.round(interval), 100, 600_000), multiplier: clamp(Math.round(multiplier), 2, 20) };
}

function clamp(value: number, min: number, max: number): number {
  return Math.min(Math.max(value, min), max);
}
