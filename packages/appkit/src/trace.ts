/** Each message that passes a program's sockets as one line of its log, at level trace: of every protocol, in words of its codec. */
import { latin1, totalBytes } from '@proj/frames';
import {
  decodeEmqpAtAdmin,
  decodeEmqpAtAdminPort,
  decodeEmqpAtBroker,
  decodeEmqpAtClient,
  decodeEmqpAtPubSub,
  decodeEmqpAtScheduler,
  decodeEmqpAtSubscriber,
  decodeEmqpAtWorker,
} from '@proj/frames/emqp';
import { decodeMdpAtBroker, decodeMdpAtClient, decodeMdpAtWorker } from '@proj/frames/mdp';
import { decodeNfpAtBroker, decodeNfpAtClient, decodeNfpAtWorker, decodeNfpPublishedEvent } from '@proj/frames/nfp';
import { decodePppAtClient, decodePppAtFrontend, decodePppAtQueue, decodePppAtWorker } from '@proj/frames/ppp';
import {
  decodePzqAtConsumer,
  decodePzqAtMonitor,
  decodePzqAtProducer,
  decodePzqAtReceive,
  decodePzqAtSend,
} from '@proj/frames/pzq';
import type { Peer, PortListener, PublisherPort, SocketPort, Transport } from '@proj/transport';
import type { Logger } from './logging.js';

type Frames = readonly Uint8Array[];
/** A command of any protocol, or `malformed`. */
type Command = { readonly kind: string } & Readonly<Record<string, unknown>>;
type Decoder = (frames: Frames) => Command | undefined;

/** Who reads what comes in, and who would read what goes out; the first that understands it does. */
interface Words {
  readonly in: readonly Decoder[];
  readonly out: readonly Decoder[];
}

const as = (decode: (frames: Frames) => object | undefined): Decoder => decode as Decoder;

const mdpAt = (decode: (frames: Frames) => object): Decoder => {
  const plain = as(decode);
  // Peers that write an empty frame in front of 0.2 are answered with one.
  return (frames) => {
    const command = plain(frames);
    return command?.kind === 'malformed' && frames[0]?.length === 0 ? plain(frames.slice(1)) : command;
  };
};

const PPP_FRONTEND: Words = { in: [as(decodePppAtFrontend)], out: [as(decodePppAtClient)] };
const PPP_BACKEND: Words = { in: [as(decodePppAtQueue)], out: [as(decodePppAtWorker)] };

/** The protocols, and how each of a program's sockets is read, by its number in the order in which they are opened. */
const WORDS = {
  mdp: () => ({
    in: [as((frames) => decodeMdpAtBroker(frames, { acceptLeadingEmpty: true }))],
    out: [mdpAt(decodeMdpAtWorker), mdpAt(decodeMdpAtClient)],
  }),
  nfp: () => ({
    in: [as(decodeNfpAtBroker)],
    out: [as(decodeNfpAtWorker), as(decodeNfpAtClient), published],
  }),
  emqp: () => ({
    in: [as(decodeEmqpAtBroker), as(decodeEmqpAtAdminPort), as(decodeEmqpAtPubSub)],
    out: [
      as(decodeEmqpAtWorker),
      as(decodeEmqpAtScheduler),
      as(decodeEmqpAtClient),
      as(decodeEmqpAtAdmin),
      as(decodeEmqpAtSubscriber),
    ],
  }),
  ppp: (socket) => (socket === 0 ? PPP_FRONTEND : PPP_BACKEND),
  pzq: () => ({
    in: [as(decodePzqAtReceive), as(decodePzqAtSend), as(decodePzqAtMonitor)],
    out: [as(decodePzqAtProducer), as(decodePzqAtConsumer)],
  }),
} satisfies Record<string, (socket: number) => Words>;

/** A protocol whose messages can be traced. */
export type TracedProtocol = keyof typeof WORDS;

function published(frames: Frames): Command | undefined {
  const event = decodeNfpPublishedEvent(frames);
  return event === undefined ? undefined : { ...event, kind: 'published' };
}

