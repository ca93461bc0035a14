/** Real Majordomo brokers, workers and clients, each in its own simulated process. */
import { MdpBroker, MdpPool } from '@proj/broker/mdp';
import type { MdpHandler, MdpWorkerLostNotice, MdpWorkerReadyNotice } from '@proj/broker/mdp';
import { MdpClient } from '@proj/client';
import type { MmiWorkerEntry } from '@proj/frames/mdp';
import { SeededRandom } from '@proj/transport/virtual';
import type { VirtualTransport } from '@proj/transport/virtual';
import { MdpWorker } from '@proj/worker';
import { Excuses } from '../kit/excuses.js';
import { Simulation } from '../kit/simulation.js';
import type { Host, StartProgram } from '../kit/simulation.js';
import { sleep } from '../kit/sleep.js';
import { WorkerPatienceChecker } from '../kit/worker-patience.js';
import { CalmChecker } from './calm.js';
import { JobsChecker } from './jobs.js';
import { LruChecker } from './lru.js';
import { MannersChecker } from './manners.js';
import { drawPlan } from './plan.js';
import type { ClusterPlan, ServicePlan } from './plan.js';
import { RepliesChecker } from './replies.js';
import { BrokerSights, requestId } from './sight.js';
import { TableChecker } from './table.js';
import type { ExpectedWorker } from './table.js';
import { describeMessage, isHeartbeat } from './words.js';
import { work, Workload } from './workload.js';
import type { Target } from './workload.js';

/** Longest shutdown of a program that is restarted; the settling time includes it. Virtual milliseconds. */
const DRAIN_MS = 3000;

/** Longer than any queue in front of a single worker: without faults nothing is sent twice. Virtual milliseconds. */
const TIMEOUT_MS = 10_000;

/** The service that brokers serve themselves in some runs. */
const INSIDE = 'alpha';

/** A broker or a pool. */
interface Tells {
  on(event: 'worker-ready', listener: (notice: MdpWorkerReadyNotice) => void): unknown;
  on(event: 'worker-lost', listener: (notice: MdpWorkerLostNotice) => void): unknown;
}

/** Everything that belongs to one run. */
export class Cluster {
  readonly plan: ClusterPlan;
  readonly simulation: Simulation;
  readonly workload: Workload;
  readonly table = new TableChecker();
  readonly calm: CalmChecker;
  readonly brokers: readonly Host[];
  readonly workers: readonly Host[];
  readonly clients: readonly Host[];
  /** Hosts whose program sends requests as long as it lives. */
  readonly askers: readonly Host[];
  readonly #sights: BrokerSights;
  /** The running pool, of the last start. */
  #running: MdpPool | undefined;

