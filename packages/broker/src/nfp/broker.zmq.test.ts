/** The facade over libzmq: what only real sockets can show. */
import { zmqTransport } from '@proj/transport/zmq';
import { afterEach, describe, expect, it } from 'vitest';
import { RawPeer } from '../../test/raw-peer.js';
import { NfpBroker } from './broker.js';

const open: { close(): Promise<void> }[] = [];

afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.close()));
});

async function start(): Promise<{ broker: NfpBroker; endpoint: string }> {
  const broker = new NfpBroker({ endpoint: 'tcp://127.0.0.1:*', lingerMs: 0 });
  open.push(broker);
  const [endpoint = ''] = await broker.start();
  return { broker, endpoint };
}

function peer(endpoint: string, name: string): RawPeer {
  const made = RawPeer.connect(zmqTransport(), endpoint, { routingId: Buffer.from(name) });
  open.push(made);
  return made;
}

async function ready(broker: NfpBroker, endpoint: string, name: string): Promise<RawPeer> {
  const worker = peer(endpoint, name);
  const registered = new Promise((resolve) => broker.on('worker-ready', resolve));
  worker.send('', 'NFPW01', '0x01', 'sample');
  await registered;
  return worker;
}

const isCall = (frames: readonly string[]) => frames[2] === '0x04';

describe('over real sockets', () => {
  it('relays 1 MiB, empty and binary frames byte for byte, both ways', async () => {
    const { broker, endpoint } = await start();
    const worker = await ready(broker, endpoint, 'w1');
    const client = peer(endpoint, 'c1');
    const body = ['', '\x00\xff', 'x'.repeat(1 << 20)];
    client.send('', 'NFPC01', '0x04', 'sample', 'w1', 'u1', ...body);
    expect(await worker.next(isCall)).toEqual(['', 'NFPB01', '0x04', 'c1', '', 'u1', ...body]);
    worker.send('', 'NFPW01', '0x05', 'c1', '', 'u1', '200', ...body);
    const answer = await client.next((frames) => frames[5] === '200');
    expect(answer).toEqual(['', 'NFPB01', '0x05', 'sample', 'u1', '200', ...body]);
  });

  it('answers 2000 pipelined jobs, each once and in order', async () => {
    const { broker, endpoint } = await start();
    const workers = [await ready(broker, endpoint, 'w1'), await ready(broker, endpoint, 'w2')];
    const client = peer(endpoint, 'c1');
    for (let i = 0; i < 2000; i++) client.send('', 'NFPC01', '0x04', 'sample', 'all', `u${i}`, '{}');
    for (let i = 0; i < 2000; i++) {
      for (const worker of workers) {
        const uuid = (await worker.next(isCall))[5] ?? '';
        expect(uuid).toBe(`u${i}`);
        worker.send('', 'NFPW01', '0x05', 'c1', '', uuid, '201', '{}');
      }
    }
    for (let i = 0; i < 4000; i++) await client.next((frames) => frames[5] === '201');
    expect(broker.stats().counters).toMatchObject({ calls: { post: 2000 }, relays: 4000, answers: { response: 4000 } });
  });
});
