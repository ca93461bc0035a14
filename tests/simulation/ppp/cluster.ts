/** Real Paranoid Pirate queues or pools, workers and Lazy Pirates, each in its own simulated process. */
import { PppPool, PppQueue } from '@proj/broker';
import { LazyPirateClient } from '@proj/client';
import { SeededRandom } from '@proj/transport/virtual';
import type { VirtualTransport } from '@proj/transport/virtual';
import { PppWorker } from '@proj/worker';
import { Excuses } from '../kit/excuses.js';
import { Simulation } from '../kit/simulation.js';
import type { Host, StartProgram } from '../kit/simulation.js';
import { WorkerPatienceChecker } from '../kit/worker-patience.js';
import { CalmChecker } from './calm.js';
import { JobsChecker } from './jobs.js';
import { MannersChecker } from './manners.js';
import { drawPlan } from './plan.js';
import type { ClusterPlan } from './plan.js';
import { RepliesChecker } from './replies.js';
import { BrokerSights } from './sight.js';
import { TableChecker } from './table.js';
import { describeMessage, isHeartbeat } from './words.js';
import { Workload } from './workload.js';
import type { Ask } from './workload.js';

/** Longest shutdown of a program that is restarted; the settling time includes it. Virtual milliseconds. */
const DRAIN_MS = 3000;

/** Longer than any queue in front of a single worker: without faults nothing is sent twice. Virtual milliseconds. */
const TIMEOUT_MS = 10_000;

/** For requests that are sent once, whatever happens to workers. Virtual milliseconds. */
const FOR_EVER_MS = 3_600_000;

/** Each fault may cost an attempt, and the promise under test is that the attempts suffice. */
const MAX_ATTEMPTS = 100;

/** Everything that belongs to one run. */
export class Cluster {
  readonly plan: ClusterPlan;
  readonly simulation: Simulation;
  readonly workload: Workload;
  readonly calm: CalmChecker;
  readonly brokers: readonly Host[];
  readonly workers: readonly Host[];
  readonly clients: readonly Host[];
  readonly #table = new TableChecker();
  readonly #sights: BrokerSights;
  /** The running programs, by host. */
  readonly #running = new Map<string, PppQueue | PppPool>();

