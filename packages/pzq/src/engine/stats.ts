/** What can be seen of a PZQ engine from outside: sizes now, totals so far. */
import type { PzqCounters } from './counters.js';

/** A snapshot. Plain data; nothing in it changes afterwards. */
export interface PzqStats {
  readonly counters: Readonly<PzqCounters>;
  /** Everything in the queue: ready, delayed and in flight. As of the last commit. */
  readonly messages: number;
  /** Bytes of their bodies. */
  readonly bytes: number;
  /** Delivered and not yet answered. */
  readonly inFlight: number;
  readonly inFlightBytes: number;
  /** Waiting for a consumer, in memory or in the store. */
  readonly ready: number;
  /** Not to be delivered yet: delayed by their producer, or resting after a negative acknowledgement. */
  readonly delayed: number;
  readonly dead: number;
  /** What the store takes on its disk. */
  readonly storeBytes: number;
  /** Of the ready ones, those in memory. */
  readonly window: number;
  /** Producers' messages that wait for a commit and their answer. */
  readonly producerAcksPending: number;
  readonly store: 'memory' | 'lmdb' | 'postgres';
  /** `refusing`: it takes no messages now; `corrupt`: it is damaged, and not used any more. */
  readonly storeState: 'ok' | 'refusing' | 'corrupt';
}
