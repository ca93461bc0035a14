/** CURVE as libzmq really does it: the other side is a plain zeromq.js socket, a raw connection or a process of its own. */
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '@proj/heartbeat';
import { afterEach, describe, expect, it } from 'vitest';
import * as zmq from 'zeromq';
import { PortPeer } from '../compliance/rig.js';
import { authorizedKeys, encodeZ85, generateCurveKeys, writeCertificate } from '../curve/index.js';
import { ROUTER_PEER } from '../port.js';
import type { CurveKeys, PortOptions } from '../port.js';
import { CurveGuard } from './curve-guard.js';
import type { GuardedSocket } from './curve-guard.js';
import { zmqTransport } from './index.js';
import { ZmqTransport } from './transport.js';
import { ZapHandler } from './zap-handler.js';

const [SERVER, CLIENT, STRANGER] = [generateCurveKeys(), generateCurveKeys(), generateCurveKeys()];
/** Bad handshakes in a row, this many at a time. */
const FLOOD = 10_000;
const AT_A_TIME = 50;

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function openTransport() {
  const transport = zmqTransport();
  await transport.load();
  return transport;
}

async function serve(authorize?: (publicKey: Uint8Array) => boolean): Promise<PortPeer> {
  const curve: PortOptions['curve'] = {
    role: 'server',
    keys: SERVER,
    ...(authorize === undefined ? {} : { authorize }),
  };
  const port = (await openTransport()).router({ lingerMs: 0, curve });
  closing.push(() => port.close());
  const station = new PortPeer(port, await port.bind('tcp://127.0.0.1:*'));
  port.start(station);
  return station;
}

async function connect(endpoint: string, keys = CLIENT, serverKey = SERVER.publicKey): Promise<PortPeer> {
  const port = (await openTransport()).dealer({ lingerMs: 0, curve: { role: 'client', keys, serverKey } });
  closing.push(() => port.close());
  port.connect(endpoint);
  const station = new PortPeer(port, endpoint);
  port.start(station);
  return station;
}

/** A plain socket with these keys, or without keys. */
function plainDealer(endpoint: string, keys?: CurveKeys, serverKey = SERVER.publicKey): zmq.Dealer {
  const curve =
    keys === undefined
      ? {}
      : {
          curvePublicKey: encodeZ85(keys.publicKey),
          curveSecretKey: encodeZ85(keys.secretKey),
          curveServerKey: encodeZ85(serverKey),
        };
  const dealer = new zmq.Dealer({ linger: 0, ...curve });
  closing.push(() => {
    dealer.close();
  });
  dealer.connect(endpoint);
  return dealer;
}

describe('a server', () => {
  it('rule 53: talks to any libzmq that has its key', async () => {
    const router = await serve();
    const dealer = plainDealer(router.endpoint, CLIENT);
    await dealer.send('hello');
    await router.received(1);
    router.say(router.messages[0]!.peer, 'reply');

    expect(String(await dealer.receive())).toBe('reply');
  });

  it('rule 53: refuses a key that is not on the list, and reports it and its address', async () => {
    const router = await serve(() => false);
    await plainDealer(router.endpoint, STRANGER).send('hello');
    await router.until(() => router.refused.length > 0);

    expect(router.refused).toEqual([{ reason: 'key', publicKey: STRANGER.publicKey, address: '127.0.0.1' }]);
    expect(router.messages).toEqual([]);
  });

  it('rule 54: distinguishes a client with a wrong server key from a peer without CURVE', async () => {
    const router = await serve();
    await plainDealer(router.endpoint, CLIENT, STRANGER.publicKey).send('hello');
    await router.until(() => router.refused.length > 0);
    const wrongKey = router.refused[0];
    router.refused.length = 0;
    await greetWithoutCurve(Number(router.endpoint.split(':').pop()));
    await router.until(() => router.refused.some(({ cause }) => cause !== 'server-key'));

    expect(wrongKey).toEqual({ reason: 'handshake', cause: 'server-key' });
    expect(router.refused.at(-1)).toEqual({ reason: 'handshake', cause: 'mechanism' });
    expect(router.messages).toEqual([]);
  });

  it('rule 53: admits a new key as soon as the list has it', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'clients-'));
    closing.push(() => rm(folder, { recursive: true }));
    const list = await authorizedKeys(folder, { watch: false });
    const router = await serve(list.has);
    const dealer = await connect(router.endpoint);
    dealer.say(ROUTER_PEER, 'too early');
    await router.until(() => router.refused.length > 0);
    await writeCertificate(join(folder, 'client'), CLIENT);
    await list.reload();
    while (router.messages.length === 0) {
      dealer.say(ROUTER_PEER, 'now');
      await new Promise((resolve) => setTimeout(resolve, 5));
    }

    expect(router.texts).toContain('now');
  });

  it('admits nobody when authorize throws', async () => {
    const router = await serve(() => {
      throw new Error('the list is gone');
    });
    await plainDealer(router.endpoint, CLIENT).send('hello');
    await router.until(() => router.refused.length > 0);

    expect(router.messages).toEqual([]);
  });

  it('C1: admits nobody while no handler answers', async () => {
    const context = new zmq.Context({ blocky: false });
    const handler = new ZapHandler(() => new zmq.Router({ context }), systemClock);
    const socket = new zmq.Router({ context, linger: 0 });
    const guard = new CurveGuard(
      socket as unknown as GuardedSocket,
      { role: 'server', keys: SERVER },
      handler,
      systemClock,
    );
    await socket.bind('tcp://127.0.0.1:*');
    const dealer = plainDealer(socket.lastEndpoint ?? '', CLIENT);
    const events: string[] = [];
    const refused = new Promise<void>((resolve) => {
      guard.start({ onRefused: () => resolve(), onBroken: () => undefined });
    });
    dealer.events.on('handshake', () => events.push('let in'));
    await dealer.send('hello');
    await refused;
    socket.close();
    await guard.close();

    expect(events).toEqual([]);
  });

  it('rule 54: survives ten thousand bad handshakes, counts each, and keeps serving', async () => {
    const router = await serve();
    const port = Number(router.endpoint.split(':').pop());
    for (let done = 0; done < FLOOD; done += AT_A_TIME)
      await Promise.all(Array.from({ length: AT_A_TIME }, () => greetWithoutCurve(port)));
    await router.until(() => router.refused.length >= FLOOD);
    const dealer = await connect(router.endpoint);
    dealer.say(ROUTER_PEER, 'hello');
    await router.received(1);

    expect(router.refused).toHaveLength(FLOOD);
    expect(router.texts).toEqual(['hello']);
  });

  it('C6: has no endpoint where nothing would be encrypted', async () => {
    const transport = await openTransport();
    const port = transport.router({ lingerMs: 0, curve: { role: 'server', keys: SERVER } });
    closing.push(() => port.close());

    await expect(port.bind('inproc://here')).rejects.toMatchObject({ code: 'OPTIONS_INVALID' });
    await expect(port.bind('ws://127.0.0.1:5555')).rejects.toMatchObject({ code: 'OPTIONS_INVALID' });
  });

  it('C4: is not opened at all where libzmq has no CURVE', async () => {
    const capability = { ...zmq.capability, curve: false };
    const transport = new ZmqTransport(() => Promise.resolve({ ...zmq, capability }));
    await transport.load();

    expect(() => transport.router({ curve: { role: 'server', keys: SERVER } })).toThrow('has no CURVE');
    expect(() => transport.subscriber({ curve: { role: 'server', keys: SERVER } })).toThrow('has no CURVE');
  });
});

