/**
 * Checker of broker rules 2, 3, 6 to 8 and 18 of docs/protocols/emqp.md, where another mechanism would hide a mistake: a registered peer
 * gets an acknowledgement, a heartbeat at once and one every interval; a peer that is silent too long, or that said or got goodbye, gets
 * nothing more except REPLYs; no peer is given up early.
 */
import { decodeEmqpHeaders } from '@proj/frames/emqp';
import type { Excuses } from '../kit/excuses.js';
import { ROUNDING_MS } from '../kit/worker-patience.js';
import type { BrokerChecker, BrokerSight, FromBroker } from './sight.js';

/** The broker's settings of the same names. */
export interface MannersPlan {
  readonly heartbeatIntervalMs: number;
  readonly expiryMs: number;
  /** Whether guaranteed jobs outlive the broker. */
  readonly store: boolean;
}

interface Member {
  /** Last sign of life. */
  heardAt: number;
  /** When it last got a heartbeat; `undefined` before the first one. */
  beatenAt: number | undefined;
}

/** Commands for registered peers. REPLYs go to any peer that has asked. */
const FOR_MEMBERS: ReadonlySet<FromBroker['kind']> = new Set<FromBroker['kind']>([
  'ack',
  'heartbeat',
  'request',
  'schedule',
  'unschedule',
  'bye',
]);

/** Watches which peers the broker sends to, and when. */
export class MannersChecker implements BrokerChecker {
  readonly #plan: MannersPlan;
  readonly #process: string;
  readonly #excuses: Excuses;
  readonly #clock: { now(): number };
  readonly #members = new Map<string, Member>();
  /** Peers that have asked for something, or believe they are registered: they may get a goodbye. */
  readonly #guests = new Set<string>();
  /** Those that have requested something that may outlive the broker. */
  readonly #patrons = new Set<string>();
  /** INFORMs without ACK: by id, and their senders. */
  readonly #informs = new Map<string, string>();

  /** `process`: where the broker runs. */
  constructor(plan: MannersPlan, process: string, excuses: Excuses, clock: { now(): number }) {
    this.#plan = plan;
    this.#process = process;
    this.#excuses = excuses;
    this.#clock = clock;
  }

  onSight(sight: BrokerSight): void {
    switch (sight.kind) {
      case 'crashed':
        this.#members.clear();
        this.#guests.clear();
        for (const patron of this.#patrons) this.#guests.add(patron);
        this.#informs.clear();
        break;
      case 'joined':
        this.#members.set(sight.peer, { heardAt: this.#clock.now(), beatenAt: undefined });
        break;
      case 'left':
        if (sight.reason === 'expired') this.#checkExpiry(sight.peer);
        this.#members.delete(sight.peer);
        break;
      case 'received':
        this.#onReceived(sight);
        break;
      case 'sent':
        this.#onSent(sight);
        break;
      default:
        break;
    }
  }

  #onReceived({ peer, command }: BrokerSight & { kind: 'received' }): void {
    const { kind } = command;
    if (kind === 'inform-worker' || kind === 'inform-scheduler') this.#informs.set(command.id, peer);
    if (kind === 'request' || kind === 'heartbeat') this.#guests.add(peer);
    if (this.#plan.store && kind === 'request' && decodeEmqpHeaders(command.headers).guarantee) this.#patrons.add(peer);
    const member = this.#members.get(peer);
    if (member === undefined) return;
    // When it sends something, it must have received the heartbeats due until then.
    if (member.beatenAt === undefined) throw new Error('no heartbeat followed the ACK');
    if (kind !== 'bye' && kind !== 'disconnect') member.heardAt = this.#clock.now();
  }

  #onSent({ peer, command }: BrokerSight & { kind: 'sent' }): void {
    const { kind } = command;
    if (!FOR_MEMBERS.has(kind)) return;
    const member = this.#members.get(peer);
    if (kind === 'bye' && member === undefined && this.#guests.has(peer)) return;
    if (member === undefined) throw new Error(`${kind} to who is not registered`);
    const now = this.#clock.now();
    if (command.kind === 'ack') {
      if (this.#informs.get(command.of) !== peer) throw new Error('ACK of an INFORM that was not said, or twice');
      this.#informs.delete(command.of);
    } else if (kind === 'heartbeat') {
      this.#checkBeat(member, now);
      member.beatenAt = now;
    }
    this.#checkLife(member, kind, now);
  }

  #checkBeat({ beatenAt }: Member, now: number): void {
    const { heartbeatIntervalMs } = this.#plan;
    if (beatenAt === undefined || this.#excuses.has(this.#process, heartbeatIntervalMs, now)) return;
    const gapMs = now - beatenAt;
    // Heartbeats that are due soon after one another are sent together.
    if (gapMs > heartbeatIntervalMs + ROUNDING_MS || gapMs < heartbeatIntervalMs / 2)
      throw new Error(`a heartbeat after ${gapMs.toFixed(0)} ms, due were ${heartbeatIntervalMs}`);
  }

  #checkLife({ heardAt }: Member, kind: string, now: number): void {
    const { expiryMs } = this.#plan;
    if (now - heardAt <= expiryMs + ROUNDING_MS || this.#excuses.has(this.#process, expiryMs, now)) return;
    throw new Error(`${kind} to who has been silent for ${(now - heardAt).toFixed(0)} ms`);
  }

  /** Rule 6: not before its time, and not because the broker itself was asleep. */
  #checkExpiry(peer: string): void {
    const { heartbeatIntervalMs, expiryMs } = this.#plan;
    const now = this.#clock.now();
    const heardAt = this.#members.get(peer)?.heardAt ?? -Infinity;
    if (now - heardAt < expiryMs - ROUNDING_MS)
      throw new Error(`a peer was given up after ${(now - heardAt).toFixed(0)} ms of silence`);
    const pause = this.#excuses.lastPause(this.#process);
    // A heartbeat to the peer was due within the first interval of the pause: the broker knows about everything before
    // that.
    if (pause === undefined || heardAt > pause.until || pause.lastedMs <= 2 * heartbeatIntervalMs) return;
    if (now < pause.until + pause.lastedMs - heartbeatIntervalMs - ROUNDING_MS)
      throw new Error(`a peer was given up ${(now - pause.until).toFixed(0)} ms after the broker woke up`);
  }
}
