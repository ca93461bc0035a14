/** 18/MDP and 7/MDP at the socket: how what happens at the ROUTER is told to an engine. */
import { decodeMdpAtBroker, decodeMdpAtClient, decodeMdpAtWorker } from '@proj/frames/mdp';
import type { MdpCommand } from '@proj/frames/mdp';
import type { PortOptions, SocketPlan } from '@proj/transport';
import { CONNECTIONS } from '../shared/connections.js';
import type { MdpBrokerEvent, MdpOwnEvent } from './engine/events.js';
import type { MdpBrokerSettings, MdpPoolSettings } from './options.js';

/** What sockets tell. */
type Happening = Exclude<MdpBrokerEvent, MdpOwnEvent>;

/** The ROUTER of a broker, for clients and workers. */
export function socketPlan(settings: MdpBrokerSettings): SocketPlan<Happening> {
  const { clientRequestsMax, requestQueueMax } = settings;
  return routerPlan(settings, {
    // Rule 19: a client may send as many requests before it reads the first reply. Bytes are bounded by the defaults.
    peerQueueMax: clientRequestsMax,
    queueMax: Math.max(clientRequestsMax, requestQueueMax),
  });
}

/** The ROUTER of a pool. Whoever speaks as a client there is at the wrong place. */
export function workersOnlyPlan(settings: MdpPoolSettings): SocketPlan<Happening> {
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

type Router = Pick<
  MdpBrokerSettings,
  'endpoint' | 'acceptLeadingEmpty' | 'maxMessageFrames' | 'maxMessageBytes' | 'lingerMs'
>;

function routerPlan(settings: Router, queues: PortOptions): SocketPlan<Happening> {
  const { endpoint, acceptLeadingEmpty, maxMessageFrames, maxMessageBytes, lingerMs } = settings;
  const decodeOptions = { acceptLeadingEmpty };
  return {
    kind: 'router',
    bind: typeof endpoint === 'string' ? [endpoint] : endpoint,
    port: { maxMessageFrames, maxMessageBytes, lingerMs, ...queues, ...CONNECTIONS },
    onMessage: (peer, frames) => ({ kind: 'message', peer, command: decodeMdpAtBroker(frames, decodeOptions) }),
    onPeerGone: (peer) => ({ kind: 'peer-gone', peer }),
    onUndeliverable: (peer, frames, reason) => {
      const command = decodeOwn(frames);
      return command === undefined ? undefined : { kind: 'undeliverable', peer, command, reason };
    },
    onRejected: (peer, reason) => ({ kind: 'rejected', peer, reason }),
  };
}

/** What of ours did not go out. Decoding it again costs nothing while all is well, unlike remembering every message. */
function decodeOwn(frames: readonly Uint8Array[]): MdpCommand | undefined {
  // Only 0.1 decodes behind an empty frame; a 0.2 peer that wants one is answered with one (rule 3).
  for (const candidate of frames[0]?.length === 0 ? [frames, frames.slice(1)] : [frames]) {
    const toWorker = decodeMdpAtWorker(candidate);
    if (toWorker.kind !== 'malformed') return toWorker;
    const toClient = decodeMdpAtClient(candidate);
    if (toClient.kind !== 'malformed') return toClient;
  }
  return undefined;
}
