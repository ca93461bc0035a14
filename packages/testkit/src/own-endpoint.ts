/** Ports for listeners that leave and come back. */
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Below what Linux, macOS and Windows give away by themselves, above what well-known services ask for. */
const FIRST_PORT = 20_000;
const PORTS = 10_000;
/** Ports of this process that may have no listener for the moment. */
const taken = new Set<number>();

/**
 * A TCP endpoint on loopback that is free, and stays so while nobody listens there: its port is none of those that the
 * system gives to wildcard binds and to connections. Such a port may be somebody else's the moment its listener is gone, and
 * whoever connects to it meanwhile may even be given it and meet itself.
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
