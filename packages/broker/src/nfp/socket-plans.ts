/** NFP broker: its sockets: the main ROUTER, one for management, and a PUB for events (rules 18 and 22). */
import { decodeNfpAtBroker, decodeNfpAtClient, decodeNfpAtWorker } from '@proj/frames/nfp';
import type { NfpFromBroker } from '@proj/frames/nfp';
import type { Peer, PortOptions, PublisherPlan, SocketPlan } from '@proj/transport';
import { serverCurve } from '@proj/transport/curve';
import { CONNECTIONS, LONG_QUEUES } from '../shared/connections.js';
import type { NfpBrokerEvent } from './engine/events.js';
import type { Traffic } from './engine/management/mmi.js';
import type { NfpBrokerSettings } from './options.js';

/**
 * Prefix of peers' keys at the management endpoint, because routing ids of two sockets may be equal. Keys are Latin-1, so no other begins with
 * it.
 */
const MANAGER = '\u0100';

/** The main ROUTER, and one for management with its own keys. */
export function socketPlans(settings: NfpBrokerSettings, traffic: Traffic): SocketPlan<NfpBrokerEvent>[] {
  const { endpoint, managementEndpoint, managementCurve } = settings;
  const main = socketPlan(settings, traffic, endpoint);
  if (managementEndpoint === undefined) return [main];
  const management = managementPlan(socketPlan(settings, traffic, managementEndpoint));
  return [main, { ...management, port: { ...management.port, ...serverCurve(managementCurve) } }];
}

/** The PUB for events, if there is one. */
export function publisherPlans({
  publish,
  subscriberQueueMax,
  lingerMs,
}: NfpBrokerSettings): PublisherPlan<NfpBrokerEvent>[] {
  if (publish === undefined) return [];
  return [{ bind: [publish].flat(), port: { highWaterMark: subscriberQueueMax, lingerMs }, hears: 'request' }];
}

function socketPlan(
  settings: NfpBrokerSettings,
  traffic: Traffic,
  endpoint: string | readonly string[],
): SocketPlan<NfpBrokerEvent> {
  return {
    kind: 'router',
    bind: [endpoint].flat(),
    port: portOptions(settings),
    onMessage: (peer, frames) => {
      traffic.received(frames);
      return { kind: 'message', peer, command: decodeNfpAtBroker(frames) };
    },
    onPeerGone: (peer) => ({ kind: 'peer-gone', peer }),
    onUndeliverable: (peer, frames, reason, others) => {
      const command = decodeOwn(frames);
      return command === undefined ? undefined : { kind: 'undeliverable', peer, command, reason, others };
    },
    onRejected: (peer, reason) => ({ kind: 'rejected', peer, reason }),
  };
}

/** Marks peers and messages as those of the management endpoint. */
function managementPlan(plan: SocketPlan<NfpBrokerEvent>): SocketPlan<NfpBrokerEvent> {
  return {
    ...plan,
    onMessage: (peer, frames) => {
      const event = plan.onMessage(manager(peer), frames);
      return event?.kind === 'message' ? { ...event, at: 'management' } : event;
    },
    onPeerGone: () => undefined,
    onUndeliverable: (peer, frames, reason, others) => plan.onUndeliverable?.(manager(peer), frames, reason, others),
    onRejected: (peer, reason) => plan.onRejected?.(manager(peer), reason),
  };
}

function manager(peer: Peer): Peer {
  return { ...peer, key: MANAGER + peer.key };
}

/** Whether the peer is at the management endpoint. */
export function isManager(peer: Peer): boolean {
  return peer.key.startsWith(MANAGER);
}

/** A peer of the management endpoint, under its socket's key. */
export function withoutMark(peer: Peer): Peer {
  return { ...peer, key: peer.key.slice(MANAGER.length) };
}

function portOptions({ maxMessageFrames, maxMessageBytes, lingerMs, jobsMax }: NfpBrokerSettings): PortOptions {
  // Only the worker's own reading limits its calls, so all jobs may be on their way to it. The defaults limit their bytes.
  const queues = { peerQueueMax: jobsMax, queueMax: jobsMax, ...LONG_QUEUES };
  return { maxMessageFrames, maxMessageBytes, lingerMs, ...queues, ...CONNECTIONS };
}

/** Decodes one of our commands that was not delivered. Decoding again costs nothing in normal operation; remembering every message would. */
function decodeOwn(frames: readonly Uint8Array[]): NfpFromBroker | undefined {
  const toWorker = decodeNfpAtWorker(frames);
  // An MMI to a client looks like a call in the shape of the tables, which this broker never writes.
  if (toWorker.kind !== 'malformed' && toWorker.kind !== 'worker-table-call') return toWorker;
  const toClient = decodeNfpAtClient(frames);
  return toClient.kind === 'malformed' ? undefined : toClient;
}
