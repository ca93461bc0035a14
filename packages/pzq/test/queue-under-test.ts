/** The PZQ engine with a store and consumers around it, in words: peers have names, effects are lines of text. */
import { fromLatin1, latin1 } from '@proj/frames';
import {
  decodePzqAtReceive,
  decodePzqKey,
  encodePzq,
  encodePzqKey,
  type PzqDelivery,
  type PzqFromConsumer,
} from '@proj/frames/pzq';
import { passTime } from '@proj/testkit';
import type { Entropy, Peer, TimerEvent } from '@proj/transport';
import type { PzqEffect, PzqEvent, PzqOutletName } from '../src/engine/events.js';
import { PzqEngine } from '../src/engine/engine.js';
import type { PzqSettings } from '../src/options.js';
import type { PzqStats, PzqStoreInfo } from '../src/engine/events.js';
import { PlainStore } from './plain-store.js';

/** Settings small enough to meet every bound in a test. */
export const SETTINGS: PzqSettings = {
  ackTimeoutMs: 1000,
  maxMessages: 0,
  maxBytes: 0,
  maxMessageBytes: 1000,
  maxParts: 10,
  maxInFlight: 100,
  maxInFlightBytes: 10_000,
  batchMax: 10,
  batchMaxBytes: 2000,
  intakeMax: 100,
  intakeMaxBytes: 10_000,
  producerIntakeMax: 10_000,
  producerAckMax: 50,
  producerAckMaxBytes: 10_000,
  windowMax: 20,
  windowMaxBytes: 5000,
  probeIntervalMs: 300,
  drainMs: 2000,
  dedupeWindowMs: 0,
  maxDeliveries: 0,
  deadLettersMax: 100,
  deadLetterExpired: false,
  deadLetterSend: false,
  delayMs: 0,
  nackDelayMs: 0,
  nackDelayMaxMs: 0,
  ttlMs: 0,
  extendLease: false,
  headers: false,
  takeMax: 8,
  version: '1.2.3',
};

/** Wall time of the first moment, in microseconds. */
export const EPOCH_MICROS = 1_700_000_000_000_000;

/** How long the socket waits for a consumer with room. */
const PATIENCE_MS = 100;

/** Effects that the store answers. */
const STORE_EFFECTS = new Set(['commit', 'load', 'due', 'take', 'release', 'extend', 'probe']);

/** The peer of that name; equal names are equal peers, though never the same object. */
export function peerNamed(name: string): Peer {
  return { key: name, id: fromLatin1(name) };
}

/**
 * An engine, a store that lives on when the engine ends, and consumers with room for `room` deliveries. What is asked of the
 * store is answered at once unless `storeHeld`; then `answerStore` does it. Invariants are checked after every step.
 */
export class QueueUnderTest {
  readonly settings: PzqSettings;
  readonly store: PlainStore;
  readonly shared: boolean;
  engine: PzqEngine;
  now = 0;
  /** Steps of the wall clock that the monotonic one does not see, in microseconds. */
  wallOffset = 0;
  /** How many deliveries consumers have room for. */
  room = 0;
  storeHeld = false;
  readonly storeName: PzqStoreInfo['name'];
  /** Everything that was delivered, in order. */
  readonly deliveries: { readonly outlet: PzqOutletName; readonly command: PzqDelivery }[] = [];
  readonly #asked: PzqEffect[] = [];
  readonly #offers = new Map<PzqOutletName, { readonly command: PzqDelivery; readonly until: number }>();

  constructor(
    settings: Partial<PzqSettings> = {},
    {
      shared = false,
      store = new PlainStore(),
      now = 0,
      storeName = 'lmdb',
    }: { shared?: boolean; store?: PlainStore; now?: number; storeName?: PzqStoreInfo['name'] } = {},
  ) {
    this.settings = { ...SETTINGS, ...settings };
    this.shared = shared;
    this.store = store;
    this.now = now;
    this.storeName = storeName;
    this.engine = this.#newEngine();
    this.step({ kind: 'start' });
  }

  get stats(): PzqStats {
    return this.engine.stats();
  }

  get dropped(): Record<string, number> {
    return Object.fromEntries(Object.entries(this.stats.counters.dropped).filter(([, count]) => count > 0));
  }

  get entropy(): Entropy {
    return { wallMicros: () => EPOCH_MICROS + this.now * 1000 + this.wallOffset, uuid: () => '', random: () => 0 };
  }

  /** Bodies delivered so far. */
  get delivered(): string[] {
    return this.deliveries.map(({ command }) => latin1(command.body[0]!));
  }

