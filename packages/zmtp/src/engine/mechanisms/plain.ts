/** The PLAIN mechanism of 24/ZMTP-PLAIN: the client sends a name and password in clear text. */
import { bytesOf, concat, latin1 } from '../framing/bytes.js';
import { encodeCommand, encodeError } from '../framing/commands.js';
import { SHORT_MAX } from '../framing/flags.js';
import { broken, inOrder, REFUSED } from './mechanism.js';
import type { Mechanism, Security, Step } from './mechanism.js';

/** One side of PLAIN. Texts are Latin-1 of at most 255 characters. */
export type PlainOptions =
  | {
      readonly role: 'server';
      /** Called once per handshake. Compare in constant time yourself. Must not throw. */
      readonly authorize: (username: string, password: string) => boolean;
    }
  | { readonly role: 'client'; readonly username: string; readonly password: string };

/** The mechanism of a socket on this side of PLAIN. */
export function plain(options: PlainOptions): Security {
  const asServer = options.role === 'server';
  return {
    name: 'PLAIN',
    asServer,
    handshake: (properties) =>
      options.role === 'server'
        ? inOrder('server', new PlainServer(options.authorize, properties))
        : inOrder('client, HELLO sent', new PlainClient(options.username, options.password, properties)),
  };
}

class PlainClient implements Mechanism {
  readonly #hello: Uint8Array;
  readonly #properties: Uint8Array;

  constructor(username: string, password: string, properties: Uint8Array) {
    this.#hello = concat(short(username), short(password));
    this.#properties = properties;
  }

  begin(): Uint8Array {
    return encodeCommand('HELLO', this.#hello);
  }

  step(name: string, data: Uint8Array): Step {
    if (name === 'READY') return { met: { properties: data } };
    if (data.length > 0) return broken(`a WELCOME of PLAIN with ${data.length} bytes of data`);
    return { say: encodeCommand('INITIATE', this.#properties) };
  }
}

class PlainServer implements Mechanism {
  readonly #authorize: (username: string, password: string) => boolean;
  readonly #properties: Uint8Array;

  constructor(authorize: (username: string, password: string) => boolean, properties: Uint8Array) {
    this.#authorize = authorize;
    this.#properties = properties;
  }

  begin(): undefined {
    return undefined;
  }

  step(name: string, data: Uint8Array): Step {
    if (name === 'INITIATE') return { say: encodeCommand('READY', this.#properties), met: { properties: data } };
    const passwordAt = 1 + (data[0] ?? 0);
    const end = passwordAt + 1 + (data[passwordAt] ?? 0);
    if (passwordAt >= data.length || end !== data.length)
      return broken('a HELLO of PLAIN that is too short or too long');
    const username = latin1(data.subarray(1, passwordAt));
    if (!this.#authorize(username, latin1(data.subarray(passwordAt + 1))))
      return {
        say: encodeError(REFUSED),
        failure: { code: 'denied', text: `user ${JSON.stringify(username)} is not authorized` },
      };
    return { say: encodeCommand('WELCOME') };
  }
}

function short(text: string): Uint8Array {
  return concat(Uint8Array.of(Math.min(text.length, SHORT_MAX)), bytesOf(text.slice(0, SHORT_MAX)));
}
