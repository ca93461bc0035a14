import { once } from 'node:events';
import { createServer } from 'node:net';
import { expect, it } from 'vitest';
import { ownEndpoint } from './own-endpoint.js';

it('gives a port that can be freed and taken again, and that the system would not assign to anybody', async () => {
  const port = Number(/^tcp:\/\/127\.0\.0\.1:(\d+)$/.exec(await ownEndpoint())?.[1]);
  expect(port).toBeGreaterThanOrEqual(20_000);
  // The lowest port that Linux assigns by itself.
  expect(port).toBeLessThan(32_768);
  for (let round = 0; round < 3; round++) {
    const server = createServer().listen(port, '127.0.0.1');
    await once(server, 'listening');
    server.close();
    await once(server, 'close');
  }
});
