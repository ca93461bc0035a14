/** What a broker receives and does, as typed commands: the only source of facts for checkers. */
import { latin1 } from '@proj/frames';
import { decodeMdpAtBroker, decodeMdpAtClient, decodeMdpAtWorker } from '@proj/frames/mdp';
import type { MdpBody, MdpToBroker, MdpToClient, MdpToWorker, MdpVersion } from '@proj/frames/mdp';
import type { Peer } from '@proj/transport';
import type { NetworkEvent } from '@proj/transport/virtual';
import type { Simulation, Watcher } from '../kit/simulation.js';

/** One thing that a broker receives or does. `broker` is the name of its host. */
export type Sight = { readonly broker: string } & (
  | { readonly kind: 'received'; readonly peer: Peer; readonly command: MdpToBroker }
  | { readonly kind: 'sent'; readonly peer: Peer; readonly command: MdpToWorker | MdpToClient }
  /** Announced by the broker itself. */
  | { readonly kind: 'worker-ready'; readonly peer: Peer; readonly service: string; readonly version: MdpVersion }
  | { readonly kind: 'worker-lost'; readonly peer: Peer; readonly reason: string }
  /** A handler inside the broker has started this request, or returns a (partial) reply to it. */
  | { readonly kind: 'inside'; readonly service: string; readonly id: string }
  | { readonly kind: 'inside-reply'; readonly id: string; readonly last: boolean }
  | { readonly kind: 'connected' | 'disconnected'; readonly peer: Peer; readonly client: string }
  | { readonly kind: 'crashed' }
);

/** Checks one rule on what brokers see and do. Throws when it is broken. */
export interface Checker {
  onSight(sight: Sight): void;
}

/** Passes what happens at the brokers' sockets to the checkers. */
export class BrokerSights implements Watcher {
  readonly #checkers: readonly Checker[];
  readonly #simulation: Simulation;

  /** An exception of a checker is a failure of the simulation. */
  constructor(checkers: readonly Checker[], simulation: Simulation) {
    this.#checkers = checkers;
    this.#simulation = simulation;
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
      const { process: broker, peer, frames } = event;
      if (event.kind === 'delivered') this.show({ kind: 'received', broker, peer, command: decodeMdpAtBroker(frames) });
      else if (event.kind === 'sent') this.show({ kind: 'sent', broker, peer, command: decodeFromBroker(frames) });
    }
  }
}

/** A message of a broker, to a worker or to a client. */
export function decodeFromBroker(frames: readonly Uint8Array[]): MdpToWorker | MdpToClient {
  const command = decodeMdpAtWorker(frames);
  return command.kind === 'malformed' ? decodeMdpAtClient(frames) : command;
}

/** The first body frame of every request and reply of the workload identifies the request. */
export function requestId(body: MdpBody): string {
  return latin1(body[0] ?? new Uint8Array());
}

/** Names a peer of a broker across brokers. */
export function peerOf(sight: { readonly broker: string; readonly peer: Peer }): string {
  return `${sight.broker}/${sight.peer.key}`;
}
