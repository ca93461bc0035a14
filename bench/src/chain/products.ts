/** The products that have chains. Each is loaded by the processes that use it. */
import type { Transport } from '@proj/transport';
import type { ConsumeMessage } from 'amqplib';
import type { Product } from './product.js';

/** Requests that a worker handles at a time, if the product limits them. */
const CONCURRENCY = 64;
/** Requests that a client may have open, if the product limits them. */
const SOCKETS = 100;

async function majordomo(transportOf: () => Promise<Transport>): Promise<Product> {
  const transport = await transportOf();
  return {
    async client(endpoint) {
      const { MdpClient } = await import('@proj/client');
      const client = new MdpClient({ endpoints: [endpoint], sockets: SOCKETS, timeoutMs: 10_000, transport });
      return { request: (body) => client.request('echo', body), close: () => client.close() };
    },
    async worker(endpoint) {
      const { MdpWorker } = await import('@proj/worker');
      const options = { endpoints: [endpoint], service: 'echo', concurrency: CONCURRENCY, transport };
      const worker = new MdpWorker({ ...options, handler: ({ body }) => body });
      await worker.start();
      return { close: () => worker.drain() };
    },
  };
}

const nats: Product = {
  async client(endpoint) {
    const { connect } = await import('@nats-io/transport-node');
    const connection = await connect({ servers: endpoint });
    return {
      request: (body) => connection.request('echo', body, { timeout: 10_000 }),
      close: () => connection.close(),
    };
  },
  async worker(endpoint) {
    const { connect } = await import('@nats-io/transport-node');
    const connection = await connect({ servers: endpoint });
    connection.subscribe('echo', {
      queue: 'workers',
      callback: (_error, message) => void message.respond(message.data),
    });
    await connection.flush();
    return { close: () => connection.drain() };
  },
};

/** RabbitMQ's remote procedure calls: direct reply-to, no durability, acknowledged by the worker. */
const rabbitmq: Product = {
  async client(endpoint) {
    const { connect } = await import('amqplib');
    const connection = await connect(endpoint, { noDelay: true });
    const channel = await connection.createChannel();
    const replyTo = 'amq.rabbitmq.reply-to';
    const waiting = new Map<string, (body: Buffer) => void>();
    let count = 0;
    const onReply = (message: ConsumeMessage | null): void => {
      const id = String(message?.properties.correlationId);
      if (message !== null) waiting.get(id)?.(message.content);
      waiting.delete(id);
    };
    await channel.consume(replyTo, onReply, { noAck: true });
    return {
      request: (body) =>
        new Promise((resolve) => {
          const correlationId = `${count++}`;
          waiting.set(correlationId, resolve);
          channel.sendToQueue('echo', body, { correlationId, replyTo });
        }),
      close: () => connection.close(),
    };
  },
  async worker(endpoint) {
    const { connect } = await import('amqplib');
    const connection = await connect(endpoint, { noDelay: true });
    const channel = await connection.createChannel();
    await channel.assertQueue('echo', { durable: false });
    await channel.prefetch(CONCURRENCY);
    await channel.consume('echo', (message) => {
      if (message === null) return;
      const { replyTo, correlationId } = message.properties as {
        readonly replyTo: string;
        readonly correlationId: string;
      };
      channel.sendToQueue(replyTo, message.content, { correlationId });
      channel.ack(message);
    });
    return { close: () => connection.close() };
  },
};

/** Jobs whose result the client awaits. BullMQ's bodies are JSON. */
const bullmq: Product = {
  async client(endpoint) {
    const { Queue, QueueEvents } = await import('bullmq');
    const connection = { host: '127.0.0.1', port: Number(endpoint) };
    const queue = new Queue('echo', { connection, defaultJobOptions: { removeOnComplete: { count: 1000 } } });
    const events = new QueueEvents('echo', { connection });
    // Each awaited job listens to both.
    queue.setMaxListeners(0);
    events.setMaxListeners(0);
    await events.waitUntilReady();
    return {
      async request(body) {
        const job = await queue.add('echo', { body: body.toString('latin1') });
        return (await job.waitUntilFinished(events)) as unknown;
      },
      async close() {
        await events.close();
        await queue.close();
      },
    };
  },
  async worker(endpoint) {
    const { Worker } = await import('bullmq');
    const connection = { host: '127.0.0.1', port: Number(endpoint) };
    const echo = (job: { readonly data: unknown }) => Promise.resolve(job.data);
    const worker = new Worker('echo', echo, { connection, concurrency: CONCURRENCY });
    await worker.waitUntilReady();
    return { close: () => worker.close() };
  },
};

/** By name. */
export const PRODUCTS: Readonly<Record<string, () => Promise<Product>>> = {
  'mdp-zmq': () => majordomo(async () => (await import('@proj/transport/zmq')).zmqTransport()),
  'mdp-zmtp': () => majordomo(async () => (await import('@proj/zmtp')).zmtpTransport()),
  bullmq: () => Promise.resolve(bullmq),
  nats: () => Promise.resolve(nats),
  rabbitmq: () => Promise.resolve(rabbitmq),
};