/** What a line says of a message: ids that are bytes as hex, unless they are printable and no routing id. */
function traceFields(words: Words, direction: 'in' | 'out', peer: Peer | undefined, frames: Frames): object {
  let command: Command | undefined;
  for (const decode of words[direction]) {
    const read = decode(frames);
    command ??= read;
    if (read === undefined || read.kind === 'malformed') continue;
    command = read;
    break;
  }
  const id = command && idOf(command, peer);
  const service = command?.['service'] ?? command?.['queue'];
  return {
    command: command?.kind ?? 'unknown',
    ...(command?.kind === 'malformed' ? { reason: command['reason'] } : {}),
    ...(id === undefined ? {} : { id }),
    ...(peer === undefined || peer.id.length === 0 ? {} : { peer: hex(peer.id) }),
    ...(typeof service === 'string' ? { service } : {}),
    bytes: totalBytes(frames),
  };
}

/** What tells one request from others: the protocol's number for it, or, in MDP and PPP which have none, who asks. */
function idOf(command: Command, peer: Peer | undefined): string | undefined {
  const { uuid, id, key, client, addresses } = command;
  const number = uuid ?? id ?? key;
  if (typeof number === 'string') return number;
  if (number instanceof Uint8Array) return printable(number);
  const asker = client ?? (Array.isArray(addresses) ? (addresses as unknown[])[0] : undefined);
  if (asker instanceof Uint8Array) return hex(asker);
  return command.kind.startsWith('client-') && peer !== undefined ? hex(peer.id) : undefined;
}

function printable(bytes: Uint8Array): string {
  const text = latin1(bytes);
  return /^[\x21-\x7e]+$/.test(text) ? text : hex(bytes);
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}

/**
 * This transport with a line for each message of its routers, dealers and publishers, if the log takes lines of level trace;
 * otherwise the transport itself, so that nothing is paid for what nobody reads.
 */
export function traced(transport: Transport, log: Logger, protocol: TracedProtocol): Transport {
  if (!log.isLevelEnabled('trace')) return transport;
  let sockets = 0;
  const sayer = () => {
    const words: Words = WORDS[protocol](sockets++);
    return (direction: 'in' | 'out', peer: Peer | undefined, frames: Frames) => {
      log.trace(traceFields(words, direction, peer, frames), direction);
    };
  };
  const { clock, entropy, tellsKeys = false, encrypts = false, memory, probe } = transport;
  return {
    clock,
    entropy,
    tellsKeys,
    encrypts,
    load: () => transport.load(),
    router: (options) => tracedPort(transport.router(options), sayer()),
    dealer: (options) => tracedPort(transport.dealer(options), sayer()),
    publisher: (options) => tracedPublisher(transport.publisher(options), sayer()),
    subscriber: (options) => transport.subscriber(options),
    ...(memory === undefined ? {} : { memory }),
    ...(probe === undefined ? {} : { probe }),
  };
}

type Say = (direction: 'in' | 'out', peer: Peer | undefined, frames: Frames) => void;

function tracedPort(port: SocketPort, say: Say): SocketPort {
  const own: Pick<SocketPort, 'start' | 'send'> = {
    start: (listener: PortListener) => {
      port.start({
        ...listener,
        onMessage: (peer, frames) => {
          say('in', peer, frames);
          listener.onMessage(peer, frames);
        },
      });
    },
    send: (peer, frames) => {
      say('out', peer, frames);
      port.send(peer, frames);
    },
  };
  return behind(port, own);
}

function tracedPublisher(port: PublisherPort, say: Say): PublisherPort {
  return behind(port, {
    publish: (frames, mayHear) => {
      say('out', undefined, frames);
      port.publish(frames, mayHear);
    },
  });
}

/** The port with some of its methods in place of its own; the others are called on it, for they know it by `this`. */
function behind<Port extends object>(port: Port, own: Partial<Port>): Port {
  return new Proxy(port, {
    get: (target, name) => {
      const mine = own[name as keyof Port];
      if (mine !== undefined) return mine;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}
