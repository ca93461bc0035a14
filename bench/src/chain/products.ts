/** The products there are chains of. Each is loaded by the processes that use it. */
import type { Product } from './product.js';

/** Requests a worker works on at a time, where the product counts them. */
const CONCURRENCY = 64;
/** Requests a client may have open, where the product counts them. */
const SOCKETS = 100;

async function majordomo(transportOf: () => Promise<import('@proj/transport').Transport>): Promise<Product> {
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

/** By name. */
export const PRODUCTS: Readonly<Record<string, () => Promise<Product>>> = {
  'mdp-zmq': () => majordomo(async () => (await import('@proj/transport/zmq')).zmqTransport()),
  'mdp-zmtp': () => majordomo(async () => (await import('@proj/zmtp')).zmtpTransport()),
  nats: () => Promise.resolve(nats),
};
