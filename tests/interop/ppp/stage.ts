/** Paranoid Pirate with peers of two makers, ours and the Python peers: a test chooses the maker of each. */
import { PppPool, PppQueue } from '@proj/broker';
import type { PppPoolOptions, PppQueueOptions } from '@proj/broker';
import { LazyPirateClient } from '@proj/client';
import type { LazyPirateOptions } from '@proj/client';
import type { PeerProcess } from '@proj/testkit';
import { PppWorker } from '@proj/worker';
import type { PppWorkerOptions } from '@proj/worker';
import { BEAT_FLAGS, BEATS, testPeers, fromHex, PATIENCE_MS, Registrations, toHex } from '../test-peers.js';
import type { Body, TestPeers, Flags, Maker } from '../test-peers.js';
import { pythonPeer } from '../python.js';
import { transport } from '../../transport.js';

/** A client of either maker. */
export interface Asker {
  ask(body: Body): Promise<Buffer[]>;
  /** Sends everything without waiting for replies in between. Replies are in the order of the requests. */
  askAll(bodies: readonly Body[]): Promise<Buffer[][]>;
}

/** Where a queue listens. */
export interface Ports {
  readonly frontend: string;
  readonly backend: string;
}

type WorkerOptions = Partial<PppWorkerOptions> & { readonly endpoints: readonly string[] };
type Connected = Flags & { readonly connect: string };

/** Starts peers that end with their test. */
export interface Stage extends Pick<TestPeers, 'keep' | 'launch'> {
  /** Our queue, and where it listens. */
  queue(options?: PppQueueOptions): Promise<Ports & { readonly queue: PppQueue }>;
  /** Our pool, and where it listens. */
  pool(options?: PppPoolOptions): Promise<{ readonly pool: PppPool; readonly endpoint: string }>;
  /** Our worker, registered at the queue or pool of its first endpoint; it echoes by default. */
  worker(options: WorkerOptions): Promise<PppWorker>;
  /** Our client; it sends each request once by default. */
  client(options: LazyPirateOptions): LazyPirateClient;
  /** A Python queue, and where it listens. */
  pythonQueue(flags?: Flags): Promise<Ports & { readonly queue: PeerProcess }>;
  /** A Python worker, registered. */
  pythonWorker(flags: Connected): Promise<PeerProcess>;
  /** A Python client, by default with a REQ socket. */
  pythonClient(flags: Flags): Asker & { readonly client: PeerProcess };
  /** A Python hop in front of an endpoint; returns where it listens. */
  hop(connect: string): Promise<string>;
  /** A queue of that maker. */
  queueBy(maker: Maker): Promise<Ports>;
  workerBy(maker: Maker, backend: string): Promise<void>;
  clientBy(maker: Maker, frontend: string): Asker;
}

/** A stage for the tests of the calling file. */
export function stage(): Stage {
  const { launch, keep } = testPeers();
  const registrations = new Registrations();
  const self: Stage = {
    keep,
    launch,
    async queue(options) {
      const ports = { frontend: 'tcp://127.0.0.1:*', backend: 'tcp://127.0.0.1:*' };
      const queue = keep(
        new PppQueue({ transport, ...ports, ...BEATS, lingerMs: 0, requestTtlMs: PATIENCE_MS, ...options }),
      );
      const { frontend, backend } = await queue.start();
      queue.on('worker-ready', registrations.open(backend[0]!));
      return { queue, frontend: frontend[0]!, backend: backend[0]! };
    },
    async pool(options) {
      const defaults = { endpoint: 'tcp://127.0.0.1:*', ...BEATS, lingerMs: 0, timeoutMs: PATIENCE_MS };
      const pool = keep(new PppPool({ transport, ...defaults, ...options }));
      const [endpoint] = await pool.start();
      pool.on('worker-ready', registrations.open(endpoint!));
      return { pool, endpoint: endpoint! };
    },
    async worker(options) {
      const worker = keep(
        new PppWorker({ transport, ...BEATS, reconnectMinMs: 100, handler: ({ body }) => body, ...options }),
      );
      const registered = registrations.at(options.endpoints[0]!);
      await worker.start();
      await registered;
      return worker;
    },
    client: (options) => keep(new LazyPirateClient({ transport, timeoutMs: PATIENCE_MS, tries: 1, ...options })),
    async pythonQueue(flags) {
      const queue = launch(pythonPeer('ppp', 'queue', { ...BEAT_FLAGS, ...flags }));
      const { frontend, backend } = await queue.line('listening');
      registrations.openPeer(backend as string, queue);
      return { queue, frontend: frontend as string, backend: backend as string };
    },
    async pythonWorker(flags) {
      const registered = registrations.at(flags.connect);
      const worker = launch(pythonPeer('ppp', 'worker', { ...BEAT_FLAGS, ...flags }));
      await Promise.race([registered, worker.lost()]);
      return worker;
    },
    pythonClient: (flags) => pythonAsker(launch(pythonPeer('ppp', 'client', flags))),
    async hop(connect) {
      return (await launch(pythonPeer('ppp', 'hop', { connect })).line('listening'))['endpoint'] as string;
    },
    queueBy: (maker) => (maker === 'ours' ? self.queue() : self.pythonQueue()),
    async workerBy(maker, backend) {
      if (maker === 'python') await self.pythonWorker({ connect: backend });
      else await self.worker({ endpoints: [backend] });
    },
    clientBy: (maker, frontend) =>
      maker === 'python'
        ? self.pythonClient({ connect: frontend, socket: 'dealer' })
        : ourAsker(self.client({ endpoints: [frontend] })),
  };
  return self;
}

function ourAsker(client: LazyPirateClient): Asker {
  return {
    ask: (body) => client.request(body),
    askAll: (bodies) => Promise.all(bodies.map((body) => client.request(body))),
  };
}

function pythonAsker(client: PeerProcess): Asker & { readonly client: PeerProcess } {
  return {
    client,
    async ask(body) {
      const replied = client.next('reply');
      client.tell({ do: 'request', content: toHex(body) });
      return fromHex((await replied)['content']);
    },
    async askAll(bodies) {
      const replied = client.next('replies');
      client.tell({ do: 'pipeline', contents: bodies.map(toHex) });
      return ((await replied)['contents'] as unknown[]).map(fromHex);
    },
  };
}
