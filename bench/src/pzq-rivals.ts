/**
 * Stored and acknowledged messages: PZQ, other products that keep messages on disk, and a bare log that is flushed batch by batch.
 */
import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PzqProducer } from '@proj/client';
import { zmtpTransport } from '@proj/zmtp';
import type { ChainServer } from './chain/chain.js';
import { natsServer, rabbitServer, redisServer } from './chain/servers.js';
import type { Missing } from './chain/servers.js';
import { ProcessUnderTest } from './process-under-test.js';
import { BareLog } from './pzq-store.js';
import { ratio, reportTable, sideBySide } from './samples.js';
import type { Sample } from './samples.js';
import { latencyOf } from './statistics.js';
import type { Report, Skip } from './statistics.js';

const ROUNDS = 5;
/** Messages of a round, by how many may be unacknowledged. */
const LOADS = [
  { window: 1, messages: 500 },
  { window: 512, messages: 10_000 },
] as const;
const BODY = Buffer.alloc(100, 7);
const OURS = 'PZQ on zmtp, flushed';

/** A started store. */
interface Rival {
  /**
   * Stores this many messages; once the store has confirmed all of them, resolves to the microseconds that each took.
   */
  run(messages: number, window: number): Promise<Float64Array>;
  /** CPU time of the server so far, in microseconds. Absent if there is no server. */
  cpuMicros?(): Promise<number>;
  close(): Promise<void>;
}

/** One product, or what it lacks here. */
interface Entrant {
  readonly start: () => Promise<Rival | Missing>;
  /** Slow products get fewer messages. */
  readonly share: number;
}

const ENTRANTS: Readonly<Record<string, Entrant>> = {
  'bare log, flushed': { start: log, share: 1 },
  [OURS]: { start: pzq, share: 1 },
  'JetStream, file, not flushed': { start: jetStream, share: 1 },
  'RabbitMQ, durable, confirmed': { start: rabbitmq, share: 1 },
  'BullMQ, Redis flushed': { start: bullmq, share: 0.2 },
};

/** Measures all installed products, in turn. `skip` receives the others. */
export async function measurePzqRivals(report: Report, skip: Skip): Promise<void> {
  const rivals = new Map<string, Rival>();
  for (const [name, { start }] of Object.entries(ENTRANTS)) {
    const rival = await start();
    if ('missing' in rival) skip(`storing: ${name}`, rival.missing);
    else rivals.set(name, rival);
  }
  for (const { window, messages } of LOADS) {
    const runs = Array.from(rivals, ([name, rival]) => {
      const share = ENTRANTS[name]?.share ?? 1;
      return [name, () => sample(rival, messages * share, window)] as const;
    });
    const samples = await sideBySide(ROUNDS, runs);
    reportTable(`storing ${BODY.length} B, ${window} unacknowledged at most`, samples, report);
    for (const name of rivals.keys()) {
      const measured = ratio(samples, OURS, name, ({ perSecond }) => perSecond);
      const what = `${OURS} over ${name}, ${window} unacknowledged: throughput`;
      if (measured !== undefined && name !== OURS) report({ what, measured, unit: 'x' });
    }
  }
  for (const rival of rivals.values()) await rival.close();
}

/** The client is this process. */
async function sample(rival: Rival, messages: number, window: number): Promise<Sample> {
  const before = await rival.cpuMicros?.();
  const [usage, startedAt] = [process.cpuUsage(), performance.now()];
  const latencies = await rival.run(messages, window);
  const seconds = (performance.now() - startedAt) / 1000;
  const { user, system } = process.cpuUsage(usage);
  const after = await rival.cpuMicros?.();
  const server = before === undefined || after === undefined ? {} : { server: (after - before) / messages };
  return {
    perSecond: messages / seconds,
    latency: latencyOf(latencies),
    cpuMicros: { client: (user + system) / messages, ...server },
  };
}

