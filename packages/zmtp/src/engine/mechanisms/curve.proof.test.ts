import { describe, expect, it } from 'vitest';
import { nodePrimitives, pairOf } from '../../primitives.js';
import { newKeys } from '../../test/keys.js';
import { curve } from './curve.js';
import type { Mechanism, Step } from './mechanism.js';
import { SCRATCH_BYTES, TAG_BYTES } from './primitives.js';

const CLIENT = newKeys();
const SERVER = newKeys();
const BASE = { primitives: nodePrimitives, allocate: (bytes: number) => Buffer.allocUnsafe(bytes) };
const NO_PROPERTIES = new Uint8Array(0);
const ZEROS = new Uint8Array(64);

const server = () =>
  curve({ ...BASE, pair: pairOf(SERVER), side: { role: 'server', authorize: () => true } }).handshake(NO_PROPERTIES);
const client = () =>
  curve({ ...BASE, pair: pairOf(CLIENT), side: { role: 'client', serverKey: SERVER.publicKey } }).handshake(
    NO_PROPERTIES,
  );

/** Name and data of a command frame. */
function read(frame: Uint8Array | undefined): { readonly name: string; readonly data: Uint8Array } {
  const bytes = Buffer.from(frame ?? []);
  const body = bytes.subarray(bytes[0] === 6 ? 9 : 2);
  const end = 1 + body.readUInt8(0);
  return { name: body.toString('latin1', 1, end), data: body.subarray(end) };
}

function box(key: Uint8Array | undefined, nonce: Uint8Array, plain: Uint8Array): Uint8Array {
  const space = new Uint8Array(SCRATCH_BYTES + TAG_BYTES + plain.length);
  space.set(plain, SCRATCH_BYTES + TAG_BYTES);
  nodePrimitives.seal(key!, nonce, space);
  return space.subarray(SCRATCH_BYTES);
}

const short = (count: number) => Uint8Array.of(0, 0, 0, 0, 0, 0, 0, count);
const nonceOf = (prefix: string, rest: Uint8Array) => Buffer.concat([Buffer.from(prefix, 'latin1'), rest]);

/** A client that sends what a test tells it to. */
class Forger {
  readonly transient = nodePrimitives.newPair();
  readonly pair = pairOf(CLIENT);
  #key: Uint8Array | undefined;

  hello(content: Uint8Array = ZEROS): Uint8Array {
    const sealed = box(this.transient.agree(SERVER.publicKey), nonceOf('CurveZMQHELLO---', short(1)), content);
    return Buffer.concat([Uint8Array.of(1, 0), new Uint8Array(72), this.transient.publicKey, short(1), sealed]);
  }

  /** The answer to WELCOME, with this vouch. */
  initiate({ say }: Step, proof: readonly Uint8Array[] = [this.transient.publicKey, SERVER.publicKey]): Uint8Array {
    const { data } = read(say);
    const nonce = nonceOf('WELCOME-', data.subarray(0, 16));
    const welcome = nodePrimitives.open(this.transient.agree(SERVER.publicKey)!, nonce, data.subarray(16))!;
    const [theirs, cookie] = [welcome.subarray(0, 32), welcome.subarray(32)];
    this.#key = this.transient.agree(theirs)!;
    const vouchNonce = nodePrimitives.random(16);
    const vouch = box(this.pair.agree(theirs), nonceOf('VOUCH---', vouchNonce), Buffer.concat(proof));
    const content = Buffer.concat([this.pair.publicKey, vouchNonce, vouch]);
    return Buffer.concat([cookie, short(2), box(this.#key, nonceOf('CurveZMQINITIATE', short(2)), content)]);
  }

  /** A traffic frame: flags and body. */
  message(count: number, name = '\x07MESSAGE'): Uint8Array {
    const sealed = box(this.#key, nonceOf('CurveZMQMESSAGEC', short(count)), Buffer.from('\0body'));
    return Buffer.concat([Buffer.from(name, 'latin1'), short(count), sealed]);
  }
}

/** How a server judges the handshake of this client. */
function meet(forger: Forger, ...proof: readonly Uint8Array[]): Step {
  const one = server();
  const welcome = one.step('HELLO', forger.hello());
  return one.step('INITIATE', forger.initiate(welcome, ...(proof.length === 0 ? [] : [proof])));
}

describe('the proof of a CURVE client', () => {
  it('covers its transient key and this server', () => {
    const { met } = meet(new Forger());
    expect(Buffer.from(met?.publicKey ?? []).equals(CLIENT.publicKey)).toBe(true);
  });

  it.each<[string, (forger: Forger) => readonly Uint8Array[]]>([
    ['another transient key', () => [newKeys().publicKey, SERVER.publicKey]],
    ['another server', ({ transient }) => [transient.publicKey, newKeys().publicKey]],
    ['nothing', () => [ZEROS]],
  ])('is not proved by a vouch for %s', (_, proof) => {
    const forger = new Forger();
    const { met, failure } = meet(forger, ...proof(forger));
    expect([met, failure]).toEqual([
      undefined,
      { code: 'security', text: 'the client did not prove that it has the key it sent' },
    ]);
  });

  it('requires a HELLO with nothing but zeros', () => {
    expect(server().step('HELLO', new Forger().hello(Uint8Array.from(ZEROS, () => 1))).failure?.code).toBe('security');
  });
});

describe('CURVE commands', () => {
  const failing = (one: Mechanism, name: string, data: Uint8Array) => one.step(name, data).failure?.text;

  it.each(['WELCOME', 'INITIATE', 'HELLP'])(
    'are bound to their name: the content of a HELLO is invalid in %s',
    (name) => {
      expect(failing(server(), name, new Forger().hello())).toBe(`"${name}" came before HELLO`);
    },
  );

  it('are bound to their name: the content of an INITIATE is invalid in READY', () => {
    const [one, forger] = [server(), new Forger()];
    const data = forger.initiate(one.step('HELLO', forger.hello()));
    expect(failing(one, 'READY', data)).toBe('"READY" came before INITIATE');
  });

  it('are bound to their name: the content of a WELCOME or READY is invalid elsewhere', () => {
    const [ours, theirs] = [client(), server()];
    const welcome = read(theirs.step('HELLO', read(ours.begin()).data).say).data;
    expect(failing(ours, 'READY', welcome)).toBe('"READY" came before WELCOME');
    const initiate = read(ours.step('WELCOME', welcome).say).data;
    const ready = read(theirs.step('INITIATE', initiate).say).data;
    expect(failing(ours, 'MESSAGE', ready)).toBe('"MESSAGE" came before READY');
    expect(ours.step('READY', ready).met).toBeDefined();
  });
});

describe('traffic of CURVE', () => {
  it('is a MESSAGE with a larger nonce than those of the handshake', () => {
    const forger = new Forger();
    const cipher = meet(forger).met?.cipher;
    expect(cipher?.open(forger.message(1))).toBeUndefined();
    expect(cipher?.open(forger.message(2))).toBeUndefined();
    expect(cipher?.open(forger.message(3, '\x07MESSAGF'))).toBeUndefined();
    expect(cipher?.open(forger.message(3, '\x06MESSAGE'))).toBeUndefined();
    expect(Buffer.from(cipher?.open(forger.message(3)) ?? []).toString()).toBe('\0body');
    expect(cipher?.open(forger.message(3))).toBeUndefined();
  });
});
