/** Long bodies whose memory is returned, through a broker: docs/adr/0016-long-bodies-are-given-back.md. */
import { MdpBroker } from '@proj/broker';
import { MdpClient } from '@proj/client';
import { ROUTER_PEER } from '@proj/transport';
import { MdpWorker } from '@proj/worker';
import { ZmtpTransport } from '@proj/zmtp';
import { expect, it, vi } from 'vitest';

const MIB = 2 ** 20;
const TCP = 'tcp://127.0.0.1:*';
/** Content that no other body has. */
const bodyOf = (bytes: number, mark: number) =>
  Buffer.alloc(
    bytes,
    Uint8Array.from({ length: 251 }, (_, index) => index ^ mark),
  );

it('long bodies of many clients keep their content, although workers are lost with requests', async () => {
  const moved = vi.spyOn(globalThis, 'structuredClone');
  const transport = new ZmtpTransport({ reconnectMinMs: 1 });
  await using broker = new MdpBroker({ endpoint: TCP, maxAttempts: 50, transport });
  const endpoints = await broker.start();
  /** Takes a request and leaves with it. */
  const thief = (): Promise<void> =>
    new Promise((resolve) => {
      const port = transport.dealer();
      port.connect(endpoints[0] ?? '');
      port.start({
        onMessage: (_peer, frames) => {
          if (frames[1]?.[0] === 2) void port.close({ lingerMs: 0 }).then(resolve);
        },
        onPeerGone: () => undefined,
        onUndeliverable: () => undefined,
        onRejected: () => undefined,
        onBroken: () => undefined,
      });
      port.send(ROUTER_PEER, [Buffer.from('MDPW02'), Buffer.of(1), Buffer.from('echo')]);
    });
  const thieves = Array.from({ length: 5 }, thief);
  const wrong: string[] = [];
  const clients = Array.from({ length: 4 }, () => new MdpClient({ endpoints, timeoutMs: 120_000, transport }));
  const asked = clients.map(async (client, number) => {
    for (let index = 0; index < 20; index++) {
      const body = bodyOf([20_000, 100_000, 300_000, 2 * MIB][(index + number) % 4] ?? 0, number * 20 + index);
      const [answer = Buffer.alloc(0)] = await client.request('echo', body);
      if (Buffer.compare(answer, body) !== 0) wrong.push(`${number}: ${index}`);
    }
  });
  await Promise.all(thieves);
  await using worker = new MdpWorker({
    endpoints,
    service: 'echo',
    concurrency: 4,
    handler: ({ body }) => body,
    transport,
  });
  await worker.start();
  await Promise.all(asked);
  expect(wrong).toEqual([]);
  expect(broker.stats().counters).toMatchObject({ requests: 80, replies: 80, resends: 5 });
  // Almost all of the 120 that did not arrive in one read.
  expect(moved.mock.calls.length).toBeGreaterThan(60);
  moved.mockRestore();
  await Promise.all(clients.map((client) => client.close()));
});
