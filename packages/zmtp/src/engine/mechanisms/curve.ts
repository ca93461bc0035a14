/** Both sides of the handshake of 26/CURVEZMQ: HELLO, WELCOME, INITIATE, READY. */
import { bytesOf, concat } from '../framing/bytes.js';
import type { Allocate } from '../framing/bytes.js';
import { encodeCommand, encodeError } from '../framing/commands.js';
import { CurveCipher, Nonces, PeerNonces } from './curve-cipher.js';
import { broken, inOrder, REFUSED } from './mechanism.js';
import type { Mechanism, Security, Step } from './mechanism.js';
import { KEY_BYTES, SCRATCH_BYTES, TAG_BYTES } from './primitives.js';
import type { KeyPair, Primitives } from './primitives.js';

/** The CURVE settings of one socket. */
export interface CurveSettings {
  readonly primitives: Primitives;
  readonly allocate: Allocate;
  /** Our long-term keys. */
  readonly pair: KeyPair;
  readonly side:
    | {
        readonly role: 'server';
        /** Called once per handshake, after the client has proven that it owns this key. */
        readonly authorize: (publicKey: Uint8Array) => boolean;
      }
    | { readonly role: 'client'; readonly serverKey: Uint8Array };
}

/** The mechanism of a socket on this side of CURVE. */
export function curve(settings: CurveSettings): Security {
  const { side } = settings;
  return {
    name: 'CURVE',
    asServer: side.role === 'server',
    handshake: (properties) =>
      side.role === 'server'
        ? inOrder('server', new CurveServer(settings, side.authorize, properties))
        : inOrder('client, HELLO sent', new CurveClient(settings, side.serverKey, properties)),
  };
}

const VERSION = [1, 0] as const;
const COOKIE_BYTES = 96;
const SHORT_NONCE_BYTES = 8;
const LONG_NONCE_BYTES = 16;
/** HELLO: version, padding, C', short nonce, box of 64 zeros. */
const HELLO_KEY_AT = 74;
const HELLO_NONCE_AT = HELLO_KEY_AT + KEY_BYTES;
const HELLO_BOX_AT = HELLO_NONCE_AT + SHORT_NONCE_BYTES;
const HELLO_ZEROS = new Uint8Array(64);
const HELLO_BYTES = HELLO_BOX_AT + TAG_BYTES + HELLO_ZEROS.length;
/** WELCOME: long nonce, box of S' and cookie. */
const WELCOME_BYTES = LONG_NONCE_BYTES + TAG_BYTES + KEY_BYTES + COOKIE_BYTES;
/** INITIATE: cookie, short nonce, box of C, long nonce, vouch, properties. */
const INITIATE_BOX_AT = COOKIE_BYTES + SHORT_NONCE_BYTES;
const VOUCH_NONCE_AT = KEY_BYTES;
const VOUCH_AT = VOUCH_NONCE_AT + LONG_NONCE_BYTES;
const PROPERTIES_AT = VOUCH_AT + TAG_BYTES + 2 * KEY_BYTES;

const PREFIX = {
  hello: bytesOf('CurveZMQHELLO---'),
  welcome: bytesOf('WELCOME-'),
  initiate: bytesOf('CurveZMQINITIATE'),
  vouch: bytesOf('VOUCH---'),
  ready: bytesOf('CurveZMQREADY---'),
};

class CurveClient implements Mechanism {
  readonly #settings: CurveSettings;
  readonly #serverKey: Uint8Array;
  readonly #properties: Uint8Array;
  readonly #transient: KeyPair;
  readonly #nonces = new Nonces();
  /** The key shared by both transient pairs; known after WELCOME. */
  #key: Uint8Array | undefined;

  constructor(settings: CurveSettings, serverKey: Uint8Array, properties: Uint8Array) {
    this.#settings = settings;
    this.#serverKey = serverKey;
    this.#properties = properties;
    this.#transient = settings.primitives.newPair();
  }

