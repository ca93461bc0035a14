/** 18/MDP and 7/MDP at the socket: how events on the ROUTER become engine events. */
import { decodeMdpAtBroker, decodeMdpAtClient, decodeMdpAtWorker } from '@proj/frames/mdp';
import type { MdpCommand } from '@proj/frames/mdp';
import type { PortOptions, SocketPlan } from '@proj/transport';
import { CONNECTIONS, LONG_QUEUES } from '../shared/connections.js';
import type { MdpBrokerEvent, MdpOwnEvent } from './engine/events.js';
import type { MdpBrokerSettings, MdpPoolSettings } from './options.js';

/** Events of the socket. */
type SocketEvent = Exclude<MdpBrokerEvent, MdpOwnEvent>;

/** The ROUTER of a broker, for clients and workers. */
export function socketPlan(settings: MdpBrokerSettings): SocketPlan<SocketEvent> {
  const { clientRequestsMax, requestQueueMax } = settings;
  return routerPlan(settings, {
    // Rule 19: a client may send this many requests before it reads the first reply. The port's defaults bound the bytes.
    peerQueueMax: clientRequestsMax,
    queueMax: Math.max(clientRequestsMax, requestQueueMax),
    ...LONG_QUEUES,
  });
}

/** The ROUTER of a pool. Messages of clients do not belong there. */
export function workersOnlyPlan(settings: MdpPoolSettings): SocketPlan<SocketEvent> {
  const plan = routerPlan(settings, {});
  return {
    ...plan,
    onMessage(peer, frames) {
      const event = plan.onMessage(peer, frames);
      if (event?.kind !== 'message' || event.command.kind !== 'client-request') return event;
      return { ...event, command: { kind: 'malformed', side: 'client', reason: 'wrong-direction' } };
    },
  };
}

function routerPlan(settings: MdpBrokerSettings | MdpPoolSettings, queues: PortOptions): SocketPlan<SocketEvent> {
  const { endpoint, acceptLeadingEmpty, maxMessageFrames, maxMessageBytes, lingerMs } = settings;
  const decodeOptions = { acceptLeadingEmpty };
  return {
    kind: 'router',
    bind: typeof endpoint === 'string' ? [endpoint] : endpoint,
    port: { maxMessageFrames, maxMessageBytes, lingerMs, ...queues, ...CONNECTIONS },
    onMessage: (peer, frames) => ({ kind: 'message', peer, command: decodeMdpAtBroker(frames, decodeOptions) }),
    onPeerGone: (peer) => ({ kind: 'peer-gone', peer }),
    onUndeliverable: (peer, frames, reason, others) => {
      const command = decodeOwn(frames);
      return command === undefined ? undefined : { kind: 'undeliverable', peer, command, reason, others };
    },
    onRejected: (peer, reason) => ({ kind: 'rejected', peer, reason }),
  };
}

/** Decodes one of our messages that could not be sent. Costs nothing in normal operation, unlike remembering every message. */
function decodeOwn(frames: readonly Uint8Array[]): MdpCommand | undefined {
  // Only 0.1 decodes behind an empty frame, but a 0.2 peer that sends one gets one too (rule 3).
  for (const candidate of frames[0]?.length === 0 ? [frames, frames.slice(1)] : [frames]) {
    const toWorker = decodeMdpAtWorker(candidate);
    if (toWorker.kind !== 'malformed') return toWorker;
    const toClient = decodeMdpAtClient(candidate);
    if (toClient.kind !== 'malformed') return toClient;
  }
  return undefined;
}
