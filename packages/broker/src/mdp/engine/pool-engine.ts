/**
 * 18/MDP and 7/MDP, a client application that is the broker: it distributes its own requests. To workers it is a broker with `bridge` whose
 * clients are the calls; the rules of the calling side are in docs/protocols/mdp.md, section "Pool".
 *
 * | rule | what | file |
 * | --- | --- | --- |
 * | 1 | workers, as in a broker | engine.ts, pool-engine.ts |
 * | 2 | each call is a client | pool-engine.ts, pool-calls.ts |
 * | 3 | timeouts, aborts | pool-engine.ts, shared/calls.ts, pool-calls.ts |
 * | 4 | draining | engine.ts, pool-engine.ts |
 */
import type { MdpClientReply } from '@proj/frames/mdp';
import { HeapDeadline } from '@proj/heartbeat';
import type { Engine, Peer, TimerEvent } from '@proj/transport';
import type { EngineSnapshot } from '@proj/transport/engine';
import { type CallLegality, CallTable } from '../../shared/calls.js';
import { check } from '../../shared/check.js';
import type { MdpBrokerSettings, MdpPoolSettings } from '../options.js';
import { MdpBrokerEngine } from './engine.js';
import type {
  MdpBrokerEffect,
  MdpBrokerEvent,
  MdpCallFailure,
  MdpPoolEffect,
  MdpPoolEvent,
  MdpRefusal,
  MdpReplyLoss,
  MdpRequestLoss,
} from './events.js';
import { Output } from './output.js';
import type { MdpBrokerStats } from './state.js';

type CallEvent = 'partial' | 'reply' | 'refused or lost' | 'expired' | 'aborted';

/** Rules 2 and 3: a call has one end, and each PARTIAL starts its timeout again. */
export const CALL_LEGALITY: CallLegality<CallEvent> = {
  open: {
    partial: ['extend'],
    reply: ['settle', 'over'],
    'refused or lost': ['settle', 'over'],
    expired: ['settle', 'over'],
    aborted: ['settle', 'over'],
  },
  over: {
    partial: ['ignore'],
    reply: ['ignore'],
    'refused or lost': ['ignore'],
    expired: ['ignore'],
    aborted: ['ignore'],
  },
};

/** The broker inside: calls have their own timeouts, which are no longer than this. */
const NO_EXPIRY = { requestTtlMs: 86_400_000, busyTtlMs: 0, clientRequestsMax: 1 } as const;

const LOW = 2 ** 32;

/** A call of this process. To the broker's engine it is a separate client, whose address is an 8-byte number. */
export class PoolCall {
  readonly id: number;
  readonly peer: Peer;
  /** Silence after which the call has failed. */
  readonly timeoutMs: number;
  readonly expiry = new HeapDeadline<PoolCall>(this);

  /** `id` is a safe integer, 0 or more. */
  constructor(id: number, timeoutMs: number) {
    const address = new Uint8Array(8);
    const view = new DataView(address.buffer);
    view.setUint32(0, Math.floor(id / LOW));
    view.setUint32(4, id % LOW);
    this.id = id;
    this.peer = { key: keyOf(id), id: address };
    this.timeoutMs = timeoutMs;
  }

  get key(): string {
    return this.peer.key;
  }
}

/** The key of a call's peer. Its first character is not Latin-1, so no worker's routing id has the same key. */
function keyOf(id: number): string {
  return `\u2192${id}`;
}

/** The output of the broker inside. It notes some lost requests for the log; callers are informed of every one. */
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

/** The Majordomo pool as a deterministic state machine. Never throws because of a peer. */
export class MdpPoolEngine implements Engine<MdpPoolEvent, MdpPoolEffect> {
  readonly #lateMs: number;
  readonly #out: PoolOutput;
  readonly #broker: MdpBrokerEngine;
  readonly #calls = new CallTable<string, PoolCall, CallEvent>(CALL_LEGALITY);
  /** Calls that have failed, by reason, for operators. */
  readonly #failed: Partial<Record<MdpCallFailure, number>> = {};
  #drained = false;
  #now = 0;
  #effects: MdpPoolEffect[] = [];