  /** Bodies whose offer is open: the socket has them, and nobody can take them back. */
  get offered(): string[] {
    return [...this.#offers.values()].map(({ command }) => latin1(command.body[0]!));
  }

  /** What waits for the store's answer. */
  get asked(): readonly PzqEffect[] {
    return this.#asked;
  }

  /** Delivers an event, then whatever store and consumers answer; returns what could be seen of it. */
  step(event: PzqEvent | TimerEvent): string[] {
    const lines: string[] = [];
    const waiting: (PzqEvent | TimerEvent)[] = [event];
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const effects = this.engine.step(next, this.now);
      this.engine.assertInvariants();
      for (const effect of effects) {
        if (STORE_EFFECTS.has(effect.kind)) this.#asked.push(effect);
        else if (effect.kind === 'deliver')
          this.#offers.set(effect.outlet, { command: effect.command, until: this.now + PATIENCE_MS });
        else lines.push(this.#describe(effect));
      }
      if (waiting.length === 0) waiting.push(...this.#answers(lines));
    }
    return lines;
  }

  /** Answers what the store was asked, the oldest `count` questions, and what follows from them when it is not held. */
  answerStore(count = Infinity): string[] {
    const lines: string[] = [];
    for (let left = Math.min(count, this.#asked.length); left > 0 && this.#asked.length > 0; left--) {
      const event = this.#answer(this.#asked.shift()!);
      if (event !== undefined) lines.push(...this.step(event));
    }
    return lines;
  }

  /** Takes a question of this kind out, to be answered by the test itself. */
  takeAsked(kind: PzqEffect['kind']): PzqEffect {
    const index = this.#asked.findIndex((effect) => effect.kind === kind);
    if (index < 0) throw new Error(`the store was not asked to ${kind}`);
    return this.#asked.splice(index, 1)[0]!;
  }

  /** A message of a producer: id, frames before the blank, body; as latin1 text. */
  produce(producer: string, id: string, ...body: string[]): string[] {
    return this.produceFrames(producer, [id, '', ...body]);
  }

  produceFrames(producer: string, frames: readonly string[], acksWaiting = 0): string[] {
    const command = decodePzqAtReceive(frames.map(fromLatin1));
    return this.step({ kind: 'produce', peer: peerNamed(producer), command, acksWaiting });
  }

  ack(seq: number, positive = true, outlet: PzqOutletName = 'queue'): string[] {
    return this.consumer({ kind: 'consumer-ack', key: this.keyOf(seq), positive }, outlet);
  }

  nack(seq: number): string[] {
    return this.ack(seq, false);
  }

  extend(seq: number): string[] {
    return this.consumer({ kind: 'lease-extension', key: this.keyOf(seq) });
  }

  consumer(command: PzqFromConsumer, outlet: PzqOutletName = 'queue'): string[] {
    return this.step({ kind: 'consumer', outlet, command });
  }

  /** The key of the message, as far as it was ever delivered or is stored. */
  keyOf(seq: number): Uint8Array {
    const seen = this.deliveries.find(({ command }) => decodePzqKey(command.key)?.seq === seq);
    if (seen !== undefined) return seen.command.key;
    const storedMicros = this.store.rows.get(seq)?.message.storedMicros ?? EPOCH_MICROS;
    return encodePzqKey({ storedMicros, epoch: this.store.epoch, seq });
  }

  /** Consumers have room for so many more deliveries. */
  accept(count: number): string[] {
    this.room += count;
    const lines: string[] = [];
    for (const event of this.#takeOffers(lines)) lines.push(...this.step(event));
    return lines;
  }

  /** The offers that nobody took within the socket's patience. */
  block(): string[] {
    const names = [...this.#offers.keys()];
    this.#offers.clear();
    return names.flatMap((outlet) => this.step({ kind: 'blocked', outlet }));
  }

  /** Lets time pass; each line says when. */
  advance(ms: number): string[] {
    const until = this.now + ms;
    const lines: string[] = [];
    for (;;) {
      const due = this.engine.deadline;
      const patience = Math.min(Infinity, ...[...this.#offers.values()].map((offer) => offer.until));
      if (Math.min(due, patience) > until) break;
      this.now = Math.max(this.now, Math.min(due, patience));
      const said = patience <= due ? this.#losePatience() : this.step({ kind: 'timer', lateMs: 0 });
      lines.push(...said.map((line) => `${this.now}ms: ${line}`));
      if (patience > due && this.engine.deadline <= due) throw new Error(`the deadline stays at ${due}`);
    }
    this.now = until;
    return lines;
  }

  /** The process was busy for so long; then its timer comes, late. */
  stall(ms: number): string[] {
    this.now += ms;
    return passTime(this, this.engine, 0).flatMap(([, lines]) => lines);
  }

  /** Killed and started again on the same store: what was asked of it and not answered is lost. */
  restart(): string[] {
    this.#asked.length = 0;
    this.#offers.clear();
    this.engine = this.#newEngine();
    return this.step({ kind: 'start' });
  }

  #losePatience(): string[] {
    const lines: string[] = [];
    for (const [outlet, { until }] of this.#offers) {
      if (until > this.now) continue;
      this.#offers.delete(outlet);
      lines.push(...this.step({ kind: 'blocked', outlet }));
    }
    return lines;
  }

  #newEngine(): PzqEngine {
    const { epoch, lastSeq, counts } = this.store;
    const info = { name: this.storeName, epoch, lastSeq, counts, shared: this.shared };
    return new PzqEngine(this.settings, info, this.entropy);
  }

  #answers(lines: string[]): PzqEvent[] {
    const events = this.#takeOffers(lines);
    if (this.storeHeld) return events;
    for (let effect = this.#asked.shift(); effect !== undefined; effect = this.#asked.shift()) {
      const event = this.#answer(effect);
      if (event !== undefined) events.push(event);
    }
    return events;
  }

  #takeOffers(lines: string[]): PzqEvent[] {
    const events: PzqEvent[] = [];
    for (const [outlet, { command }] of this.#offers) {
      if (this.room === 0) break;
      this.room--;
      this.#offers.delete(outlet);
      encodePzq(command);
      this.deliveries.push({ outlet, command });
      const seq = decodePzqKey(command.key)!.seq;
      const to = outlet === 'queue' ? '' : ' to dead letters';
      lines.push(`-> #${seq} ${quoted(command.body)}${to}`);
      events.push({ kind: 'delivered', outlet });
    }
    return events;
  }

  #answer(effect: PzqEffect): PzqEvent | undefined {
    const { store } = this;
    switch (effect.kind) {
      case 'commit':
        return this.#guarded(
          () => ({ kind: 'committed', result: store.commit(effect.batch) }),
          (code) => ({ kind: 'commit-failed', code }),
        );
      case 'probe':
        return this.#guarded(
          () => {
            store.probe();
            return { kind: 'probed' };
          },
          (code) => ({ kind: 'probe-failed', code }),
        );
      case 'load': {
        const { outlet, after, limit, maxBytes } = effect;
        const messages = outlet === 'queue' ? store.scan(after, limit, maxBytes) : store.dead(after, limit, maxBytes);
        return { kind: 'loaded', outlet, messages };
      }
      case 'due':
        return { kind: 'due', messages: store.due(effect.nowMicros, effect.limit) };
      case 'take':
        return { kind: 'taken', messages: store.take(effect.limit, effect.maxBytes, effect.leaseMs, this.now) };
      case 'release':
        store.release(effect.seqs, effect.delayMs, this.now);
        return undefined;
      default:
        return undefined;
    }
  }