  /** Builds the hosts; nothing runs yet. */
  constructor(seed: number) {
    const plan = drawPlan(new SeededRandom(seed).fork('plan'));
    const { disconnectNotices, latencyMs, jitterMs } = plan;
    this.plan = plan;
    const timing = { latencyMs, jitterMs };
    this.simulation = new Simulation({ seed, disconnectNotices, timing, describe: describeMessage });
    this.simulation.note(JSON.stringify(plan));
    this.workload = new Workload(this.simulation, plan.handlersThrow);
    this.calm = new CalmChecker((id) => this.workload.isCalm(id), plan.handlersThrow);
    const excuses = this.simulation.watch(new Excuses());
    const manners = new MannersChecker(plan, excuses, this.simulation.clock);
    const checkers = [new JobsChecker(), new RepliesChecker(), manners, this.#table, this.calm];
    this.simulation.watch(new WorkerPatienceChecker(this.simulation, plan, excuses, isHeartbeat));
    // A queue creates its frontend first; a pool has only a backend.
    const sideOf = (socketNumber: number) => (plan.kind === 'queue' && socketNumber === 1 ? 'frontend' : 'backend');
    this.#sights = this.simulation.watch(new BrokerSights(checkers, this.simulation, sideOf));
    const startBroker = plan.kind === 'queue' ? this.#startQueue : this.#startPool;
    this.brokers = plan.brokers.map((name) => this.simulation.host(name, startBroker));
    this.workers = Array.from({ length: plan.workers }, (_, i) =>
      this.simulation.host(`worker-${i}`, this.#startWorker),
    );
    this.clients = Array.from({ length: plan.clients }, (_, i) =>
      this.simulation.host(`client-${i}`, this.#startClient),
    );
  }

  /** Pairs of hosts that talk to each other. */
  links(among: readonly Host[]): (readonly [Host, Host])[] {
    return among.flatMap((host) => this.brokers.filter((broker) => broker !== host).map((b) => [host, b] as const));
  }

  /** Fails the simulation unless the brokers' tables become exactly the live workers. */
  async checkTable(): Promise<void> {
    const expected = this.workers.map(({ name }) => ({ host: name, count: this.plan.concurrency }));
    const counts = () => new Map([...this.#running].map(([name, broker]) => [name, broker.stats().workers]));
    const differences = () => this.#table.differences(expected, counts());
    await this.simulation.runUntil(
      () => differences().length === 0,
      10_000,
      () => `a right table: ${differences().join('; ')}`,
    );
  }

  readonly #startQueue: StartProgram = async (transport, random) => {
    const { name } = transport;
    const queue = new PppQueue({
      frontend: frontendOf(name),
      backend: backendOf(name),
      requestTtlMs: this.plan.faults === 'workers' ? FOR_EVER_MS : 30_000,
      ...this.#backendOptions(transport),
    });
    this.#tell(queue, name);
    await queue.start();
    return { close: () => (random.chance(0.5) ? queue.drain() : queue.close()) };
  };

  readonly #startPool: StartProgram = async (transport, random) => {
    const { name } = transport;
    const pool = new PppPool({
      endpoint: backendOf(name),
      timeoutMs: this.plan.faults === 'workers' ? FOR_EVER_MS : 4 * TIMEOUT_MS,
      ...this.#backendOptions(transport),
    });
    this.#tell(pool, name);
    await pool.start();
    const running = this.#call((content) => pool.request(content), transport, random);
    const close = async () => {
      await (random.chance(0.5) ? pool.drain() : pool.close());
      await running;
    };
    return { close };
  };

  readonly #startWorker: StartProgram = async (transport, random) => {
    const { brokers, heartbeatIntervalMs, liveness, concurrency } = this.plan;
    let running = 0;
    const worker = new PppWorker({
      endpoints: brokers.map(backendOf),
      concurrency,
      heartbeatIntervalMs,
      liveness,
      reconnectMinMs: 50,
      reconnectMaxMs: 1000,
      minUptimeMs: 500,
      drainMs: DRAIN_MS,
      transport,
      handler: async ({ body }, { signal }) => {
        if (++running > concurrency) this.simulation.fail(`${transport.name} runs ${running} handlers at a time`);
        try {
          return await this.workload.work(body, transport, signal);
        } finally {
          running--;
        }
      },
    });
    // Handlers throw on purpose.
    worker.on('error', () => undefined);
    await worker.start();
    return { close: () => (random.chance(0.5) ? worker.drain() : worker.close()) };
  };

  readonly #startClient: StartProgram = (transport, random) => {
    const { brokers, faults, sockets, idleMs } = this.plan;
    const client = new LazyPirateClient({ endpoints: brokers.map(frontendOf), sockets, idleMs, transport });
    const patience = faults === 'workers' ? { timeoutMs: FOR_EVER_MS, tries: 1 } : { timeoutMs: TIMEOUT_MS, tries: 4 };
    const running = this.#call((content) => client.request(content, patience), transport, random);
    const close = async () => {
      await running;
      await client.close();
    };
    return { close };
  };

  #backendOptions(transport: VirtualTransport) {
    const { heartbeatIntervalMs, liveness, muteExpiryMs, jobTimeoutMs } = this.plan;
    const limits = { heartbeatIntervalMs, liveness, muteExpiryMs, jobTimeoutMs, maxAttempts: MAX_ATTEMPTS };
    return { ...limits, drainMs: DRAIN_MS, transport };
  }

  #tell(running: PppQueue | PppPool, broker: string): void {
    this.#running.set(broker, running);
    running.on('worker-ready', ({ peer }) => {
      this.#sights.show({ kind: 'worker-ready', broker, peer });
    });
    running.on('worker-lost', ({ peer, reason }) => {
      this.#sights.show({ kind: 'worker-lost', broker, peer, reason });
    });
  }

  /** As many calls at a time as the plan says. Never rejects. */
  async #call(ask: Ask, transport: VirtualTransport, random: SeededRandom): Promise<void> {
    const loops = Array.from({ length: this.plan.loops }, (_, i) =>
      this.workload.run(ask, transport, random.fork(i)).catch((error: unknown) => {
        this.simulation.fail(`${transport.name}: ${String(error)}`);
      }),
    );
    await Promise.all(loops);
  }
}

function frontendOf(broker: string): string {
  return `tcp://${broker}:5556`;
}

function backendOf(broker: string): string {
  return `tcp://${broker}:5557`;
}
