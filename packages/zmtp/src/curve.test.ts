/** CURVE on real sockets: ours on both sides, and libzmq's on either. */
import { connect } from 'node:net';
import { HAS_LIBZMQ } from '@proj/testkit/libzmq';
import { ROUTER_PEER } from '@proj/transport';
import type { CurveKeys, CurveOptions, HandshakeRefusal, PortOptions, SocketPort } from '@proj/transport';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import * as zmq from 'zeromq';
import { ZmtpTransport } from './index.js';
import { newKeys, z85 } from './test/keys.js';
import { ByteRelay } from './test/relay.js';
import { TestPeer } from './test/test-peer.js';
import { loadCurve } from './security.js';

beforeAll(loadCurve);

const TCP = 'tcp://127.0.0.1:*';
const transport = new ZmtpTransport({ reconnectMinMs: 10, reconnectMaxMs: 20 });
const SERVER = newKeys();
const CLIENT = newKeys();
const AS_SERVER = { role: 'server', keys: SERVER } as const;
const AS_CLIENT = { role: 'client', keys: CLIENT, serverKey: SERVER.publicKey } as const;

let opened: { close(): unknown }[] = [];
afterEach(async () => {
  await Promise.all(opened.map((one) => one.close()));
  opened = [];
});

function kept<Socket extends { close(): unknown }>(socket: Socket): Socket {
  opened.push(socket);
  return socket;
}

const router = (curve: CurveOptions, options: PortOptions = {}) =>
  kept(transport.router({ lingerMs: 0, curve, ...options }));
const dealer = (curve: CurveOptions, options: PortOptions = {}) =>
  kept(transport.dealer({ lingerMs: 0, curve, ...options }));

const theirServer = {
  linger: 0,
  curveServer: true,
  curveSecretKey: z85(SERVER.secretKey),
  curvePublicKey: z85(SERVER.publicKey),
};
const theirClient = {
  linger: 0,
  curveServerKey: z85(SERVER.publicKey),
  curvePublicKey: z85(CLIENT.publicKey),
  curveSecretKey: z85(CLIENT.secretKey),
};
const text = (frames: readonly Buffer[]) => frames.map((frame) => frame.toString('latin1')).join('|');

async function bound(socket: zmq.Router | zmq.Dealer | zmq.Reply): Promise<string> {
  await socket.bind(TCP);
  return socket.lastEndpoint!;
}

