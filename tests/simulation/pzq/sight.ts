/** What a queue receives and does, as typed facts: the only source of facts for checkers. */
import { latin1 } from '@proj/frames';
import {
  decodePzqAtConsumer,
  decodePzqAtProducer,
  decodePzqAtReceive,
  decodePzqAtSend,
  decodePzqKey,
} from '@proj/frames/pzq';
import type { MessageEvent, NetworkEvent } from '@proj/transport/virtual';
import type { Simulation, Watcher } from '../kit/simulation.js';
import type { DiskObserver } from './disk.js';

/** One thing that a queue receives or does. `id` is the workload's name for a message, `seq` the queue's. */
export type Sight =
  /** A producer's message has arrived; `wireId` is its frame 0. */
  | { readonly kind: 'arrived'; readonly producer: string; readonly wireId: string; readonly id: string }
  | { readonly kind: 'answered'; readonly producer: string; readonly wireId: string; readonly stored: boolean }
  /** A message was passed to the consumers' socket. */
  | { readonly kind: 'offered'; readonly seq: number; readonly id: string }
  /** No consumer had room for it. */
  | { readonly kind: 'blocked'; readonly seq: number }
  | { readonly kind: 'settled' | 'given-back'; readonly seq: number }
  | { readonly kind: 'crashed' }
  /** It is on disk, or no longer. */
  | { readonly kind: 'stored' | 'removed'; readonly seq: number; readonly id: string };

/** Checks one promise on what a queue sees and does. Throws when it is broken. */
export interface Checker {
  onSight(sight: Sight): void;
}

/** The server's sockets, in creation order. */
const SOCKETS = { receive: 1, queue: 3 } as const;

/** Passes what happens at the queue's sockets and on its disk to the checkers. */
export class QueueSights implements Watcher, DiskObserver {
  readonly #process: string;
  readonly #checkers: readonly Checker[];
  readonly #simulation: Simulation;

  /** `process`: where the queue runs. An exception of a checker is a failure of the simulation. */
  constructor(process: string, checkers: readonly Checker[], simulation: Simulation) {
    this.#process = process;
    this.#checkers = checkers;
    this.#simulation = simulation;
  }

  onEvent(event: NetworkEvent): void {
    if (!('process' in event) || event.process !== this.#process) return;
    if (event.kind === 'crashed') this.#show({ kind: 'crashed' });
    else if ('socketNumber' in event) this.#onMessage(event);
  }

  onStored(seq: number, id: string): void {
    this.#simulation.note(`disk: #${seq} ${id}`);
    this.#show({ kind: 'stored', seq, id });
  }

  onRemoved(seq: number, id: string): void {
    this.#simulation.note(`disk: without #${seq} ${id}`);
    this.#show({ kind: 'removed', seq, id });
  }

  #onMessage(event: MessageEvent): void {
    if (event.socketNumber === SOCKETS.receive) this.#atReceive(event);
    else if (event.socketNumber === SOCKETS.queue) this.#atSend(event);
  }

  #atReceive({ kind, peer, frames }: MessageEvent): void {
    if (kind === 'delivered') {
      const command = decodePzqAtReceive(frames);
      if (command.kind !== 'produce') return;
      const { id: wireId, body } = command;
      this.#show({ kind: 'arrived', producer: peer.key, wireId: latin1(wireId), id: messageId(body) });
    } else if (kind === 'sent') {
      const command = decodePzqAtProducer(frames);
      if (command.kind !== 'producer-ack') throw new Error('a producer was sent something that is no answer');
      this.#show({ kind: 'answered', producer: peer.key, wireId: latin1(command.id), stored: command.stored });
    }
  }

  #atSend({ kind, frames }: MessageEvent): void {
    if (kind === 'delivered') {
      const command = decodePzqAtSend(frames);
      const seq = command.kind === 'consumer-ack' ? decodePzqKey(command.key)?.seq : undefined;
      if (command.kind !== 'consumer-ack' || seq === undefined) return;
      this.#show({ kind: command.positive ? 'settled' : 'given-back', seq });
    } else if (kind === 'sent' || kind === 'undeliverable') {
      const command = decodePzqAtConsumer(frames);
      const seq = command.kind === 'delivery' ? decodePzqKey(command.key)?.seq : undefined;
      if (command.kind !== 'delivery' || seq === undefined)
        throw new Error('consumers were sent something that is no delivery');
      this.#show(kind === 'sent' ? { kind: 'offered', seq, id: messageId(command.body) } : { kind: 'blocked', seq });
    }
  }

  #show(sight: Sight): void {
    for (const checker of this.#checkers)
      this.#simulation.check(checker.constructor.name, () => {
        checker.onSight(sight);
      });
  }
}

/** The first body frame of every message of the workload identifies it. */
export function messageId(body: readonly Uint8Array[]): string {
  return latin1(body[0] ?? new Uint8Array());
}
