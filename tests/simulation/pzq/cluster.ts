/** A real PZQ server with its disk, producers and consumers, each in its own simulated process. */
import { PzqConsumer, PzqProducer } from '@proj/client';
import { PzqServer } from '@proj/pzq';
import { SeededRandom } from '@proj/transport/virtual';
import { Simulation } from '../kit/simulation.js';
import type { Host, StartProgram } from '../kit/simulation.js';
import { AnswersChecker } from './answers.js';
import { CalmChecker } from './calm.js';
import { Disk, DiskStore } from './disk.js';
import { InFlightChecker } from './in-flight.js';
import { KeptChecker } from './kept.js';
import { LeasesChecker } from './leases.js';
import { OrderChecker } from './order.js';
import { drawPlan } from './plan.js';
import type { ClusterPlan } from './plan.js';
import { SettledChecker } from './settled.js';
import { QueueSights } from './sight.js';
import { describeMessage } from './words.js';
import { Workload } from './workload.js';

const RECEIVE = 'tcp://queue:11131';
const SEND = 'tcp://queue:11132';
const MONITOR = 'tcp://queue:11133';

/** Longest shutdown of a program that is restarted; the settling time includes it. Virtual milliseconds. */
const DRAIN_MS = 2000;
/** How soon a producer resends, and how often a full disk is retried. Virtual milliseconds. */
const RESEND_MS = 1000;
const PROBE_MS = 150;

/** Everything that belongs to one run. */
export class Cluster {
  readonly plan: ClusterPlan;
  readonly simulation: Simulation;
  readonly workload: Workload;
  readonly calm: CalmChecker;
  readonly disk: Disk;
  readonly queue: Host;
  readonly producers: readonly Host[];
  readonly consumers: readonly Host[];
  readonly #settled = new SettledChecker();

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
    this.workload = new Workload(this.simulation, plan);
    this.calm = new CalmChecker((id) => this.workload.isCalm(id));
    const isPlain = plan.delayMs === 0 && plan.nackDelayMs === 0 && plan.maxDeliveries === 0;
    const checkers = [
      new AnswersChecker(),
      new KeptChecker(plan.dedupeWindowMs > 0),
      this.#settled,
      new InFlightChecker(plan, this.simulation.clock),
      new LeasesChecker(plan.ackTimeoutMs, this.simulation.clock),
      this.calm,
      ...(isPlain ? [new OrderChecker()] : []),
    ];
    const sights = this.simulation.watch(new QueueSights('queue', checkers, this.simulation));
    this.disk = new Disk(sights);
    this.queue = this.simulation.host('queue', this.#server());
    this.producers = Array.from({ length: plan.producers }, (_, i) =>
      this.simulation.host(`producer-${i}`, this.#producer()),
    );
    this.consumers = Array.from({ length: plan.consumers }, (_, i) =>
      this.simulation.host(`consumer-${i}`, this.#consumer()),
    );
  }

  /** Pairs of hosts that talk to each other. */
  links(among: readonly Host[]): (readonly [Host, Host])[] {
    return among.filter((host) => host !== this.queue).map((host) => [host, this.queue] as const);
  }

  /** Advances virtual time until no message waits for a consumer; fails the simulation after `limitMs`. */
  untilSettled(limitMs: number): Promise<void> {
    return this.simulation.runUntil(
      () => this.disk.queued.length === 0,
      limitMs,
      () => `settled: ${this.disk.queued.length} messages, first of them #${this.disk.queued[0]}`,
    );
  }

  #server(): StartProgram {
    const { ackTimeoutMs, maxInFlight, windowMax, batchMax, maxMessages } = this.plan;
    const { dedupeWindowMs, maxDeliveries, delayMs, nackDelayMs } = this.plan;
    return async (transport, random) => {
      const server = new PzqServer({
        receive: RECEIVE,
        send: SEND,
        monitor: MONITOR,
        store: new DiskStore(this.disk, transport, random.fork('disk')),
        ackTimeoutMs,
        maxInFlight,
        windowMax,
        batchMax,
        maxMessages,
        dedupeWindowMs,
        maxDeliveries,
        delayMs,
        nackDelayMs,
        probeIntervalMs: PROBE_MS,
        drainMs: DRAIN_MS,
        transport,
      });
      await server.start();
      const drain = async () => {
        const began = transport.clock.now();
        await server.drain();
        if (transport.clock.now() - began >= DRAIN_MS) return;
        this.simulation.check('drain', () => {
          this.#settled.requireRemoved();
        });
      };
      return { close: () => (random.chance(0.5) ? drain() : server.close()) };
    };
  }

  #producer(): StartProgram {
    return (transport, random) => {
      const producer = new PzqProducer({ endpoints: [RECEIVE], ackTimeoutMs: RESEND_MS, window: 8, transport });
      const running = Array.from({ length: this.plan.loops }, (_, i) =>
        this.workload.produce(producer, transport, random.fork(i)).catch((error: unknown) => {
          this.simulation.fail(`${transport.name}: ${String(error)}`);
        }),
      );
      const close = async () => {
        await Promise.all(running);
        await producer.close();
      };
      return { close };
    };
  }

  #consumer(): StartProgram {
    const { concurrency, prefetch } = this.plan;
    return (transport, random) => {
      const consumer = new PzqConsumer({ endpoints: [SEND], prefetch, drainMs: DRAIN_MS, transport });
      const running = consumer
        .run((message) => this.workload.handle(message, transport, random), { concurrency })
        .catch((error: unknown) => {
          this.simulation.fail(`${transport.name}: ${String(error)}`);
        });
      const close = async () => {
        await (random.chance(0.5) ? consumer.drain() : consumer.close());
        await running;
      };
      return { close };
    };
  }
}
