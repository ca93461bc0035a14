/** What a queue or pool receives and does, as typed commands: the only source of facts for checkers. */
import { latin1 } from '@proj/frames';
import { decodePppAtClient, decodePppAtFrontend, decodePppAtQueue, decodePppAtWorker } from '@proj/frames/ppp';
import type { PppAddresses, PppContent, PppToClient, PppToFrontend, PppToQueue, PppToWorker } from '@proj/frames/ppp';
import type { Peer } from '@proj/transport';
import type { MessageEvent, NetworkEvent } from '@proj/transport/virtual';
import type { Simulation, Watcher } from '../kit/simulation.js';

/** Which of a broker's two sockets; a pool has only the backend. */
export type Side = 'frontend' | 'backend';

/** One thing that a queue or pool receives or does. `broker` is the name of its host. */
export type Sight = { readonly broker: string } & (
  | { readonly kind: 'received'; readonly peer: Peer; readonly command: PppToQueue | PppToFrontend }
  | { readonly kind: 'sent'; readonly peer: Peer; readonly command: PppToWorker | PppToClient }
  /** Announced by the broker itself. */
  | { readonly kind: 'worker-ready'; readonly peer: Peer }
  | { readonly kind: 'worker-lost'; readonly peer: Peer; readonly reason: string }
  | { readonly kind: 'connected' | 'disconnected'; readonly peer: Peer; readonly client: string }
  | { readonly kind: 'crashed' }
);

/** Checks one rule on what brokers see and do. Throws when it is broken. */
export interface Checker {
  onSight(sight: Sight): void;
}

/** Tells the side of a broker's socket by its number. */
export type SideOf = (socketNumber: number) => Side;

/** Passes what happens at the brokers' sockets to the checkers. */
export class BrokerSights implements Watcher {
  readonly #checkers: readonly Checker[];
  readonly #simulation: Simulation;
  readonly #sideOf: SideOf;

  /** An exception of a checker is a failure of the simulation. */
  constructor(checkers: readonly Checker[], simulation: Simulation, sideOf: SideOf) {
    this.#checkers = checkers;
    this.#simulation = simulation;
    this.#sideOf = sideOf;
  }

  /** Adds a sight that is not an event of the network. */
  show(sight: Sight): void {
    for (const checker of this.#checkers)
      this.#simulation.check(checker.constructor.name, () => {
        checker.onSight(sight);
      });
  }

  onEvent(event: NetworkEvent): void {
    if (event.kind === 'crashed') this.show({ kind: 'crashed', broker: event.process });
    else if (event.kind === 'connected' || event.kind === 'disconnected')
      this.show({ kind: event.kind, broker: event.process, peer: event.peer, client: event.client });
    else if ('socket' in event && event.socket === 'router') {
      const { process: broker, peer } = event;
      if (event.kind === 'delivered')
        this.show({ kind: 'received', broker, peer, command: received(event, this.#sideOf) });
      else if (event.kind === 'sent') this.show({ kind: 'sent', broker, peer, command: sent(event, this.#sideOf) });
    }
  }
}

/** A message that a broker received. */
export function received({ socketNumber, frames }: MessageEvent, sideOf: SideOf): PppToQueue | PppToFrontend {
  return sideOf(socketNumber) === 'backend' ? decodePppAtQueue(frames) : decodePppAtFrontend(frames);
}

/** A message of a broker. */
export function sent({ socketNumber, frames }: MessageEvent, sideOf: SideOf): PppToWorker | PppToClient {
  return sideOf(socketNumber) === 'backend' ? decodePppAtWorker(frames) : decodePppAtClient(frames);
}

/** The first content frame of every request and reply of the workload identifies the request. */
export function requestId(content: PppContent): string {
  return latin1(content[0] ?? new Uint8Array());
}

/** The client: its routing id at the queue, or a pool's number. */
export function requesterOf(addresses: PppAddresses): string {
  return latin1(addresses[0] ?? new Uint8Array());
}

/** Names a peer of a broker across brokers. */
export function peerOf(sight: { readonly broker: string; readonly peer: Peer }): string {
  return `${sight.broker}/${sight.peer.key}`;
}

/** Removes everything about a broker from records that are kept by {@link peerOf}. */
export function forgetBroker(broker: string, ...books: readonly Map<string, unknown>[]): void {
  for (const book of books) for (const key of book.keys()) if (key.startsWith(`${broker}/`)) book.delete(key);
}
