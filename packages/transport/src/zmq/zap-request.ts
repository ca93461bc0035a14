/** ZAP 1.0 (RFC 27) as libzmq speaks it on `inproc://zeromq.zap.01`: the handler's requests and answers. */

/** A request: may this client connect? */
export interface ZapQuestion {
  readonly kind: 'question';
  /** The sender's envelope, which the answer must begin with. */
  readonly routing: readonly Uint8Array[];
  readonly requestId: Uint8Array;
  /** Our socket that it wants to connect to. */
  readonly domain: string;
  /** Its IP address; empty if there is none. */
  readonly address: string;
  /** Its proven CURVE key, 32 bytes. */
  readonly publicKey: Uint8Array;
}

/** Why it is not a valid request, and whether it can be answered. */
export interface ZapMalformed {
  readonly kind: 'malformed';
  readonly routing: readonly Uint8Array[];
  readonly requestId: Uint8Array | undefined;
}

const VERSION = Buffer.from('1.0');
const EMPTY = Buffer.alloc(0);
const KEY_BYTES = 32;

/** Decodes what a ROUTER received. Total. */
export function readZapRequest(frames: readonly Uint8Array[]): ZapQuestion | ZapMalformed {
  const [from = EMPTY, empty, version, requestId, domain, address, identity, mechanism, publicKey] = frames;
  const routing = [from, EMPTY];
  const isQuestion =
    frames.length === 9 &&
    empty?.length === 0 &&
    textOf(version) === '1.0' &&
    identity !== undefined &&
    textOf(mechanism) === 'CURVE' &&
    publicKey?.length === KEY_BYTES;
  if (!isQuestion || requestId === undefined) return { kind: 'malformed', routing, requestId };
  // Copied, so that it does not keep the rest of the message alive.
  const key = Uint8Array.from(publicKey);
  return { kind: 'question', routing, requestId, domain: textOf(domain), address: textOf(address), publicKey: key };
}

/** The answer: 200 admits the client, 400 refuses it, 500 answers anything else. */
export function zapAnswer({ routing, requestId }: ZapQuestion | ZapMalformed, status: 200 | 400 | 500): Uint8Array[] {
  return [...routing, VERSION, requestId ?? EMPTY, Buffer.from(status.toString()), EMPTY, EMPTY, EMPTY];
}

function textOf(frame: Uint8Array | undefined): string {
  return frame === undefined ? '' : Buffer.from(frame.buffer, frame.byteOffset, frame.byteLength).toString('latin1');
}
