/** Ports for listeners that stop and restart. */
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Below the ephemeral ports of Linux, macOS and Windows, above those of well-known services. */
const FIRST_PORT = 20_000;
const PORTS = 10_000;
/** This process's ports that may currently have no listener. */
const taken = new Set<number>();

/**
 * A TCP endpoint on loopback that stays free while nobody listens there: its port is outside the range that the system assigns to wildcard binds
 * and to connections. A port from that range may be taken the moment its listener is gone, and a client connecting to it may even be assigned it
 * and connect to itself.
 */
export async function ownEndpoint(): Promise<string> {
  while (true) {
    const port = FIRST_PORT + Math.floor(Math.random() * PORTS);
    if (taken.has(port)) continue;
    taken.add(port);
    if (await isFree(port)) return `tcp://127.0.0.1:${port}`;
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  try {
    await once(server.listen(port, '127.0.0.1'), 'listening');
  } catch {
    return false;
  }
  server.close();
  await once(server, 'close');
  return true;
}
