/** A real EventMQ broker, job managers, clients and a scheduler with its disk, each in its own simulated process. */
import { EmqpBroker } from '@proj/broker';
import { EmqpClient } from '@proj/client';
import { EmqpScheduler } from '@proj/scheduler';
import { SeededRandom } from '@proj/transport/virtual';
import { EmqpJobManager } from '@proj/worker';
import { Excuses } from '../kit/excuses.js';
import { DiskRecords, RecordDisk } from '../kit/record-disk.js';
import { Simulation } from '../kit/simulation.js';
import type { Host, StartProgram } from '../kit/simulation.js';
import { CalmChecker } from './calm.js';
import { FormerChecker } from './former.js';
import { simulatedJobHosts } from './job-hosts.js';
import { JobsChecker } from './jobs.js';
import { KeptChecker } from './kept.js';
import { MannersChecker } from './manners.js';
import { OrderChecker } from './order.js';
import { drawPlan } from './plan.js';
import type { ClusterPlan, ManagerPlan } from './plan.js';
import { Planner } from './planner.js';
import { RepliesChecker } from './replies.js';
import { SchedulesChecker } from './schedules.js';
import { BrokerSights, partyOf, SchedulerSights } from './sight.js';
import { lineOf, TableChecker } from './table.js';
import { describeMessage } from './words.js';
import { Workload } from './workload.js';

const FRONTEND = 'tcp://broker:47291';
const BACKEND = 'tcp://broker:47290';
const ADMIN = 'tcp://broker:47293';

/** Longest shutdown of a program that is restarted; the settling time includes it. Virtual milliseconds. */
const DRAIN_MS = 3000;

/** How programs look for their broker again. Virtual milliseconds. */
const RECONNECT = { ackTimeoutMs: 1000, reconnectMinMs: 50, reconnectMaxMs: 1000, minUptimeMs: 500 } as const;

