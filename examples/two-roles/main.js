// CURVE: every connection is encrypted, and each key may do only what its role allows.
import { MdpBroker } from '@proj/broker';
import { isProjError, MdpClient } from '@proj/client';
import { encodeZ85, generateCurveKeys } from '@proj/transport/curve';
import { MdpWorker } from '@proj/worker';

const [server, workerKeys, ada, mallory] = Array.from({ length: 4 }, () => generateCurveKeys());

const broker = new MdpBroker({
  endpoint: process.env.ENDPOINT ?? 'tcp://127.0.0.1:5555',
  curve: { keys: server },
  access: [
    { keys: [encodeZ85(workerKeys.publicKey)], serve: ['echo'] },
    { keys: [encodeZ85(ada.publicKey)], request: ['echo'] },
  ],
});
const endpoints = await broker.start();

const curve = (keys) => ({ keys, serverKey: server.publicKey });
const worker = new MdpWorker({
  endpoints,
  curve: curve(workerKeys),
  service: 'echo',
  handler: ({ body }) => body,
});
await worker.start();

const allowed = new MdpClient({ endpoints, curve: curve(ada) });
console.log('ada:', String((await allowed.request('echo', 'hello'))[0]));

// Majordomo cannot say no: the request is dropped and counted, and its client times out.
const forbidden = new MdpClient({ endpoints, curve: curve(mallory), timeoutMs: 300, tries: 1 });
await forbidden.request('echo', 'hello').catch((error) => {
  if (!isProjError(error, 'TIMEOUT')) throw error;
  console.log('mallory:', error.code);
});
console.log('refused by the broker:', broker.stats().counters.dropped['not-allowed'] > 0);

await allowed.close();
await forbidden.close();
await worker.drain();
await broker.drain();
