/** Paranoid Pirate: the effects of the current step, and what is counted. Each drop of docs/protocols/ppp.md, "Bad input", has its reason here. */
import type { PppHeartbeat, PppRequest } from '@proj/frames/ppp';
import type { Peer } from '@proj/transport';
import { RefusedPeers, ServiceMeter, StepOutput } from '@proj/transport/engine';
import type {
  PppBackendEffect,
  PppClientRefusal,
  PppDropReason,
  PppMessageDrop,
  PppNote,
  PppRequestLoss,
  PppSocket,
} from './events.js';

/** Running totals since construction. */
export type PppCounters = Output<unknown>['counters'];

/** Collects the effects of every part of an engine; `Effect` are those of queue or pool alone. */
export class Output<Effect> extends StepOutput<Effect | PppBackendEffect> {
  override readonly counters = {
    /** Requests accepted: dispatched or queued. `dropped` has the refused ones. */
    requests: 0,
    /** REQUESTs sent to workers, resends included. */
    dispatches: 0,
    /** Second and later attempts among them. */
    resends: 0,
    /** Requests that ended with their worker's reply. */
    replies: 0,
    workersReady: 0,
    workersLost: 0,
    heartbeatsSent: 0,
    /** Notes withheld because the same note was given within the minute. */
    notesWithheld: 0,
    /** Everything dropped, by reason. */
    dropped: {
      'no-frames': 0,
      'control-empty': 0,
      'control-length': 0,
      'control-unknown': 0,
      'control-unexpected': 0,
      'request-malformed': 0,
      'reply-malformed': 0,
      'request-no-content': 0,
      'too-large': 0,
      unregistered: 0,
      'reply-unexpected': 0,
      'reply-address': 0,
      'workers-limit': 0,
      'registrations-limit': 0,
      'not-allowed': 0,
      draining: 0,
      'queue-full': 0,
      expired: 0,
      'attempts-exhausted': 0,
      displaced: 0,
      'client-gone': 0,
      aborted: 0,
      drained: 0,
      'reply-undeliverable': 0,
    } satisfies Record<PppDropReason, number>,
  };
  /** For operators: the figures of all work. */
  readonly figures = new ServiceMeter();
  /** For operators: peers with dropped messages, at each socket. */
  readonly refused: Readonly<Record<PppSocket, RefusedPeers>> = {
    frontend: new RefusedPeers(),
    backend: new RefusedPeers(),
  };

  sendToWorker(peer: Peer, command: PppRequest | PppHeartbeat): void {
    this.effects.push({ kind: 'send', socket: 'backend', peer, command });
  }

  dropMessage(reason: PppMessageDrop, socket: PppSocket, peer: Peer): void {
    this.counters.dropped[reason]++;
    this.refused[socket].add(peer, reason);
    this.#noteOf({ kind: 'note', code: 'message-dropped', reason, socket, peer });
  }

  refuseRequest(reason: PppClientRefusal, peer: Peer): void {
    this.counters.dropped[reason]++;
    this.figures.ended(reason);
    this.noteRequestDropped(reason, peer);
  }

  /** A request of this client will not be answered; it has been counted. */
  noteRequestDropped(reason: PppClientRefusal | PppRequestLoss, peer: Peer): void {
    this.refused.frontend.add(peer, reason);
    this.#noteOf({ kind: 'note', code: 'request-dropped', reason, socket: 'frontend', peer });
  }

  /** A reply did not reach its client, or several. */
  dropReply(peer: Peer, replies = 1): void {
    this.counters.dropped['reply-undeliverable'] += replies;
    this.#noteOf({ kind: 'note', code: 'reply-dropped', reason: 'reply-undeliverable', socket: 'frontend', peer });
  }

  #noteOf(note: PppNote & { reason: string; socket: PppSocket; peer: Peer }): void {
    this.note(`${note.reason} ${note.socket} ${note.peer.key}`, note);
  }
}
