/** A real NFP broker, workers with disks, and clients, each in its own simulated process. */
import { NfpBroker } from '@proj/broker';
import { NfpClient } from '@proj/client';
import { SeededRandom } from '@proj/transport/virtual';
import { NfpWorker } from '@proj/worker';
import { Excuses } from '../kit/excuses.js';
import { DiskRecords, RecordDisk } from '../kit/record-disk.js';
import { Simulation } from '../kit/simulation.js';
import type { Host, StartProgram } from '../kit/simulation.js';
import { sleep } from '../kit/sleep.js';
import { WorkerPatienceChecker } from '../kit/worker-patience.js';
import { AnswersChecker } from './answers.js';
import { BroadcastsChecker } from './broadcasts.js';
import { CalmChecker } from './calm.js';
import { DispatchChecker } from './dispatch.js';
import { KeptChecker } from './kept.js';
import { MannersChecker } from './manners.js';
import { drawPlan } from './plan.js';
import type { ClusterPlan, ServicePlan } from './plan.js';
import { RecoveryChecker } from './recovery.js';
import { RunsChecker } from './runs.js';
import { BROKER, Sights } from './sight.js';
import type { JobRecord, ResultRecord } from './sight.js';
import { WaitingChecker } from './waiting.js';
import { describeMessage, isKeepalive } from './words.js';
import { workersOf, Workload } from './workload.js';

const ENDPOINT = `tcp://${BROKER}:5555`;

/** Longest shutdown of a program that is restarted; the settling time includes it. Virtual milliseconds. */
const DRAIN_MS = 3000;

/** Everything that belongs to one run. */
export class Cluster {
  readonly plan: ClusterPlan;
  readonly simulation: Simulation;
  readonly workload: Workload;
  readonly calm: CalmChecker;
  readonly broker: Host;
  readonly workers: readonly Host[];
  readonly clients: readonly Host[];
  /** By host. */
  readonly disks = new Map<string, RecordDisk>();
  readonly #kept: KeptChecker;
  readonly #sights: Sights;
  /** Running programs, by host. */
  readonly #idle = new Map<string, () => boolean>();