/** The refusals that a port reports. */
class Gate extends TestPeer {
  readonly refusals: HandshakeRefusal[] = [];
  #told: () => void = () => undefined;
  readonly told = new Promise<void>((resolve) => (this.#told = resolve));

  constructor(port: SocketPort) {
    super(port);
    this.onRefused = (refusal) => {
      this.refusals.push(refusal);
      this.#told();
    };
  }
}

const LARGE = Buffer.alloc(2_000_000, 'abcdefghijk');
const BODIES = [
  [Buffer.from('hello'), Buffer.alloc(0), Buffer.alloc(255), Buffer.alloc(222), Buffer.alloc(223)],
  [LARGE],
  Array.from({ length: 300 }, (_, index) => Buffer.alloc(index, index)),
];

describe.runIf(HAS_LIBZMQ)('with libzmq', () => {
  it.each(['client', 'server'])('a DEALER that connects as %s exchanges any frames with our router', async (role) => {
    const port = router(role === 'client' ? AS_SERVER : { ...AS_CLIENT, keys: SERVER, serverKey: CLIENT.publicKey });
    const theirs = kept(
      new zmq.Dealer(
        role === 'client'
          ? { ...theirClient, routingId: 'chosen' }
          : { ...theirServer, curveSecretKey: z85(CLIENT.secretKey), curvePublicKey: z85(CLIENT.publicKey) },
      ),
    );
    theirs.connect(await port.bind(TCP));
    const ours = new TestPeer(port);
    ours.onEach = (peer, frames) => {
      expect(z85(peer.publicKey!)).toBe(z85(CLIENT.publicKey));
      port.send(peer, frames);
    };
    for (const body of BODIES) {
      await theirs.send(body);
      const back = await theirs.receive();
      expect([back.length, Buffer.compare(Buffer.concat(back), Buffer.concat(body))]).toEqual([body.length, 0]);
    }
  });

  it('a ROUTER that binds as server talks to our dealer', async () => {
    const theirs = kept(new zmq.Router(theirServer));
    const port = dealer(AS_CLIENT, { routingId: Buffer.from('worker-7') });
    port.connect(await bound(theirs));
    const ours = new TestPeer(port);
    ours.tell('hello||world');
    expect(text(await theirs.receive())).toBe('worker-7|hello||world');
    await theirs.send(['worker-7', LARGE]);
    await ours.received(1);
    expect(Buffer.compare(ours.messages[0]!.frames[0]!, LARGE)).toBe(0);
  });

  it('our router connects as client to a bound DEALER', async () => {
    const theirs = kept(new zmq.Dealer(theirServer));
    const port = router(AS_CLIENT);
    port.connect(await bound(theirs));
    const ours = new TestPeer(port);
    await theirs.send('hello');
    const { peer } = await ours.message(0);
    expect(z85(peer.publicKey!)).toBe(z85(SERVER.publicKey));
    ours.say(peer, 'answer');
    expect(text(await theirs.receive())).toBe('answer');
  });

  it('a REQ talks to a router, a dealer to a REP', async () => {
    const port = router(AS_SERVER);
    const request = kept(new zmq.Request(theirClient));
    request.connect(await port.bind(TCP));
    const ours = new TestPeer(port);
    ours.onEach = (peer, frames) => {
      port.send(peer, frames);
    };
    await request.send('hello');
    expect(text(await request.receive())).toBe('hello');

    const reply = kept(new zmq.Reply(theirServer));
    const asking = dealer(AS_CLIENT);
    asking.connect(await bound(reply));
    const asks = new TestPeer(asking);
    asks.tell('|question');
    await reply.send(await reply.receive());
    expect((await asks.message(0)).text).toBe('|question');
  });

  it('heartbeats of both sides go through the encryption', async () => {
    const port = router(AS_SERVER, { connectionHeartbeatMs: 20, connectionTimeoutMs: 30_000 });
    const theirs = kept(new zmq.Dealer({ ...theirClient, heartbeatInterval: 20, heartbeatTimeout: 30_000 }));
    const relay = await ByteRelay.to(await port.bind(TCP));
    theirs.connect(kept(relay).endpoint);
    const ours = new TestPeer(port);
    // HELLO, INITIATE, and then only PINGs and PONGs, each in a MESSAGE.
    await relay.says('there', '\x07MESSAGE', 6);
    await relay.says('back', '\x07MESSAGE', 6);
    await theirs.send('still here');
    expect((await ours.message(0)).text).toBe('still here');
  });

  it('a client whose key is not authorized learns of it, and so does our listener', async () => {
    const asked: Uint8Array[] = [];
    const port = router({ ...AS_SERVER, authorize: (key) => asked.push(key) < 0 });
    const theirs = kept(new zmq.Dealer(theirClient));
    const denied = new Promise<unknown>((resolve) => theirs.events.on('handshake:error:auth', resolve));
    theirs.connect(await port.bind(TCP));
    const gate = new Gate(port);
    await gate.told;
    expect(gate.refusals[0]!.reason).toBe('key');
    expect(z85(gate.refusals[0]!.publicKey!)).toBe(z85(CLIENT.publicKey));
    expect(gate.refusals[0]!.address).toMatch(/^tcp:\/\/127\.0\.0\.1:\d+$/);
    expect(z85(asked[0]!)).toBe(z85(CLIENT.publicKey));
    expect(await denied).toMatchObject({ type: 'handshake:error:auth' });
  });

  it.each([
    ['another key of ours', { curveServerKey: z85(CLIENT.publicKey) }],
    ['the mechanism NULL', { curveServerKey: undefined, curvePublicKey: undefined, curveSecretKey: undefined }],
  ])('a client that expects %s is refused', async (_, options) => {
    const port = router(AS_SERVER);
    const given = Object.fromEntries(
      Object.entries({ ...theirClient, ...options }).filter(([, value]) => value !== undefined),
    );
    const theirs = kept(new zmq.Dealer(given));
    theirs.connect(await port.bind(TCP));
    const gate = new Gate(port);
    await gate.told;
    expect(gate.refusals[0]).toMatchObject({ reason: 'handshake' });
  });
});

describe('among ourselves', () => {
  it('each message of a router carries its sender’s key', async () => {
    const port = router(AS_SERVER);
    const endpoint = await port.bind(TCP);
    const ours = new TestPeer(port);
    const clients = [newKeys(), newKeys()].map((keys) => {
      const client = dealer({ ...AS_CLIENT, keys });
      client.connect(endpoint);
      new TestPeer(client).tell(z85(keys.publicKey), 'again');
      return keys;
    });
    await ours.received(4);
    for (const { peer, frames } of ours.messages) {
      const sent = Buffer.from(frames[0]!).toString();
      if (sent !== 'again') expect(z85(peer.publicKey!)).toBe(sent);
    }
    expect(new Set(ours.messages.map(({ peer }) => z85(peer.publicKey!)))).toEqual(
      new Set(clients.map(({ publicKey }) => z85(publicKey))),
    );
  });

  it('a routing id is handed over only to the same key', async () => {
    const thief = newKeys();
    const asked: string[] = [];
    let look: () => void = () => undefined;
    const authorize = (key: Uint8Array) => {
      asked.push(z85(key));
      look();
      return true;
    };
    const came = (count: number) =>
      new Promise<void>((resolve) => {
        look = () => {
          if (asked.length >= count) resolve();
        };
        look();
      });
    const port = router({ ...AS_SERVER, authorize }, { handover: true });
    const endpoint = await port.bind(TCP);
    const ours = new TestPeer(port);
    const named = (keys: CurveKeys) => {
      const client = dealer({ ...AS_CLIENT, keys }, { routingId: Buffer.from('name') });
      client.connect(endpoint);
      return new TestPeer(client);
    };
    const owner = named(CLIENT);
    owner.tell('owner');
    await ours.received(1);

    named(thief).tell('thief');
    await came(2);
    owner.tell('still the owner');
    await ours.received(2);
    expect([ours.texts, ours.gone]).toEqual([['owner', 'still the owner'], []]);

    const successor = named(CLIENT);
    successor.tell('successor');
    await came(3);
    await owner.port.close();
    await ours.received(3);
    expect([ours.texts.at(-1), ours.gone]).toEqual(['successor', ['name']]);
  });

  it('a client that reaches an unexpected server learns of it, and so does the server', async () => {
    const port = router(AS_SERVER);
    const client = dealer({ ...AS_CLIENT, serverKey: CLIENT.publicKey });
    client.connect(await port.bind(TCP));
    const gates = [new Gate(port), new Gate(client)];
    await Promise.all(gates.map(({ told }) => told));
    expect(gates.map(({ refusals }) => refusals[0]!.reason)).toEqual(['handshake', 'handshake']);
  });

  it('a connection without a greeting is not reported as a refusal', async () => {
    const failures: string[] = [];
    let told: () => void = () => undefined;
    const failed = new Promise<void>((resolve) => (told = resolve));
    const hasty = new ZmtpTransport({
      handshakeTimeoutMs: 50,
      onConnectionFailed: ({ code }) => {
        failures.push(code);
        told();
      },
    });
    const port = kept(hasty.router({ curve: AS_SERVER, lingerMs: 0 }));
    const endpoint = await port.bind(TCP);
    const gate = new Gate(port);
    const silent = connect(Number(endpoint.split(':')[2]), '127.0.0.1');
    silent.on('error', () => undefined);
    await failed;
    silent.destroy();
    expect([failures, gate.refusals]).toEqual([['handshake-timeout'], []]);
  });

  it('a dealer keeps its messages until it is authorized', async () => {
    let open = false;
    let asked = 0;
    const port = router({ ...AS_SERVER, authorize: () => (asked++, open) });
    const client = dealer(AS_CLIENT);
    client.connect(await port.bind(TCP));
    const gate = new Gate(port);
    const ours = new TestPeer(client);
    ours.tell('kept');
    await gate.told;
    open = true;
    expect((await gate.message(0)).text).toBe('kept');
    expect(asked).toBeGreaterThan(1);
    port.send(gate.messages[0]!.peer, [Buffer.from('welcome')]);
    expect((await ours.message(0)).peer.key).toBe(ROUTER_PEER.key);
  });
});