  constructor(settings: MdpPoolSettings) {
    const ofBroker: MdpBrokerSettings = { ...settings, ...NO_EXPIRY, bridge: true, mmiAdditions: false };
    this.#lateMs = settings.heartbeatIntervalMs;
    this.#out = new PoolOutput(ofBroker);
    this.#broker = new MdpBrokerEngine(ofBroker, this.#out);
  }

  get deadline(): number {
    return Math.min(this.#broker.deadline, this.#calls.deadline);
  }

  get heldBytes(): number {
    return this.#broker.heldBytes;
  }

  step(event: MdpPoolEvent | TimerEvent, now: number): readonly MdpPoolEffect[] {
    this.#effects = [];
    this.#now = now;
    switch (event.kind) {
      case 'request':
        this.#onRequest(event);
        break;
      case 'abort':
        this.#abandon(this.#calls.tell(keyOf(event.id), 'aborted', now), 'aborted');
        break;
      case 'timer':
        this.#onTimer(event);
        break;
      default:
        this.#tell(event);
    }
    return this.#effects;
  }

  /** Current sizes and running totals; the cost is linear in the number of services. Every open call counts as a client. */
  stats(): MdpBrokerStats {
    return this.#broker.stats();
  }

  /** The operator's view at `now`: all calls together are one client. */
  detail(now: number): EngineSnapshot {
    return this.#broker.detail(now, { id: 'this process', open: this.#calls.size, refused: { ...this.#failed } });
  }

  /** True if any worker is registered for the service. */
  serves(service: string): boolean {
    return this.#broker.serves(service);
  }

  assertInvariants(): void {
    this.#broker.assertInvariants();
    this.#calls.assertInvariants();
    check(this.#calls.size === this.#broker.stats().clients, 'every open call is a client with a request');
    check(this.#out.lost.length === 0, 'the caller of a lost request was told');
  }

  #onRequest({ id, service, body, timeoutMs }: MdpPoolEvent & { kind: 'request' }): void {
    if (this.#drained) {
      this.#out.counters.dropped.draining++;
      this.#fail(id, 'draining');
      return;
    }
    const call = new PoolCall(id, timeoutMs);
    this.#calls.open(call, this.#now);
    const command = { kind: 'client-request', version: '0.2', service, body } as const;
    this.#tell({ kind: 'own-request', peer: call.peer, command });
  }

  #onTimer(event: TimerEvent): void {
    if (event.lateMs > this.#lateMs) this.#calls.postponeExpiry(event.lateMs, this.#now);
    this.#tell(event);
    let call = this.#calls.takeExpired('expired', this.#now);
    for (; call !== undefined; call = this.#calls.takeExpired('expired', this.#now)) {
      this.#fail(call.id, 'expired');
      this.#abandon(call, 'expired');
    }
  }

  /** Rule 3: to the broker inside, the client has gone. */
  #abandon(call: PoolCall | undefined, reason: 'expired' | 'aborted'): void {
    if (call !== undefined) this.#tell({ kind: 'own-abandoned', peer: call.peer, reason });
  }

  #tell(event: MdpBrokerEvent | TimerEvent): void {
    for (const effect of this.#broker.step(event, this.#now)) this.#pass(effect);
    for (const { key, reason } of this.#out.lost.splice(0)) {
      const call = this.#calls.tell(key, 'refused or lost', this.#now);
      if (call !== undefined) this.#fail(call.id, reason);
    }
  }

  #pass(effect: MdpBrokerEffect): void {
    switch (effect.kind) {
      case 'send': {
        const { peer, command } = effect;
        if (command.kind === 'client-partial' || command.kind === 'client-final') this.#reply(peer, command);
        else this.#effects.push({ kind: 'send', peer, command });
        break;
      }
      // The caller keeps the bodies of its requests and replies. A pool has no services inside.
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

  #reply(peer: Peer, { kind, body }: MdpClientReply): void {
    const isFinal = kind === 'client-final';
    const call = this.#calls.tell(peer.key, isFinal ? 'reply' : 'partial', this.#now);
    if (call !== undefined) this.#effects.push({ kind: isFinal ? 'answer' : 'partial', id: call.id, body });
  }

  #fail(id: number, reason: MdpCallFailure): void {
    this.#failed[reason] = (this.#failed[reason] ?? 0) + 1;
    this.#effects.push({ kind: 'fail', id, reason });
  }
}
