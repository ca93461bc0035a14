/** PZQ end to end: producer, queue with a flushing LMDB store, and consumer, over real sockets. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PzqConsumer, PzqProducer } from '@proj/client';
import type { Transport } from '@proj/transport';
import { zmqTransport } from '@proj/transport/zmq';
import { zmtpTransport } from '@proj/zmtp';
import { ProcessUnderTest } from './process-under-test.js';
import { median } from './statistics.js';
import type { Finding } from './statistics.js';

const MESSAGES = 20_000;
const WINDOW = 512;
const BODY = Buffer.alloc(100, 7);
const ROUNDS = 5;

/** Both ends of one queue, in this process; the queue has its own process. */
interface Ends {
  readonly queue: ProcessUnderTest;
  readonly producer: PzqProducer;
  readonly consumer: PzqConsumer;
}

interface Cost {
  readonly perSecond: number;
  /** CPU time of the queue, all its threads. */
  readonly cpuMicros: number;
}

/** Measures how many messages a second are stored, and consumed and acknowledged, on each transport. */
export async function measurePzqRates(report: (finding: Finding) => void): Promise<void> {
  await rates('zmq', zmqTransport(), report);
  await rates('zmtp', zmtpTransport(), report);
}

async function rates(name: string, transport: Transport, report: (finding: Finding) => void): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'pzq-rates-'));
  const queue = await ProcessUnderTest.start('pzq-queue', {
    environment: { PROJ_BENCH_FOLDER: folder, PROJ_BENCH_TRANSPORT: name },
  });
  const { clients, workers } = queue.endpoints;
  const producer = new PzqProducer({ endpoints: [clients], window: WINDOW, transport });
  const consumer = new PzqConsumer({ endpoints: [workers], prefetch: WINDOW, transport });
  try {
    const stored: Cost[] = [];
    const consumed: Cost[] = [];
    for (let round = 0; round <= ROUNDS; round++) {
      const one = await cost(queue, () => produce(producer));
      const other = await cost(queue, () => consume(consumer));
      // The first round warms up.
      if (round === 0) continue;
      stored.push(one);
      consumed.push(other);
    }
    const load = `PZQ queue on ${name}, window ${WINDOW}, ${BODY.length} B`;
    summarize(`${load}: stored, flushed and acknowledged`, stored, report);
    summarize(`${load}: delivered, acknowledged, removed`, consumed, report);
  } finally {
    await close({ queue, producer, consumer });
    await rm(folder, { recursive: true });
  }
}

async function close({ queue, producer, consumer }: Ends): Promise<void> {
  await producer.close();
  await consumer.close();
  await queue.stop();
}

function summarize(what: string, costs: readonly Cost[], report: (finding: Finding) => void): void {
  const perSecond = median(costs.map((one) => one.perSecond));
  const cpuMicros = median(costs.map((one) => one.cpuMicros));
  report({ what, measured: perSecond, unit: '/s', limit: { atLeast: 20_000 } });
  report({ what: `${what}: CPU of the queue`, measured: cpuMicros, unit: 'us/message' });
}

async function cost(queue: ProcessUnderTest, work: () => Promise<void>): Promise<Cost> {
  const before = await queue.measure();
  const startedAt = performance.now();
  await work();
  const seconds = (performance.now() - startedAt) / 1000;
  const after = await queue.measure();
  return { perSecond: MESSAGES / seconds, cpuMicros: (after.cpuMicros - before.cpuMicros) / MESSAGES };
}

async function produce(producer: PzqProducer): Promise<void> {
  await Promise.all(Array.from({ length: MESSAGES }, () => producer.send(BODY)));
}

async function consume(consumer: PzqConsumer): Promise<void> {
  for (let settled = 0; settled < MESSAGES; settled++) (await consumer.receive())?.ack();
}
