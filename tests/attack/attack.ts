/** What an attack is, and what it can use. */
import type { Protocol, PROTOCOLS } from '../protocols.js';
import type { Keyring } from './keyring.js';
import type { AttackingPeer, RawPeerOptions } from './raw-peer.js';

type Camel<Name extends string> = Name extends `${infer Head}-${infer Tail}` ? `${Head}${Capitalize<Tail>}` : Name;

/** An endpoint, by its name in the program's log line `listening`. */
export type Port = 'nfp' | Camel<(typeof PROTOCOLS)[Protocol]['ports'][number]>;

/** Options of a program; true is a switch. */
export type Flags = Readonly<Record<string, string | number | true>>;

/**
 * Programs with other settings than the defaults: `encrypted` has CURVE and a list of keys, `unread` logs as much as possible into a
 * pipe that nobody reads, `small` has a memory budget that one attack can use up.
 */
export type Variant = 'encrypted' | 'unread' | 'small';

/** How long requests wait for a worker by default, in every protocol. Milliseconds. */
export const REQUEST_TTL_MS = 30_000;
/** Reasons for {@link Attack.missesOnZmq}. */
export const KEPT_ON_ZMQ = 'memory afterwards: the same broker gives it back on zmtp';
export const IN_TURN_ON_ZMQ =
  'p99: it hands over one message of each connection in turn, whatever that costs, and cannot be told to let one wait';
export const IN_TURN_AND_KEPT = `${IN_TURN_ON_ZMQ}; ${KEPT_ON_ZMQ}`;
export const ONE_THREAD_ON_ZMQ = 'p99: one I/O thread reads for all connections, and cannot be told to take turns';

/** One way to harm others. */
export interface Attack {
  /** Such as `mdp/ready-and-disconnect`: the protocol of the honest clients, and a few words. */
  readonly name: `${Protocol}/${string}`;
  /** What the attacker does, for the table. */
  readonly does: string;
  /** Flags of the program besides its ports; everything else has its default. */
  readonly flags?: Flags;
  /** The program that it needs; by default the same one as most attacks. */
  readonly variant?: Variant;
  /** Why libzmq does not withstand it, if it does not: then it runs on libzmq only if named in full. */
  readonly onZmq?: string;
  /** Which bounds it misses on libzmq, where we cannot mend it, and why. */
  readonly missesOnZmq?: string;
  /**
   * How long, by the program's own options, the effects of the attack last, in milliseconds; memory can shrink only after
   * that.
   */
  readonly leavesMs?: number;
  run(stage: Stage): Promise<void>;
}

/** One run of an attack. Its connections end with it. */
export interface Stage {
  /** The first of two sizes in `npm test`, the second in `npm run attack`. */
  size(small: number, full: number): number;
  /** True once the attack must end: connections are gone, and nothing that was started continues. */
  readonly isOver: boolean;
  /** Rounds of an attack: in `npm test` this many, in `npm run attack` as many as fit into the time. Other work runs in between. */
  rounds(small: number): AsyncGenerator<number>;
  /**
   * All of them send what `make` returns, again and again, each as fast as it is read: in `npm test` this many messages together. A peer
   * that is no longer read does not hold up the others.
   */
  flood(peers: readonly AttackingPeer[], small: number, make: (round: number) => Uint8Array): Promise<void>;
  /** Keeps connections open, in `npm run attack` until the time is over. */
  hold(): Promise<void>;
  /** Resolves after this time, or when the attack must end. */
  pause(ms: number): Promise<void>;
  /** The folder that the broker shares; a `secret.txt` lies beside it. */
  readonly folder: string;
  /** For the variant `encrypted`: the keys, and which of them are admitted. */
  readonly keyring: Keyring;
  /** Every endpoint of the program. */
  readonly ports: readonly Port[];
  endpoint(port: Port): string;
  open(port: Port, options?: RawPeerOptions): Promise<AttackingPeer>;
  openMany(count: number, port: Port, options?: RawPeerOptions): Promise<AttackingPeer[]>;
  /** Reports a broken promise, other than those to honest clients. */
  broken(fact: string): void;
}

/** The honest clients during the attack. */
export function protocolOf({ name }: Pick<Attack, 'name'>): Protocol {
  return name.slice(0, name.indexOf('/')) as Protocol;
}
