/** Servers for chains: our broker, and what Debian has. */
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findProgram, NativeProcess } from '../native-process.js';
import { ProcessUnderTest } from '../process-under-test.js';
import type { ChainServer } from './chain.js';

/** The Debian package a server comes from, where it is not installed. */
export interface Missing {
  readonly missing: string;
}

/** Our broker, by the script that runs it. */
export async function ourBroker(script: string): Promise<ChainServer> {
  const broker = await ProcessUnderTest.start(script);
  return {
    endpoint: broker.endpoints.clients,
    cpuMicros: async () => (await broker.measure()).cpuMicros,
    stop: () => broker.stop(),
  };
}

/** NATS on a free port, without files or cluster. */
export async function natsServer(): Promise<ChainServer | Missing> {
  const program = await findProgram('nats-server');
  if (program === undefined) return { missing: 'nats-server (Debian package nats-server)' };
  const port = await freePort();
  const folder = await mkdtemp(join(tmpdir(), 'bench-nats-'));
  const log = join(folder, 'log');
  const running = NativeProcess.start(program, ['-a', '127.0.0.1', '-p', `${port}`, '-l', log]);
  return {
    // The client library tries again until the server listens.
    endpoint: `127.0.0.1:${port}`,
    cpuMicros: async () => (await running.measure()).cpuMicros,
    stop: async () => {
      await running.stop();
      await rm(folder, { recursive: true });
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
