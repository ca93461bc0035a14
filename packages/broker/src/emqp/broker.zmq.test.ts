/** The facade over libzmq: what only real sockets can show. */
import { zmqTransport } from '@proj/transport/zmq';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { jobBody, VERSION } from '../../test/emqp/broker-under-test.js';
import { TextPeer } from '../../test/raw-peer.js';
import { EmqpBroker } from './broker.js';
import type { EmqpBrokerOptions } from './options.js';

// Peers of libzmq, while the facade under test uses the default transport.
beforeAll(() => zmqTransport().load());

const open: { close(): Promise<void> }[] = [];

afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.close()));
});

const FREE = 'tcp://127.0.0.1:*';

interface Served {
  readonly broker: EmqpBroker;
  readonly frontend: string;
  readonly backend: string;
  readonly admin: string;
}

async function start(options: EmqpBrokerOptions = {}): Promise<Served> {
  const broker = new EmqpBroker({ frontend: FREE, backend: FREE, admin: FREE, lingerMs: 1000, ...options });
  open.push(broker);
  const { frontend, backend, admin } = await broker.start();
  return { broker, frontend: frontend[0] ?? '', backend: backend[0] ?? '', admin: admin[0] ?? '' };
}

function peer(endpoint: string): TextPeer {
  const made = TextPeer.connect(zmqTransport(), endpoint);
  open.push(made);
  return made;
}

/** The command and the frames after the id of the next message that is not a heartbeat. */
async function next(of: TextPeer): Promise<readonly string[]> {
  const frames = await of.next(([, , word]) => word !== 'HEARTBEAT');
  return [frames[2] ?? '', ...frames.slice(4)];
}

/** A registered worker; ACK proves that the broker knows it. */
async function worker({ backend }: Served, slots = 1): Promise<TextPeer> {
  const made = peer(backend);
  made.send('', VERSION, 'INFORM', 'i', '', 'worker');
  expect(await next(made)).toEqual(['ACK', 'i']);
  for (let i = 0; i < slots; i++) made.send('', VERSION, 'READY', 'r');
  return made;
}

describe('over real sockets', () => {
  it('serves peers with binary routing ids, and a body of 1 MiB of any bytes', async () => {
    const served = await start();
    const w1 = await worker(served);
    const client = peer(served.frontend);
    const body = `\xff\0${'x'.repeat(1 << 20)}`;
    client.send('', VERSION, 'REQUEST', 'm1', 'default', 'reply-requested', body);
    expect(await next(w1)).toEqual(['REQUEST', 'default', 'reply-requested', body]);
    w1.send('', VERSION, 'REPLY', 'p1', body, 'm1');
    expect(await next(client)).toEqual(['REPLY', 'm1']);
    expect(await next(client)).toEqual(['REPLY', body, 'm1']);
  });

  it('gives the guaranteed job of a worker whose connection ends to another one', async () => {
    const served = await start();
    const w1 = await worker(served);
    const client = peer(served.frontend);
    client.send('', VERSION, 'REQUEST', 'm1', 'default', 'guarantee', jobBody());
    await next(w1);
    const w2 = await worker(served);
    await w1.close();
    expect((await next(w2))[0]).toBe('REQUEST');
  });

  it('answers 500 pipelined requests, once each', async () => {
    const served = await start();
    const w1 = await worker(served);
    const client = peer(served.frontend);
    for (let i = 0; i < 500; i++) client.send('', VERSION, 'REQUEST', `m${i}`, 'default', 'reply-requested', 'x');
    for (let i = 0; i < 500; i++) {
      const id = (await w1.next(([, , word]) => word === 'REQUEST'))[3] ?? '';
      expect(id).toBe(`m${i}`);
      w1.send('', VERSION, 'REPLY', 'p', id, id);
      w1.send('', VERSION, 'READY', 'r');
    }
    for (let i = 0; i < 500; i++) {
      expect((await client.next((frames) => frames.length === 6))[4]).toBe(`m${i}`);
    }
    expect(served.broker.stats().counters).toMatchObject({ requests: 500, results: 500 });
  });

  it('is stopped by an admin', async () => {
    const served = await start();
    const w1 = await worker(served, 0);
    const admin = peer(served.admin);
    admin.send('', VERSION, 'STATUS', 'admin:1', '');
    expect((await next(admin))[1]).toContain('"inflight_messages_by_queue": {}');
    admin.send('', VERSION, 'DISCONNECT', 'admin:2');
    expect(await next(admin)).toEqual(['ACK', 'admin:2']);
    expect([await next(w1), await next(w1)]).toEqual([['KBAI'], ['KBYE']]);
    await served.broker.drain();
  });

  it('rejects an address in use with a message that names it, and leaves nothing bound', async () => {
    const { admin } = await start();
    const other = new EmqpBroker({ frontend: FREE, backend: FREE, admin });
    open.push(other);
    await expect(other.start()).rejects.toMatchObject({
      code: 'ADDRESS_IN_USE',
      message: expect.stringContaining(admin) as unknown,
    });
  });
});
