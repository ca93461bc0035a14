/** PZQ: effects, totals and notes of the queue engine, and the texts of rejections. Rule 5 of docs/protocols/pzq.md. */
import { PZQ_UNUSABLE } from '@proj/frames/pzq';
import type { Peer, UndeliverableReason } from '@proj/transport';
import { Histogram, RefusedPeers, ServiceMeter, StepOutput } from '@proj/transport/engine';
import type {
  PzqCounters,
  PzqDropReason,
  PzqEffect,
  PzqMessageDrop,
  PzqOutletName,
  PzqRefusal,
  PzqSocket,
} from './events.js';

/** Why a message is rejected: rule 5. */
export interface Refusal {
  /** For the counters. */
  readonly label: PzqRefusal;
  /** For the producer: one line of ASCII. */
  readonly sentence: string;
}

/** Rejections with a fixed text. */
export const REFUSALS = {
  'no-delimiter': { label: 'no-delimiter', sentence: PZQ_UNUSABLE['no-delimiter'] },
  'no-body': { label: 'no-body', sentence: PZQ_UNUSABLE['no-body'] },
  'queue-full-messages': { label: 'queue-full-messages', sentence: 'Queue is full (messages)' },
  'queue-full-bytes': { label: 'queue-full-bytes', sentence: 'Queue is full (bytes)' },
  'too-large': { label: 'too-large', sentence: 'Message is too large' },
  'too-many-parts': { label: 'too-many-parts', sentence: 'Too many message parts' },
  'not-allowed': { label: 'not-allowed', sentence: 'Not allowed' },
  draining: { label: 'draining', sentence: 'Server is shutting down' },
} as const satisfies Partial<Record<PzqRefusal, Refusal>>;

/** `code` is that of the store's error, such as `ENOSPC`. */
export function storeUnavailable(code: string): Refusal {
  return { label: 'store-unavailable', sentence: `Store is unavailable: ${code}` };
}

export function invalidHeader(name: string): Refusal {
  return { label: 'invalid-header', sentence: `Invalid header ${name}` };
}

const NONE_DROPPED: Readonly<Record<PzqDropReason, 0>> = {
  'no-frames': 0,
  'produce-one-frame': 0,
  'producer-ack-malformed': 0,
  'delivery-malformed': 0,
  'monitor-unknown': 0,
  'monitor-reply-malformed': 0,
  'not-allowed': 0,
  'too-many-frames': 0,
  'producer-stalled': 0,
  'key-unknown': 0,
  'extension-ignored': 0,
  'no-delimiter': 0,
  'no-body': 0,
  'queue-full-messages': 0,
  'queue-full-bytes': 0,
  'too-large': 0,
  'too-many-parts': 0,
  'invalid-header': 0,
  'store-unavailable': 0,
  draining: 0,
  'ack-undeliverable': 0,
};

function newCounters(): PzqCounters {
  return {
    stored: 0,
    deduplicated: 0,
    refused: 0,
    delivered: 0,
    redelivered: 0,
    acked: 0,
    ackedLate: 0,
    nacked: 0,
    timedOut: 0,
    extended: 0,
    expired: 0,
    purged: 0,
    buried: 0,
    revived: 0,
    commits: 0,
    commitsFailed: 0,
    headersDropped: 0,
    monitorReplies: 0,
    notesWithheld: 0,
    dropped: { ...NONE_DROPPED },
  };
}

/** Collects the effects of every part of the engine. */
export class Output extends StepOutput<PzqEffect> {
  override readonly counters = newCounters();
  /** For operators: the messages of the queue, and its dead letters. */
  readonly figures: Readonly<Record<PzqOutletName, ServiceMeter>> = {
    queue: new ServiceMeter(),
    'dead-letters': new ServiceMeter(),
  };
  /** For operators: the peers with dropped or rejected messages, at each socket. */
  readonly refused: Readonly<Record<PzqSocket, RefusedPeers>> = {
    receive: new RefusedPeers(),
    monitor: new RefusedPeers(),
    queue: new RefusedPeers(),
    'dead-letters': new RefusedPeers(),
  };
  /** For operators: duration of commits, including failed ones. */
  readonly commitMs = new Histogram();
  /** Wall clock minus the engine's time, in milliseconds. */
  #wallAheadMs = 0;

  /** The wall clock was read in this step. */
  sawWall(micros: number): void {
    this.#wallAheadMs = micros / 1000 - this.now;
  }

  /** The engine's time at this wall-clock time: only for durations, and negative for the time before it began. */
  timeOf(micros: number): number {
    return micros / 1000 - this.#wallAheadMs;
  }

  /** A producer's message is stored, now or as an earlier copy. */
  accept(peer: Peer, id: Uint8Array): void {
    this.effects.push({ kind: 'send-ack', peer, command: { kind: 'producer-ack', id, stored: true, reason: '' } });
  }

  /** A producer's message is not stored. */
  refuse(peer: Peer, id: Uint8Array, { label, sentence }: Refusal): void {
    this.counters.refused++;
    this.counters.dropped[label]++;
    this.figures.queue.ended(label);
    this.refused.receive.add(peer, label);
    this.effects.push({
      kind: 'send-ack',
      peer,
      command: { kind: 'producer-ack', id, stored: false, reason: sentence },
    });
    this.note(`${label} ${peer.key}`, { kind: 'note', code: 'message-refused', reason: label, peer });
  }

  /** A message was dropped without an answer. */
  drop(reason: PzqMessageDrop, socket: PzqSocket, peer?: Peer): void {
    this.counters.dropped[reason]++;
    if (peer !== undefined) this.refused[socket].add(peer, reason);
    const note = { kind: 'note', code: 'message-dropped', reason, socket } as const;
    this.note(`${reason} ${socket} ${peer?.key ?? ''}`, peer === undefined ? note : { ...note, peer });
  }

  /** Answers were not delivered; their messages stay stored or rejected. */
  loseAcks(reason: UndeliverableReason, peer: Peer, answers: number): void {
    this.counters.dropped['ack-undeliverable'] += answers;
    this.note(`${reason} ${peer.key}`, { kind: 'note', code: 'ack-undeliverable', reason, peer });
  }

  readFailed(reason: string): void {
    this.note(`read-failed ${reason}`, { kind: 'note', code: 'read-failed', reason });
  }

  deadLettersFull(): void {
    this.note('dead-letters-full', { kind: 'note', code: 'dead-letters-full' });
  }

  runningLate(lateMs: number): void {
    this.note('running-late', { kind: 'note', code: 'running-late', lateMs });
  }
}