  /** Builds the hosts; nothing runs yet. */
  constructor(seed: number) {
    const plan = drawPlan(new SeededRandom(seed).fork('plan'));
    const { disconnectNotices, latencyMs, jitterMs } = plan;
    this.plan = plan;
    this.simulation = new Simulation({
      seed,
      disconnectNotices,
      timing: { latencyMs, jitterMs },
      describe: describeMessage,
    });
    this.simulation.note(JSON.stringify(plan));
    this.workload = new Workload(this.simulation);
    this.calm = new CalmChecker((id) => this.workload.isCalm(id), plan.preferFirst);
    const excuses = this.simulation.watch(new Excuses());
    const checkers = [
      new JobsChecker(),
      new RepliesChecker(),
      new LruChecker(plan.bridge),
      new MannersChecker(plan, excuses, this.simulation.clock),
      this.table,
      this.calm,
    ];
    this.simulation.watch(new WorkerPatienceChecker(this.simulation, plan, excuses, isHeartbeat));
    this.#sights = this.simulation.watch(new BrokerSights(checkers, this.simulation));
    this.brokers = plan.brokers.map((name) =>
      this.simulation.host(name, plan.pool ? this.#pool(name) : this.#broker(name)),
    );
    this.workers = plan.services.flatMap((service) => this.#workerHosts(service));
    const clients = plan.pool ? 0 : plan.clients;
    this.clients = Array.from({ length: clients }, (_, i) => this.simulation.host(`client-${i}`, this.#client()));
    this.askers = plan.pool ? this.brokers : this.clients;
  }

  /** Pairs of hosts that talk to each other. */
  links(among: readonly Host[]): (readonly [Host, Host])[] {
    return among.flatMap((host) => this.brokers.filter((broker) => broker !== host).map((b) => [host, b] as const));
  }

  /** Fails the simulation unless the brokers' lists become exactly the live workers. */
  async checkTable(): Promise<void> {
    if (this.plan.pool) {
      const differences = () => this.#poolDifferences();
      await this.simulation.runUntil(
        () => differences() === '',
        10_000,
        () => `a right table: ${differences()}`,
      );
      return;
    }
    const listings = new Map<string, readonly MmiWorkerEntry[]>();
    const differences = () => this.table.differences(listings, this.#expected());
    const isRight = () => listings.size === this.brokers.length && differences().length === 0;
    for (const { name } of this.brokers) {
      const host = this.simulation.host(`monitor-of-${name}`, (transport) => {
        const client = new MdpClient({ endpoints: [endpointOf(name)], transport });
        const look = async (): Promise<void> => {
          while (!isRight()) {
            listings.set(name, await client.workers());
            await sleep(transport, 500);
          }
        };
        look().catch((error: unknown) => {
          this.simulation.fail(`${transport.name}: ${String(error)}`);
        });
        return client;
      });
      host.start();
    }
    await this.simulation.runUntil(isRight, 10_000, () => `a right table: ${differences().join('; ')}`);
    // The last query of each monitor ends.
    await this.simulation.run(1000);
  }

  #poolDifferences(): string {
    const counts = new Map(this.#running?.stats().services.map(({ name, workers }) => [name, workers]));
    const wrong = this.plan.services.filter((each) => counts.get(each.name) !== each.hosts * each.concurrency);
    return wrong.map(({ name }) => `${name}: ${counts.get(name) ?? 0} registered`).join(', ');
  }

  #expected(): ExpectedWorker[] {
    return [...this.#expectedInside(), ...this.#expectedWorkers()];
  }

  /** The monitors ask in 0.2, and a service that joins both versions is listed in theirs. */
  #expectedInside(): ExpectedWorker[] {
    const { brokers, inside, bridge } = this.plan;
    if (inside === 0) return [];
    const versions = bridge ? ['0.2'] : ['0.1', '0.2'];
    return brokers.flatMap((host) => versions.map((version) => ({ host, service: INSIDE, version, count: inside })));
  }

  #expectedWorkers(): ExpectedWorker[] {
    return this.plan.services.flatMap(({ name, version, hosts, concurrency }) =>
      Array.from({ length: hosts }, (_, i) => ({
        host: workerName(name, i),
        service: name,
        version,
        count: concurrency,
      })),
    );
  }

  #broker(name: string): StartProgram {
    const { heartbeatIntervalMs, liveness, muteExpiryMs, bridge } = this.plan;
    return async (transport, random) => {
      const broker = new MdpBroker({
        endpoint: endpointOf(name),
        heartbeatIntervalMs,
        liveness,
        muteExpiryMs,
        bridge,
        // Each fault may cost an attempt, and the promise under test is that the attempts suffice.
        maxAttempts: 100,
        drainMs: DRAIN_MS,
        transport,
      });
      this.#tell(broker, name);
      if (this.plan.inside > 0) this.#serve(broker, transport);
      await broker.start();
      return { close: () => (random.chance(0.5) ? broker.drain() : broker.close()) };
    };
  }

  /** A broker without clients, whose process sends requests itself. */
  #pool(name: string): StartProgram {
    const { heartbeatIntervalMs, liveness, muteExpiryMs, services, loops, clients, faults } = this.plan;
    return async (transport, random) => {
      const pool = new MdpPool({
        endpoint: endpointOf(name),
        heartbeatIntervalMs,
        liveness,
        muteExpiryMs,
        maxAttempts: 100,
        drainMs: DRAIN_MS,
        transport,
      });
      this.#running = pool;
      this.#tell(pool, name);
      await pool.start();
      const patience = { timeoutMs: faults === 'workers' ? 3_600_000 : 4 * TIMEOUT_MS };
      const running = Array.from({ length: loops * clients }, (_, i) => {
        const { name: service, version } = random.pick(services);
        const streams = version === '0.2';
        const target: Target = { service, thinkMs: 300, streams, patience, streamPatience: patience };
        return this.workload.run(pool, transport, random.fork(i), target).catch((error: unknown) => {
          this.simulation.fail(`${transport.name}: ${String(error)}`);
        });
      });
      const close = async () => {
        await Promise.all(running);
        await (random.chance(0.5) ? pool.drain() : pool.close());
      };
      return { close };
    };
  }

  #tell(running: Tells, broker: string): void {
    running.on('worker-ready', ({ peer, service, version }) => {
      this.#sights.show({ kind: 'worker-ready', broker, peer, service, version });
    });
    running.on('worker-lost', ({ peer, reason }) => {
      this.#sights.show({ kind: 'worker-lost', broker, peer, reason });
    });
  }

