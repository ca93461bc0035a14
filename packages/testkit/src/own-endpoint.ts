/** Ports for listeners that stop and restart. */
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { Server } from 'node:net';

/** Below the ephemeral ports of Linux, macOS and Windows, above those of well-known services. */
const FIRST_PORT = 20_000;
/** Each with a second port, which stands for the claim. */
const PORTS = 5000;

/**
 * A TCP endpoint on loopback that stays free while nobody listens there. The system does not assign its port: it may take a port from its own range
 * the moment the listener is gone, and may even assign it to a client that connects there, which then connects to itself. No other process gets it
 * from here: until this one ends, it listens on the port above.
 */
export async function ownEndpoint(): Promise<string> {
  while (true) {
    const port = FIRST_PORT + 2 * Math.floor(Math.random() * PORTS);
    if ((await claim(port + 1)) && (await isFree(port))) return `tcp://127.0.0.1:${port}`;
  }
}

async function claim(port: number): Promise<boolean> {
  const server = await listener(port);
  server?.unref();
  return server !== undefined;
}

async function isFree(port: number): Promise<boolean> {
  const server = await listener(port);
  if (server === undefined) return false;
  server.close();
  await once(server, 'close');
  return true;
}

async function listener(port: number): Promise<Server | undefined> {
  const server = createServer().listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
    return server;
  } catch {
    return undefined;
  }
}
