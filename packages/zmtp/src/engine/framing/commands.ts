/** The commands of 37/ZMTP: READY and its properties, ERROR, PING, PONG, SUBSCRIBE, CANCEL. */
import { bytesOf, concat, latin1 } from './bytes.js';
import { COMMAND, LONG_HEADER, SHORT_HEADER, SHORT_MAX, writeHeader } from './flags.js';

/** Socket types of 28/REQREP and 29/PUBSUB that our connections can have. */
export type SocketType = 'REQ' | 'REP' | 'DEALER' | 'ROUTER' | 'PUB' | 'XPUB' | 'SUB';

/** Which socket types may talk to each other: 37/ZMTP, "The Socket-Type Property". */
const COMPATIBLE: Readonly<Record<SocketType, readonly string[]>> = {
  REQ: ['REP', 'ROUTER'],
  REP: ['REQ', 'DEALER'],
  DEALER: ['REP', 'DEALER', 'ROUTER'],
  ROUTER: ['REQ', 'DEALER', 'ROUTER'],
  PUB: ['SUB', 'XSUB'],
  XPUB: ['SUB', 'XSUB'],
  SUB: ['PUB', 'XPUB'],
};

/** True when a socket of ours can talk to one of this type. */
export function isCompatible(ours: SocketType, theirs: string): boolean {
  return COMPATIBLE[ours].includes(theirs);
}

/** A decoded command. */
export interface NamedCommand {
  readonly name: string;
  readonly data: Uint8Array;
}

/** A command between messages. */
export type Command =
  | { readonly kind: 'error'; readonly reason: string }
  | { readonly kind: 'ping'; readonly ttlMs: number; readonly context: Uint8Array }
  | { readonly kind: 'pong' }
  /** SUBSCRIBE, or CANCEL if not `wanted`. The prefix is a view. */
  | { readonly kind: 'subscription'; readonly prefix: Uint8Array; readonly wanted: boolean }
  /** A command that we do not know or use. */
  | { readonly kind: 'other' }
  | Malformed;

/** Bytes that no ZMTP peer sends. */
export interface Malformed {
  readonly kind: 'malformed';
  readonly reason: string;
}

/** What a peer announces in READY or INITIATE. */
export interface Properties {
  readonly kind: 'properties';
  readonly socketType: string;
  /** Empty if it announced none. */
  readonly identity: Uint8Array;
  /** True if it accepts lanes: lane-frames.ts. */
  readonly offersLanes: boolean;
}

/** Names of application properties begin with X: 37/ZMTP, "Connection Metadata". */
const LANES = 'X-Lanes';
const LANES_VERSION = '1';
const CONTEXT_MAX = 16;
const IDENTITY_MAX = 255;
const TTL_BYTES = 2;
const TTL_UNIT_MS = 100;
const TTL_MAX = 0xffff;
const SUBSCRIBE = 0x01;
const CANCEL = 0x00;
const NO_BYTES = new Uint8Array(0);

/** A command as a complete frame. */
export function encodeCommand(name: string, ...data: readonly Uint8Array[]): Uint8Array {
  return frameOf(commandBody(name, ...data));
}

/** A command's body as a complete frame. */
export function frameOf(body: Uint8Array): Uint8Array {
  const header = new Uint8Array(body.length > SHORT_MAX ? LONG_HEADER : SHORT_HEADER);
  writeHeader(header, 0, COMMAND, body.length);
  return concat(header, body);
}

/** ERROR as a complete frame, with a reason for the peer's log: printable ASCII, at most 255 characters. */
export function encodeError(reason: string): Uint8Array {
  const text = bytesOf(printable(reason).slice(0, SHORT_MAX));
  return encodeCommand('ERROR', Uint8Array.of(text.length), text);
}

/** Our properties for READY or INITIATE. */
export function encodeProperties(
  socketType: SocketType,
  identity: Uint8Array = NO_BYTES,
  offersLanes = false,
): Uint8Array {
  const properties = [property('Socket-Type', bytesOf(socketType))];
  if (identity.length > 0) properties.push(property('Identity', identity));
  if (offersLanes) properties.push(property(LANES, bytesOf(LANES_VERSION)));
  return concat(...properties);
}

/** The body of PING. The peer may close the connection if it hears nothing for `ttlMs`, which is rounded up to tenths of a second. */
export function pingBody(ttlMs: number): Uint8Array {
  const ttl = Math.min(Math.ceil(ttlMs / TTL_UNIT_MS), TTL_MAX);
  return commandBody('PING', Uint8Array.of(ttl >> 8, ttl & 0xff));
}

