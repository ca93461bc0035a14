// A broker inside a test: a free port, no other process, nothing to clean up by hand.
import assert from 'node:assert/strict';
import test from 'node:test';
import { MdpBroker } from '@proj/broker';
import { MdpClient } from '@proj/client';
import { MdpWorker } from '@proj/worker';

test('a request reaches the worker of its service', async (t) => {
  const broker = new MdpBroker({ endpoint: 'tcp://127.0.0.1:*' });
  const endpoints = await broker.start();

  const worker = new MdpWorker({ endpoints, service: 'double', handler: ({ body }) => String(2 * Number(body[0])) });
  await worker.start();

  const client = new MdpClient({ endpoints });
  // In this order, so that each can still say goodbye.
  t.after(async () => {
    await client.close();
    await worker.close();
    await broker.close();
  });

  const [reply] = await client.request('double', '21');
  assert.equal(String(reply), '42');
});
