/** The facade over libzmq: what only real sockets can show. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { zmqTransport } from '@proj/transport/zmq';
import { afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { TextPeer } from '../../test/raw-peer.js';
import { NfpBroker } from './broker.js';
import type { NfpBrokerOptions } from './options.js';

// Peers of libzmq, while the facade under test uses the default transport.
beforeAll(() => zmqTransport().load());

const open: { close(): Promise<void> }[] = [];

afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.close()));
});

async function start(options: NfpBrokerOptions = {}): Promise<{ broker: NfpBroker; endpoint: string }> {
  const broker = new NfpBroker({ endpoint: 'tcp://127.0.0.1:*', lingerMs: 0, ...options });
  open.push(broker);
  const [endpoint = ''] = await broker.start();
  return { broker, endpoint };
}

function peer(endpoint: string, name: string): TextPeer {
  const made = TextPeer.connect(zmqTransport(), endpoint, { routingId: Buffer.from(name) });
  open.push(made);
  return made;
}

async function ready(broker: NfpBroker, endpoint: string, name: string): Promise<TextPeer> {
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

  it('answers 2000 pipelined jobs, once each and in order', async () => {
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

  it('rule 21: serves a folder in chunks, and nothing outside it', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'nfp-files-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const content = Buffer.alloc(600_000, 'chunk ');
    await writeFile(join(folder, 'big'), content);
    const { broker, endpoint } = await start({ files: folder });
    const client = peer(endpoint, 'c1');
    let asked = 0;
    const ask = async (task: string, kwargs: object) => {
      const uuid = `u${++asked}`;
      client.send('', 'NFPC01', '0x06', 'fss.service.broker', 'all', uuid, JSON.stringify({ task, kwargs }));
      return (await client.next((frames) => frames[4] === uuid)).slice(5);
    };
    const url = 'nf://big';
    expect(await ask('walk', { url: 'nf://' })).toEqual(['200', '["nf://big"]']);
    const { size_bytes: size } = JSON.parse((await ask('file_details', { url }))[1] ?? '') as { size_bytes: number };
    expect(size).toBe(content.length);
    let read = '';
    for (let offset = 0; offset < size; offset += 256_000) {
      const [, chunk = ''] = await ask('fetch_file', { url, offset, chunk_size: 256_000 });
      read += chunk;
    }
    expect(read).toBe(content.toString());
    expect(await ask('fetch_file', { url, offset: size })).toEqual(['200', '']);
    expect(await ask('fetch_file', { url: 'nf://../../etc/passwd' })).toEqual(['200', "Not Found '../../etc/passwd'"]);
    expect(broker.stats().counters.dropped['fss-escape']).toBe(1);
  });
});
