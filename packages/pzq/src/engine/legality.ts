/** PZQ queue: what an answer, a moment or a lease of the store means in each state of its message. Rules 13 to 15, 30, 32, 33 and 37. */
import type { Legality } from '@proj/transport';

/** The state of a message. Those in memory are `ready`, `offered`, `in-flight` or `resting`. */
export type Whereabouts =
  /** Only in the store: on disk, delayed, a dead letter that is not delivered, with another server, or unknown. */
  | 'stored'
  /** In memory, waiting for a consumer. */
  | 'ready'
  /** Handed to the socket, without an outcome yet. */
  | 'offered'
  /** With a consumer, under a lease. */
  | 'in-flight'
  /** Returned, and held for a while: rule 36. */
  | 'resting'
  /** Out of memory permanently: its removal, or its move to or from the dead letters, is not on disk yet. */
  | 'leaving'
  /** Settled: the next commit removes it. */
  | 'settled';

type Event =
  /** A consumer has finished it. */
  | 'ack'
  /** A consumer returns it. */
  | 'nack'
  /** A consumer sends only its key: rule 37. */
  | 'extension'
  /** The store reports that its delay has ended. */
  | 'delay over'
  /** The store reports that its lifetime has ended. */
  | 'expiry'
  /** A shared store leases it to this server. */
  | 'lease';

export type Verdict =
  /** Count it as acknowledged; remove it with the next commit. */
  | 'settle'
  /** The same, counted as late. */
  | 'settle late'
  /** Remove it with the next commit, which tells whether it was there. */
  | 'remove'
  /** End its lease. It is next, rests, is given up, or goes back to a shared store. */
  | 'return'
  /** Return it if it turns out that a consumer took the offer. */
  | 'return later'
  /** Restart its lease. */
  | 'renew'
  /** A shared store decides, because another server may have it. Otherwise as `drop`. */
  | 'refer'
  /** Take it into memory. */
  | 'load'
  /** Forget the lease it had here, then take it into memory. */
  | 'reload'
  /** Tell the store that the moment has passed. */
  | 'pass'
  /** Remove it, or make it a dead letter. */
  | 'expire'
  /** Count it. */
  | 'drop'
  /** Nothing. */
  | 'ignore';

/** What the engine does by event and state of the message. */
export const LEGALITY: Legality<Whereabouts, Event, Verdict> = {
  stored: {
    ack: ['remove', 'settled'],
    nack: ['refer'],
    extension: ['refer'],
    'delay over': ['load', 'ready'],
    expiry: ['expire', 'settled', 'leaving'],
    lease: ['load', 'ready'],
  },
  ready: {
    ack: ['settle late', 'settled'],
    nack: ['ignore'],
    extension: ['drop'],
    'delay over': ['pass'],
    expiry: ['expire', 'settled', 'leaving'],
    lease: ['ignore'],
  },
  offered: {
    ack: ['settle', 'settled'],
    nack: ['return later'],
    extension: ['drop'],
    'delay over': ['pass'],
    expiry: ['pass'],
    lease: ['ignore'],
  },
  'in-flight': {
    ack: ['settle', 'settled'],
    nack: ['return', 'ready', 'resting', 'leaving', 'settled', 'stored'],
    extension: ['renew'],
    'delay over': ['pass'],
    expiry: ['pass'],
    // It was returned at another server, or its lease is over by the store's clock.
    lease: ['reload', 'ready'],
  },
  resting: {
    ack: ['settle late', 'settled'],
    nack: ['ignore'],
    extension: ['drop'],
    'delay over': ['pass'],
    expiry: ['pass'],
    lease: ['ignore'],
  },
  leaving: {
    ack: ['remove', 'settled'],
    nack: ['drop'],
    extension: ['drop'],
    'delay over': ['ignore'],
    expiry: ['ignore'],
    lease: ['ignore'],
  },
  settled: {
    ack: ['drop'],
    nack: ['drop'],
    extension: ['drop'],
    'delay over': ['ignore'],
    expiry: ['ignore'],
    lease: ['ignore'],
  },
};

/** Transitions without an event of the table. */
export const MOVES = [
  ['stored', 'load', 'ready'],
  ['ready', 'offer', 'offered'],
  ['ready', 'back to a shared store', 'stored'],
  ['ready', 'lifetime over', 'leaving'],
  ['ready', 'purged', 'settled'],
  ['offered', 'a consumer took it', 'in-flight'],
  ['offered', 'nobody took it', 'ready'],
  ['in-flight', 'lease over', 'ready'],
  ['in-flight', 'delivered too often', 'leaving'],
  ['resting', 'rest over', 'ready'],
  ['leaving', 'on disk', 'stored'],
] as const;
