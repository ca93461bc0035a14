/**
 * ZMTP in TypeScript with libzmq in another process: every pattern, both directions, both bind orders, NULL and CURVE.
 */
import { connect as connectTo } from 'node:net';
import { ROUTER_PEER } from '@proj/transport';
import type { Peer, PortOptions } from '@proj/transport';
import { ZmtpTransport } from '@proj/zmtp';
import { describe, expect, it } from 'vitest';
import { MECHANISMS, Ours, pattern, stage, TCP, told } from './stage.js';
import type { Theirs } from './stage.js';

const { transport, keep, theirs, old } = stage();

const SMALL: readonly (readonly string[])[] = [['hello'], [''], ['', '', 'x', ''], ['\0\x01\x02\xff', 'a'.repeat(255)]];
const LARGE = [[8_388_608], [255, 256, 8191, 8192, 65_536], Array.from({ length: 800 }, (_, index) => index % 300)];
const BURST = 2_000;
const ENOUGH: PortOptions = { lingerMs: 0, peerQueueMax: 10_000 };
/** Many heartbeats before a peer is given up, and more patience than a live peer needs on a busy machine. */
const BEATS: PortOptions = { ...ENOUGH, connectionHeartbeatMs: 20, connectionTimeoutMs: 4_000 };

const frames = (texts: readonly string[]) => texts.map((text) => Buffer.from(text, 'latin1'));

