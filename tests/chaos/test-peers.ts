/** What the stages of all protocols share: processes, workers, and cleanup after the test. */
import { peerGroup } from '@proj/testkit';
import type { PeerGroup, PeerProcess } from '@proj/testkit';
import { afterEach } from 'vitest';
import { pathOf, program } from './programs.js';
import type { Flags } from './programs.js';

/** Heartbeats short enough to wait for some, and enough of them that a busy machine does not look dead. */
export const BEATS = { 'heartbeat-ms': 100, liveness: 40 } as const;

/** How long a peer may be silent. */
export const LIFE_MS = BEATS['heartbeat-ms'] * BEATS.liveness;

/**
 * Why a worker is lost whose connection ends: because of that, or because a heartbeat sent before this is noticed is
 * undeliverable.
 */
export const CONNECTION_LOST: readonly unknown[] = ['gone', 'unreachable'];

/** Handler of {@link TestPeers.worker} that works until it gets SIGCONT. */
export const HOLD = pathOf('fixtures/hold.mjs');

/** Starts processes that end with their test. */
export interface TestPeers extends PeerGroup {
  /** A proj-worker for service `echo` that has sent READY. */
  worker(endpoint: string, flags?: Flags): Promise<PeerProcess>;
  /** Closes one of our objects at the end of the test. */
  keep<T extends AsyncDisposable>(one: T): T;
}

/** A cast for the tests of the calling file. */
export function testPeers(): TestPeers {
  const { launch } = peerGroup();
  const ours: AsyncDisposable[] = [];
  afterEach(async () => {
    await Promise.all(ours.splice(0).map((one) => one[Symbol.asyncDispose]()));
  });
  return {
    launch,
    async worker(endpoint, flags) {
      const worker = launch(program('worker', { connect: endpoint, service: 'echo', ...BEATS, ...flags }));
      await worker.line('ready');
      return worker;
    },
    keep(one) {
      ours.push(one);
      return one;
    },
  };
}
