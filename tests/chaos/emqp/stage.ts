/** EventMQ with real processes: a broker, job managers and a client that counts. */
import { EmqpClient } from '@proj/client';
import type { PeerProcess } from '@proj/testkit';
import { testPeers } from '../test-peers.js';
import { pathOf, program } from '../programs.js';
import type { Flags } from '../programs.js';
import { transport } from '../../transport.js';

const FREE = 'tcp://127.0.0.1:*';

/** Long enough that a busy machine does not look dead: closed connections are noticed without heartbeats. */
const BEATS = { 'heartbeat-ms': 1000, liveness: 60 } as const;

/** A running broker and its endpoints. */
export interface Served {
  readonly broker: PeerProcess;
  readonly frontend: string;
  readonly backend: string;
}

/** Starts processes that end with their test. */
export interface Stage {
  broker(flags?: Flags): Promise<Served>;
  /** A job manager that the first of these brokers has acknowledged; the others are its fallbacks. */
  manager(served: Served | readonly Served[], flags?: Flags): Promise<PeerProcess>;
  /** A scheduler, likewise. Without other flags, its jobs end with it. */
  scheduler(served: readonly Served[], flags?: Flags): Promise<PeerProcess>;
  client(served: Served): EmqpClient;
  /** Has something of ours closed at the end of the test. */
  keep<T extends AsyncDisposable>(one: T): T;
}

/** A stage for the tests of the calling file. */
export function stage(): Stage {
  const { launch, keep } = testPeers();
  return {
    async broker(flags = {}) {
      const ports = {
        'emqp-frontend': FREE,
        'emqp-backend': FREE,
        'emqp-admin': FREE,
        'emqp-publish': FREE,
        'emqp-subscribe': FREE,
      };
      const broker = launch(program('broker', { only: 'emqp', ...ports, ...BEATS, ...flags }));
      const { endpoints } = await broker.line('listening');
      const { emqpFrontend, emqpBackend } = endpoints as { emqpFrontend: string; emqpBackend: string };
      return { broker, frontend: emqpFrontend, backend: emqpBackend };
    },
    async manager(served, flags = {}) {
      const connect = [served].flat().map(({ backend }) => backend);
      const jobs = { protocol: 'emqp', connect: connect.join(), handler: pathOf('emqp/fixtures/jobs.mjs') };
      const manager = launch(program('worker', { ...jobs, ...BEATS, 'log-level': 'debug', ...flags }));
      await manager.line('registered');
      return manager;
    },
    async scheduler(served, flags) {
      const connect = served.map(({ frontend }) => frontend).join();
      const patient = { 'heartbeat-ms': 1000, 'broker-expiry-ms': 60_000 };
      const scheduler = launch(program('scheduler', { connect, store: 'memory:', ...patient, ...flags }));
      await scheduler.line('registered');
      return scheduler;
    },
    client: ({ frontend }) => keep(new EmqpClient({ transport, endpoints: [frontend], timeoutMs: 60_000 })),
    keep,
  };
}
