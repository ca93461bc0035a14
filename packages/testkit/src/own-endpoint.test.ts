import { once } from 'node:events';
import { createServer } from 'node:net';
import { expect, it, onTestFinished, vi } from 'vitest';
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

it('gives no port that it gave another process', async () => {
  const first = await ownEndpoint();
  // A module of its own knows nothing of the first, as in another process.
  vi.resetModules();
  const other = await import('./own-endpoint.js');
  const draws = vi.spyOn(Math, 'random');
  onTestFinished(() => draws.mockRestore());
  draws.mockReturnValueOnce((Number(first.slice(-5)) - 20_000 + 1) / 10_000);
  expect(await other.ownEndpoint()).not.toBe(first);
  expect(draws.mock.calls.length).toBeGreaterThan(1);
});
