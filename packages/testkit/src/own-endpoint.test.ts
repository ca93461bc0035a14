import { once } from 'node:events';
import { createServer } from 'node:net';
import { expect, it } from 'vitest';
import { ownEndpoint } from './own-endpoint.js';

it('gives a port that can be left and taken again, and that the system would give to nobody', async () => {
  const port = Number(/^tcp:\/\/127\.0\.0\.1:(\d+)$/.exec(await ownEndpoint())?.[1]);
  expect(port).toBeGreaterThanOrEqual(20_000);
  // The lowest of those that Linux gives away.
  expect(port).toBeLessThan(32_768);
  for (let round = 0; round < 3; round++) {
    const server = createServer().listen(port, '127.0.0.1');
    await once(server, 'listening');
    server.close();
    await once(server, 'close');
  }
});
