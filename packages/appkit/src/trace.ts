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
 * This transport with a line for each message of its routers, dealers and publishers, while the log takes lines of level trace, which
 * may begin and end at any time; otherwise one question per message is all that it costs.
 */
export function traced(transport: Transport, log: Logger, protocol: TracedProtocol): Transport {
  let sockets = 0;
  const sayer = (): Say => {
    const words: Words = WORDS[protocol](sockets++);
    return (direction, peer, frames) => {
      if (log.isLevelEnabled('trace')) log.trace(traceFields(words, direction, peer, frames), direction);
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

/** The port itself, whose own methods these are from now on: nothing stands between it and who calls the others. */
function tracedPort(port: SocketPort, say: Say): SocketPort {
  const start = port.start.bind(port);
  const send = port.send.bind(port);
  port.start = (listener: PortListener) => {
    start({
      ...listener,
      onMessage: (peer, frames) => {
        say('in', peer, frames);
        listener.onMessage(peer, frames);
      },
    });
  };
  port.send = (peer, frames) => {
    say('out', peer, frames);
    send(peer, frames);
  };
  return port;
}

function tracedPublisher(port: PublisherPort, say: Say): PublisherPort {
  const publish = port.publish.bind(port);
  port.publish = (frames, mayHear) => {
    say('out', undefined, frames);
    publish(frames, mayHear);
  };
  return port;
}
