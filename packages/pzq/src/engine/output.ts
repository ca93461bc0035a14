/** PZQ: the effects of the step under way, the totals, and the limit on what is noted. */
import { oncePerMinute } from '@proj/heartbeat';
import type { Peer, UndeliverableReason } from '@proj/transport';
import { newCounters } from './counters.js';
import type { PzqEffect, PzqMessageDrop, PzqNote, PzqRefusal, PzqSocket } from './events.js';

/** Where every part of the engine puts its effects. */
export class Output {
  /** Running totals. */
  readonly counters = newCounters();
  /** Time of the step under way. */
  now = 0;
  effects: PzqEffect[] = [];
  readonly #notes = oncePerMinute();

  /** Begins a step. The effects of the last one are its receiver's. */
  begin(now: number): void {
    this.now = now;
    this.effects = [];
  }

  push(effect: PzqEffect): void {
    this.effects.push(effect);
  }

  /** A producer's message is kept, here or as an earlier copy. */
  accept(peer: Peer, id: Uint8Array): void {
    this.push({ kind: 'send-ack', peer, command: { kind: 'producer-ack', id, stored: true, reason: '' } });
  }

  /** A producer's message is not kept: rule 5. */
  refuse(peer: Peer, id: Uint8Array, { label, sentence }: { label: PzqRefusal; sentence: string }): void {
    this.counters.refused++;
    this.counters.dropped[label]++;
    this.push({ kind: 'send-ack', peer, command: { kind: 'producer-ack', id, stored: false, reason: sentence } });
    this.#note(`${label} ${peer.key}`, { kind: 'note', code: 'message-refused', reason: label, peer });
  }

  /** A message was dropped without an answer. */
  drop(reason: PzqMessageDrop, socket: PzqSocket, peer?: Peer): void {
    this.counters.dropped[reason]++;
    const who = peer === undefined ? {} : { peer };
    this.#note(`${reason} ${socket} ${peer?.key ?? ''}`, {
      kind: 'note',
      code: 'message-dropped',
      reason,
      socket,
      ...who,
    });
  }

  /** An answer did not reach its producer; what it was about is as stored or refused as before. */
  loseAck(reason: UndeliverableReason, peer: Peer): void {
    this.counters.dropped['ack-undeliverable']++;
    this.#note(`${reason} ${peer.key}`, { kind: 'note', code: 'ack-undeliverable', reason, peer });
  }

  /** Whether it may be told once more that the store refuses. */
  mayTellRefusing(): boolean {
    return this.#notes.allow('refusing', this.now);
  }

  readFailed(reason: string): void {
    this.#note(`read-failed ${reason}`, { kind: 'note', code: 'read-failed', reason });
  }

  deadLettersFull(): void {
    this.#note('dead-letters-full', { kind: 'note', code: 'dead-letters-full' });
  }

  runningLate(lateMs: number): void {
    this.#note('running-late', { kind: 'note', code: 'running-late', lateMs });
  }

  #note(key: string, note: PzqNote): void {
    if (this.#notes.allow(key, this.now)) this.push(note);
    else this.counters.notesWithheld++;
  }
}
