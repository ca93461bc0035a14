/** Servers for chains: our broker, and those that Debian packages. */
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { ChildOptions } from '../children.js';
import { findProgram, NativeProcess } from '../native-process.js';
import { ProcessUnderTest } from '../process-under-test.js';
import type { ChainServer } from './chain.js';

const POLL_MS = 50;

/** The Debian package of a server that is not installed. */
export interface Missing {
  readonly missing: string;
}

/** Our broker, started by its script. */
export async function ourBroker(script: string, options: ChildOptions = {}): Promise<ChainServer> {
  const broker = await ProcessUnderTest.start(script, options);
  return {
    endpoint: broker.endpoints.clients,
    cpuMicros: async () => (await broker.measure()).cpuMicros,
    stop: () => broker.stop(),
  };
}

/** NATS on a free port; with `stream`, with its own folder for JetStream. */
export async function natsServer(stream = false): Promise<ChainServer | Missing> {
  const program = await findProgram('nats-server');
  if (program === undefined) return { missing: 'nats-server (Debian package nats-server)' };
  const port = await freePort();
  const folder = await mkdtemp(join(tmpdir(), 'bench-nats-'));
  const more = stream ? ['-js', '-sd', folder] : [];
  const running = NativeProcess.start(program, [
    '-a',
    '127.0.0.1',
    '-p',
    `${port}`,
    '-l',
    join(folder, 'log'),
    ...more,
  ]);
  return serve('nats-server', `127.0.0.1:${port}`, port, folder, running);
}

/** Redis on a free port; with `durable` it logs and flushes each write before answering, otherwise nothing is on disk. */
export async function redisServer(durable = false): Promise<ChainServer | Missing> {
  const program = await findProgram('redis-server');
  if (program === undefined) return { missing: 'redis-server (Debian package redis-server)' };
  const port = await freePort();
  const folder = await mkdtemp(join(tmpdir(), 'bench-redis-'));
  const log = durable ? ['--appendonly', 'yes', '--appendfsync', 'always'] : ['--appendonly', 'no'];
  const place = ['--bind', '127.0.0.1', '--port', `${port}`, '--dir', folder, '--logfile', join(folder, 'log')];
  const running = NativeProcess.start(program, [...place, '--save', '', ...log]);
  return serve('redis-server', `${port}`, port, folder, running);
}

/** RabbitMQ on free ports, with its own node, name daemon and folder. */
export async function rabbitServer(): Promise<ChainServer | Missing> {
  const program = await findProgram('rabbitmq-server');
  const daemon = await findProgram('epmd');
  if (program === undefined || daemon === undefined)
    return { missing: 'rabbitmq-server (Debian package rabbitmq-server)' };
  const [port, names, nodes] = [await freePort(), await freePort(), await freePort()];
  const folder = await mkdtemp(join(tmpdir(), 'bench-rabbit-'));
  const own = { HOME: folder, ERL_EPMD_PORT: `${names}`, ERL_EPMD_ADDRESS: '127.0.0.1' };
  const epmd = NativeProcess.start(daemon, ['-port', `${names}`, '-address', '127.0.0.1'], own);
  const running = NativeProcess.start(program, ['-noinput'], {
    ...own,
    // Stays in this process instead of starting another one.
    RABBITMQ_ALLOW_INPUT: '1',
    RABBITMQ_NODENAME: 'bench@localhost',
    RABBITMQ_NODE_IP_ADDRESS: '127.0.0.1',
    RABBITMQ_NODE_PORT: `${port}`,
    RABBITMQ_DIST_PORT: `${nodes}`,
    RABBITMQ_MNESIA_BASE: join(folder, 'data'),
    RABBITMQ_LOG_BASE: join(folder, 'log'),
    RABBITMQ_CONF_ENV_FILE: join(folder, 'none'),
    RABBITMQ_CONFIG_FILE: join(folder, 'none'),
    RABBITMQ_ENABLED_PLUGINS_FILE: join(folder, 'plugins'),
    RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS: '-kernel inet_dist_use_interface {127,0,0,1}',
  });
  running.drain();
  return serve('rabbitmq-server', `amqp://127.0.0.1:${port}`, port, folder, running, epmd);
}

/** Resolves once it listens, or once it has ended without listening. */
async function serve(
  name: string,
  endpoint: string,
  port: number,
  folder: string,
  running: NativeProcess,
  ...others: NativeProcess[]
): Promise<ChainServer | Missing> {
  const stop = async (): Promise<void> => {
    for (const one of [running, ...others]) await one.stop();
    await rm(folder, { recursive: true });
  };
  while (!(await listens(port))) {
    if (running.ended) {
      await stop();
      return { missing: `a ${name} that starts: the one here ends before it listens` };
    }
    await setTimeout(POLL_MS);
  }
  return { endpoint, cpuMicros: async () => (await running.measure()).cpuMicros, stop };
}

async function listens(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
