/** Majordomo with peers of two makers, ours and the Python peers: a test chooses the maker of each. */
import { MdpBroker, MdpPool } from '@proj/broker/mdp';
import type { MdpBrokerOptions, MdpPoolOptions, MdpBrokerEvents } from '@proj/broker/mdp';
import { MdpClient } from '@proj/client';
import type { MdpClientOptions } from '@proj/client';
import { nextEvent } from '@proj/testkit';
import type { PeerProcess } from '@proj/testkit';
import { MdpWorker } from '@proj/worker';
import type { MdpHandler, MdpWorkerEvents, MdpWorkerOptions } from '@proj/worker';
import { BEAT_FLAGS, BEATS, testPeers, fromHex, PATIENCE_MS, Registrations, toHex } from '../test-peers.js';
import type { Body, Flags, Maker } from '../test-peers.js';
import { pythonPeer } from '../python.js';
import { transport } from '../../transport.js';

/** Protocol versions, as in `--version` of the peers and the option `version` of the facades. */
export const VERSIONS = ['0.2', '0.1'] as const;

/** One of {@link VERSIONS}. */
export type Version = (typeof VERSIONS)[number];

/** What came back for a request: the bodies of its PARTIALs and of its FINAL. */
export interface Answer {
  readonly partials: Buffer[][];
  readonly body: Buffer[];
}

/** A client of either maker. */
export interface Asker {
  ask(service: string, body: Body): Promise<Answer>;
  /** Sends everything without waiting for replies in between. Replies are in the order of the requests. */
  askAll(service: string, bodies: readonly Body[]): Promise<Buffer[][]>;
}

type WorkerOptions = Partial<MdpWorkerOptions> & { readonly endpoints: readonly string[] };
type Connected = Flags & { readonly connect: string };

/** Starts peers that end with their test. */
export interface Stage {
  /** Our broker, and where it listens. */
  broker(options?: MdpBrokerOptions): Promise<{ readonly broker: MdpBroker; readonly endpoint: string }>;
  /** Our pool, and where it listens. */
  pool(options?: MdpPoolOptions): Promise<{ readonly pool: MdpPool; readonly endpoint: string }>;
  /** Our worker, registered at the broker of its first endpoint; it serves `echo` unless told otherwise. */
  worker(options: WorkerOptions): Promise<MdpWorker>;
  client(options: MdpClientOptions): MdpClient;
  /** A Python broker, and where it listens. */
  pythonBroker(flags: Flags): Promise<{ readonly broker: PeerProcess; readonly endpoint: string }>;
  /** A Python worker, registered. */
  pythonWorker(flags: Connected): Promise<PeerProcess>;
  pythonClient(flags: Flags): Asker & { readonly client: PeerProcess };
  /** A broker of that maker; where it listens. */
  brokerBy(maker: Maker, version: Version): Promise<string>;
  workerBy(maker: Maker, version: Version, endpoint: string, job: keyof typeof HANDLERS): Promise<void>;
  clientBy(maker: Maker, version: Version, endpoint: string): Asker;
}

/** The next such event of a broker. Call it before causing the event. */
export function brokerEvent<Name extends keyof MdpBrokerEvents>(
  broker: MdpBroker,
  name: Name,
): Promise<MdpBrokerEvents[Name]> {
  return nextEvent<MdpBrokerEvents, Name>(broker, name);
}

/** The next such event of a worker. Call it before causing the event. */
export function workerEvent<Name extends keyof MdpWorkerEvents>(
  worker: MdpWorker,
  name: Name,
): Promise<MdpWorkerEvents[Name]> {
  return nextEvent<MdpWorkerEvents, Name>(worker, name);
}

/** Our counterparts of the Python worker's jobs. */
const HANDLERS = {
  echo: ({ body }) => body,
  parts: async function* ({ body }) {
    for (const [number, frame] of body.entries()) yield [number.toString(), frame];
    return body.length.toString();
  },
} satisfies Readonly<Record<string, MdpHandler>>;

/** A stage for the tests of the calling file. */
export function stage(): Stage {
  const { launch, keep } = testPeers();
  const registrations = new Registrations();

  const self: Stage = {
    async broker(options) {
      const defaults = { endpoint: 'tcp://127.0.0.1:*', ...BEATS, lingerMs: 0, requestTtlMs: PATIENCE_MS };
      const broker = keep(new MdpBroker({ transport, ...defaults, ...options }));
      const [endpoint] = await broker.start();
      broker.on('worker-ready', registrations.open(endpoint!));
      return { broker, endpoint: endpoint! };
    },
    async pool(options) {
      const defaults = { endpoint: 'tcp://127.0.0.1:*', ...BEATS, lingerMs: 0, timeoutMs: PATIENCE_MS };
      const pool = keep(new MdpPool({ transport, ...defaults, ...options }));
      const [endpoint] = await pool.start();
      pool.on('worker-ready', registrations.open(endpoint!));
      return { pool, endpoint: endpoint! };
    },
    async worker(options) {
      const worker = keep(new MdpWorker({ transport, ...BEATS, service: 'echo', handler: HANDLERS.echo, ...options }));
      const registered = registrations.at(options.endpoints[0]!);
      await worker.start();
      await registered;
      return worker;
    },
    client: (options) => keep(new MdpClient({ transport, timeoutMs: PATIENCE_MS, tries: 1, ...options })),
    async pythonBroker(flags) {
      const broker = launch(pythonPeer('mdp', 'broker', { ...BEAT_FLAGS, ...flags }));
      const { endpoint } = await broker.line('listening');
      registrations.openPeer(endpoint as string, broker);
      return { broker, endpoint: endpoint as string };
    },
    async pythonWorker(flags) {
      const registered = registrations.at(flags.connect);
      const worker = launch(pythonPeer('mdp', 'worker', { ...BEAT_FLAGS, ...flags }));
      await Promise.race([registered, worker.lost()]);
      return worker;
    },
    pythonClient: (flags) => pythonAsker(launch(pythonPeer('mdp', 'client', flags))),
    async brokerBy(maker, version) {
      return (await (maker === 'ours' ? self.broker() : self.pythonBroker({ version }))).endpoint;
    },
    async workerBy(maker, version, endpoint, job) {
      if (maker === 'python') await self.pythonWorker({ connect: endpoint, version, job });
      else await self.worker({ endpoints: [endpoint], version, handler: HANDLERS[job] });
    },
    clientBy: (maker, version, endpoint) =>
      maker === 'python'
        ? self.pythonClient({ connect: endpoint, version })
        : ourAsker(self.client({ endpoints: [endpoint], version })),
  };
  return self;
}

function ourAsker(client: MdpClient): Asker {
  return {
    async ask(service, body) {
      const replies = client.stream(service, body);
      const partials: Buffer[][] = [];
      while (true) {
        const { done, value } = await replies.next();
        if (done === true) return { partials, body: value };
        partials.push(value);
      }
    },
    askAll: (service, bodies) => Promise.all(bodies.map((body) => client.request(service, body))),
  };
}

function pythonAsker(client: PeerProcess): Asker & { readonly client: PeerProcess } {
  return {
    client,
    async ask(service, body) {
      const replied = client.next('reply');
      client.tell({ do: 'request', service, body: toHex(body) });
      const reply = await replied;
      return { partials: (reply['partials'] as unknown[]).map(fromHex), body: fromHex(reply['body']) };
    },
    async askAll(service, bodies) {
      const replied = client.next('replies');
      client.tell({ do: 'pipeline', service, bodies: bodies.map(toHex) });
      return ((await replied)['bodies'] as unknown[]).map(fromHex);
    },
  };
}
