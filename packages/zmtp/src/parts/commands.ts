/** The commands of 37/ZMTP that a NULL connection of ROUTER or DEALER needs: READY, ERROR, PING, PONG. */
import { bytesOf, concat, latin1 } from './bytes.js';
import { COMMAND, LONG_HEADER, SHORT_HEADER, SHORT_MAX, writeHeader } from './flags.js';

/** The socket types of 28/REQREP, which are those that can be at the two ends of our connections. */
export type SocketType = 'REQ' | 'REP' | 'DEALER' | 'ROUTER';

/** A command as received. */
export type Command =
  | { readonly kind: 'ready'; readonly socketType: string; readonly identity: Uint8Array }
  | { readonly kind: 'error'; readonly reason: string }
  | { readonly kind: 'ping'; readonly ttlMs: number; readonly context: Uint8Array }
  | { readonly kind: 'pong' }
  /** One that we do not know, or have no use for. */
  | { readonly kind: 'other'; readonly name: string }
  | { readonly kind: 'malformed'; readonly reason: string };

const CONTEXT_MAX = 16;
const IDENTITY_MAX = 255;
const TTL_BYTES = 2;
const TTL_UNIT_MS = 100;
const TTL_MAX = 0xffff;
const NO_BYTES = new Uint8Array(0);

/** READY with our socket type and, if we have one, the routing id we announce. */
export function encodeReady(socketType: SocketType, identity: Uint8Array = NO_BYTES): Uint8Array {
  const properties = [property('Socket-Type', bytesOf(socketType))];
  if (identity.length > 0) properties.push(property('Identity', identity));
  return encode('READY', ...properties);
}

/** ERROR with a reason for the other side's log; printable ASCII, cut at 255 characters. */
export function encodeError(reason: string): Uint8Array {
  const text = bytesOf(printable(reason).slice(0, SHORT_MAX));
  return encode('ERROR', Uint8Array.of(text.length), text);
}

/** PING: the peer may give up the connection when it hears nothing more for `ttlMs`, rounded up to tenths of a second. */
export function encodePing(ttlMs: number): Uint8Array {
  const ttl = Math.min(Math.ceil(ttlMs / TTL_UNIT_MS), TTL_MAX);
  return encode('PING', Uint8Array.of(ttl >> 8, ttl & 0xff));
}

/** PONG with the context of the PING it answers. */
export function encodePong(context: Uint8Array): Uint8Array {
  return encode('PONG', context);
}

/** The body of a command frame as a {@link Command}. Keeps nothing of `body`. */
export function decodeCommand(body: Uint8Array): Command {
  const nameEnd = 1 + (body[0] ?? 0);
  if (nameEnd === 1 || nameEnd > body.length) return malformed('its name is empty or incomplete');
  const name = latin1(body.subarray(1, nameEnd));
  const data = body.subarray(nameEnd);
  switch (name) {
    case 'READY':
      return decodeReady(data);
    case 'ERROR':
      return decodeError(data);
    case 'PING':
      return decodePing(data);
    case 'PONG':
      return data.length > CONTEXT_MAX ? malformed(`a PONG with ${data.length} bytes of context`) : { kind: 'pong' };
    default:
      return { kind: 'other', name };
  }
}

function decodeReady(data: Uint8Array): Command {
  let socketType: string | undefined;
  let identity = NO_BYTES;
  for (let at = 0; at < data.length;) {
    const nameEnd = at + 1 + (data[at] ?? 0);
    const valueAt = nameEnd + 4;
    if (nameEnd === at + 1 || valueAt > data.length) return malformed('a READY with an incomplete property');
    const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
    const end = valueAt + view.getUint32(nameEnd);
    if (end > data.length) return malformed('a READY with an incomplete property');
    const name = latin1(data.subarray(at + 1, nameEnd)).toLowerCase();
    if (name === 'socket-type') socketType = latin1(data.subarray(valueAt, Math.min(end, valueAt + SHORT_MAX)));
    // A copy: the identity is kept for as long as the connection stands, the bytes around it are not.
    else if (name === 'identity') identity = Uint8Array.from(data.subarray(valueAt, end));
    at = end;
  }
  if (socketType === undefined) return malformed('a READY without Socket-Type');
  if (identity.length > IDENTITY_MAX) return malformed(`an identity of ${identity.length} bytes`);
  if (identity[0] === 0) return malformed('an identity that begins with 0x00');
  return { kind: 'ready', socketType, identity };
}

function decodeError(data: Uint8Array): Command {
  const end = 1 + (data[0] ?? 0);
  if (data.length === 0 || end > data.length) return malformed('an ERROR with an incomplete reason');
  return { kind: 'error', reason: printable(latin1(data.subarray(1, end))) };
}

function decodePing(data: Uint8Array): Command {
  const contextBytes = data.length - TTL_BYTES;
  if (contextBytes < 0 || contextBytes > CONTEXT_MAX) return malformed(`a PING with ${data.length} bytes of data`);
  const ttl = ((data[0] ?? 0) << 8) | (data[1] ?? 0);
  return { kind: 'ping', ttlMs: ttl * TTL_UNIT_MS, context: Uint8Array.from(data.subarray(TTL_BYTES)) };
}

function malformed(reason: string): Command {
  return { kind: 'malformed', reason };
}

/** What a log can show: whatever else stands there becomes `?`. */
function printable(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, '?');
}

function property(name: string, value: Uint8Array): Uint8Array {
  const size = new Uint8Array(4);
  new DataView(size.buffer).setUint32(0, value.length);
  return concat(Uint8Array.of(name.length), bytesOf(name), size, value);
}

function encode(name: string, ...data: readonly Uint8Array[]): Uint8Array {
  const body = concat(Uint8Array.of(name.length), bytesOf(name), ...data);
  const header = new Uint8Array(body.length > SHORT_MAX ? LONG_HEADER : SHORT_HEADER);
  writeHeader(header, 0, COMMAND, body.length);
  return concat(header, body);
}
