/**
 * 6/PPP, its other reading: an application that hands out work of its own. The workers' side is that of a queue
 * (`backend.ts`); the rules of this side are those of docs/protocols/ppp.md, section "Pool".
 */
import { DeadlineHeap } from '@proj/heartbeat';
import type { Engine, TimerEvent } from '@proj/transport';
import { ENTRY_BYTES } from '../../shared/cost.js';
import { Backend } from './backend.js';
import { PoolCall } from './calls.js';
import type { PppPoolEffect, PppPoolEvent, PppRefusal, PppRequestLoss } from './events.js';
import { assertBackend, assertPool } from './invariants.js';
import type { PppPoolSettings } from '../options.js';
import { Output } from './output.js';
import type { Requester } from './requests.js';
import { poolStats, type PppPoolStats } from './stats.js';

/** The Paranoid Pirate pool as a deterministic machine. It never throws on anything a peer can cause. */
export class PppPoolEngine implements Engine<PppPoolEvent, PppPoolEffect> {
  readonly #out = new Output<PppPoolEffect>();
  /** Calls that somebody waits for. */
  readonly #calls = new Map<number, PoolCall>();
  readonly #patience = new DeadlineHeap<PoolCall>();
  readonly #backend: Backend<PoolCall>;

  constructor(settings: PppPoolSettings) {
    this.#backend = new Backend(settings, this.#out, this.#requester);
  }

  get deadline(): number {
    return Math.min(this.#backend.deadline, this.#expiry);
  }

  get heldBytes(): number {
    const { bytes, slack, workers } = this.#backend.books;
    return bytes.used + slack.used + workers.size * ENTRY_BYTES;
  }

  step(event: PppPoolEvent | TimerEvent, now: number): readonly PppPoolEffect[] {
    this.#out.begin(now);
    if (this.#backend.state !== 'drained') this.#handle(event);
    else if (event.kind === 'request') this.#fail(event.id, 'draining');
    this.#backend.settle();
    return this.#out.effects;
  }

  /** Sizes now and totals so far. */
  stats(): PppPoolStats {
    return poolStats(this.#backend, this.#out.counters);
  }

  assertInvariants(): void {
    const requests = assertBackend(this.#backend, this.#out.counters, this.deadline, this.#expiry);
    assertPool(requests, this.#calls, this.#patience);
  }

  /** When the next call has taken too long; replies that we were too busy to read are not the workers' fault (ADR 4). */
  get #expiry(): number {
    return Math.max(this.#patience.deadline, this.#backend.books.workers.lateUntil);
  }

  #handle(event: PppPoolEvent | TimerEvent): void {
    switch (event.kind) {
      case 'timer':
        this.#backend.onTimer(event.lateMs);
        this.#expire();
        break;
      case 'drain':
        this.#backend.drain();
        break;
      case 'access':
        this.#backend.replaceRights(event.access);
        break;
      case 'memory':
        this.#backend.books.isTight = event.isTight;
        break;
      case 'request':
        this.#onRequest(event);
        break;
      case 'abort':
        this.#abandon(this.#calls.get(event.id), 'aborted');
        break;
      default:
        this.#backend.handle(event);
    }
  }

  #onRequest({ id, content, timeoutMs }: PppPoolEvent & { kind: 'request' }): void {
    const call = new PoolCall(id, content);
    if (this.#backend.state !== 'serving') {
      this.#refuse(id, 'draining');
    } else {
      this.#calls.set(id, call);
      this.#patience.set(call.patience, this.#out.now + timeoutMs);
      if (this.#backend.jobs.accept(call)) return;
      this.#settle(call);
      this.#refuse(id, 'queue-full');
    }
  }

  #refuse(id: number, reason: PppRefusal): void {
    this.#out.counters.dropped[reason]++;
    this.#fail(id, reason);
  }

  #fail(id: number, reason: PppRefusal | PppRequestLoss): void {
    this.#out.push({ kind: 'fail', id, reason });
  }

  #expire(): void {
    if (this.#out.now < this.#expiry) return;
    for (
      let call = this.#patience.takeDue(this.#out.now);
      call !== undefined;
      call = this.#patience.takeDue(this.#out.now)
    ) {
      this.#fail(call.id, 'expired');
      this.#abandon(call, 'expired');
    }
  }

  /** Rule 4: taken out while it waits, forgotten while it runs. */
  #abandon(call: PoolCall | undefined, reason: PppRequestLoss): void {
    if (call === undefined) return;
    this.#settle(call);
    this.#backend.jobs.abandon(call, reason);
  }

  /** Nobody waits for the call any more; false when nobody did. */
  #settle(call: PoolCall): boolean {
    this.#patience.remove(call.patience);
    return this.#calls.delete(call.id);
  }

  readonly #requester: Requester<PoolCall> = {
    onWaiting: () => undefined,
    onWaited: () => undefined,
    onReply: (call, { content }) => {
      if (this.#settle(call)) this.#out.push({ kind: 'answer', id: call.id, content });
      else this.#out.counters.dropped['reply-undeliverable']++;
    },
    onLost: (call, reason) => {
      if (this.#settle(call)) this.#fail(call.id, reason);
    },
  };
}
