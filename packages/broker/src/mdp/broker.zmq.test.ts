/** The facade over libzmq: what only real sockets can show. */
import { zmqTransport } from '@proj/transport/zmq';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { TextPeer } from '../../test/raw-peer.js';
import { MdpBroker } from './broker.js';
import type { MdpBrokerOptions } from './options.js';

// Peers of libzmq, while the facade under test uses the default transport.
beforeAll(() => zmqTransport().load());

const open: { close(): Promise<void> }[] = [];

afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.close()));
});

async function start(options: MdpBrokerOptions = {}): Promise<{ broker: MdpBroker; endpoint: string }> {
  const broker = new MdpBroker({ endpoint: 'tcp://127.0.0.1:*', lingerMs: 0, ...options });
  open.push(broker);
  const [endpoint = ''] = await broker.start();
  return { broker, endpoint };
}

function peer(endpoint: string, routingId?: string): TextPeer {
  const options = routingId === undefined ? {} : { routingId: Buffer.from(routingId) };
  const made = TextPeer.connect(zmqTransport(), endpoint, options);
  open.push(made);
  return made;
}

async function ready(broker: MdpBroker, endpoint: string, routingId?: string): Promise<TextPeer> {
  const worker = peer(endpoint, routingId);
  const registered = new Promise((resolve) => broker.on('worker-ready', resolve));
  worker.send('MDPW02', '\x01', 'echo');
  await registered;
  return worker;
}

describe('over real sockets', () => {
  it('serves a request of 1 MiB, empty and binary frames byte for byte', async () => {
    const { broker, endpoint } = await start();
    const worker = await ready(broker, endpoint);
    const client = peer(endpoint);
    const body = ['', '\x00\xff', 'x'.repeat(1 << 20)];
    client.send('MDPC02', '\x01', 'echo', ...body);
    const [, , address = '', ...rest] = await worker.next();
    expect(rest).toEqual(['', ...body]);
    worker.send('MDPW02', '\x04', address, '', ...body);
    expect(await client.next()).toEqual(['MDPC02', '\x03', 'echo', ...body]);
  });

  // The default transport reuses the memory of long bodies (ADR 16).
  it('leaves long bodies to the handlers inside the broker, even if these keep them (rule 29)', async () => {
    const { broker, endpoint } = await start();
    const kept: Buffer[] = [];
    broker.serve('keep', ({ body }) => {
      kept.push(...body);
      return body;
    });
    const client = peer(endpoint);
    const letters = Array.from({ length: 20 }, (_, i) => String.fromCharCode(97 + i));
    for (const letter of letters) {
      client.send('MDPC02', '\x01', 'keep', letter.repeat(100_000));
      expect((await client.next())[3]).toBe(letter.repeat(100_000));
    }
    expect(kept.map((body) => `${body.length} ${String(body.subarray(99_999))}`)).toEqual(
      letters.map((letter) => `100000 ${letter}`),
    );
  });

  it('gives the job of a worker whose connection ends to another one at once', async () => {
    const { broker, endpoint } = await start();
    const first = await ready(broker, endpoint);
    const second = await ready(broker, endpoint);
    const client = peer(endpoint);
    client.send('MDPC02', '\x01', 'echo', 'hello');
    await first.next();
    await first.close();
    expect((await second.next()).at(-1)).toBe('hello');
  });

  it('answers 2000 pipelined requests, once each and in order', async () => {
    const { broker, endpoint } = await start();
    const worker = await ready(broker, endpoint);
    const client = peer(endpoint);
    for (let i = 0; i < 2000; i++) client.send('MDPC02', '\x01', 'echo', `${i}`);
    for (let i = 0; i < 2000; i++) {
      const [, , address = '', , body = ''] = await worker.next();
      worker.send('MDPW02', '\x04', address, '', body);
    }
    for (let i = 0; i < 2000; i++) expect((await client.next())[3]).toBe(`${i}`);
    expect(broker.stats().counters).toMatchObject({ requests: 2000, replies: 2000 });
  });

  // Over libzmq a peer that announces a routing id gets it at once; over ZMTP the first connection must be dead (ADR 23).
  it('lets a restarted worker with a fixed routing id take over from its dead connection (rule 16)', async () => {
    const { broker, endpoint } = await start({ transport: zmqTransport() });
    const dead = await ready(broker, endpoint, 'fixed');
    const again = peer(endpoint, 'fixed');
    // To the broker this is a second READY: it sends DISCONNECT, and the next READY opens a conversation.
    again.send('MDPW02', '\x01', 'echo');
    expect(await again.next()).toEqual(['MDPW02', '\x06']);
    // A dead worker does not reconnect and take its name back.
    await dead.close();
    const registered = new Promise((resolve) => broker.on('worker-ready', resolve));
    again.send('MDPW02', '\x01', 'echo');
    await registered;
    peer(endpoint).send('MDPC02', '\x01', 'echo', 'hello');
    expect((await again.next()).at(-1)).toBe('hello');
  });

  it('rejects an address in use with a message that names it', async () => {
    const { endpoint } = await start();
    const other = new MdpBroker({ endpoint });
    open.push(other);
    await expect(other.start()).rejects.toMatchObject({
      code: 'ADDRESS_IN_USE',
      message: expect.stringContaining(endpoint) as unknown,
    });
  });
});