  /** Builds the hosts; nothing runs yet. */
  constructor(seed: number) {
    const plan = drawPlan(new SeededRandom(seed).fork('plan'));
    const { disconnectNotices, latencyMs, jitterMs, services, keepaliveIntervalMs, keepaliveMultiplier } = plan;
    this.plan = plan;
    this.simulation = new Simulation({
      seed,
      disconnectNotices,
      timing: { latencyMs, jitterMs },
      describe: describeMessage,
    });
    this.simulation.note(JSON.stringify(plan));
    this.workload = new Workload(this.simulation, plan);
    this.calm = new CalmChecker((uuid) => this.workload.isCalm(uuid), plan.maxPendingJobs < 100);
    this.#kept = new KeptChecker(plan);
    const excuses = this.simulation.watch(new Excuses());
    const slots = new Map(services.flatMap((each) => workersOf(each).map((name) => [name, each.concurrency] as const)));
    const checkers = [
      this.#kept,
      new RunsChecker(plan.maxRuns, (worker) => slots.get(worker) ?? 0),
      new DispatchChecker(),
      new WaitingChecker(),
      new BroadcastsChecker(plan, excuses, this.simulation.clock),
      new RecoveryChecker(),
      new AnswersChecker(),
      new MannersChecker(plan, excuses, this.simulation.clock),
      this.calm,
    ];
    const patience = { heartbeatIntervalMs: keepaliveIntervalMs, liveness: keepaliveMultiplier };
    this.simulation.watch(new WorkerPatienceChecker(this.simulation, patience, excuses, isKeepalive));
    this.#sights = this.simulation.watch(new Sights(checkers, this.simulation, new Set(slots.keys())));
    this.broker = this.simulation.host(BROKER, this.#broker());
    this.workers = services.flatMap((service) => this.#workerHosts(service));
    this.clients = Array.from({ length: plan.clients }, (_, i) => this.#clientHost(`client-${i}`));
  }

  /** Pairs of hosts that talk to each other. */
  links(among: readonly Host[]): (readonly [Host, Host])[] {
    return among.filter((host) => host !== this.broker).map((host) => [host, this.broker] as const);
  }

  /** Advances virtual time until every job at a worker is over; fails the simulation after `limitMs`. */
  untilEnded(limitMs: number): Promise<void> {
    return this.simulation.runUntil(
      () => this.#kept.open.length === 0,
      limitMs,
      () => `ended: ${this.#kept.open.join(', ')}`,
    );
  }

  /** Fails the simulation for each program that still holds something although all calls have ended. */
  requireIdle(): void {
    for (const [host, isIdle] of this.#idle) if (!isIdle()) this.simulation.fail(`${host} has something in hand`);
  }

  /** Fails the simulation unless the broker's list becomes exactly the live workers. */
  async checkTable(): Promise<void> {
    const expected = this.plan.services
      .flatMap((service) => workersOf(service))
      .sort()
      .join();
    let listed = '';
    const host = this.simulation.host('monitor', (transport) => {
      const client = new NfpClient({ endpoints: [ENDPOINT], dialect: this.plan.dialect, transport });
      const look = async (): Promise<void> => {
        while (listed !== expected) {
          const rows = await client.showWorkers();
          listed = rows
            .map(({ name }) => String(name))
            .sort()
            .join();
          await sleep(transport, 500);
        }
      };
      look().catch((error: unknown) => {
        this.simulation.fail(`monitor: ${String(error)}`);
      });
      return client;
    });
    host.start();
    await this.simulation.runUntil(
      () => listed === expected,
      10_000,
      () => `a right table: ${listed} instead of ${expected}`,
    );
    // The last query of the monitor ends.
    await this.simulation.run(1000);
  }

  #broker(): StartProgram {
    const { keepaliveIntervalMs, keepaliveMultiplier, dialect, queueForService, requestTtlMs, returnMs, settleMs } =
      this.plan;
    return async (transport, random) => {
      const broker = new NfpBroker({
        endpoint: ENDPOINT,
        keepaliveIntervalMs,
        keepaliveMultiplier,
        dialect,
        queueForService,
        returnMs,
        settleMs,
        requestTtlMs,
        transport,
      });
      broker.on('worker-ready', ({ peer, service }) => {
        this.#sights.show({ kind: 'worker-ready', peer, service });
      });
      broker.on('worker-lost', ({ peer, service, reason }) => {
        this.#sights.show({ kind: 'worker-lost', peer, service, reason });
      });
      this.#idle.set(BROKER, () => {
        // What is kept for another worker, in case the first is lost, stays as long as no client asks for the result.
        return broker.stats().waiting === 0;
      });
      await broker.start();
      this.#sights.show({ kind: 'started' });
      const close = () => {
        this.#sights.show({ kind: 'closing' });
        return random.chance(0.5) ? broker.drain() : broker.close();
      };
      return { close };
    };
  }

  #workerHosts(service: ServicePlan): Host[] {
    const { keepaliveIntervalMs, keepaliveMultiplier, dialect, commandForm, workersOpen } = this.plan;
    const { crashPolicy, maxRuns, maxPendingJobs } = this.plan;
    const { concurrency } = service;
    return workersOf(service).map((name) => {
      const disk = this.#workerDisk(name);
      return this.simulation.host(name, async (transport, random) => {
        const worker = new NfpWorker({
          endpoints: [ENDPOINT],
          service: service.name,
          name,
          concurrency,
          maxPendingJobs,
          store: new DiskRecords(disk, transport, random.fork('disk')),
          crashPolicy,
          maxRuns,
          commandForm,
          dialect,
          sendOpen: workersOpen,
          keepaliveIntervalMs,
          keepaliveMultiplier,
          reconnectMinMs: 50,
          reconnectMaxMs: 1000,
          minUptimeMs: 500,
          drainMs: DRAIN_MS,
          transport,
          tasks: {
            work: async (call, context) => {
              const { uuid, run } = call;
              this.#sights.show({ kind: 'begun', worker: name, uuid, run });
              let well = false;
              try {
                const result = await this.workload.work(call, context, transport);
                well = true;
                return result;
              } finally {
                this.#sights.show({ kind: 'ended', worker: name, uuid, well });
              }
            },
          },
        });
        this.#idle.set(name, () => {
          const { jobs, running } = worker.stats();
          return jobs.PENDING + jobs.STARTED + running === 0;
        });
        // Tasks throw on purpose.
        worker.on('error', () => undefined);
        await worker.start();
        return { close: () => (random.chance(0.5) ? worker.drain() : worker.close()) };
      });
    });
  }

  /** A disk that reports to the checkers. */
  #workerDisk(worker: string): RecordDisk {
    const disk = new RecordDisk({
      onPut: (key, value) => {
        const [kind, uuid = ''] = key.split('/');
        if (kind === 'job') this.#sights.show({ kind: 'stored', worker, uuid, job: jsonOf(value) as JobRecord });
        else if (kind === 'result') {
          const result = (jsonOf(value) as Record<string, ResultRecord>)[worker];
          if (result === undefined) throw new Error(`${key} is not a result of ${worker}`);
          this.#sights.show({ kind: 'result', worker, uuid, result });
        }
      },
      onRemoved: (key) => {
        const [kind, uuid = ''] = key.split('/');
        if (kind === 'job') this.#sights.show({ kind: 'removed', worker, uuid });
      },
    });
    this.disks.set(worker, disk);
    return disk;
  }

  #clientHost(name: string): Host {
    const { loops, clientsKeep, clientsNamed, clientsOpen, commandForm, dialect, pollIntervalMs } = this.plan;
    const disk = new RecordDisk();
    if (clientsKeep) this.disks.set(name, disk);
    return this.simulation.host(name, (transport, random) => {
      const client = new NfpClient({
        endpoints: [ENDPOINT],
        ...(clientsNamed ? { name } : {}),
        ...(clientsKeep ? { store: new DiskRecords(disk, transport, random.fork('disk')) } : {}),
        sendOpen: clientsOpen,
        commandForm,
        dialect,
        pollIntervalMs,
        // An absent worker may be asked something and not return: that ends before the calm does.
        askTimeoutMs: 5000,
        reconnectMinMs: 50,
        reconnectMaxMs: 1000,
        onInput: this.workload.input,
        transport,
      });
      this.#idle.set(name, () => {
        const { jobs, questions, bytes } = client.stats();
        return jobs + questions + bytes === 0;
      });
      const running = [
        ...(clientsKeep ? [this.workload.resume(client, transport, disk)] : []),
        ...Array.from({ length: loops }, (_, i) => this.workload.run(client, transport, random.fork(i))),
      ].map((work) =>
        work.catch((error: unknown) => {
          this.simulation.fail(`${name}: ${String(error)}`);
        }),
      );
      const close = async () => {
        await Promise.all(running);
        await client.close();
      };
      return { close };
    });
  }
}

function jsonOf(value: Uint8Array): unknown {
  return JSON.parse(Buffer.from(value).toString());
}
