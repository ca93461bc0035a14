/** What an attack is, and what it has to hand. */
import type { Keyring } from './keyring.js';
import type { AttackingPeer, RawPeerOptions } from './raw-peer.js';

/** Who is served meanwhile, and by which program. */
export type Protocol = 'mdp' | 'nfp' | 'emqp' | 'ppp' | 'pzq';

/** An endpoint by the name that the program's line `listening` has for it. */
export type Port =
  | 'mdp'
  | 'nfp'
  | 'nfpEvents'
  | 'emqpFrontend'
  | 'emqpBackend'
  | 'emqpAdmin'
  | 'emqpPublish'
  | 'emqpSubscribe'
  | 'pppFrontend'
  | 'pppBackend'
  | 'receive'
  | 'send'
  | 'monitor';

/** Options of a program; true is a switch. */
export type Flags = Readonly<Record<string, string | number | true>>;

/**
 * Programs that are not as by default: `encrypted` has CURVE and a list of keys, `unread` logs all it can into a pipe that nobody reads,
 * `small` has a budget of memory that one attack can use up.
 */
export type Variant = 'encrypted' | 'unread' | 'small';

/** One way to hurt others. */
export interface Attack {
  /** Such as `mdp/ready-and-disconnect`: the protocol of those who are served meanwhile, and a few words. */
  readonly name: `${Protocol}/${string}`;
  /** What the attacker does, for the table. */
  readonly does: string;
  /** Flags of the program beside its ports, which are its defaults otherwise. */
  readonly flags?: Flags;
  /** The program that it needs; none is that of all others. */
  readonly variant?: Variant;
  /** Why libzmq does not hold it, if it does not: then it is run on it only when asked for by its name. */
  readonly onZmq?: string;
  /** How long what it leaves behind lives by the program's own options, in milliseconds; memory can come back only then. */
  readonly leavesMs?: number;
  run(stage: Stage): Promise<void>;
}

/** One run of an attack. Its connections end with it. */
export interface Stage {
  /** The first of two sizes in `npm test`, the second in `npm run attack`. */
  size(small: number, full: number): number;
  /** True from when the attack must end: connections are gone, and what is begun is not gone on with. */
  readonly isOver: boolean;
  /** Rounds of an attack: in `npm test` so many, in `npm run attack` as many as there is time for. Others have their turn in between. */
  rounds(small: number): AsyncGenerator<number>;
  /**
   * All of them say what `make` gives, over and over, each as fast as it is read: in `npm test` so often together. Who is not read any more
   * holds up none of the others.
   */
  flood(peers: readonly AttackingPeer[], small: number, make: (round: number) => Uint8Array): Promise<void>;
  /** Keeps up what has been built, in `npm run attack` for as long as there is time. */
  hold(): Promise<void>;
  /** Resolves after so long, or when the attack must end. */
  pause(ms: number): Promise<void>;
  /** What the broker shares with everybody; beside it lies a `secret.txt`. */
  readonly folder: string;
  /** Of the variant `encrypted`: the keys that there are, and who may come in. */
  readonly keyring: Keyring;
  /** Every endpoint of the program. */
  readonly ports: readonly Port[];
  endpoint(port: Port): string;
  open(port: Port, options?: RawPeerOptions): Promise<AttackingPeer>;
  openMany(count: number, port: Port, options?: RawPeerOptions): Promise<AttackingPeer[]>;
  /** Says that a promise was broken, other than to those who are served. */
  broken(fact: string): void;
}

/** Those who are served meanwhile. */
export function protocolOf({ name }: Pick<Attack, 'name'>): Protocol {
  return name.slice(0, name.indexOf('/')) as Protocol;
}
