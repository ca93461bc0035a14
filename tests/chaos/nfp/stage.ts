/** Jobs with real processes: proj-worker with a folder, our broker, and a client that records its answers. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { NfpBroker } from '@proj/broker';
import { fromLatin1, latin1 } from '@proj/frames';
import type { PeerProcess } from '@proj/testkit';
import { ROUTER_PEER } from '@proj/transport';
import type { SocketPort } from '@proj/transport';
import { afterEach } from 'vitest';
import { testPeers } from '../test-peers.js';
import type { TestPeers } from '../test-peers.js';
import { program } from '../programs.js';
import type { Flags } from '../programs.js';
import { transport } from '../../transport.js';

/** Silence decides nothing here, however busy the machine: a killed process closes its connection. */
const KEEPALIVE_MS = 60_000;

const POST = '0x04';
const RESPONSE = '0x05';
const GET = '0x06';
const EVENT = '0x08';

/** Starts processes that end with their test. */
export interface Stage extends Omit<TestPeers, 'worker'> {
  /** A folder that is removed after the test. */
  folder(): Promise<string>;
  broker(): Promise<{ readonly broker: NfpBroker; readonly endpoint: string }>;
  /** A proj-worker with this folder, registered at the broker. */
  worker(
    at: { readonly broker: NfpBroker; readonly endpoint: string },
    store: string,
    flags?: Flags,
  ): Promise<PeerProcess>;
  /** Kills a worker; resolves when the broker has noticed, so that the next one of that name is new to it. */
  kill(broker: NfpBroker, worker: PeerProcess): Promise<void>;
  client(endpoint: string): Promise<JobClient>;
}

/** A stage for the tests of the calling file. */
export function stage(): Stage {
  const folders: string[] = [];
  // Registered before the hooks of the processes: hooks run in reverse order, so processes end first.
  afterEach(async () => {
    for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true });
  });
  const players = testPeers();
  return {
    ...players,
    async folder() {
      const folder = await mkdtemp(join(tmpdir(), 'nfp-chaos-'));
      folders.push(folder);
      return folder;
    },
    async broker() {
      const broker = players.keep(
        new NfpBroker({
          transport,
          endpoint: 'tcp://127.0.0.1:*',
          keepaliveIntervalMs: KEEPALIVE_MS,
          keepaliveMultiplier: 20,
          settleMs: 0,
        }),
      );
      const [endpoint = ''] = await broker.start();
      return { broker, endpoint };
    },
    async worker({ broker, endpoint }, store, flags) {
      const registered = new Promise((resolve) => broker.on('worker-ready', resolve));
      const names = { protocol: 'nfp', service: 'sample', name: 'sample-1', connect: endpoint };
      const worker = players.launch(program('worker', { ...names, store, 'heartbeat-ms': KEEPALIVE_MS, ...flags }));
      await Promise.race([registered, worker.lost()]);
      return worker;
    },
    async kill(broker, worker) {
      const lost = new Promise((resolve) => broker.on('worker-lost', resolve));
      worker.kill('SIGKILL');
      await Promise.all([worker.exit, lost]);
    },
    async client(endpoint) {
      await transport.load();
      return players.keep(
        new JobClient(transport.dealer({ routingId: fromLatin1('client-1'), lingerMs: 0 }), endpoint),
      );
    },
  };
}

/** The outcome of a job, as the worker reports it. */
export interface JobResult {
  readonly failed: boolean;
  readonly errors: readonly string[];
}

/** A client that records the answers for each job. */
export class JobClient {
  /** Jobs that the worker has accepted. */
  readonly accepted = new Set<string>();
  readonly #completed = new Set<string>();
  readonly #answers = new Map<string, { readonly status: string; readonly body: string }>();
  readonly #port: SocketPort;
  readonly #waiting = new Set<() => void>();

  constructor(port: SocketPort, endpoint: string) {
    this.#port = port;
    port.connect(endpoint);
    port.start({
      onMessage: (_peer, frames) => {
        this.#hear(frames.map(latin1));
      },
      onPeerGone: () => {},
      onUndeliverable: () => {},
      onRejected: () => {},
      onBroken: () => {},
    });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#port.close();
  }

  post(uuid: string, task: string, args: readonly unknown[]): void {
    this.#say(POST, uuid, JSON.stringify({ task, args }));
  }

  /** Resolves when this many jobs have been accepted. */
  acceptedSoMany(count: number): Promise<void> {
    return this.#until(() => this.accepted.size >= count);
  }

  /** Resolves when this many jobs have been reported as completed. */
  completedSoMany(count: number): Promise<void> {
    return this.#until(() => this.#completed.size >= count);
  }

  /** The result of an accepted job, once there is one; `undefined` if the worker does not know the job. */
  async result(uuid: string): Promise<JobResult | undefined> {
    for (;;) {
      const { status, body } = await this.#get(uuid);
      if (status === '404') return undefined;
      if (status === '200') return (JSON.parse(body) as Record<string, JobResult>)['sample-1'];
      await this.#until(() => this.#completed.has(uuid));
    }
  }

  async #get(uuid: string): Promise<{ readonly status: string; readonly body: string }> {
    this.#answers.delete(uuid);
    this.#say(GET, uuid, '{}');
    await this.#until(() => this.#answers.has(uuid));
    return this.#answers.get(uuid)!;
  }

  #say(command: string, uuid: string, body: string): void {
    this.#port.send(ROUTER_PEER, ['', 'NFPC01', command, 'sample', 'all', uuid, body].map(fromLatin1));
  }

  #hear([, , command = '', , uuid = '', status = '', body = '']: string[]): void {
    if (command === EVENT) {
      if ((JSON.parse(body) as { message: string }).message === 'completed') this.#completed.add(uuid);
    } else if (command === RESPONSE && status === '201') this.accepted.add(uuid);
    // The broker's own answer to a call has status 202.
    else if (command === RESPONSE && status !== '202') this.#answers.set(uuid, { status, body });
    for (const look of this.#waiting) look();
  }

  #until(holds: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const look = (): void => {
        if (!holds()) return;
        this.#waiting.delete(look);
        resolve();
      };
      this.#waiting.add(look);
      look();
    });
  }
}
