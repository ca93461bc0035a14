/** CURVE between our peers and pyzmq's: certificates of both makers, and peers that are refused. */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { MdpBroker, NfpBroker } from '@proj/broker';
import type { MdpBrokerEvents } from '@proj/broker/mdp';
import type { NfpBrokerEvents } from '@proj/broker/nfp';
import { MdpClient } from '@proj/client';
import type { MdpClientEvents } from '@proj/client/mdp';
import { nextEvent } from '@proj/testkit';
import type { PeerSpec } from '@proj/testkit';
import {
  authorizedKeys,
  generateCurveKeys,
  readCertificate,
  readSecretCertificate,
  writeCertificate,
} from '@proj/transport/curve';
import { MdpWorker } from '@proj/worker';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BEAT_FLAGS, BEATS, testPeers, fromHex, PATIENCE_MS, toHex } from '../test-peers.js';
import type { Flags } from '../test-peers.js';
import { pythonPeer } from '../python.js';
import { transport } from '../../transport.js';

const { launch, keep } = testPeers();
const ANYWHERE = 'tcp://127.0.0.1:*';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'certificates-'));
  await mkdir(at('clients'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const at = (name: string) => join(folder, name);

/** A Python peer whose sockets are encrypted. */
function encrypted(protocol: string, role: string, encryption: Flags, flags: Flags): PeerSpec {
  const plain = pythonPeer(protocol, role, flags);
  const [unbuffered = '-B', , ...words] = plain.args ?? [];
  const options = Object.entries(encryption).flatMap(([flag, value]) => [`--${flag}`, String(value)]);
  return { ...plain, args: [unbuffered, '-m', 'encrypted', ...options, ...words] };
}

/** What a Python client knows about its keys and its server's. */
const byPython = (name: string) => ({ keys: at(`${name}.key_secret`), 'server-key': at('broker.key') });

/** Makes pyzmq write certificates. */
async function pythonWrites(path: string, ...names: string[]): Promise<void> {
  const { command, args = [], cwd } = encrypted('', '', { write: path }, {});
  await promisify(execFile)(command, [...args.slice(0, -1), ...names], { cwd });
}

describe('our broker and peers of pyzmq', () => {
  async function serverCurve() {
    await pythonWrites(folder, 'broker', 'stranger');
    await pythonWrites(at('clients'), 'worker', 'client');
    const { publicKey, secretKey } = await readSecretCertificate(at('broker.key_secret'));
    const list = await authorizedKeys(at('clients'), { watch: false });
    return { keys: { publicKey, secretKey }, authorize: list.has };
  }

  it('rules 52 and 53: MDP works with the certificates that pyzmq wrote', async () => {
    const broker = keep(
      new MdpBroker({ transport, endpoint: ANYWHERE, ...BEATS, lingerMs: 0, curve: await serverCurve() }),
    );
    const [connect = ''] = await broker.start();
    const ready = nextEvent<MdpBrokerEvents, 'worker-ready'>(broker, 'worker-ready');
    launch(encrypted('mdp', 'worker', byPython('clients/worker'), { connect, ...BEAT_FLAGS }));
    await ready;
    const client = launch(encrypted('mdp', 'client', byPython('clients/client'), { connect }));
    const replied = client.next('reply');
    client.tell({ do: 'request', service: 'echo', body: toHex([Buffer.from('hello'), Buffer.alloc(300_000, 7)]) });

    expect(fromHex((await replied)['body'])).toEqual([Buffer.from('hello'), Buffer.alloc(300_000, 7)]);
    expect(broker.stats().refused).toEqual({ key: 0, handshake: 0 });
  });

  it('rules 52 and 53: NFP does, too', async () => {
    const curve = await serverCurve();
    const broker = keep(
      new NfpBroker({
        transport,
        endpoint: ANYWHERE,
        keepaliveIntervalMs: 500,
        keepaliveMultiplier: 20,
        settleMs: 0,
        lingerMs: 0,
        curve,
      }),
    );
    const [connect = ''] = await broker.start();
    const ready = nextEvent<NfpBrokerEvents, 'worker-ready'>(broker, 'worker-ready');
    const worker = { connect, name: 'w1', 'keepalive-ms': 500, multiplier: 20 };
    launch(encrypted('nfp', 'worker', byPython('clients/worker'), worker));
    await ready;
    const client = launch(encrypted('nfp', 'client', byPython('clients/client'), { connect }));
    client.tell({ do: 'POST', uuid: 'j1', service: 'sample', target: 'all', body: '{"task":"x"}' });

    expect(await client.line('answer', { uuid: 'j1', status: '201' })).toBeDefined();
  });

  it('rule 53: a key that is not on the list is refused and named', async () => {
    const broker = keep(
      new MdpBroker({ transport, endpoint: ANYWHERE, ...BEATS, lingerMs: 0, curve: await serverCurve() }),
    );
    const [connect = ''] = await broker.start();
    const refused = nextEvent<MdpBrokerEvents, 'refused'>(broker, 'refused');
    launch(encrypted('mdp', 'worker', byPython('stranger'), { connect, ...BEAT_FLAGS }));
    const { publicKey } = await readCertificate(at('stranger.key'));

    expect(await refused).toEqual({
      reason: 'key',
      publicKey,
      address: expect.stringContaining('127.0.0.1') as string,
    });
    expect(broker.stats().workers).toBe(0);
  });

  it('rule 54: a peer without CURVE is recognized as such', async () => {
    const broker = keep(
      new MdpBroker({ transport, endpoint: ANYWHERE, ...BEATS, lingerMs: 0, curve: await serverCurve() }),
    );
    const [connect = ''] = await broker.start();
    const refused = nextEvent<MdpBrokerEvents, 'refused'>(broker, 'refused');
    launch(pythonPeer('mdp', 'worker', { connect, ...BEAT_FLAGS }));

    expect((await refused).reason).toBe('handshake');
    expect(broker.stats().workers).toBe(0);
  });
});

describe('a broker of pyzmq and our peers', () => {
  async function pythonBroker() {
    const keys = { broker: generateCurveKeys(), peer: generateCurveKeys() };
    await writeCertificate(at('broker'), keys.broker);
    await writeCertificate(at('clients/peer'), keys.peer);
    const options = { keys: at('broker.key_secret'), clients: at('clients') };
    const broker = launch(encrypted('mdp', 'broker', options, BEAT_FLAGS));
    const { endpoint } = await broker.line('listening');
    return { broker, endpoints: [endpoint as string], keys };
  }

  it('rules 52 and 53: MDP works with the certificates that we wrote', async () => {
    const { broker, endpoints, keys } = await pythonBroker();
    const curve = { keys: keys.peer, serverKey: keys.broker.publicKey };
    const worker = keep(
      new MdpWorker({ transport, endpoints, ...BEATS, service: 'echo', handler: ({ body }) => body, curve }),
    );
    await worker.start();
    await broker.line('worker');
    const client = keep(new MdpClient({ transport, endpoints, timeoutMs: PATIENCE_MS, tries: 1, curve }));

    expect(await client.request('echo', ['hello', Buffer.alloc(300_000, 7)])).toEqual([
      Buffer.from('hello'),
      Buffer.alloc(300_000, 7),
    ]);
  });

  it('rule 54: our client learns that the broker has another key than it expects', async () => {
    const { endpoints } = await pythonBroker();
    const curve = { serverKey: generateCurveKeys().publicKey };
    const client = keep(new MdpClient({ transport, endpoints, timeoutMs: PATIENCE_MS, tries: 1, curve }));
    const refused = nextEvent<MdpClientEvents, 'refused'>(client, 'refused');
    client.request('echo', 'hello').catch(() => undefined);

    expect((await refused).reason).toBe('handshake');
  });
});