  begin(): Uint8Array | undefined {
    const key = this.#transient.agree(this.#serverKey);
    if (key === undefined) return undefined;
    const nonce = this.#nonces.next(PREFIX.hello);
    const box = boxOf(this.#settings, key, nonce, HELLO_ZEROS);
    const padding = new Uint8Array(HELLO_KEY_AT - VERSION.length);
    return encodeCommand('HELLO', Uint8Array.of(...VERSION), padding, this.#transient.publicKey, shortOf(nonce), box);
  }

  step(_name: string, data: Uint8Array): Step {
    return this.#key === undefined ? this.#welcome(data) : this.#ready(this.#key, data);
  }

  #welcome(data: Uint8Array): Step {
    if (data.length !== WELCOME_BYTES) return broken(`a WELCOME of CURVE with ${data.length} bytes of data`);
    const { primitives, pair } = this.#settings;
    const helloKey = this.#transient.agree(this.#serverKey);
    const nonce = concat(PREFIX.welcome, data.subarray(0, LONG_NONCE_BYTES));
    const welcome = helloKey && primitives.open(helloKey, nonce, data.subarray(LONG_NONCE_BYTES));
    helloKey?.fill(0);
    if (welcome === undefined) return broken('the server did not prove that it has the configured key');
    const theirTransient = welcome.subarray(0, KEY_BYTES);
    const vouchKey = pair.agree(theirTransient);
    const key = this.#transient.agree(theirTransient);
    if (key === undefined || vouchKey === undefined) return broken('the transient key of the server is invalid');
    this.#key = key;
    return { say: this.#initiate(key, vouchKey, welcome.subarray(KEY_BYTES)) };
  }

  #initiate(key: Uint8Array, vouchKey: Uint8Array, cookie: Uint8Array): Uint8Array {
    const { primitives, pair } = this.#settings;
    const vouchNonce = primitives.random(LONG_NONCE_BYTES);
    const proof = concat(this.#transient.publicKey, this.#serverKey);
    const vouch = boxOf(this.#settings, vouchKey, concat(PREFIX.vouch, vouchNonce), proof);
    vouchKey.fill(0);
    const nonce = this.#nonces.next(PREFIX.initiate);
    const box = boxOf(this.#settings, key, nonce, concat(pair.publicKey, vouchNonce, vouch, this.#properties));
    return encodeCommand('INITIATE', cookie, shortOf(nonce), box);
  }

  #ready(key: Uint8Array, data: Uint8Array): Step {
    if (data.length < SHORT_NONCE_BYTES + TAG_BYTES)
      return broken(`a READY of CURVE with ${data.length} bytes of data`);
    const peerNonces = new PeerNonces();
    const nonce = peerNonces.take(PREFIX.ready, data);
    const { primitives, allocate } = this.#settings;
    const properties = nonce && primitives.open(key, nonce, data.subarray(SHORT_NONCE_BYTES));
    if (properties === undefined) return broken('a READY that was not sealed by the server');
    const cipher = new CurveCipher({ primitives, allocate, key, nonces: this.#nonces, peerNonces, server: false });
    return { met: { properties, publicKey: this.#serverKey, cipher } };
  }
}

/** What a server remembers of a client between WELCOME and INITIATE, until the connection or its handshake timeout ends. */
interface Greeted {
  readonly clientTransient: Uint8Array;
  readonly transient: KeyPair;
  /** Valid on this connection only: a replay of INITIATE elsewhere fails. */
  readonly cookie: Uint8Array;
}

class CurveServer implements Mechanism {
  readonly #settings: CurveSettings;
  readonly #authorize: (publicKey: Uint8Array) => boolean;
  readonly #properties: Uint8Array;
  readonly #peerNonces = new PeerNonces();
  #greeted: Greeted | undefined;

  constructor(settings: CurveSettings, authorize: (publicKey: Uint8Array) => boolean, properties: Uint8Array) {
    this.#settings = settings;
    this.#authorize = authorize;
    this.#properties = properties;
  }

  begin(): undefined {
    return undefined;
  }

  step(_name: string, data: Uint8Array): Step {
    return this.#greeted === undefined ? this.#hello(data) : this.#initiate(this.#greeted, data);
  }

  #hello(data: Uint8Array): Step {
    if (data.length !== HELLO_BYTES) return broken(`a HELLO of CURVE with ${data.length} bytes of data`);
    if (data[0] !== VERSION[0] || data[1] !== VERSION[1])
      return broken(`a HELLO of CurveZMQ ${data[0] ?? 0}.${data[1] ?? 0}; the version is ${VERSION.join('.')}`);
    const { primitives, pair } = this.#settings;
    // A copy: it outlives the chunk it arrived in.
    const clientTransient = Uint8Array.from(data.subarray(HELLO_KEY_AT, HELLO_NONCE_AT));
    const key = pair.agree(clientTransient);
    const nonce = this.#peerNonces.take(PREFIX.hello, data.subarray(HELLO_NONCE_AT));
    const zeros = key && nonce && primitives.open(key, nonce, data.subarray(HELLO_BOX_AT));
    if (key === undefined || zeros === undefined || !primitives.equal(zeros, HELLO_ZEROS))
      return { failure: { code: 'security', text: 'a HELLO that was not sealed for our key', expectsOther: true } };
    const transient = primitives.newPair();
    const cookie = primitives.random(COOKIE_BYTES);
    this.#greeted = { clientTransient, transient, cookie };
    const longNonce = primitives.random(LONG_NONCE_BYTES);
    const welcome = concat(transient.publicKey, cookie);
    const box = boxOf(this.#settings, key, concat(PREFIX.welcome, longNonce), welcome);
    key.fill(0);
    return { say: encodeCommand('WELCOME', longNonce, box) };
  }

  #initiate({ clientTransient, transient, cookie }: Greeted, data: Uint8Array): Step {
    if (data.length < INITIATE_BOX_AT + TAG_BYTES + PROPERTIES_AT)
      return broken(`an INITIATE of CURVE with ${data.length} bytes of data`);
    const { primitives, allocate } = this.#settings;
    if (!primitives.equal(data.subarray(0, COOKIE_BYTES), cookie)) return broken('an INITIATE with a foreign cookie');
    const key = transient.agree(clientTransient);
    const nonce = this.#peerNonces.take(PREFIX.initiate, data.subarray(COOKIE_BYTES));
    const plain = key && nonce && primitives.open(key, nonce, data.subarray(INITIATE_BOX_AT));
    if (key === undefined || plain === undefined)
      return broken('an INITIATE that was not sealed by the client that sent HELLO');
    const publicKey = Uint8Array.from(plain.subarray(0, KEY_BYTES));
    if (!this.#vouches(plain, publicKey, clientTransient, transient))
      return broken('the client did not prove that it has the key it sent');
    if (!this.#authorize(publicKey))
      return {
        say: encodeError(REFUSED),
        failure: { code: 'denied', text: 'the key of the client is not authorized', publicKey },
      };
    const nonces = new Nonces();
    const readyNonce = nonces.next(PREFIX.ready);
    const box = boxOf(this.#settings, key, readyNonce, this.#properties);
    const say = encodeCommand('READY', shortOf(readyNonce), box);
    const cipher = new CurveCipher({ primitives, allocate, key, nonces, peerNonces: this.#peerNonces, server: true });
    return { say, met: { properties: plain.subarray(PROPERTIES_AT), publicKey, cipher } };
  }

  /** The owner of the long-term key vouches that the transient key is its own, and that it means to reach us. */
  #vouches(plain: Uint8Array, publicKey: Uint8Array, clientTransient: Uint8Array, transient: KeyPair): boolean {
    const { primitives, pair } = this.#settings;
    const key = transient.agree(publicKey);
    const nonce = concat(PREFIX.vouch, plain.subarray(VOUCH_NONCE_AT, VOUCH_AT));
    const vouch = key && primitives.open(key, nonce, plain.subarray(VOUCH_AT, PROPERTIES_AT));
    key?.fill(0);
    return vouch !== undefined && primitives.equal(vouch, concat(clientTransient, pair.publicKey));
  }
}

/** A NaCl box: authenticator and ciphertext. */
function boxOf({ primitives }: CurveSettings, key: Uint8Array, nonce: Uint8Array, plain: Uint8Array): Uint8Array {
  const space = new Uint8Array(SCRATCH_BYTES + TAG_BYTES + plain.length);
  space.set(plain, SCRATCH_BYTES + TAG_BYTES);
  primitives.seal(key, nonce, space);
  return space.subarray(SCRATCH_BYTES);
}

/** A copy of the part of a nonce that is sent. */
function shortOf(nonce: Uint8Array): Uint8Array {
  return nonce.slice(PREFIX.hello.length);
}
