/** The decoders of every protocol in one list, for the trace of a program and for `proj decode`. A new protocol adds its own here. */
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
/** Total: frames that are not a message become `malformed`. */
export type Decoder = (frames: Frames) => Command;

/** One receiver of messages. */
export interface Reader {
  /** Its role, in words. */
  readonly receiver: string;
  /** True for a socket of a server: what it receives is incoming, what others receive is outgoing. */
  readonly isServer: boolean;
  /** The one socket of a server that it describes, in the order in which the server opens them. Default: all. */
  readonly socket?: number;
  /** For a message known to be for this receiver. */
  readonly decode: Decoder;
  /** For a message of an unknown protocol. Default: `decode`; `null` if any frames would be valid. */
  readonly guess?: Decoder | null;
}

/** Decoders of commands that are discriminated by `kind`. Only `JSON.stringify` looks at the other fields. */
const as = (decode: (frames: Frames) => object): Decoder => decode as Decoder;

const UNLIKE: Command = { kind: 'malformed', reason: 'unlike' };
/** PZQ does not mark its messages, so a guess accepts only what has a typical key or status. */
const like =
  (looks: (frames: Frames) => boolean, decode: (frames: Frames) => object): Decoder =>
  (frames) =>
    looks(frames) ? as(decode)(frames) : UNLIKE;
const KEY = /^\d{16}\|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const hasKey = ([key]: Frames): boolean => key !== undefined && KEY.test(latin1(key));
const hasStatus = ([, status]: Frames): boolean => status?.length === 1 && (status[0] === 0x30 || status[0] === 0x31);

/** MDP 0.2 peers that put an empty frame in front get one in the answer. */
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

/** By protocol. If there are several readers, the first that understands a message is used. */
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
      // Any message with an empty frame in the middle could be a message to store.
      guess: like((frames) => pzq.decodePzqAtReceive(frames).kind !== 'unusable', pzq.decodePzqAtReceive),
    },
    {
      receiver: 'send socket',
      isServer: true,
      decode: as(pzq.decodePzqAtSend),
      // A delivery is not an acknowledgement with extra frames.
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
    // Matches any two frames.
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

/** The meaning of a message. */
export interface Reading {
  readonly protocol: string;
  readonly receiver: string;
  readonly command: Command;
}

/** How every receiver of every protocol reads a message, including `malformed`. */
export function readings(frames: Frames): Reading[] {
  return Object.entries<readonly Reader[]>(DECODERS).flatMap(([protocol, readers]) =>
    readers.flatMap(({ receiver, decode, guess = decode }) =>
      guess === null ? [] : [{ protocol, receiver, command: guess(frames) }],
    ),
  );
}
