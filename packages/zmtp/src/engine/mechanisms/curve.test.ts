import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { nodePrimitives, pairOf } from '../../primitives.js';
import { newKeys } from '../../test/keys.js';
import { fromHex, LIBZMQ, EngineRecorder, toHex } from '../../test/recorder.js';
import type { ConnectionSettings } from '../events.js';
import { PeerNonces } from './curve-cipher.js';
import { curve } from './curve.js';
import { READ_MAX_BYTES } from '../framing/reader.js';

const allocate = (bytes: number) => Buffer.allocUnsafe(bytes);
const CLIENT = newKeys();
const SERVER = newKeys();
const BASE = { primitives: nodePrimitives, allocate };
const SIZES = { maxMessageBytes: 1_000, maxFrameBytes: 2_000 };

/** Length of flags and size, the name, and the command's size in 26/CURVEZMQ. */
const HELLO = 2 + 200;
const WELCOME = 2 + 168;

function client(
  settings: Partial<ConnectionSettings> = {},
  keys = CLIENT,
  serverKey = SERVER.publicKey,
): EngineRecorder {
  const security = curve({ ...BASE, pair: pairOf(keys), side: { role: 'client', serverKey } });
  return new EngineRecorder({ ...SIZES, socketType: 'DEALER', allocate, security, ...settings });
}

function server(
  authorize: (key: Uint8Array) => boolean = () => true,
  settings: Partial<ConnectionSettings> = {},
): EngineRecorder {
  const security = curve({ ...BASE, pair: pairOf(SERVER), side: { role: 'server', authorize } });
  return new EngineRecorder({ ...SIZES, allocate, security, ...settings });
}

/** Delivers the output of one to the other, and returns it. */
function pass(from: EngineRecorder, to: EngineRecorder, change: (hex: string) => string = (hex) => hex): string {
  const said = change(from.output());
  to.receive(said);
  return said;
}

/** The whole handshake, or as much of it as both sides take part in. */
function meet(one: EngineRecorder, other: EngineRecorder): void {
  for (let turn = 0; turn < 3; turn++) {
    pass(one, other);
    pass(other, one);
  }
}

function met(settings: Partial<ConnectionSettings> = {}): { dealer: EngineRecorder; router: EngineRecorder } {
  const [dealer, router] = [client(settings), server(undefined, settings)];
  meet(dealer, router);
  return { dealer, router };
}

const frames = (...texts: readonly string[]) => texts.map((text) => Buffer.from(text));
const sealed = (from: EngineRecorder, ...messages: readonly (readonly Uint8Array[])[]) =>
  from.connection.take(messages).map(toHex).join('');
/** Changes a digit at this position, counted in bytes from the front or from the end. */
const damaged = (hex: string, at: number): string => {
  const bytes = Buffer.from(hex, 'hex');
  const index = at < 0 ? bytes.length + at : at;
  bytes[index] = bytes[index]! ^ 1;
  return bytes.toString('hex');
};