/** Keeps the window full. */
async function each(messages: number, window: number, send: () => Promise<unknown>): Promise<Float64Array> {
  const latencies = new Float64Array(messages);
  let sent = 0;
  const one = async (): Promise<void> => {
    while (sent < messages) {
      const index = sent++;
      const sentAt = performance.now();
      await send();
      latencies[index] = 1000 * (performance.now() - sentAt);
    }
  };
  await Promise.all(Array.from({ length: window }, one));
  return latencies;
}

async function log(): Promise<Rival> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-log-'));
  const file = await open(join(folder, 'log'), 'a');
  const bare = new BareLog(file);
  return {
    run: async (messages, window) => {
      const latencies = new Float64Array(messages);
      const bodies = Array.from({ length: window }, () => BODY);
      for (let done = 0; done < messages; done += window) {
        const startedAt = performance.now();
        await bare.append(1, bodies.slice(0, messages - done));
        latencies.fill(1000 * (performance.now() - startedAt), done, done + window);
      }
      return latencies;
    },
    close: async () => {
      await file.close();
      await rm(folder, { recursive: true });
    },
  };
}

async function pzq(): Promise<Rival> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-pzq-'));
  const environment = { PROJ_BENCH_FOLDER: folder, PROJ_BENCH_TRANSPORT: 'zmtp' };
  const queue = await ProcessUnderTest.start('pzq-queue', { environment });
  const producer = new PzqProducer({
    endpoints: [queue.endpoints.clients],
    window: 512,
    transport: zmtpTransport(),
  });
  return {
    run: (messages, window) => each(messages, window, () => producer.send(BODY)),
    cpuMicros: async () => (await queue.measure()).cpuMicros,
    close: async () => {
      await producer.close();
      await queue.stop();
      await rm(folder, { recursive: true });
    },
  };
}

async function jetStream(): Promise<Rival | Missing> {
  return withServer(await natsServer(true), async (endpoint) => {
    const { connect } = await import('@nats-io/transport-node');
    const connection = await connect({ servers: endpoint });
    const stream = { name: 'BENCH', subjects: ['bench'], storage: 'file', num_replicas: 1 };
    await connection.request('$JS.API.STREAM.CREATE.BENCH', JSON.stringify(stream));
    return {
      // Does what a JetStream publisher does: the answer is the acknowledgement.
      run: (messages, window) => each(messages, window, () => connection.request('bench', BODY, { timeout: 60_000 })),
      close: () => connection.close(),
    };
  });
}

async function rabbitmq(): Promise<Rival | Missing> {
  return withServer(await rabbitServer(), async (endpoint) => {
    const { connect } = await import('amqplib');
    const connection = await connect(endpoint, { noDelay: true });
    const channel = await connection.createConfirmChannel();
    await channel.assertQueue('bench', { durable: true });
    const send = () =>
      new Promise<void>((resolve, reject) => {
        channel.sendToQueue('bench', BODY, { persistent: true }, (error: unknown) => {
          if (error === null || error === undefined) resolve();
          else reject(new Error('the message was refused', { cause: error }));
        });
      });
    return { run: (messages, window) => each(messages, window, send), close: () => connection.close() };
  });
}

async function bullmq(): Promise<Rival | Missing> {
  return withServer(await redisServer(true), async (endpoint) => {
    const { Queue } = await import('bullmq');
    const queue = new Queue('bench', { connection: { host: '127.0.0.1', port: Number(endpoint) } });
    await queue.waitUntilReady();
    const data = { body: BODY.toString('latin1') };
    return {
      run: (messages, window) => each(messages, window, () => queue.add('bench', data)),
      close: () => queue.close(),
    };
  });
}

async function withServer(
  server: ChainServer | Missing,
  open: (endpoint: string) => Promise<Rival>,
): Promise<Rival | Missing> {
  if ('missing' in server) return server;
  const rival = await open(server.endpoint);
  return {
    run: (messages, window) => rival.run(messages, window),
    cpuMicros: () => server.cpuMicros(),
    close: async () => {
      await rival.close();
      await server.stop();
    },
  };
}
