/** Compares our CURVE with libsodium's, byte for byte. A mistake that both our sides share would show here. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { nodePrimitives, pairOf } from '../../primitives.js';
import { EngineRecorder, SETTINGS, toHex } from '../../test/recorder.js';
import { curve } from './curve.js';
import type { CurveSettings } from './curve.js';

type Pair = Readonly<Record<'publicKey' | 'secretKey', string>>;
type Vectors = Readonly<Record<'client' | 'server' | 'clientTransient' | 'serverTransient', Pair>> &
  Readonly<Record<'cookie' | 'welcomeNonce' | 'vouchNonce' | 'hello' | 'welcome' | 'initiate' | 'ready', string>> &
  Readonly<Record<'clientMessage' | 'serverMessage', string>>;

const VECTORS = JSON.parse(readFileSync(new URL('../../../vectors/curve.json', import.meta.url), 'utf8')) as Vectors;
const BODY = [Buffer.from('hello'), Buffer.from(Array.from({ length: 300 }, (_, index) => index % 251))];
const SIZES = { maxMessageBytes: 1_000, maxFrameBytes: 2_000 };

const keysOf = ({ publicKey, secretKey }: Pair) => ({
  publicKey: Buffer.from(publicKey, 'hex'),
  secretKey: Buffer.from(secretKey, 'hex'),
});
const allocate = (bytes: number) => Buffer.allocUnsafe(bytes);

/** A side of CURVE with these bytes in place of random ones, and this transient pair. */
function fixed(pair: Pair, transient: Pair, drawn: readonly string[], side: CurveSettings['side']) {
  const left = drawn.map((hex) => Buffer.from(hex, 'hex'));
  const primitives = {
    ...nodePrimitives,
    newPair: () => pairOf(keysOf(transient)),
    random(bytes: number) {
      const next = left.shift();
      if (next?.length !== bytes) throw new Error(`${bytes} random bytes are asked for`);
      return next;
    },
  };
  return curve({ primitives, allocate, pair: pairOf(keysOf(pair)), side });
}

const CLIENT_SIDE = { role: 'client', serverKey: keysOf(VECTORS.server).publicKey } as const;
const SERVER_SIDE = { role: 'server', authorize: () => true } as const;

function dealer(): EngineRecorder {
  const security = fixed(VECTORS.client, VECTORS.clientTransient, [VECTORS.vouchNonce], CLIENT_SIDE);
  const identity = Buffer.from('worker-7');
  return new EngineRecorder({ ...SIZES, socketType: 'DEALER', identity, allocate, security });
}

function router(): EngineRecorder {
  const drawn = [VECTORS.cookie, VECTORS.welcomeNonce];
  const security = fixed(VECTORS.server, VECTORS.serverTransient, drawn, SERVER_SIDE);
  return new EngineRecorder({ ...SETTINGS, ...SIZES, allocate, security });
}

/** The output in answer. */
const answer = (one: EngineRecorder, hex: string): string => one.receive(hex).output();
const sealed = (one: EngineRecorder): string => one.connection.take([BODY]).map(toHex).join('');

describe('CURVE against libsodium', () => {
  it('a client sends these bytes and accepts those of a server', () => {
    const client = dealer();
    const greeting = client.output();
    const server = router();
    expect(answer(client, server.output() + answer(server, greeting))).toBe(VECTORS.hello);
    expect(answer(client, VECTORS.welcome)).toBe(VECTORS.initiate);
    expect(answer(client, VECTORS.ready)).toBe('');
    expect(sealed(client)).toBe(VECTORS.clientMessage);
    client.receive(VECTORS.serverMessage);
    expect(client.story[0]).toBe('ready ');
    expect(client.frames.map((frames) => frames.map(toHex))).toEqual([BODY.map(toHex)]);
  });

  it('a server sends these bytes and accepts those of a client', () => {
    const server = router();
    server.output();
    server.receive(dealer().output()).output();
    expect(answer(server, VECTORS.hello)).toBe(VECTORS.welcome);
    expect(answer(server, VECTORS.initiate)).toBe(VECTORS.ready);
    expect(sealed(server)).toBe(VECTORS.serverMessage);
    server.receive(VECTORS.clientMessage);
    expect(server.story[0]).toBe('ready worker-7');
    expect(toHex(server.publicKey!)).toBe(VECTORS.client.publicKey);
    expect(server.frames.map((frames) => frames.map(toHex))).toEqual([BODY.map(toHex)]);
  });
});
