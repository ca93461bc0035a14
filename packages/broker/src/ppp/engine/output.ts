/** Paranoid Pirate: the effects of the step under way, the totals, and the limit on what is noted. */
import type { PppHeartbeat, PppRequest } from '@proj/frames/ppp';
import { oncePerMinute } from '@proj/heartbeat';
import type { Peer } from '@proj/transport';
import { newCounters } from './counters.js';
import type {
  PppBackendEffect,
  PppClientRefusal,
  PppMessageDrop,
  PppNote,
  PppRequestLoss,
  PppSocket,
} from './events.js';

/** Where every part of an engine puts its effects; `Effect` are those that only this engine has. */
export class Output<Effect> {
  /** Running totals. */
  readonly counters = newCounters();
  /** Time of the step under way. */
  now = 0;
  effects: (Effect | PppBackendEffect)[] = [];
  readonly #notes = oncePerMinute();

  /** Begins a step. The effects of the last one are its receiver's. */
  begin(now: number): void {
    this.now = now;
    this.effects = [];
  }

  sendToWorker(peer: Peer, command: PppRequest | PppHeartbeat): void {
    this.push({ kind: 'send', socket: 'backend', peer, command });
  }

  /** For effects that come at most once per worker and cause. */
  push(effect: Effect | PppBackendEffect): void {
    this.effects.push(effect);
  }

  /** A message of this peer was dropped. */
  dropMessage(reason: PppMessageDrop, socket: PppSocket, peer: Peer): void {
    this.counters.dropped[reason]++;
    this.#note({ kind: 'note', code: 'message-dropped', reason, socket, peer });
  }

  /** A request of this client was refused. */
  refuseRequest(reason: PppClientRefusal, peer: Peer): void {
    this.counters.dropped[reason]++;
    this.noteRequestDropped(reason, peer);
  }

  /** A request of this client will not be answered; that has been counted. */
  noteRequestDropped(reason: PppClientRefusal | PppRequestLoss, peer: Peer): void {
    this.#note({ kind: 'note', code: 'request-dropped', reason, socket: 'frontend', peer });
  }

  /** A reply did not get to its client. */
  dropReply(peer: Peer): void {
    this.counters.dropped['reply-undeliverable']++;
    this.#note({ kind: 'note', code: 'reply-dropped', reason: 'reply-undeliverable', socket: 'frontend', peer });
  }

  #note(note: PppNote & { reason: string; socket: PppSocket; peer: Peer }): void {
    if (this.#notes.allow(`${note.reason} ${note.socket} ${note.peer.key}`, this.now)) this.effects.push(note);
    else this.counters.notesWithheld++;
  }
}
