/** Logs each message that passes a program's sockets, of any protocol, as one line at level trace. */
import { latin1, totalBytes } from '@proj/frames';
import { deriveTransport } from '@proj/transport';
import type { Peer, PortListener, PublisherPort, SocketPort, Transport } from '@proj/transport';
import { DECODERS } from './decoders.js';
import type { Command, Frames, ProtocolName, Reader } from './decoders.js';
import type { Logger } from './logging.js';

/** The fields of a message's line. Binary ids appear in hex, unless they are printable and not routing ids. */
function traceFields(readers: readonly Reader[], peer: Peer | undefined, frames: Frames): object {
  const commands = readers.map(({ decode }) => decode(frames));
  const command = commands.find(({ kind }) => kind !== 'malformed') ?? commands[0] ?? { kind: 'unknown' };
  const id = idOf(command, peer);
  const service = command['service'] ?? command['queue'];
  return {
    command: command.kind,
    ...(command.kind === 'malformed' ? { reason: command['reason'] } : {}),
    ...(id === undefined ? {} : { id }),
    ...(peer === undefined || peer.id.length === 0 ? {} : { peer: hex(peer.id) }),
    ...(typeof service === 'string' ? { service } : {}),
    bytes: totalBytes(frames),
  };
}

/** Identifies a request: its number in the protocol or, where there is none, its client. */
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
 * A transport that logs each message of its routers, dealers and publishers while the log level is trace, which may change at any time. At other
 * levels it costs one check per message.
 */
export function traced(transport: Transport, log: Logger, protocol: ProtocolName): Transport {
  let sockets = 0;
  const sayer = (): Say => {
    const number = sockets++;
    const all: readonly Reader[] = DECODERS[protocol];
    const readers = all.filter(({ socket = number }) => socket === number);
    const received = readers.filter(({ isServer }) => isServer);
    const sent = readers.filter(({ isServer }) => !isServer);
    return (direction, peer, frames) => {
      if (!log.isLevelEnabled('trace')) return;
      log.trace(traceFields(direction === 'in' ? received : sent, peer, frames), direction);
    };
  };
  return deriveTransport(transport, {
    router: (options) => tracedPort(transport.router(options), sayer()),
    dealer: (options) => tracedPort(transport.dealer(options), sayer()),
    publisher: (options) => tracedPublisher(transport.publisher(options), sayer()),
  });
}

type Say = (direction: 'in' | 'out', peer: Peer | undefined, frames: Frames) => void;

/** Replaces two methods of the port itself, so that its other methods cost nothing extra. */
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