describe('the handshake of CURVE', () => {
  it('has the commands of 26/CURVEZMQ, in their sizes, and identifies each side to the other', () => {
    const [dealer, router] = [client({ identity: Buffer.from('me') }), server()];
    const [first, greeting, hello, welcome] = [pass(dealer, router), pass(router, dealer), dealer.output(), ''];
    expect([first.length / 2, greeting.length / 2]).toEqual([64, 64]);
    expect([first.slice(20, 66), greeting.slice(20, 66)]).toEqual([
      `03014355525645${'00'.repeat(15)}00`,
      `03014355525645${'00'.repeat(15)}01`,
    ]);
    expect([hello.length / 2, hello.slice(0, 20)]).toEqual([HELLO, '04c80548454c4c4f0100']);
    expect(hello.slice(20, 20 + 144)).toBe('00'.repeat(72));
    expect(hello.slice(2 * (2 + 112), 2 * (2 + 120))).toBe('0000000000000001');
    router.receive(hello);
    const answer = router.output();
    expect([answer.length / 2, answer.slice(0, 20), welcome]).toEqual([WELCOME, '04a80757454c434f4d45', '']);
    dealer.receive(answer);
    const initiate = dealer.output();
    // Our properties: Socket-Type DEALER and Identity.
    const properties = 1 + 11 + 4 + 6 + (1 + 8 + 4 + 2);
    expect(initiate.length / 2).toBe(9 + 257 + properties);
    expect(initiate.slice(0, 36)).toBe(`06${(257 + properties).toString(16).padStart(16, '0')}08494e495449415445`);
    router.receive(initiate);
    const ready = router.output();
    expect([ready.length / 2, ready.slice(4, 32)]).toEqual([2 + 30 + 22, '0552454144590000000000000001']);
    dealer.receive(ready);
    expect([router.story, dealer.story]).toEqual([['ready me'], ['ready ']]);
    expect([router.publicKey, dealer.publicKey].map((key) => toHex(key!))).toEqual(
      [CLIENT, SERVER].map(({ publicKey }) => toHex(publicKey)),
    );
  });

  it('has a client that waits for the greeting, and a server that waits for HELLO', () => {
    expect(client().output().length).toBe(128);
    const router = server();
    const signature = router.output();
    expect(signature).toBe('ff00000000000000007f');
    router.receive(client().output());
    expect((signature + router.output()).length).toBe(128);
  });

  it('has a server that sends its mechanism only after the first byte from the peer', () => {
    const router = server();
    router.output();
    expect(router.output()).toBe('');
    expect(router.receive('ff').output().slice(4, 14)).toBe('4355525645');
    expect(router.receive('00').output()).toBe('');
  });

  it.each(['2.0', '1.1'])('refuses CurveZMQ %s', (version) => {
    const [dealer, router] = [client(), server()];
    pass(dealer, router);
    pass(router, dealer);
    const digits = version.split('.').map((digit) => `0${digit}`);
    pass(dealer, router, (hex) => hex.replace('48454c4c4f0100', `48454c4c4f${digits.join('')}`));
    expect(router.story).toEqual(['failed security']);
  });

  it.each([
    ['the key', 90],
    ['the nonce', 115],
    ['the box', -1],
  ])('fails for a HELLO with another bit in %s', (_, at) => {
    const [dealer, router] = [client(), server()];
    pass(dealer, router);
    pass(router, dealer);
    pass(dealer, router, (hex) => damaged(hex, at));
    expect([router.story, router.output()]).toEqual([['failed security'], '']);
  });

  it('fails for a WELCOME from a peer without the server’s key', () => {
    const impostor = server();
    const dealer = client({}, CLIENT, newKeys().publicKey);
    meet(dealer, impostor);
    expect([impostor.story, dealer.story]).toEqual([['failed security'], []]);
    const other = client();
    const router = server();
    pass(other, router);
    pass(router, other);
    pass(other, router);
    pass(router, other, (hex) => damaged(hex, -1));
    expect(other.story).toEqual(['failed security']);
  });

  it.each([
    ['cookie', 20],
    ['nonce', 9 + 9 + 96 + 3],
    ['box', -1],
  ])('fails for an INITIATE with another bit in its %s', (_, at) => {
    const [dealer, router] = [client(), server()];
    for (let turn = 0; turn < 2; turn++) {
      pass(dealer, router);
      pass(router, dealer);
    }
    pass(dealer, router, (hex) => damaged(hex, at));
    expect([router.story, router.output()]).toEqual([['failed security'], '']);
  });

  it('fails for a replay of a whole conversation', () => {
    const [dealer, router] = [client(), server()];
    const said: string[] = [];
    for (let turn = 0; turn < 3; turn++) {
      said.push(pass(dealer, router));
      pass(router, dealer);
    }
    expect(router.story).toEqual(['ready ']);
    const again = server();
    again.receive(...said);
    expect(again.story).toEqual(['failed security']);
  });

  it('fails for a client that sends a key it does not own', () => {
    const stolen = { publicKey: newKeys().publicKey, secretKey: CLIENT.secretKey };
    const asked: Uint8Array[] = [];
    const [dealer, router] = [client({}, stolen), server((key) => asked.push(key) > 0)];
    meet(dealer, router);
    expect([router.story, asked]).toEqual([['failed security'], []]);
  });

  it('asks once whether a key is authorized, and sends ERROR 400 if it is not', () => {
    const asked: string[] = [];
    const [dealer, router] = [client(), server((key) => asked.push(toHex(key)) < 0)];
    meet(dealer, router);
    expect([router.story, dealer.story]).toEqual([['failed denied'], ['failed denied']]);
    expect([asked, dealer.failure]).toEqual([[toHex(CLIENT.publicKey)], 'the peer refused: "400"']);
  });

  it('fails for commands in another order, and for commands of NULL', () => {
    for (const early of ['0405524541445900', '040a08494e495449415445ff', '0409074d455353414745ff']) {
      const router = server();
      router.receive(client().output(), early);
      expect(router.story).toHaveLength(1);
      expect(router.story[0]).toMatch(/^failed (malformed|security)$/);
    }
  });

  it('fails for a key of small order, whose shared key anybody can compute', () => {
    const [dealer, router] = [client(), server()];
    pass(dealer, router);
    pass(router, dealer);
    const zero = (hex: string) => hex.slice(0, 2 * 82) + '00'.repeat(32) + hex.slice(2 * 114);
    pass(dealer, router, zero);
    expect(router.story).toEqual(['failed security']);
  });

  it('fails for malformed properties, and for an incompatible socket type', () => {
    const [dealer, router] = [client({ socketType: 'SUB' }), server()];
    meet(dealer, router);
    expect([router.story, dealer.story]).toEqual([['failed socket-type'], ['failed refused']]);
  });
});

