/** The decoders of every protocol, in one list: what the trace of a program and `proj decode` read messages with. A new protocol adds its own here. */
import { latin1 } from '@proj/frames';
import * as emqp from '@proj/frames/emqp';
import * as mdp from '@proj/frames/mdp';
import * as nfp from '@proj/frames/nfp';
import * as ppp from '@proj/frames/ppp';
import * as pzq from '@proj/frames/pzq';

/** A message without the routing id. */
export type Frames = readonly Uint8Array[];
/** A command of any protocol, or `malformed`. */
export type Command = { readonly kind: string } & Readonly<Record<string, unknown>>;
/** Total: frames that are no message become `malformed`. */
export type Decoder = (frames: Frames) => Command;

/** One receiver of messages. */
export interface Reader {
  /** Who it is, in words. */
  readonly receiver: string;
  /** True for a socket of a server: what it receives comes in there, what others receive goes out. */
  readonly isServer: boolean;
  /** The only socket of a server that it is about, in the order in which the server opens them. Default: all. */
  readonly socket?: number;
  /** For a message that is known to be for this receiver. */
  readonly decode: Decoder;
  /** For a message that may be of any protocol. Default: `decode`; `null` where any frames would do. */
  readonly guess?: Decoder | null;
}

/** Decoders of commands that are discriminated by `kind`, whose further fields only `JSON.stringify` looks at. */
const as = (decode: (frames: Frames) => object): Decoder => decode as Decoder;

const UNLIKE: Command = { kind: 'malformed', reason: 'unlike' };
/** PZQ marks none of its messages, so a guess takes only what looks like one: by its key or its status. */
const like =
  (looks: (frames: Frames) => boolean, decode: (frames: Frames) => object): Decoder =>
  (frames) =>
    looks(frames) ? as(decode)(frames) : UNLIKE;
const KEY = /^\d{16}\|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const hasKey = ([key]: Frames): boolean => key !== undefined && KEY.test(latin1(key));
const hasStatus = ([, status]: Frames): boolean => status?.length === 1 && (status[0] === 0x30 || status[0] === 0x31);

/** MDP 0.2 peers that write an empty frame in front are answered with one. */
const pastEmpty =
  (decode: (frames: Frames) => object): Decoder =>
  (frames) => {
    const command = as(decode)(frames);
    return command.kind === 'malformed' && frames[0]?.length === 0 ? as(decode)(frames.slice(1)) : command;
  };

function published(frames: Frames): Command {
  const event = nfp.decodeNfpPublishedEvent(frames);
  return event === undefined ? { kind: 'malformed', reason: 'no-event' } : { ...event, kind: 'published' };
}

/** By protocol. Of several readers the first that understands a message reads it. */
export const DECODERS = {
  mdp: [
    {
      receiver: 'broker',
      isServer: true,
      decode: as((frames) => mdp.decodeMdpAtBroker(frames, { acceptLeadingEmpty: true })),
      guess: as(mdp.decodeMdpAtBroker),
    },
    {
      receiver: 'worker',
      isServer: false,
      decode: pastEmpty(mdp.decodeMdpAtWorker),
      guess: as(mdp.decodeMdpAtWorker),
    },
    {
      receiver: 'client',
      isServer: false,
      decode: pastEmpty(mdp.decodeMdpAtClient),
      guess: as(mdp.decodeMdpAtClient),
    },
  ],
  ppp: [
    { receiver: 'queue from a worker', isServer: true, socket: 1, decode: as(ppp.decodePppAtQueue) },
    { receiver: 'worker', isServer: false, socket: 1, decode: as(ppp.decodePppAtWorker) },
    { receiver: 'queue from a client', isServer: true, socket: 0, decode: as(ppp.decodePppAtFrontend) },
    { receiver: 'client', isServer: false, socket: 0, decode: as(ppp.decodePppAtClient) },
  ],
  pzq: [
    {
      receiver: 'producer',
      isServer: false,
      decode: as(pzq.decodePzqAtProducer),
      guess: like(hasStatus, pzq.decodePzqAtProducer),
    },
    {
      receiver: 'consumer',
      isServer: false,
      decode: as(pzq.decodePzqAtConsumer),
      guess: like(hasKey, pzq.decodePzqAtConsumer),
    },
    {
      receiver: 'receive socket',
      isServer: true,
      decode: as(pzq.decodePzqAtReceive),
      // Whatever has an empty frame in the middle may be a message to store.
      guess: like((frames) => pzq.decodePzqAtReceive(frames).kind !== 'unusable', pzq.decodePzqAtReceive),
    },
    {
      receiver: 'send socket',
      isServer: true,
      decode: as(pzq.decodePzqAtSend),
      // A delivery is no acknowledgement with much behind it.
      guess: like((frames) => hasKey(frames) && frames.length < 3, pzq.decodePzqAtSend),
    },
    { receiver: 'monitor socket', isServer: true, decode: as(pzq.decodePzqAtMonitor) },
  ],
  emqp: [
    { receiver: 'broker', isServer: true, decode: as(emqp.decodeEmqpAtBroker) },
    { receiver: 'worker', isServer: false, decode: as(emqp.decodeEmqpAtWorker) },
    { receiver: 'scheduler', isServer: false, decode: as(emqp.decodeEmqpAtScheduler) },
    { receiver: 'client', isServer: false, decode: as(emqp.decodeEmqpAtClient) },
    { receiver: 'broker from an admin', isServer: true, decode: as(emqp.decodeEmqpAtAdminPort) },
    { receiver: 'admin', isServer: false, decode: as(emqp.decodeEmqpAtAdmin) },
    { receiver: 'pub-sub device', isServer: true, decode: as(emqp.decodeEmqpAtPubSub) },
    // Two frames of anything.
    { receiver: 'subscriber', isServer: false, decode: as(emqp.decodeEmqpAtSubscriber), guess: null },
  ],
  nfp: [
    { receiver: 'broker', isServer: true, decode: as(nfp.decodeNfpAtBroker) },
    { receiver: 'worker', isServer: false, decode: as(nfp.decodeNfpAtWorker) },
    { receiver: 'client', isServer: false, decode: as(nfp.decodeNfpAtClient) },
    { receiver: 'subscriber', isServer: false, decode: published, guess: null },
  ],
} as const satisfies Record<string, readonly Reader[]>;

/** A protocol of the project, by its short name. */
export type ProtocolName = keyof typeof DECODERS;

/** What a message says. */
export interface Reading {
  readonly protocol: string;
  readonly receiver: string;
  readonly command: Command;
}

/** What every receiver of every protocol makes of a message, `malformed` included. */
export function readings(frames: Frames): Reading[] {
  return Object.entries<readonly Reader[]>(DECODERS).flatMap(([protocol, readers]) =>
    readers.flatMap(({ receiver, decode, guess = decode }) =>
      guess === null ? [] : [{ protocol, receiver, command: guess(frames) }],
    ),
  );
}
