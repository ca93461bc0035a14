/**
 * 18/MDP and 7/MDP, a client application that is the broker: it hands out requests of its own. Towards workers it is a broker with
 * `bridge`, whose clients are the requests; the rules of this side are those of docs/protocols/mdp.md, section "Pool".
 */
import type { MdpClientReply } from '@proj/frames/mdp';
import { DeadlineHeap } from '@proj/heartbeat';
import type { Engine, Peer, TimerEvent } from '@proj/transport';
import { check } from '../../shared/check.js';
import { PoolCall, keyOf } from './calls.js';
import type { MdpBrokerEffect, MdpBrokerEvent, MdpRefusal, MdpReplyLoss, MdpRequestLoss } from './events.js';
import { MdpBrokerEngine } from './engine.js';
import type { MdpBrokerSettings, MdpPoolSettings } from '../options.js';
import { Output } from './output.js';
import type { MdpCallFailure, MdpPoolEffect, MdpPoolEvent } from './pool-events.js';
import type { MdpBrokerStats } from './stats.js';

/** Of requests that have patience of their own, which is no longer than this. */
const PATIENT = { requestTtlMs: 86_400_000, busyTtlMs: 0, clientRequestsMax: 1 } as const;

/** Callers are told of each request that came to nothing; a broker tells the log of some. */
class PoolOutput extends Output {
  /** Since it was last emptied. */
  readonly lost: { readonly key: string; readonly reason: MdpRefusal | MdpRequestLoss }[] = [];

  override dropRequest(reason: MdpRefusal | MdpRequestLoss, peer: Peer): void {
    this.counters.dropped[reason]++;
    this.lost.push({ key: peer.key, reason });
  }

  override dropReply(reason: MdpReplyLoss): void {
    this.counters.dropped[reason]++;
  }
}

/** The Majordomo pool as a deterministic machine. It never throws on anything a peer can cause. */
export class MdpPoolEngine implements Engine<MdpPoolEvent, MdpPoolEffect> {
  readonly #lateMs: number;
  readonly #out: PoolOutput;
  readonly #broker: MdpBrokerEngine;
  /** Calls that somebody waits for, by the key of the client that each is to the broker. */
  readonly #calls = new Map<string, PoolCall>();
  readonly #patience = new DeadlineHeap<PoolCall>();
  #lateUntil = -Infinity;
  #drained = false;
  #effects: MdpPoolEffect[] = [];

  constructor(settings: MdpPoolSettings) {
    const ofBroker: MdpBrokerSettings = { ...settings, ...PATIENT, bridge: true, mmiAdditions: false };
    this.#lateMs = settings.heartbeatIntervalMs;
    this.#out = new PoolOutput(ofBroker);
    this.#broker = new MdpBrokerEngine(ofBroker, this.#out);
  }

  get deadline(): number {
    return Math.min(this.#broker.deadline, this.#expiry);
  }

  get heldBytes(): number {
    return this.#broker.heldBytes;
  }

  step(event: MdpPoolEvent | TimerEvent, now: number): readonly MdpPoolEffect[] {
    this.#effects = [];
    switch (event.kind) {
      case 'request':
        this.#onRequest(event, now);
        break;
      case 'abort':
        this.#abandon(this.#calls.get(keyOf(event.id)), now);
        break;
      case 'timer':
        this.#onTimer(event, now);
        break;
      default:
        this.#tell(event, now);
    }
    return this.#effects;
  }

  /** Sizes now and totals so far; the cost is linear in the number of services. Every open call is a client. */
  stats(): MdpBrokerStats {
    return this.#broker.stats();
  }

  /** Whether any worker is registered for the service. */
  serves(service: string): boolean {
    return this.#broker.serves(service);
  }

  assertInvariants(): void {
    this.#broker.assertInvariants();
    this.#patience.assertInvariants();
    check(this.#calls.size === this.#broker.stats().clients, 'every call is a client with a request');
    check(this.#calls.size === this.#patience.size, 'every call has patience, and nothing else has');
    for (const { patience } of this.#calls.values()) check(patience.at < Infinity, 'every call has patience');
    check(this.#out.lost.length === 0, 'whoever waits for what came to nothing was told');
  }

  /** When the next call has taken too long; replies that we were too busy to read are not the workers' fault (ADR 4). */
  get #expiry(): number {
    return this.#patience.size === 0 ? Infinity : Math.max(this.#patience.deadline, this.#lateUntil);
  }

  #onRequest({ id, service, body, timeoutMs }: MdpPoolEvent & { kind: 'request' }, now: number): void {
    if (this.#drained) {
      this.#out.counters.dropped.draining++;
      this.#fail(id, 'draining');
      return;
    }
    const call = new PoolCall(id, timeoutMs);
    this.#calls.set(call.peer.key, call);
    this.#patience.set(call.patience, now + timeoutMs);
    const command = { kind: 'client-request', version: '0.2', service, body } as const;
    this.#tell({ kind: 'own-request', peer: call.peer, command }, now);
  }

  #onTimer(event: TimerEvent, now: number): void {
    if (event.lateMs > this.#lateMs) this.#lateUntil = Math.max(this.#lateUntil, now + event.lateMs);
    this.#tell(event, now);
    if (now < this.#expiry) return;
    for (let call = this.#patience.takeDue(now); call !== undefined; call = this.#patience.takeDue(now)) {
      this.#fail(call.id, 'expired');
      this.#abandon(call, now);
    }
  }

  /** Taken out while it waits, forgotten while it runs: to the broker its client is gone. */
  #abandon(call: PoolCall | undefined, now: number): void {
    if (call === undefined) return;
    this.#settle(call);
    this.#tell({ kind: 'peer-gone', peer: call.peer }, now);
  }

  #tell(event: MdpBrokerEvent | TimerEvent, now: number): void {
    for (const effect of this.#broker.step(event, now)) this.#pass(effect, now);
    for (const { key, reason } of this.#out.lost.splice(0)) {
      const call = this.#calls.get(key);
      if (call === undefined) continue;
      this.#settle(call);
      this.#fail(call.id, reason);
    }
  }

  #pass(effect: MdpBrokerEffect, now: number): void {
    switch (effect.kind) {
      case 'send': {
        const { peer, command } = effect;
        if (command.kind === 'client-partial' || command.kind === 'client-final') this.#reply(peer, command, now);
        else this.#effects.push({ kind: 'send', peer, command });
        break;
      }
      // Bodies of requests are the caller's, and those of replies are from now on. Nothing is served inside.
      case 'release':
      case 'run':
      case 'cancel':
        break;
      case 'drained':
        this.#drained = true;
        this.#effects.push(effect);
        break;
      default:
        this.#effects.push(effect);
    }
  }

  #reply(peer: Peer, { kind, body }: MdpClientReply, now: number): void {
    const call = this.#calls.get(peer.key);
    if (call === undefined) return;
    if (kind === 'client-partial') {
      this.#patience.set(call.patience, now + call.timeoutMs);
      this.#effects.push({ kind: 'partial', id: call.id, body });
    } else {
      this.#settle(call);
      this.#effects.push({ kind: 'answer', id: call.id, body });
    }
  }

  #fail(id: number, reason: MdpCallFailure): void {
    this.#effects.push({ kind: 'fail', id, reason });
  }

  #settle(call: PoolCall): void {
    this.#patience.remove(call.patience);
    this.#calls.delete(call.peer.key);
  }
}