describe.each(MECHANISMS)('$name', ({ name, ours: mine, theirs: flags }) => {
  /** All kinds of messages, from them to us and back. */
  async function converse(peer: Theirs, ours: Ours): Promise<void> {
    ours.echo = true;
    for (const message of SMALL) {
      peer.send(...message);
      expect(told((await ours.heard()).frames)).toEqual(message);
      expect(await peer.heard()).toEqual(message);
    }
    for (const sizes of LARGE) {
      peer.process.tell({ do: 'send', sizes });
      expect(told((await ours.heard()).frames)).toEqual(told(pattern(sizes)));
      expect(await peer.heard()).toEqual(told(pattern(sizes)));
    }
    peer.process.tell({ do: 'burst', count: BURST });
    for (let number = 0; number < BURST; number++) {
      const expected = [number.toString()];
      expect(told((await ours.heard()).frames)).toEqual(expected);
    }
    for (let number = 0; number < BURST; number++) expect(await peer.heard()).toEqual([number.toString()]);
  }

  it('DEALER connects to our router', async () => {
    const port = keep(transport.router({ ...ENOUGH, ...mine.server }));
    const connect = await port.bind(TCP);
    const ours = new Ours(port);
    await converse(theirs('DEALER', { connect, identity: '776f726b6572', ...flags.client }), ours);
    const { peer } = ours.messages[0]!;
    expect([peer.key, peer.publicKey === undefined]).toEqual(['worker', name === 'NULL']);
  });

  it('our router connects to a DEALER', async () => {
    const peer = theirs('DEALER', { bind: TCP, ...flags.server });
    const port = keep(transport.router({ ...ENOUGH, ...mine.client }));
    port.connect(await peer.endpoint());
    await converse(peer, new Ours(port));
  });

  it('a ROUTER connects to our router, and both use the same names', async () => {
    const port = keep(transport.router({ ...ENOUGH, ...mine.server }));
    const connect = await port.bind(TCP);
    const ours = new Ours(port);
    theirs('ROUTER', { connect, echo: 1, identity: '7468656d', ...flags.client });
    // Routers refuse messages to peers that are not connected yet.
    const asking = keep(new Asking(ours, { key: 'them', id: Buffer.from('them') }));
    expect(told((await asking.answered).frames)).toEqual(['', 'again']);
    expect(ours.messages[0]?.peer.key).toBe('them');
  });

  it('our dealer connects to a ROUTER', async () => {
    const peer = theirs('ROUTER', { bind: TCP, echo: 1, ...flags.server });
    const port = keep(transport.dealer({ ...ENOUGH, routingId: Buffer.from('us'), ...mine.client }));
    port.connect(await peer.endpoint());
    const ours = new Ours(port);
    for (const message of SMALL) {
      port.send(ROUTER_PEER, frames(message));
      expect(await peer.heard()).toEqual(['us', ...message]);
      expect(told((await ours.heard()).frames)).toEqual(message);
    }
    for (const sizes of LARGE) {
      const body = pattern(sizes);
      port.send(ROUTER_PEER, body);
      expect(await peer.heard()).toEqual(told([Buffer.from('us'), ...body]));
      expect(told((await ours.heard()).frames)).toEqual(told(body));
    }
    for (let number = 0; number < BURST; number++) port.send(ROUTER_PEER, frames([number.toString()]));
    for (let number = 0; number < BURST; number++)
      expect(told((await ours.heard()).frames)).toEqual([number.toString()]);
  });

  it('a ROUTER connects to our dealer', async () => {
    const port = keep(transport.dealer({ ...ENOUGH, ...mine.server }));
    const connect = await port.bind(TCP);
    const ours = new Ours(port);
    const peer = theirs('ROUTER', { connect, echo: 1, ...flags.client });
    // A dealer that binds has no peer until one has connected.
    await peer.process.line('ready');
    const hello = keep(new Asking(ours));
    await hello.answered;
    expect(await peer.heard()).toHaveLength(3);
  });

  it('DEALER connects to our dealer, and ours to it', async () => {
    const port = keep(transport.dealer({ ...ENOUGH, ...mine.server }));
    const connect = await port.bind(TCP);
    await converse(theirs('DEALER', { connect, ...flags.client }), new Ours(port));
    const bound = theirs('DEALER', { bind: TCP, ...flags.server });
    const second = keep(transport.dealer({ ...ENOUGH, ...mine.client }));
    second.connect(await bound.endpoint());
    await converse(bound, new Ours(second));
  });

  it('REQ asks our router, connecting and bound', async () => {
    const port = keep(transport.router({ ...ENOUGH, ...mine.server }));
    const connect = await port.bind(TCP);
    const ours = new Ours(port);
    ours.echo = true;
    const peer = theirs('REQ', { connect, ...flags.client });
    for (const question of ['one', 'two']) {
      peer.send(question);
      expect(told((await ours.heard()).frames)).toEqual(['', question]);
      expect(await peer.heard()).toEqual([question]);
    }
    const bound = theirs('REQ', { bind: TCP, ...flags.server });
    const second = keep(transport.router({ ...ENOUGH, ...mine.client }));
    second.connect(await bound.endpoint());
    const asked = new Ours(second);
    asked.echo = true;
    bound.send('three');
    expect(await bound.heard()).toEqual(['three']);
  });

  it('our dealer asks a REP, which is bound or connects', async () => {
    const peer = theirs('REP', { bind: TCP, echo: 1, ...flags.server });
    const port = keep(transport.dealer({ ...ENOUGH, ...mine.client }));
    port.connect(await peer.endpoint());
    const ours = new Ours(port);
    port.send(ROUTER_PEER, frames(['', 'question']));
    expect(told((await ours.heard()).frames)).toEqual(['', 'question']);

    const bound = keep(transport.dealer({ ...ENOUGH, ...mine.server }));
    const connect = await bound.bind(TCP);
    const asking = new Ours(bound);
    theirs('REP', { connect, echo: 1, ...flags.client });
    await keep(new Asking(asking)).answered;
  });

  it('SUB and XSUB receive from our publisher, our subscriber from a PUB and an XPUB', async () => {
    const publisher = keep(transport.publisher({ lingerMs: 0, ...mine.server }));
    const connect = await publisher.bind(TCP);
    publisher.start({ onBroken: fail });
    const sub = theirs('SUB', { connect, ...flags.client });
    sub.process.tell({ do: 'subscribe', prefix: '61' });
    const xsub = theirs('XSUB', { connect, ...flags.client });
    xsub.send('\x01a');
    const timer = setInterval(() => {
      publisher.publish(frames(['b', 'no']));
      publisher.publish(frames(['a', 'yes']));
    }, 5);
    for (const peer of [sub, xsub]) expect(await peer.heard()).toEqual(['a', 'yes']);
    clearInterval(timer);

    for (const type of ['PUB', 'XPUB']) {
      const peer = theirs(type, { bind: TCP, ...flags.server });
      const port = keep(transport.subscriber(mine.client));
      port.subscribe(Buffer.from('a'));
      port.connect(await peer.endpoint());
      const heard = new Promise<Uint8Array[]>((resolve) => {
        port.start({ onMessage: resolve, onRejected: () => undefined, onBroken: fail });
      });
      if (type === 'XPUB') expect(await peer.heard()).toEqual(['\x01a']);
      const repeat = setInterval(() => {
        peer.send('b', 'no');
        peer.send('a', 'yes');
      }, 20);
      expect(told(await heard)).toEqual(['a', 'yes']);
      clearInterval(repeat);
    }
  });

  it('heartbeats of both sides keep an idle connection alive beyond the silence limit', async () => {
    const port = keep(transport.router({ ...BEATS, ...mine.server }));
    const connect = await port.bind(TCP);
    const ours = new Ours(port);
    ours.echo = true;
    const peer = theirs('DEALER', { connect, 'heartbeat-ms': 20, ...flags.client });
    for (const word of ['before', 'after']) {
      peer.send(word);
      expect(told((await ours.heard()).frames)).toEqual([word]);
      expect(await peer.heard()).toEqual([word]);
      if (word === 'before') await silentPeerIsGivenUp();
    }
    expect(new Set(ours.messages.map(({ peer: { key } }) => key)).size).toBe(1);
  });
});

