/** What a virtual network reports to its observer: for traces, checkers and tests of faults. */
import type { Peer } from '../port.js';

/** The kinds of sockets. */
export type SocketKind = 'router' | 'dealer' | 'publisher' | 'subscriber';

/** A message as one of the two sockets saw it. */
export interface MessageEvent {
  /** `sent`: given to the socket. `delivered`: handed to the listener. `undeliverable`, `rejected`: as reported to the listener. */
  readonly kind: 'sent' | 'delivered' | 'undeliverable' | 'rejected';
  /** The process whose socket it is. */
  readonly process: string;
  readonly socket: SocketKind;
  /** Which of the process's sockets, in the order it made them, from 1. */
  readonly socketNumber: number;
  /** The other side as this socket names it; all but routers call it `ROUTER_PEER`. A publisher's message is sent once. */
  readonly peer: Peer;
  readonly frames: readonly Uint8Array[];
}

/** A connection was established, or its end was noticed, as seen by the router. */
export interface ConnectionEvent {
  readonly kind: 'connected' | 'disconnected';
  /** The router's process. */
  readonly process: string;
  /** The process at the other end. */
  readonly client: string;
  readonly peer: Peer;
  /** The routing id was in use: nothing from this connection will ever be received. */
  readonly mute: boolean;
}

/** A fault was injected, or messages were lost to one. */
export type FaultEvent =
  | { readonly kind: 'crashed' | 'paused' | 'resumed'; readonly process: string }
  | { readonly kind: 'slowed'; readonly process: string; readonly maxMs: number }
  | { readonly kind: 'partitioned' | 'healed' | 'cut'; readonly between: readonly [string, string] }
  | { readonly kind: 'lost'; readonly messages: number; readonly between: readonly [string, string] };

/** Anything that happens on a {@link VirtualNetwork}. */
export type NetworkEvent = MessageEvent | ConnectionEvent | FaultEvent;
