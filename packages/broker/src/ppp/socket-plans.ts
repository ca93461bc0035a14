/** 6/PPP at the sockets: how events on a frontend or backend ROUTER become engine events. */
import { decodePppAtFrontend, decodePppAtQueue, decodePppAtWorker } from '@proj/frames/ppp';
import type { PortOptions, SocketPlan } from '@proj/transport';
import { CONNECTIONS, LONG_QUEUES } from '../shared/connections.js';
import type { PppBackendEvent, PppFrontendEvent } from './engine/events.js';
import type { PppBackendSettings } from './options.js';

/** Default bind endpoints are in options.ts. */
const FRONTEND = 'tcp://127.0.0.1:5556';
const BACKEND = 'tcp://127.0.0.1:5557';

type Endpoints = string | readonly string[] | undefined;

/** Where a socket binds and what it connects to. */
interface Ends {
  readonly bind: Endpoints;
  readonly connect: Endpoints;
}

/** The ROUTER for workers. */
export function backendPlan(ends: Ends, settings: PppBackendSettings): SocketPlan<PppBackendEvent> {
  const socket = 'backend';
  return {
    kind: 'router',
    ...endsOf(ends, BACKEND),
    port: portOptions(settings),
    onMessage: (peer, frames) => ({ kind: 'message', socket, peer, command: decodePppAtQueue(frames) }),
    onPeerGone: (peer) => ({ kind: 'peer-gone', socket, peer }),
    onUndeliverable: (peer, frames, reason) => {
      return { kind: 'undeliverable', socket, peer, command: decodePppAtWorker(frames), reason };
    },
    onRejected: (peer, reason) => ({ kind: 'rejected', socket, peer, reason }),
  };
}

/** The ROUTER for clients. */
export function frontendPlan(ends: Ends, settings: PppBackendSettings): SocketPlan<PppFrontendEvent> {
  const socket = 'frontend';
  return {
    kind: 'router',
    ...endsOf(ends, FRONTEND),
    // A client may send this many requests before it reads the first reply. The port's defaults bound the bytes.
    port: {
      ...portOptions(settings),
      peerQueueMax: settings.requestQueueMax,
      queueMax: settings.requestQueueMax,
      ...LONG_QUEUES,
    },
    onMessage: (peer, frames) => ({ kind: 'message', socket, peer, command: decodePppAtFrontend(frames) }),
    onPeerGone: (peer) => ({ kind: 'peer-gone', socket, peer }),
    onUndeliverable: (peer, _frames, reason, others) => ({ kind: 'undeliverable', socket, peer, reason, others }),
    onRejected: (peer, reason) => ({ kind: 'rejected', socket, peer, reason }),
  };
}

function portOptions({ maxMessageFrames, maxMessageBytes, lingerMs }: PppBackendSettings): PortOptions {
  return { maxMessageFrames, maxMessageBytes, lingerMs, ...CONNECTIONS };
}

/** A socket that connects only binds if that is configured too. */
function endsOf({ bind, connect }: Ends, otherwise: string): Pick<SocketPlan<never>, 'bind' | 'connect'> {
  return { bind: listOf(bind ?? (connect === undefined ? otherwise : [])), connect: listOf(connect ?? []) };
}

function listOf(endpoints: string | readonly string[]): readonly string[] {
  return typeof endpoints === 'string' ? [endpoints] : endpoints;
}