  #guarded(act: () => PzqEvent, failed: (code: string) => PzqEvent): PzqEvent {
    try {
      return act();
    } catch (error) {
      return failed((error as Error).message);
    }
  }

  #describe(effect: PzqEffect): string {
    switch (effect.kind) {
      case 'send-ack': {
        encodePzq(effect.command);
        const { id, stored, reason } = effect.command;
        return `-> ${effect.peer.key} ${JSON.stringify(latin1(id))} ${stored ? '1' : `0 ${reason}`}`;
      }
      case 'monitor-reply':
        encodePzq(effect.command);
        return `-> ${effect.peer.key} ${effect.command.text.trimEnd()}`;
      case 'note':
        return describeNote(effect);
      case 'done':
        return ['done', effect.id, effect.code ?? effect.count].filter((part) => part !== undefined).join(' ');
      case 'refusing':
        return `refusing ${effect.code}`;
      case 'hold':
        return `${effect.held ? 'hold' : 'let go'} ${effect.peer.key}`;
      case 'corrupt':
        return `corrupt ${effect.what}`;
      case 'dead-letter':
        return `dead-letter #${effect.seq} ${effect.reason}`;
      default:
        return effect.kind;
    }
  }
}

function describeNote(note: PzqEffect & { kind: 'note' }): string {
  switch (note.code) {
    case 'message-dropped':
      return `note ${note.code} ${note.reason} ${note.socket}${note.peer === undefined ? '' : ` ${note.peer.key}`}`;
    case 'message-refused':
    case 'ack-undeliverable':
      return `note ${note.code} ${note.reason} ${note.peer.key}`;
    case 'read-failed':
      return `note ${note.code} ${note.reason}`;
    case 'dead-letters-full':
      return `note ${note.code}`;
    case 'running-late':
      return `note ${note.code} ${note.lateMs}ms`;
  }
}

function quoted(body: readonly Uint8Array[]): string {
  return body.map((frame) => JSON.stringify(latin1(frame))).join(' ');
}