describe('traffic with CURVE', () => {
  it('carries messages both ways, with nothing in clear text', () => {
    const { dealer, router } = met();
    const said = sealed(dealer, frames('hello', '', 'x'.repeat(300)), frames('second'));
    expect(said).not.toContain(toHex(Buffer.from('hello')));
    expect(said.slice(0, 4 + 16)).toBe('0026074d455353414745');
    router.receive(said);
    dealer.receive(sealed(router, frames('answer')));
    expect(router.story.slice(1)).toEqual([`message hello||${'x'.repeat(300)}`, 'message second']);
    expect(dealer.story.slice(1)).toEqual(['message answer']);
  });

  it('applies the limits to the plaintext', () => {
    const { dealer, router } = met({ maxMessageFrames: 2, maxMessageBytes: 100, maxFrameBytes: 150 });
    const sizes = [[100], [60, 41], [120, 1], [1, 1, 1, 1], [1]];
    router.receive(sealed(dealer, ...sizes.map((message) => message.map((size) => Buffer.alloc(size, 0x61)))));
    expect(router.story.slice(1)).toEqual([
      `message ${'a'.repeat(100)}`,
      'rejected too-large',
      'rejected too-large',
      'rejected too-many-frames',
      'message a',
    ]);
    router.receive('0200000000000021');
    router.receive('ff');
    expect(router.story.at(-1)).toBe('failed too-large');
  });

  it.each([
    ['damaged', (hex: string) => damaged(hex, -1)],
    ['replayed', (hex: string) => hex + hex],
    ['sent back to its sender', (hex: string) => hex, true],
    ['cut short', () => '0010' + '074d455353414745' + '00'.repeat(8)],
    ['in clear text', () => '000568656c6c6f'],
    ['a PING in clear text', () => '0407' + '0450494e470000'],
    ['marked MORE outside the box', (hex: string) => '01' + hex.slice(2)],
  ])('ends with a frame that is %s', (_, change, back = false) => {
    const { dealer, router } = met();
    (back ? dealer : router).receive(change(sealed(dealer, frames('hello'))));
    const { story } = back ? dealer : router;
    expect(story.at(-1)).toMatch(/^failed (security|malformed)$/);
  });

  it.each([
    ['all at once', Infinity],
    ['in pieces', 50_001],
    ['in small pieces', 1_000],
  ])('opens a long frame that arrives %s, together with its neighbours and limits', (_, bytes) => {
    const limits = { maxMessageBytes: 150_000, maxFrameBytes: 160_000 };
    const { dealer, router } = met(limits);
    const bodies = [[3, 150_000 - 3], [65_536], [65_537], [155_000], [1]].map((sizes) =>
      sizes.map((size) => randomBytes(size)),
    );
    const said = Buffer.from(sealed(dealer, ...bodies), 'hex');
    for (let at = 0; at < said.length; at += bytes)
      router.connection.receive(Uint8Array.from(said.subarray(at, at + bytes)), 0);
    expect(router.story.filter((line) => !line.startsWith('message'))).toEqual(['ready ', 'rejected too-large']);
    const taken = bodies.filter(([first]) => first!.length !== 155_000);
    expect(router.frames.map((frames) => Buffer.concat(frames).equals(Buffer.concat(taken.shift()!)))).toEqual(
      Array.from({ length: 4 }, () => true),
    );
  });

  it.each([
    ['name', 12],
    ['nonce', 9 + 8],
    ['authenticator', 9 + 16],
    ['first bytes', 9 + 40],
    ['last byte', -1],
  ])('delivers nothing of a long frame with another bit in its %s', (_, at) => {
    const { dealer, router } = met({ maxMessageBytes: 150_000, maxFrameBytes: 160_000 });
    const said = fromHex(damaged(sealed(dealer, [Buffer.alloc(150_000, 'abc')]), at));
    for (let from = 0; from < said.length && router.failure === undefined; from += 40_000)
      router.connection.receive(said.subarray(from, from + 40_000), 0);
    expect(router.story.slice(1)).toEqual(['failed security']);
  });

  it('reads no more of a long sealed frame at once than it opens in a turn', () => {
    const { dealer, router } = met({ maxMessageBytes: 2_000_000, maxFrameBytes: 2_000_000 });
    const said = fromHex(sealed(dealer, [Buffer.alloc(2_000_000)]));
    const rooms: number[] = [];
    for (let at = 0; at < said.length;) {
      const bytes = router.connection.room?.length ?? 1_000;
      rooms.push(bytes);
      router.connection.receive(said.slice(at, at + bytes), 0);
      at += bytes;
    }
    expect(Math.max(...rooms)).toBe(READ_MAX_BYTES);
    expect(router.frames[0]![0]!.length).toBe(2_000_000);
  });

  it('accepts MESSAGE with the flag of a command, as other libraries send it', () => {
    const { dealer, router } = met();
    router.receive(sealed(dealer, frames('hello')).replace(/^00/, '04'));
    expect(router.story.slice(1)).toEqual(['message hello']);
  });

  it('seals PING and PONG, each with a nonce larger than all before', () => {
    const { dealer, router } = met({ heartbeatMs: 200 });
    dealer.connection.tick(200);
    const ping = dealer.output();
    expect(ping.slice(0, 20)).toBe('0028074d455353414745');
    router.receive(ping);
    const said = [router.output(), sealed(router, frames('a')), sealed(router, frames('b'))];
    expect(said.map((hex) => Number.parseInt(hex.slice(20, 36), 16))).toEqual([2, 3, 4]);
    dealer.receive(...said);
    expect(dealer.story.slice(1)).toEqual(['message a', 'message b']);
  });

  it('serves peers of ZMTP 3.0', () => {
    const [dealer, router] = [client({ heartbeatMs: 200 }), server(undefined, { heartbeatMs: 200 })];
    pass(dealer, router, (hex) => hex.replace('7f0301', '7f0300'));
    for (let turn = 0; turn < 3; turn++) {
      pass(router, dealer);
      pass(dealer, router);
    }
    expect([router.story, router.connection.noticesSilence]).toEqual([['ready '], false]);
  });

  it('is not available to a peer of NULL', () => {
    expect(server().receive(LIBZMQ.greeting).story).toEqual(['failed mechanism']);
  });
});

describe('nonces of the peer', () => {
  it('are compared in all 64 bits', () => {
    const nonces = new PeerNonces();
    const take = (hex: string) => nonces.take(new Uint8Array(16), Buffer.from(hex, 'hex')) !== undefined;
    expect(
      ['0000000000000000', '0000000000000001', '0000000000000001', '00000000ffffffff', '0000000100000000'].map(take),
    ).toEqual([false, true, false, true, true]);
    expect(['00000000fffffffe', '0000000100000001', 'ffffffffffffffff', 'ffffffffffffffff'].map(take)).toEqual([
      false,
      true,
      true,
      false,
    ]);
  });
});
