/**
 * 6/PPP, its other reading: an application that distributes its own work. The workers' side is that of a queue (`backend.ts`); the rules of the
 * calling side are in docs/protocols/ppp.md, section "Pool".
 *
 * | rule | what | file |
 * | --- | --- | --- |
 * | 1 | workers, as in a queue | backend.ts |
 * | 2 | the address of a call | pool-engine.ts, frames/src/ppp/correlation.ts, pool-calls.ts |
 * | 3 | content of one frame | pool.ts |
 * | 4 | `request()` and how it fails | pool-engine.ts, pool.ts, pool-calls.ts |
 */
import type { Engine, TimerEvent } from '@proj/transport';
import type { EngineSnapshot } from '@proj/transport/engine';
import { type CallLegality, CallTable } from '../../shared/calls.js';
import { ENTRY_BYTES } from '../../shared/cost.js';
import type { PppPoolSettings } from '../options.js';
import { Backend } from './backend.js';
import { detailOf } from './detail.js';
import type { Requester } from './dispatcher.js';
import type { PppPoolEffect, PppPoolEvent, PppRefusal, PppRequestLoss } from './events.js';
import { assertBackend, assertPool } from './invariants.js';
import { Output } from './output.js';
import { PoolCall, type PppPoolStats } from './state.js';

type CallEvent = 'reply' | 'refused' | 'lost' | 'expired' | 'aborted';

/** Rule 4: a call has one end. */
export const CALL_LEGALITY: CallLegality<CallEvent> = {
  open: {
    reply: ['settle', 'over'],
    refused: ['settle', 'over'],
    lost: ['settle', 'over'],
    expired: ['settle', 'over'],
    aborted: ['settle', 'over'],
  },
  over: {
    reply: ['ignore'],
    refused: ['ignore'],
    lost: ['ignore'],
    expired: ['ignore'],
    aborted: ['ignore'],
  },
};

/** The Paranoid Pirate pool as a deterministic state machine. Never throws because of a peer. */
export class PppPoolEngine implements Engine<PppPoolEvent, PppPoolEffect> {
  readonly #lateMs: number;
  readonly #out = new Output<PppPoolEffect>();
  readonly #calls = new CallTable<number, PoolCall, CallEvent>(CALL_LEGALITY);
  readonly #backend: Backend<PoolCall>;
  /** Calls that have failed, by reason, for operators. */
  readonly #failed: Partial<Record<PppRefusal | PppRequestLoss, number>> = {};

  constructor(settings: PppPoolSettings) {
    this.#lateMs = settings.heartbeatIntervalMs;
    this.#backend = new Backend(settings, this.#out, this.#requester);
  }

  get deadline(): number {
    return Math.min(this.#backend.deadline, this.#calls.deadline);
  }

  get heldBytes(): number {
    const { bytes, slack, workers } = this.#backend.state;
    return bytes.used + slack.used + workers.size * ENTRY_BYTES;
  }

  step(event: PppPoolEvent | TimerEvent, now: number): readonly PppPoolEffect[] {
    this.#out.begin(now);
    if (this.#backend.phase !== 'drained') this.#handle(event);
    else if (event.kind === 'request') this.#refuse(event.id, 'draining');
    this.#backend.settle();
    return this.#out.effects;
  }

  /** Current sizes and running totals. */
  stats(): PppPoolStats {
    return this.#backend.stats();
  }

  /** How many workers have this routing id, as text or in hex. */
  named(worker: string): number {
    return this.#backend.named(worker).length;
  }

  /** The operator's view at `now`; the cost is linear in the workers. All calls together are one client. */
  detail(now: number): EngineSnapshot {
    const calls = { id: 'this process', open: this.#calls.size, refused: { ...this.#failed } };
    return detailOf(this.#backend, this.#out, [calls], now);
  }

  assertInvariants(): void {
    const requests = assertBackend(this.#backend, this.deadline, this.#calls.deadline);
    assertPool(requests, this.#calls);
  }

  #handle(event: PppPoolEvent | TimerEvent): void {
    switch (event.kind) {
      case 'timer':
        this.#onTimer(event.lateMs);
        break;
      case 'drain':
        this.#backend.drain();
        break;
      case 'access':
        this.#backend.replaceRights(event.access);
        break;
      case 'dismiss':
        this.#backend.dismiss(event);
        break;
      case 'memory':
        this.#backend.state.bytes.isTight = event.isTight;
        break;
      case 'request':
        this.#onRequest(event);
        break;
      case 'abort': {
        const call = this.#calls.tell(event.id, 'aborted', this.#out.now);
        if (call !== undefined) this.#abandon(call, 'aborted');
        break;
      }
      default:
        this.#backend.handle(event);
    }
  }

  #onTimer(lateMs: number): void {
    const { now } = this.#out;
    if (lateMs > this.#lateMs) this.#calls.postponeExpiry(lateMs, now);
    this.#backend.onTimer(lateMs);
    let call = this.#calls.takeExpired('expired', now);
    for (; call !== undefined; call = this.#calls.takeExpired('expired', now)) {
      this.#fail(call.key, 'expired');
      this.#abandon(call, 'expired');
    }
  }

  #onRequest({ id, content, timeoutMs }: PppPoolEvent & { kind: 'request' }): void {
    if (this.#backend.phase !== 'serving') {
      this.#refuse(id, 'draining');
      return;
    }
    const call = new PoolCall(id, content, timeoutMs);
    this.#calls.open(call, this.#out.now);
    if (this.#backend.dispatcher.accept(call)) return;
    this.#calls.tell(id, 'refused', this.#out.now);
    this.#refuse(id, 'queue-full');
  }

  /** A waiting request is given up; a running one finishes, and its reply is dropped. */
  #abandon(call: PoolCall, reason: PppRequestLoss): void {
    if (call.place.taken) this.#backend.dispatcher.giveUp(call, reason);
    else call.abandoned ??= reason;
  }

  #refuse(id: number, reason: PppRefusal): void {
    this.#out.counters.dropped[reason]++;
    this.#out.figures.ended(reason);
    this.#fail(id, reason);
  }

  #fail(id: number, reason: PppRefusal | PppRequestLoss): void {
    this.#failed[reason] = (this.#failed[reason] ?? 0) + 1;
    this.#out.effects.push({ kind: 'fail', id, reason });
  }

  readonly #requester: Requester<PoolCall> = {
    onWaiting: () => undefined,
    linesOf: () => undefined,
    onWaited: () => undefined,
    // The process has no reason to prefer one of its calls to another.
    surplus: () => [],
    onReply: ({ key }, { content }) => {
      if (this.#calls.tell(key, 'reply', this.#out.now) === undefined)
        this.#out.counters.dropped['reply-undeliverable']++;
      else this.#out.effects.push({ kind: 'answer', id: key, content });
    },
    onLost: ({ key }, reason) => {
      if (this.#calls.tell(key, 'lost', this.#out.now) !== undefined) this.#fail(key, reason);
    },
  };
}
