/** Shared by the setups of all protocols: our implementation and the Python peers, and cleanup after the test. */
import { peerGroup } from '@proj/testkit';
import type { PeerGroup, PeerProcess } from '@proj/testkit';
import type { HandlerContext } from '@proj/worker';
import { afterEach } from 'vitest';

/** The maker of a peer. */
export type Maker = 'ours' | 'python';

/** Frames of a body. */
export type Body = readonly Uint8Array[];

/** Flags of a Python peer. */
export type Flags = Readonly<Record<string, string | number | undefined>>;

/**
 * Heartbeats in all tests: short, so that a test that waits for some is short, and many, so that a busy machine does not
 * look dead.
 */
export const BEATS = { heartbeatIntervalMs: 100, liveness: 40 } as const;

/** The same as flags of a Python peer. */
export const BEAT_FLAGS = { 'heartbeat-ms': BEATS.heartbeatIntervalMs, liveness: BEATS.liveness };

/** How long requests wait in all tests: practically for ever. The test's own limit ends what hangs. */
export const PATIENCE_MS = 600_000;

/** How long a peer may be silent. */
export const LIFE_MS = BEATS.heartbeatIntervalMs * BEATS.liveness;

/**
 * Why a worker is lost whose connection ends: because of that, or because a heartbeat sent before this is noticed is
 * undeliverable.
 */
export const CONNECTION_LOST: readonly unknown[] = ['gone', 'unreachable'];

/** More heartbeats than a peer may miss. */
export const LONGER_THAN_LIFE = BEATS.liveness + 5;

/** Starts peers that end with their test. */
export interface TestPeers extends PeerGroup {
  /** Closes one of our objects at the end of the test. */
  keep<T extends AsyncDisposable>(one: T): T;
}

/** A cast for the tests of the calling file. */
export function testPeers(): TestPeers {
  const { launch } = peerGroup();
  const ours: AsyncDisposable[] = [];
  // Runs before the group ends its processes: our peers leave while those they talk to still exist.
  afterEach(async () => {
    for (const one of ours.splice(0).reverse()) await one[Symbol.asyncDispose]();
  });
  return {
    launch,
    keep(one) {
      ours.push(one);
      return one;
    },
  };
}

/**
 * Waits for registrations, by the endpoint where the worker should register. READY alone proves nothing: while that message
 * is in flight, jobs go to others.
 */
export class Registrations {
  readonly #waiting = new Map<string, (() => void)[]>();

  /** Registers an endpoint; the returned function is to be called for each registration there. */
  open(endpoint: string): () => void {
    const waiting: (() => void)[] = [];
    this.#waiting.set(endpoint, waiting);
    return () => waiting.shift()?.();
  }

  /** The same for a Python broker or queue, which prints `worker`. */
  openPeer(endpoint: string, peer: PeerProcess): void {
    const registered = this.open(endpoint);
    const follow = async () => {
      for (let nth = 1; ; nth++) {
        await peer.line('worker', {}, nth);
        registered();
      }
    };
    // Ends with the peer; a test that still waits times out and shows the peer's last lines.
    follow().catch(() => undefined);
  }

  /** Resolves at the next registration at a known endpoint that no other caller waits for. Call it before causing the registration. */
  at(endpoint: string): Promise<void> {
    const waiting = this.#waiting.get(endpoint);
    return waiting === undefined
      ? Promise.reject(new Error(`nobody listens at ${endpoint}`))
      : new Promise((resolve) => waiting.push(resolve));
  }
}

/** A handler whose calls end when the test says so, in order, or when their result is no longer needed. */
export class HeldHandler {
  readonly #running: ((reply: string) => void)[] = [];
  readonly #waiting: (() => void)[] = [];
  #begun = 0;

  readonly handler = (_request: unknown, { signal }: HandlerContext): Promise<string> =>
    new Promise((resolve, reject) => {
      this.#running.push(resolve);
      signal.addEventListener('abort', () => {
        reject(signal.reason as Error);
      });
      this.#begun++;
      for (const wake of this.#waiting.splice(0)) wake();
    });

  /** Resolves when this many calls have started in all. */
  async begun(calls: number): Promise<void> {
    while (this.#begun < calls) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  /** Ends the oldest call. */
  release(reply: string): void {
    this.#running.shift()?.(reply);
  }
}

/** Frames as commands of a Python peer have them. */
export function toHex(body: Body): string[] {
  return body.map((frame) => Buffer.from(frame).toString('hex'));
}

/** Frames from a line of a Python peer. */
export function fromHex(body: unknown): Buffer[] {
  return (body as string[]).map((frame) => Buffer.from(frame, 'hex'));
}

const EVERY_BYTE = Uint8Array.from({ length: 256 }, (_, byte) => byte);

/** Bodies that a careless peer would join, cut, decode or lose. */
export const BODIES: readonly Body[] = [
  [Buffer.from('one frame')],
  [Buffer.from('several'), Buffer.from('frames'), Buffer.from('in order')],
  [new Uint8Array(0)],
  [new Uint8Array(0), new Uint8Array(0), Buffer.from('behind two empty frames'), new Uint8Array(0)],
  [EVERY_BYTE],
  [Buffer.alloc(1 << 20, EVERY_BYTE)],
  Array.from({ length: 200 }, (_, number) => Buffer.from(number.toString())),
];

/** Bodies have megabytes: the message says whether frames or bytes differ, and prints neither in full. */
export function lengths(body: Body): number[] {
  return body.map((frame) => frame.length);
}
