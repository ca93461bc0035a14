/** 6/PPP at the sockets: how what happens at a frontend or backend ROUTER is told to an engine. */
import { decodePppAtFrontend, decodePppAtQueue, decodePppAtWorker } from '@proj/frames/ppp';
import type { PortOptions, SocketPlan } from '@proj/transport';
import { CONNECTIONS } from '../parts/connections.js';
import type { PppBackendEvent, PppFrontendEvent } from './effects.js';
import type { PppBackendSettings } from './options.js';

type Endpoints = string | readonly string[];

/** The ROUTER that workers come to. */
export function backendPlan(endpoints: Endpoints, settings: PppBackendSettings): SocketPlan<PppBackendEvent> {
  const socket = 'backend';
  return {
    kind: 'router',
    bind: listOf(endpoints),
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
export function frontendPlan(endpoints: Endpoints, settings: PppBackendSettings): SocketPlan<PppFrontendEvent> {
  const socket = 'frontend';
  return {
    kind: 'router',
    bind: listOf(endpoints),
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

function listOf(endpoints: Endpoints): readonly string[] {
  return typeof endpoints === 'string' ? [endpoints] : endpoints;
}
