import { ownEndpoint } from '@proj/testkit';
import { zmqTransport } from '@proj/transport/zmq';
import { afterEach, describe, expect, it } from 'vitest';
import { ScriptedBroker } from '../../test/emqp/stage.js';
import { EmqpClient } from './client.js';
import type { EmqpClientOptions } from './options.js';

/** For real sockets and a busy machine: far more than anything here takes. */
const PATIENCE = 120_000;

const open: { close(): Promise<void> }[] = [];

afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.close()));
});

async function broker(endpoint = 'tcp://127.0.0.1:*'): Promise<ScriptedBroker> {
  const started = await ScriptedBroker.start(zmqTransport(), endpoint, (asked) => {
    const { command } = asked;
    if (command.kind !== 'request' || command.queue === 'silent') return;
    asked.accept();
    if (command.headers.length > 0) asked.result(`{"value": ${Buffer.from(command.body).toString()}}`);
  });
  open.push(started);
  return started;
}

function client(options: EmqpClientOptions): EmqpClient {
  const made = new EmqpClient({ timeoutMs: PATIENCE, lingerMs: 0, ...options });
  open.push(made);
  return made;
}

describe('EmqpClient over real sockets', () => {
  it('each of 2000 jobs at once gets its own result', async () => {
    const { endpoint } = await broker();
    const own = client({ endpoints: [endpoint] });
    const numbers = Array.from({ length: 2000 }, (_, i) => i);
    const deferred = await Promise.all(numbers.map((n) => own.defer('q', `${n}`, { replyRequested: true })));
    expect(await Promise.all(deferred.map(({ result }) => result))).toEqual(numbers);
  });

  it('a broker that goes away ends what is open, and its successor is found', async () => {
    const endpoint = await ownEndpoint();
    const first = await broker(endpoint);
    const own = client({ endpoints: [endpoint] });
    const lost = own.defer('silent', 'x');
    const outcome = expect(lost).rejects.toMatchObject({ code: 'PEER_LOST' });
    await first.received(1);
    await first.close();
    await outcome;
    await broker(endpoint);
    await own.defer('q', 'x');
  });

  it('a schedule is sent although the client is closed at once', async () => {
    const served = await broker();
    const own = client({ endpoints: [served.endpoint], lingerMs: PATIENCE });
    await own.schedule('q', { path: 'p', callable: 'c' }, { intervalSeconds: 1 });
    await own.close();
    await served.received(1);
    expect(served.asked[0]!.command.kind).toBe('schedule');
  });
});