/** Everything that belongs to one run. */
export class Cluster {
  readonly plan: ClusterPlan;
  readonly simulation: Simulation;
  readonly workload: Workload;
  readonly calm: CalmChecker;
  readonly jobs: JobsChecker;
  readonly schedules: SchedulesChecker;
  readonly disk: RecordDisk;
  readonly brokerDisk: RecordDisk;
  readonly broker: Host;
  readonly managers: readonly Host[];
  readonly clients: readonly Host[];
  readonly scheduler: Host;
  readonly #brokerSights: BrokerSights;
  readonly #schedulerSights: SchedulerSights;
  readonly #table: TableChecker;
  readonly #planner: Planner;
  /** Hosts whose link to the broker lost something without notice to anyone. */
  readonly #shortened = new Set<string>();

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
    const { clock } = this.simulation;
    this.simulation.note(JSON.stringify(plan));
    this.workload = new Workload(this.simulation, plan);
    this.#planner = new Planner(plan.ticks);
    this.calm = new CalmChecker((name) => this.workload.isCalm(name));
    this.jobs = new JobsChecker(plan.guaranteeAttempts, plan.store);
    this.schedules = new SchedulesChecker(clock, !plan.fullDisk);
    const excuses = this.simulation.watch(new Excuses());
    this.#table = this.simulation.watch(new TableChecker());
    this.simulation.watch({
      onEvent: (event) => {
        if (event.kind === 'lost' && !disconnectNotices) for (const host of event.between) this.#shortened.add(host);
      },
    });
    const manners = new MannersChecker(plan, 'broker', excuses, clock);
    const kept = new KeptChecker(plan.store);
    this.brokerDisk = new RecordDisk(kept);
    const replies = new RepliesChecker(plan.store);
    const order = new OrderChecker(plan, clock);
    const checkers = [replies, this.jobs, kept, order, manners, new FormerChecker(), this.calm];
    this.#brokerSights = this.simulation.watch(new BrokerSights('broker', checkers, this.simulation));
    this.#schedulerSights = this.simulation.watch(new SchedulerSights('scheduler', [this.schedules], this.simulation));
    this.disk = new RecordDisk(this.#schedulerSights);
    this.broker = this.simulation.host('broker', this.#startBroker());
    this.managers = plan.managers.map((manager, i) =>
      this.simulation.host(`manager-${i}`, this.#startManager(manager)),
    );
    this.scheduler = this.simulation.host('scheduler', this.#startScheduler());
    const clients = Array.from({ length: plan.clients }, (_, i) =>
      this.simulation.host(`client-${i}`, this.#startClient()),
    );
    this.clients = [...clients, this.simulation.host('planner', this.#startPlanner())];
  }

  /** Pairs of hosts that talk to each other. */
  links(among: readonly Host[]): (readonly [Host, Host])[] {
    return among.filter((host) => host !== this.broker).map((host) => [host, this.broker] as const);
  }

  /** Which hosts suffer. */
  get victims(): readonly Host[] {
    switch (this.plan.faults) {
      case 'workers':
        return this.managers;
      case 'scheduler':
        return [this.scheduler];
      case 'broker':
        return [this.broker];
      case 'everything':
        return this.simulation.hosts;
    }
  }

  /**
   * If no peer learns of a lost connection, a slot whose REQUEST was lost with it stays lost until its job manager sends INFORM again:
   * the protocol has no command that would report it.
   */
  restartShortened(): void {
    for (const manager of this.managers) if (this.#shortened.has(manager.name)) manager.restart();
  }

  /** From now on nothing fails. */
  beginCalm(): void {
    this.workload.calm = true;
    this.calm.begin();
    this.simulation.check('SchedulesChecker', () => {
      this.schedules.begin();
    });
    this.#planner.settle();
  }

  /** Fails the simulation unless the broker's list becomes exactly the live peers, with every slot free. */
  async checkTable(): Promise<void> {
    const managers = this.plan.managers.map(({ queues, concurrency }, i) =>
      lineOf(`manager-${i}`, queues, concurrency),
    );
    const differences = () => this.#table.differences([...managers, 'scheduler']);
    this.simulation.host('console', (transport) => this.#table.console(transport, ADMIN)).start();
    await this.simulation.runUntil(
      () => differences().length === 0,
      10_000,
      () => `a right table: ${differences().join('; ')}`,
    );
  }

  #startBroker(): StartProgram {
    const { heartbeatIntervalMs, expiryMs, leaveGraceMs, guaranteeAttempts, requestTtlMs, unknownQueue } = this.plan;
    return async (transport, random) => {
      const broker = new EmqpBroker({
        frontend: FRONTEND,
        backend: BACKEND,
        admin: ADMIN,
        heartbeatIntervalMs,
        expiryMs,
        leaveGraceMs,
        guaranteeAttempts,
        requestTtlMs,
        unknownQueue,
        drainMs: DRAIN_MS,
        ...(this.plan.store ? { store: new DiskRecords(this.brokerDisk, transport, random.fork('disk')) } : {}),
        transport,
      });
      broker.on('peer-joined', ({ port, peer, role }) => {
        this.#brokerSights.show({ kind: 'joined', peer: partyOf(port, peer), role });
      });
      broker.on('peer-left', ({ port, peer, role, reason }) => {
        this.#brokerSights.show({ kind: 'left', peer: partyOf(port, peer), role, reason });
      });
      await broker.start();
      const drain = () => {
        this.#brokerSights.show({ kind: 'draining' });
        return broker.drain();
      };
      return { close: () => (random.chance(0.5) ? drain() : broker.close()) };
    };
  }

  #startManager({ queues, concurrency, maxJobsPerProcess }: ManagerPlan): StartProgram {
    const { heartbeatIntervalMs, expiryMs } = this.plan;
    return async (transport, random) => {
      const manager = new EmqpJobManager({
        endpoints: [BACKEND],
        queues: queues.map(([weight, name]) => [weight, name]),
        concurrency,
        maxJobsPerProcess,
        handlers: 'jobs.mjs',
        pool: simulatedJobHosts(concurrency, transport, random.fork('processes'), this.workload),
        retryDelayMs: 20,
        retryMaxMs: 100,
        heartbeatIntervalMs,
        brokerExpiryMs: expiryMs,
        ...RECONNECT,
        killGraceMs: DRAIN_MS,
        transport,
      });
      // Jobs fail on purpose.
      manager.on('error', () => undefined);
      await manager.start();
      return { close: () => (random.chance(0.5) ? manager.drain() : manager.close()) };
    };
  }

  #startScheduler(): StartProgram {
    const { heartbeatIntervalMs, expiryMs } = this.plan;
    return async (transport, random) => {
      const scheduler = new EmqpScheduler({
        endpoints: [FRONTEND],
        store: new DiskRecords(this.disk, transport, random.fork('disk')),
        heartbeatIntervalMs,
        brokerExpiryMs: expiryMs,
        ...RECONNECT,
        storeRetryMs: 300,
        drainMs: DRAIN_MS,
        transport,
      });
      scheduler.on('note', ({ code }) => {
        if (transport.state === 'dead') return;
        if (code === 'registered') this.#schedulerSights.onBroker(true);
        else if (code === 'lost' || code === 'left') this.#schedulerSights.onBroker(false);
      });
      await scheduler.start();
      return { close: () => (random.chance(0.5) ? scheduler.drain() : scheduler.close()) };
    };
  }

  #startClient(): StartProgram {
    return (transport, random) => {
      const client = new EmqpClient({ endpoints: [FRONTEND], resultTimeoutMs: 60_000, transport });
      const running = Array.from({ length: this.plan.loops }, (_, i) =>
        this.workload.run(client, transport, random.fork(i)).catch((error: unknown) => {
          this.simulation.fail(`${transport.name}: ${String(error)}`);
        }),
      );
      const close = async () => {
        await Promise.all(running);
        await client.close();
      };
      return { close };
    };
  }

  #startPlanner(): StartProgram {
    return (transport, random) => {
      const client = new EmqpClient({ endpoints: [FRONTEND], transport });
      const running = this.#planner.run(client, transport, random).catch((error: unknown) => {
        this.simulation.fail(`${transport.name}: ${String(error)}`);
      });
      const close = async () => {
        await running;
        await client.close();
      };
      return { close };
    };
  }
}