  /** A service inside the broker, in addition to the workers of its name. */
  #serve(broker: MdpBroker, transport: VirtualTransport): void {
    const { inside } = this.plan;
    const { name } = transport;
    let running = 0;
    const handler: MdpHandler = async ({ body }, { signal, partial }) => {
      const id = requestId(body);
      this.#sights.show({ kind: 'inside', broker: name, service: INSIDE, id });
      if (++running > inside) this.simulation.fail(`${name} runs ${running} handlers at a time`);
      const reply = (last: boolean) => {
        this.#sights.show({ kind: 'inside-reply', broker: name, id, last });
      };
      try {
        const done = await work(body, transport, signal, (part) => {
          reply(false);
          return partial(part);
        });
        reply(true);
        return done;
      } finally {
        running--;
      }
    };
    broker.serve(INSIDE, handler, { concurrency: inside });
  }

  #workerHosts({ name: service, version, hosts, concurrency }: ServicePlan): Host[] {
    const { brokers, heartbeatIntervalMs, liveness, preferFirst, drainFinishes } = this.plan;
    const start: StartProgram = async (transport, random) => {
      let running = 0;
      const worker = new MdpWorker({
        endpoints: brokers.map(endpointOf),
        service,
        version,
        concurrency,
        heartbeatIntervalMs,
        liveness,
        reconnectMinMs: 50,
        reconnectMaxMs: 1000,
        minUptimeMs: 500,
        drainMs: DRAIN_MS,
        preferFirst,
        drainFinishes,
        transport,
        handler: async ({ body }, { signal, partial }) => {
          if (++running > concurrency) this.simulation.fail(`${transport.name} runs ${running} handlers at a time`);
          try {
            return await work(body, transport, signal, partial);
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
    return Array.from({ length: hosts }, (_, i) => this.simulation.host(workerName(service, i), start));
  }

  #client(): StartProgram {
    const { brokers, services, loops, faults, bridge, sockets, idleMs } = this.plan;
    const endpoints = brokers.map(endpointOf);
    return (transport, random) => {
      // A client speaks one version, so a process has one per version.
      const clients = {
        '0.1': new MdpClient({ endpoints, version: '0.1', sockets, idleMs, transport }),
        '0.2': new MdpClient({ endpoints, version: '0.2', sockets, idleMs, transport }),
      };
      const running = Array.from({ length: loops }, (_, i) => {
        const { name, version: spoken } = random.pick(services);
        const version = bridge ? random.pick(['0.1', '0.2'] as const) : spoken;
        const target: Target = {
          service: name,
          thinkMs: 300,
          // A bridge joins or splits replies, which a simple count of parts does not expect.
          streams: version === '0.2' && !bridge,
          patience: faults === 'workers' ? { timeoutMs: 3_600_000, tries: 1 } : { timeoutMs: TIMEOUT_MS, tries: 4 },
          // A stream that has started is not repeated, so silence is the only sign of its end.
          streamPatience: { timeoutMs: TIMEOUT_MS, tries: 4 },
        };
        return this.workload.run(clients[version], transport, random.fork(i), target).catch((error: unknown) => {
          this.simulation.fail(`${transport.name}: ${String(error)}`);
        });
      });
      const close = async () => {
        await Promise.all(running);
        await Promise.all(Object.values(clients).map((client) => client.close()));
      };
      return { close };
    };
  }
}

function endpointOf(broker: string): string {
  return `tcp://${broker}:5555`;
}

function workerName(service: string, index: number): string {
  return `${service}-worker-${index}`;
}
