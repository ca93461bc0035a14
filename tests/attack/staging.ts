/** The stage of an attack, over real connections. */
import { setTimeout as wait } from 'node:timers/promises';
import { join } from 'node:path';
import type { Port, Stage } from './attack.js';
import { Keyring } from './keyring.js';
import { AttackingPeer } from './raw-peer.js';
import type { RawPeerOptions } from './raw-peer.js';

/** How long, and against which endpoints. */
export interface StagePlan {
  readonly endpoints: Readonly<Partial<Record<Port, string>>>;
  /** See {@link Stage.folder}. */
  readonly folder: string;
  /** Time of a full attack; a small attack has none, and ends when it has done its share. */
  readonly fullMs: number | undefined;
}

const AT_A_TIME = 64;
/** A small attack that waits in vain ends anyway. */
const SMALL_MS = 20_000;

/** See {@link Stage}. */
export class RealStage implements Stage {
  readonly #plan: StagePlan;
  readonly #peers = new Set<AttackingPeer>();
  readonly #end = new AbortController();
  readonly facts = new Set<string>();

  constructor(plan: StagePlan) {
    this.#plan = plan;
  }

  /** Runs an attack to its end, and closes its connections. */
  async play(run: (stage: Stage) => Promise<void>): Promise<void> {
    const timer = setTimeout(() => this.#close(), this.#plan.fullMs ?? SMALL_MS);
    try {
      await Promise.race([run(this), this.#over()]);
    } finally {
      clearTimeout(timer);
      this.#close();
    }
  }

  get isOver(): boolean {
    return this.#end.signal.aborted;
  }

  get ports(): readonly Port[] {
    return Object.keys(this.#plan.endpoints) as Port[];
  }

  size(small: number, full: number): number {
    return this.#plan.fullMs === undefined ? small : full;
  }

  async *rounds(small: number): AsyncGenerator<number> {
    const last = this.size(small, Infinity);
    for (let round = 0; round < last && !this.isOver; round++) {
      yield round;
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  async flood(peers: readonly AttackingPeer[], small: number, make: (round: number) => Uint8Array): Promise<void> {
    const last = this.size(small, Infinity);
    let round = 0;
    const flow = async (peer: AttackingPeer): Promise<void> => {
      while (round < last && !this.isOver && !peer.isClosed) {
        await peer.write(make(round++));
        await new Promise((resolve) => setImmediate(resolve));
      }
    };
    await Promise.all(peers.map(flow));
    // All of them may have been disconnected.
    await this.hold();
  }

  async hold(): Promise<void> {
    if (this.#plan.fullMs === undefined) return;
    await this.#over();
  }

  get keyring(): Keyring {
    return new Keyring(join(this.folder, '../keys'));
  }

  get folder(): string {
    return this.#plan.folder;
  }

  async pause(ms: number): Promise<void> {
    await wait(ms, undefined, { signal: this.#end.signal }).catch(() => undefined);
  }

  endpoint(port: Port): string {
    const endpoint = this.#plan.endpoints[port];
    if (endpoint === undefined) throw new Error(`the program has no endpoint ${port}`);
    return endpoint;
  }

  async open(port: Port, options?: RawPeerOptions): Promise<AttackingPeer> {
    const peer = await AttackingPeer.open(this.endpoint(port), options);
    // Closed connections are not kept for ever.
    for (const old of this.#peers) {
      if (!old.isClosed) break;
      this.#peers.delete(old);
    }
    this.#peers.add(peer);
    if (this.isOver) peer.destroy();
    return peer;
  }

  async openMany(count: number, port: Port, options?: RawPeerOptions): Promise<AttackingPeer[]> {
    const peers: AttackingPeer[] = [];
    while (peers.length < count && !this.isOver) {
      const some = Math.min(AT_A_TIME, count - peers.length);
      peers.push(...(await Promise.all(Array.from({ length: some }, () => this.open(port, options)))));
    }
    return peers;
  }

  broken(fact: string): void {
    this.facts.add(fact);
  }

  #over(): Promise<void> {
    return this.pause(2 ** 31 - 1);
  }

  #close(): void {
    this.#end.abort();
    for (const peer of this.#peers) peer.destroy();
    this.#peers.clear();
  }
}
