/** 6/PPP at the sockets: how what happens at a frontend or backend ROUTER is told to an engine. */
import { decodePppAtFrontend, decodePppAtQueue, decodePppAtWorker } from '@proj/frames/ppp';
import type { PortOptions, SocketPlan } from '@proj/transport';
import { CONNECTIONS } from '../shared/connections.js';
import type { PppBackendEvent, PppFrontendEvent } from './engine/events.js';
import type { PppBackendSettings } from './options.js';

/** Where sockets bind by default: options.ts. */
const FRONTEND = 'tcp://127.0.0.1:5556';
const BACKEND = 'tcp://127.0.0.1:5557';

type Endpoints = string | readonly string[] | undefined;

/** Where one of the sockets listens, and whom it goes to. */
interface Ends {
  readonly bind: Endpoints;
  readonly connect: Endpoints;
  /** Where it binds when neither is said. */
  readonly otherwise: string;
}

/** The ROUTER that workers come to. */
export function backendPlan(ends: Omit<Ends, 'otherwise'>, settings: PppBackendSettings): SocketPlan<PppBackendEvent> {
  const socket = 'backend';
  return {
    kind: 'router',
    ...endsOf({ ...ends, otherwise: BACKEND }),
    port: portOptions(settings),
    onMessage: (peer, frames) => ({ kind: 'message', socket, peer, command: decodePppAtQueue(frames) }),
    onPeerGone: (peer) => ({ kind: 'peer-gone', socket, peer }),
    onUndeliverable: (peer, frames, reason) => {
      return { kind: 'undeliverable', socket, peer, command: decodePppAtWorker(frames), reason };
    },
    onRejected: (peer, reason) => ({ kind: 'rejected', socket, peer, reason }),
  };
}

/** The ROUTER that clients come to. */
export function frontendPlan(
  ends: Omit<Ends, 'otherwise'>,
  settings: PppBackendSettings,
): SocketPlan<PppFrontendEvent> {
  const socket = 'frontend';
  return {
    kind: 'router',
    ...endsOf({ ...ends, otherwise: FRONTEND }),
    // A client may send as many requests before it reads the first reply. Bytes are bounded by the defaults.
    port: { ...portOptions(settings), peerQueueMax: settings.requestQueueMax, queueMax: settings.requestQueueMax },
    onMessage: (peer, frames) => ({ kind: 'message', socket, peer, command: decodePppAtFrontend(frames) }),
    onPeerGone: (peer) => ({ kind: 'peer-gone', socket, peer }),
    onUndeliverable: (peer, _frames, reason) => ({ kind: 'undeliverable', socket, peer, reason }),
    onRejected: (peer, reason) => ({ kind: 'rejected', socket, peer, reason }),
  };
}

function portOptions({ maxMessageFrames, maxMessageBytes, lingerMs }: PppBackendSettings): PortOptions {
  return { maxMessageFrames, maxMessageBytes, lingerMs, ...CONNECTIONS };
}

/** Who is told whom to go to is not meant to listen as well, unless that is said, too. */
function endsOf({ bind, connect, otherwise }: Ends): Pick<SocketPlan<never>, 'bind' | 'connect'> {
  return { bind: listOf(bind ?? (connect === undefined ? otherwise : [])), connect: listOf(connect ?? []) };
}

function listOf(endpoints: string | readonly string[]): readonly string[] {
  return typeof endpoints === 'string' ? [endpoints] : endpoints;
}
