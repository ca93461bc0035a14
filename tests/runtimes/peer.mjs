// One peer, on the runtime that runs this file: `peer.mjs ROLE SETTINGS`, where SETTINGS is JSON. It prints JSON, one line for each event, and exits
// on SIGTERM. `run.mjs` starts it.
const [role, json = '{}'] = process.argv.slice(2);
const { endpoints, store, curve, libzmq, messages = [], bytes = 0, parallel = 0 } = JSON.parse(json);
const tell = (what) => console.log(JSON.stringify(what));
const PATIENCE_MS = 20_000;

/** Runs until SIGTERM. */
function serve(close) {
  process.on('SIGTERM', () => void close().then(() => process.exit(0)));
}

const transport = async () => {
  if (!libzmq) return {};
  const { zmqTransport } = await import('@proj/transport/zmq');
  return { transport: zmqTransport() };
};
const common = async () => ({ ...(await transport()), ...(curve && { curve: bytesOf(curve) }) });

/** Keys in JSON are hex. */
function bytesOf({ keys: { publicKey, secretKey }, serverKey, authorize }) {
  const key = (hex) => Buffer.from(hex, 'hex');
  const keys = { publicKey: key(publicKey), secretKey: key(secretKey) };
  return serverKey === undefined
    ? { keys, authorize: (theirs) => authorize.includes(Buffer.from(theirs).toString('hex')) }
    : { keys, serverKey: key(serverKey) };
}

const ROLES = {
  async broker() {
    const { MdpBroker } = await import('@proj/broker');
    const broker = new MdpBroker({ endpoint: endpoints[0], ...(await common()) });
    broker.on('refused', ({ reason }) => tell({ refused: reason }));
    tell({ endpoints: await broker.start() });
    serve(() => broker.drain());
  },

  async worker() {
    const { MdpWorker } = await import('@proj/worker');
    const worker = new MdpWorker({
      endpoints,
      service: 'echo',
      concurrency: 8,
      handler: ({ body }) => body,
      ...(await common()),
    });
    worker.on('ready', () => tell({ ready: true }));
    await worker.start();
    serve(() => worker.drain());
  },

  /** A request, one with a long body, and many at once. */
  async client() {
    const { MdpClient } = await import('@proj/client');
    const client = new MdpClient({ endpoints, timeoutMs: PATIENCE_MS, tries: 1, ...(await common()) });
    const [reply] = await client.request('echo', 'hello');
    const [long] = await client.request('echo', [Buffer.alloc(bytes, 'abc')]);
    const many = await Promise.all(Array.from({ length: parallel }, (_, n) => client.request('echo', `${n}`)));
    tell({
      reply: String(reply),
      bytes: long.length,
      many: many.filter(([each], n) => String(each) === `${n}`).length,
    });
    await client.close();
  },

  async queue() {
    const { PzqServer } = await import('@proj/pzq');
    const [receive, send] = endpoints;
    const queue = new PzqServer({ store, receive, send, monitor: 'tcp://127.0.0.1:*', ...(await common()) });
    const { receive: toQueue, send: fromQueue } = await queue.start();
    tell({ endpoints: [...toQueue, ...fromQueue] });
    serve(() => queue.drain());
  },

  async producer() {
    const { PzqProducer } = await import('@proj/client');
    const producer = new PzqProducer({ endpoints: endpoints.slice(0, 1), ...(await common()) });
    for (const message of messages) await producer.send(message);
    tell({ stored: messages.length });
    await producer.close();
  },

  async consumer() {
    const { PzqConsumer } = await import('@proj/client');
    const consumer = new PzqConsumer({ endpoints: endpoints.slice(1), ...(await common()) });
    const received = [];
    for await (const message of consumer) {
      received.push(String(message.body));
      message.ack();
      if (received.length === messages.length) break;
    }
    tell({ received });
    await consumer.close();
  },
};

try {
  await ROLES[role]();
} catch (error) {
  tell({ failed: { name: error.name, code: error.code, message: error.message } });
  process.exitCode = 1;
}