describe('a client', () => {
  it('rule 54: is told that its key was refused', async () => {
    const router = await serve(() => false);
    const dealer = await connect(router.endpoint);
    await dealer.until(() => dealer.refused.some(({ reason }) => reason === 'key'));

    expect(dealer.refused).toContainEqual({ reason: 'key', publicKey: CLIENT.publicKey, address: router.endpoint });
  });

  it('rule 54: is told that a server with another key has hung up', async () => {
    const router = await serve();
    const dealer = await connect(router.endpoint, CLIENT, STRANGER.publicKey);
    await dealer.until(() => dealer.refused.length > 0);

    expect(dealer.refused[0]).toMatchObject({ reason: 'handshake', address: router.endpoint });
  });

  it('rule 54: is told that a server without CURVE does not talk to it', async () => {
    const router = new zmq.Router({ linger: 0 });
    closing.push(() => {
      router.close();
    });
    await router.bind('tcp://127.0.0.1:*');
    const dealer = await connect(router.lastEndpoint!);
    await dealer.until(() => dealer.refused.length > 0);

    expect(dealer.refused[0]).toMatchObject({ reason: 'handshake', address: router.lastEndpoint });
  });
});

it('publishers admit subscribers by their keys', async () => {
  const transport = await openTransport();
  const refused: unknown[] = [];
  let wake: () => void = () => undefined;
  const curve = { role: 'server' as const, keys: SERVER, authorize: (key: Uint8Array) => isSame(key, CLIENT) };
  const publisher = transport.publisher({ lingerMs: 0, curve });
  closing.push(() => publisher.close());
  const endpoint = await publisher.bind('tcp://127.0.0.1:*');
  publisher.start({
    onRefused: (refusal) => {
      refused.push(refusal);
      wake();
    },
    onBroken: () => undefined,
  });
  const heard: string[] = [];
  for (const keys of [STRANGER, CLIENT]) {
    const serverKey = SERVER.publicKey;
    const subscriber = transport.subscriber({ curve: { role: 'client', keys, serverKey } });
    closing.push(() => subscriber.close());
    subscriber.connect(endpoint);
    subscriber.subscribe(new Uint8Array(0));
    subscriber.start({
      onMessage: () => {
        heard.push(keys === CLIENT ? 'client' : 'stranger');
        wake();
      },
      onRejected: () => undefined,
      onBroken: () => undefined,
    });
  }
  while (refused.length === 0)
    await new Promise<void>((resolve) => {
      wake = resolve;
    });
  while (heard.length === 0) {
    publisher.publish([Buffer.from('news')]);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }

  expect(heard).not.toContain('stranger');
  expect(refused[0]).toMatchObject({ reason: 'key', publicKey: STRANGER.publicKey });
});

function isSame(key: Uint8Array, { publicKey }: CurveKeys): boolean {
  return Buffer.compare(key, publicKey) === 0;
}

/** Says what a peer with the mechanism NULL says first, and waits until the server hangs up. */
async function greetWithoutCurve(port: number): Promise<void> {
  const socket = createConnection(port, '127.0.0.1');
  socket.on('error', () => undefined);
  const greeting = Buffer.alloc(64);
  greeting.set([0xff, 0, 0, 0, 0, 0, 0, 0, 1, 0x7f, 3, 0]);
  greeting.write('NULL', 12);
  socket.write(greeting);
  socket.resume();
  await once(socket, 'close');
}