/** The body of PONG, with the context of its PING. */
export function pongBody(context: Uint8Array): Uint8Array {
  return commandBody('PONG', context);
}

/** The body of SUBSCRIBE, or of CANCEL if the prefix is no longer wanted. */
export function subscriptionBody(prefix: Uint8Array, wanted: boolean): Uint8Array {
  return commandBody(wanted ? 'SUBSCRIBE' : 'CANCEL', prefix);
}

/** The same as a message of one frame, as ZMTP 3.0 sends it and XPUB shows it: 0x01 or 0x00, then the prefix. 23/ZMTP, 29/PUBSUB. */
export function subscriptionMessage(prefix: Uint8Array, wanted: boolean): Uint8Array {
  return concat(Uint8Array.of(wanted ? SUBSCRIBE : CANCEL), prefix);
}

/** True for a message that {@link subscriptionMessage} could have made; a PUB ignores all others. */
export function isSubscription(frames: readonly Uint8Array[], first: Uint8Array | undefined): first is Uint8Array {
  return frames.length === 1 && first !== undefined && (first[0] === SUBSCRIBE || first[0] === CANCEL);
}

/** Name and data of a command's body; the data is a view. `undefined` if the name is empty or incomplete. */
export function splitCommand(body: Uint8Array): NamedCommand | undefined {
  const nameEnd = 1 + (body[0] ?? 0);
  if (nameEnd === 1 || nameEnd > body.length) return undefined;
  return { name: latin1(body.subarray(1, nameEnd)), data: body.subarray(nameEnd) };
}

/** Decodes a command received after the handshake. */
export function decodeCommand({ name, data }: NamedCommand): Command {
  switch (name) {
    case 'ERROR':
      return decodeError(data);
    case 'PING':
      return decodePing(data);
    case 'PONG':
      return data.length > CONTEXT_MAX ? malformed(`a PONG with ${data.length} bytes of context`) : { kind: 'pong' };
    case 'SUBSCRIBE':
    case 'CANCEL':
      return { kind: 'subscription', prefix: data, wanted: name === 'SUBSCRIBE' };
    default:
      return { kind: 'other' };
  }
}

/** The properties of a peer. Keeps nothing of `data`. */
export function decodeProperties(data: Uint8Array): Properties | Malformed {
  let socketType: string | undefined;
  let identity = NO_BYTES;
  let offersLanes = false;
  for (let at = 0; at < data.length;) {
    const nameEnd = at + 1 + (data[at] ?? 0);
    const valueAt = nameEnd + 4;
    if (nameEnd === at + 1 || valueAt > data.length) return malformed('an incomplete property');
    const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
    const end = valueAt + view.getUint32(nameEnd);
    if (end > data.length) return malformed('an incomplete property');
    const name = latin1(data.subarray(at + 1, nameEnd)).toLowerCase();
    if (name === 'socket-type') socketType = latin1(data.subarray(valueAt, Math.min(end, valueAt + SHORT_MAX)));
    // A copy: the identity outlives the chunk it arrived in.
    else if (name === 'identity') identity = Uint8Array.from(data.subarray(valueAt, end));
    else if (name === LANES.toLowerCase()) offersLanes = latin1(data.subarray(valueAt, end)) === LANES_VERSION;
    at = end;
  }
  if (socketType === undefined) return malformed('no property Socket-Type');
  if (identity.length > IDENTITY_MAX) return malformed(`an identity of ${identity.length} bytes`);
  if (identity[0] === 0) return malformed('an identity that begins with 0x00');
  return { kind: 'properties', socketType, identity, offersLanes };
}

/** Decodes ERROR and makes its reason safe for a log. */
export function decodeError(data: Uint8Array): Command {
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

function malformed(reason: string): Malformed {
  return { kind: 'malformed', reason };
}

/** Replaces everything but printable ASCII with `?`. */
function printable(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, '?');
}

function property(name: string, value: Uint8Array): Uint8Array {
  const size = new Uint8Array(4);
  new DataView(size.buffer).setUint32(0, value.length);
  return concat(Uint8Array.of(name.length), bytesOf(name), size, value);
}

function commandBody(name: string, ...data: readonly Uint8Array[]): Uint8Array {
  return concat(Uint8Array.of(name.length), bytesOf(name), ...data);
}