it('PLAIN admits a libzmq client by name and password', async () => {
  const plain = {
    role: 'server',
    authorize: (username: string, password: string) => username === 'name' && password === 'secret',
  } as const;
  const port = keep(new ZmtpTransport({ plain }).router(ENOUGH));
  const connect = await port.bind(TCP);
  const ours = new Ours(port);
  theirs('DEALER', { connect, username: 'name', password: 'wrong' }).send('wrong');
  theirs('DEALER', { connect, username: 'name', password: 'secret' }).send('right');
  expect(told((await ours.heard()).frames)).toEqual(['right']);
  expect(ours.messages).toHaveLength(1);
});

it('a DEALER of ZMTP 3.0, written from 23/ZMTP, is understood and answered, and gets nothing it does not know', async () => {
  const port = keep(transport.router(BEATS));
  const connect = await port.bind(TCP);
  const ours = new Ours(port);
  const peer = old('DEALER', { connect });
  await peer.process.line('ready');
  // A PING would end it.
  await silentPeerIsGivenUp();
  for (const message of [['hello'], ['', 'x'.repeat(300)], ['']]) {
    peer.send(...message);
    const heard = await ours.heard();
    expect([heard.peer.key, told(heard.frames)]).toEqual(['old', message]);
    port.send(heard.peer, heard.frames);
    expect(await peer.heard()).toEqual(message);
    // It echoes what it receives.
    expect(told((await ours.heard()).frames)).toEqual(message);
  }
  expect(peer.process.lines('unknown')).toEqual([]);
});

it('a SUB and a PUB of ZMTP 3.0 get subscriptions and messages in the form they know', async () => {
  const publisher = keep(transport.publisher({ lingerMs: 0 }));
  const connect = await publisher.bind(TCP);
  publisher.start({ onBroken: fail });
  const sub = old('SUB', { connect });
  sub.send('\x01a');
  const publishing = setInterval(() => {
    publisher.publish(frames(['b', 'no']));
    publisher.publish(frames(['a', 'yes']));
  }, 20);
  expect(await sub.heard()).toEqual(['a', 'yes']);
  clearInterval(publishing);

  const pub = old('PUB', { bind: TCP });
  const port = keep(transport.subscriber());
  port.subscribe(Buffer.from('a'));
  port.connect(await pub.endpoint());
  const heard = new Promise<Uint8Array[]>((resolve) => {
    port.start({ onMessage: resolve, onRejected: () => undefined, onBroken: fail });
  });
  expect(await pub.heard()).toEqual(['\x01a']);
  pub.send('b', 'no');
  pub.send('a', 'yes');
  expect(told(await heard)).toEqual(['a', 'yes']);
  expect([...sub.process.lines('unknown'), ...pub.process.lines('unknown')]).toEqual([]);
});

/** Asks again until it is answered: sockets that bind refuse messages while no peer is connected. */
class Asking {
  readonly answered: ReturnType<Ours['heard']>;
  readonly #timer: NodeJS.Timeout;

  constructor(ours: Ours, peer: Peer = ROUTER_PEER) {
    this.#timer = setInterval(() => {
      if (ours.messages.length === 0) ours.port.send(peer, frames(['', 'again']));
    }, 20);
    this.answered = ours.heard();
  }

  close(): Promise<void> {
    clearInterval(this.#timer);
    return Promise.resolve();
  }
}

/** Resolves when a router with {@link BEATS} has cut a peer that sent only the minimum. */
async function silentPeerIsGivenUp(): Promise<void> {
  const port = keep(transport.router(BEATS));
  const endpoint = await port.bind(TCP);
  const gone = new Promise<void>((resolve) => {
    const ours = new Ours(port);
    ours.onPeerGone = resolve;
  });
  const socket = connectTo(Number(endpoint.split(':')[2]), '127.0.0.1');
  socket.on('error', () => undefined);
  const greeting = `ff00000000000000007f03014e554c4c${'00'.repeat(48)}`;
  socket.write(Buffer.from(`${greeting}041c0552454144590b536f636b65742d54797065000000064445414c4552`, 'hex'));
  await gone;
  socket.destroy();
}

function fail(error: Error): never {
  throw error;
}
