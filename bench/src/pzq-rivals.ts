/** Messages stored and acknowledged: PZQ beside what else keeps messages on disk, and a bare log that is flushed batch by batch. */
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
import { median } from './statistics.js';
import type { Finding } from './statistics.js';

const ROUNDS = 5;
const MESSAGES = 10_000;
const WINDOW = 512;
const BODY = Buffer.alloc(100, 7);

/** A store that has been started. */
interface Rival {
  /** Resolves when all are stored, by the store's own word; at most {@link WINDOW} wait for it at a time. */
  run(messages: number): Promise<void>;
  close(): Promise<void>;
}

/** One product, or what it lacks here. */
interface Entrant {
  readonly start: () => Promise<Rival | Missing>;
  /** Slow ones take part with fewer messages. */
  readonly share: number;
}

const ENTRANTS: Readonly<Record<string, Entrant>> = {
  'bare log, flushed': { start: log, share: 1 },
  'PZQ on zmtp, flushed': { start: pzq, share: 1 },
  'JetStream, file, not flushed': { start: jetStream, share: 1 },
  'RabbitMQ, durable, confirmed': { start: rabbitmq, share: 1 },
  'BullMQ, Redis flushed': { start: bullmq, share: 0.2 },
};

/** Measures all that are there, in turn. `skip` is told of the others. */
export async function measurePzqRivals(
  report: (finding: Finding) => void,
  skip: (what: string, missing: string) => void,
): Promise<void> {
  const rivals: { readonly name: string; readonly rival: Rival; readonly share: number; readonly rates: number[] }[] =
    [];
  for (const [name, { start, share }] of Object.entries(ENTRANTS)) {
    const rival = await start();
    if ('missing' in rival) skip(`storing: ${name}`, rival.missing);
    else rivals.push({ name, rival, share, rates: [] });
  }
  for (let round = 0; round <= ROUNDS; round++) {
    for (const { rival, share, rates } of rivals) {
      const startedAt = performance.now();
      await rival.run(MESSAGES * share);
      // The first round warms up.
      if (round > 0) rates.push((1000 * MESSAGES * share) / (performance.now() - startedAt));
    }
  }
  const plot = `storing ${BODY.length} B, ${WINDOW} unacknowledged at most: messages stored and acknowledged`;
  for (const { name, rates } of rivals)
    report({ what: `stored: ${name}`, measured: median(rates), unit: '/s', place: { plot, series: name } });
  const ours = rivals.find(({ name }) => name.startsWith('PZQ'))?.rates ?? [];
  for (const { name, rates } of rivals) {
    if (rates === ours) continue;
    const ratio = median(ours.map((rate, round) => rate / (rates[round] ?? Number.NaN)));
    report({ what: `stored: PZQ on zmtp over ${name}`, measured: ratio, unit: 'x' });
  }
  for (const { rival } of rivals) await rival.close();
}

/** Keeps the window full. */
async function each(messages: number, send: () => Promise<unknown>): Promise<void> {
  let left = messages;
  const one = async (): Promise<void> => {
    while (left-- > 0) await send();
  };
  await Promise.all(Array.from({ length: WINDOW }, one));
}

async function log(): Promise<Rival> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-log-'));
  const file = await open(join(folder, 'log'), 'a');
  const bare = new BareLog(file);
  return {
    run: async (messages) => {
      for (let left = messages; left > 0; left -= WINDOW)
        await bare.append(
          1,
          Array.from({ length: Math.min(left, WINDOW) }, () => BODY),
        );
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
  const queue = await ProcessUnderTest.start('pzq-queue', environment);
  const producer = new PzqProducer({
    endpoints: [queue.endpoints.clients],
    window: WINDOW,
    transport: zmtpTransport(),
  });
  return {
    run: (messages) => each(messages, () => producer.send(BODY)),
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
      // What a publisher of JetStream does: its answer is the acknowledgement.
      run: (messages) => each(messages, () => connection.request('bench', BODY, { timeout: 60_000 })),
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
    return { run: (messages) => each(messages, send), close: () => connection.close() };
  });
}

async function bullmq(): Promise<Rival | Missing> {
  return withServer(await redisServer(true), async (endpoint) => {
    const { Queue } = await import('bullmq');
    const queue = new Queue('bench', { connection: { host: '127.0.0.1', port: Number(endpoint) } });
    await queue.waitUntilReady();
    const data = { body: BODY.toString('latin1') };
    return { run: (messages) => each(messages, () => queue.add('bench', data)), close: () => queue.close() };
  });
}

async function withServer(
  server: ChainServer | Missing,
  open: (endpoint: string) => Promise<Rival>,
): Promise<Rival | Missing> {
  if ('missing' in server) return server;
  const rival = await open(server.endpoint);
  return {
    run: (messages) => rival.run(messages),
    close: async () => {
      await rival.close();
      await server.stop();
    },
  };
}
