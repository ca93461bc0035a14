/** Paranoid Pirate with real processes: proj-broker, proj-workers, and Lazy Pirates in the test. */
import { LazyPirateClient } from '@proj/client';
import type { LazyPirateOptions } from '@proj/client';
import type { PeerProcess } from '@proj/testkit';
import { BEATS, testPeers } from '../test-peers.js';
import type { TestPeers } from '../test-peers.js';
import { program } from '../programs.js';
import type { Flags } from '../programs.js';
import { transport } from '../../transport.js';

/** A queue process and where it listens. */
export interface RunningQueue {
  readonly queue: PeerProcess;
  readonly frontend: string;
  readonly backend: string;
}

/** The counters of a queue. */
export interface QueueCounters {
  readonly requests: number;
  readonly replies: number;
  readonly resends: number;
  readonly dropped: Readonly<Record<string, number>>;
}

/** Starts processes that end with their test. */
export interface Stage extends TestPeers {
  queue(flags?: Flags): Promise<RunningQueue>;
  /** Sends each request once by default, so an answered request was never lost. */
  client(frontend: string, options?: LazyPirateOptions): LazyPirateClient;
}

/** A stage for the tests of the calling file. */
export function stage(): Stage {
  const { launch, worker, keep } = testPeers();
  return {
    launch,
    keep,
    worker: (endpoint, flags) => worker(endpoint, { protocol: 'ppp', ...flags }),
    async queue(flags) {
      const ports = { 'ppp-frontend': 'tcp://127.0.0.1:*', 'ppp-backend': 'tcp://127.0.0.1:*' };
      const more = { 'log-level': 'debug', 'stats-ms': 86_400_000 };
      const queue = launch(program('broker', { only: 'ppp', ...ports, ...more, ...BEATS, ...flags }));
      const { pppFrontend, pppBackend } = (await queue.line('listening'))['endpoints'] as Record<string, string>;
      return { queue, frontend: pppFrontend!, backend: pppBackend! };
    },
    client: (frontend, options) =>
      keep(new LazyPirateClient({ transport, endpoints: [frontend], tries: 1, timeoutMs: 600_000, ...options })),
  };
}

/** Ends the queue and returns its counters. */
export async function lastCounters(queue: PeerProcess): Promise<QueueCounters> {
  queue.kill('SIGTERM');
  return (await queue.line('stats'))['counters'] as QueueCounters;
}
