/** zeromq.js sockets with every option set before the first bind or connect: afterwards libzmq only warns. */
import { randomBytes } from 'node:crypto';
import type { Context, Dealer, Publisher, Router, Subscriber, XPublisher } from 'zeromq';
import type { ResolvedPortOptions } from '../port-options.js';
import type { ZeroMq } from './load.js';

/** A socket of either kind, as its port needs it. */
export type ZmqSocket = Router | Dealer;

/** A socket, and how it reports the end of a connection. */
export interface OpenSocket {
  readonly socket: ZmqSocket;
  /** One frame, private to this socket, that libzmq delivers when a connection ends; absent if libzmq does not support it. */
  readonly goneNotice: Buffer | undefined;
}

/** Option setters that zeromq.js has but does not declare. */
interface RawOptions {
  setStringOption(option: number, value: Buffer): void;
  setInt32Option(option: number, value: number): void;
}

const ZMQ_ROUTING_ID = 5;
const ZMQ_SNDHWM = 23;
/** Draft: a message in a router's queue when an accepted connection ends. */
const ZMQ_DISCONNECT_MSG = 111;
/** Draft: the same for a connecting socket. */
const ZMQ_HICCUP_MSG = 114;

const HANDSHAKE_MS = 10_000;
/** libzmq also applies its limit to the handshake's own commands and to encrypted frames. */
const FRAME_OVERHEAD = 1024;
const FRAME_BACKSTOP = 16;
const NOTICE_BYTES = 16;
const KEEPALIVE_PROBES = 3;
const KEEPALIVE_SECONDS_MAX = 32_767;

/** A ROUTER that reports unroutable and refused messages at once, instead of dropping them or waiting. Its notice reports accepted connections. */
export function openRouter(zmq: ZeroMq, context: Context, options: ResolvedPortOptions): OpenSocket {
  const { handover } = options;
  // With any other timeout, one unwritable peer holds up the messages to all.
  const socket = new zmq.Router({ ...socketOptions(context, options), mandatory: true, handover, sendTimeout: 0 });
  return { socket, goneNotice: setNotice(zmq, socket, ZMQ_DISCONNECT_MSG) };
}

/** A DEALER, with its own routing id if it has one. Its notice reports connections it made, not those it accepted. */
export function openDealer(zmq: ZeroMq, context: Context, options: ResolvedPortOptions): OpenSocket {
  const socket = new zmq.Dealer({ ...socketOptions(context, options), sendTimeout: options.sendWaitMs });
  // Not through its property, which takes text and would convert the id to UTF-8.
  if (options.routingId !== undefined) raw(socket).setStringOption(ZMQ_ROUTING_ID, Buffer.from(options.routingId));
  return { socket, goneNotice: setNotice(zmq, socket, ZMQ_HICCUP_MSG) };
}

/** A PUB, or an XPUB, that never waits: peers that do not read miss messages. */
export function openPublisher(zmq: ZeroMq, context: Context, options: ResolvedPortOptions): Publisher | XPublisher {
  const { receiveHighWaterMark, ...common } = socketOptions(context, options);
  if (!options.tellsSubscriptions) return new zmq.Publisher({ ...common, sendTimeout: 0 });
  return new zmq.XPublisher({ ...common, receiveHighWaterMark, sendTimeout: 0 });
}

/**
 * A SUB. It has no send high-water mark: libzmq counts outgoing subscriptions against it and drops those beyond it. Its frame limit is only a
 * backstop: libzmq never reconnects after a frame over it, so one message would end a subscriber.
 */
export function openSubscriber(zmq: ZeroMq, context: Context, options: ResolvedPortOptions): Subscriber {
  const { sendHighWaterMark: _, ...common } = socketOptions(context, options);
  const maxMessageSize = Math.min(common.maxMessageSize * FRAME_BACKSTOP, Number.MAX_SAFE_INTEGER);
  const socket = new zmq.Subscriber({ ...common, maxMessageSize });
  // Not through a property: zeromq.js has none on a read-only socket.
  raw(socket).setInt32Option(ZMQ_SNDHWM, 0);
  return socket;
}

/** A new object each time: the constructor removes `context` from it. */
function socketOptions(context: Context, options: ResolvedPortOptions) {
  return {
    context,
    linger: options.lingerMs,
    sendHighWaterMark: options.highWaterMark,
    receiveHighWaterMark: options.receiveHighWaterMark,
    maxMessageSize: options.maxMessageBytes + FRAME_OVERHEAD,
    handshakeInterval: HANDSHAKE_MS,
    ...keepAlive(options),
  };
}

/**
 * Makes the kernel check silent connections, in whole seconds. Not libzmq: its own heartbeats abort the process if one is due on a connection
 * that ended while its receiver was full (docs/adr/0007-no-heartbeats-of-libzmq.md).
 */
function keepAlive({ connectionHeartbeatMs, connectionTimeoutMs }: ResolvedPortOptions) {
  if (connectionHeartbeatMs === 0) return { tcpKeepalive: 0 };
  return {
    tcpKeepalive: 1,
    tcpKeepaliveIdle: wholeSeconds(connectionHeartbeatMs),
    tcpKeepaliveInterval: wholeSeconds(connectionTimeoutMs / KEEPALIVE_PROBES),
    tcpKeepaliveCount: KEEPALIVE_PROBES,
  };
}

/** At least one, and no more than Linux allows. */
function wholeSeconds(ms: number): number {
  return Math.min(Math.max(1, Math.ceil(ms / 1000)), KEEPALIVE_SECONDS_MAX);
}

/** Random, so that no peer can forge the notice. Everything works without it, only later: through the protocols' heartbeats. */
function setNotice(zmq: ZeroMq, socket: ZmqSocket, option: number): Buffer | undefined {
  if (zmq.capability.draft !== true) return undefined;
  const notice = randomBytes(NOTICE_BYTES);
  try {
    raw(socket).setStringOption(option, notice);
    return notice;
  } catch {
    return undefined;
  }
}

function raw(socket: ZmqSocket | Subscriber): RawOptions {
  return socket as unknown as RawOptions;
}
