/**
 * The MDP broker on ZMTP. From the command `show` to the command `hide` it has HTTP, as with `--http` and `--http-token-file`.
 * PROJ_BENCH_SERVICES: services inside it, each of which has answered a request.
 */
import { MdpBroker } from '@proj/broker';
import { MdpClient } from '@proj/client';
import { observe, serveHttp } from '@proj/observe/http';
import { ZmtpTransport } from '@proj/zmtp';
import { serveMeasurements } from './process-under-test.js';

/** Requests in flight while the services are called for the first time. */
const AT_A_TIME = 100;

const services = Number(process.env['PROJ_BENCH_SERVICES'] ?? 0);
const transport = new ZmtpTransport();
const broker = new MdpBroker({ endpoint: 'tcp://127.0.0.1:*', transport, servicesMax: Math.max(services, 10_000) });
const [endpoint = ''] = await broker.start();
if (services > 0) await serveInside();

let hide = (): Promise<void> => Promise.resolve();
serveMeasurements(
  { clients: endpoint, workers: endpoint },
  () => broker.stats().workers,
  async () => {
    await hide();
    await broker.close();
  },
  { show, hide: () => hide() },
);

async function show(): Promise<string> {
  const observer = observe({
    name: 'bench',
    version: '0.0.0',
    hasActions: true,
    servers: [{ protocol: 'mdp', facade: broker }],
  });
  const shown = await serveHttp({ listen: '127.0.0.1:0', observer, token: 'correct-horse-battery' });
  hide = async () => {
    observer.close();
    await shown.close();
  };
  return shown.url;
}

async function serveInside(): Promise<void> {
  const names = Array.from({ length: services }, (_, index) => `service-${index}`);
  for (const name of names) broker.serve(name, (request) => request.body);
  const client = new MdpClient({ endpoints: [endpoint], transport, sockets: AT_A_TIME });
  for (let first = 0; first < services; first += AT_A_TIME)
    await Promise.all(names.slice(first, first + AT_A_TIME).map((name) => client.request(name, 'hello')));
  await client.close();
}
