/** PZQ server: its sockets, and the events that they make for the engine. */
import { decodePzqAtMonitor, decodePzqAtReceive, decodePzqAtSend } from '@proj/frames/pzq';
import type { Peer, SocketPlan } from '@proj/transport';
import type { PzqEvent, PzqOutletName } from './engine/events.js';
import type { PzqServerSettings } from './options.js';

type Endpoints = string | readonly string[];
type Plan = SocketPlan<PzqEvent>;

const KIB = 1024;
/** Room for id and headers besides the largest body. A message slightly over the limits is answered instead of cut off. */
const ENVELOPE_BYTES = 64 * KIB;
const ENVELOPE_FRAMES = 64;
/** Size of an answer besides its id: status, blank, the longest reason, and its bookkeeping. */
const ANSWER_BYTES = 256;
/** Answers that one producer leaves unread and that are reported lost one by one. */
const REPORTS_MAX = 1000;
/** Number of producers that may each leave the maximum of answers unread. */
const STALLED_PRODUCERS = 10;
/** High-water mark of a consumer. With 1, libzmq's thread and ours would take turns sleeping for every message. */
const CONSUMER_MARK = 2;
/** Time limit of one offer; then the message is encoded anew. */
const SEND_WAIT_MS = 100;

/** Places of the sockets in {@link socketPlans}. */
export const SOCKETS = { receive: 0, monitor: 1, queue: 2, 'dead-letters': 3 } as const;

/**
 * All sockets of a server. A producer that has left keeps nothing, so that makes no event. `acksWaiting`: answers that the receive socket still
 * holds for a producer.
 */
export function socketPlans(settings: PzqServerSettings, acksWaiting: (peer: Peer) => number): Plan[] {
  const { send, monitor, deadLetterSend, name } = settings;
  const plans = [receivePlan(settings, acksWaiting), monitorPlan(monitor), sendPlan('queue', send, name)];
  if (deadLetterSend !== undefined) plans.push(sendPlan('dead-letters', deadLetterSend, `${name}.dead`));
  return plans;
}

function receivePlan(settings: PzqServerSettings, acksWaiting: (peer: Peer) => number): Plan {
  const { receive, maxParts, maxMessageBytes, producerAckMax, producerAckMaxBytes, drainMs } = settings;
  const answerBytes = producerAckMaxBytes + producerAckMax * ANSWER_BYTES;
  return {
    kind: 'router',
    bind: listOf(receive),
    port: {
      maxMessageFrames: 2 * maxParts + ENVELOPE_FRAMES,
      maxMessageBytes: 2 * maxMessageBytes + ENVELOPE_BYTES,
      // Rule 4: the engine stops accepting from a producer before this limit loses an answer.
      peerQueueMax: producerAckMax,
      peerQueueMaxBytes: answerBytes,
      peerReportsMax: REPORTS_MAX,
      queueMax: STALLED_PRODUCERS * producerAckMax,
      queueMaxBytes: STALLED_PRODUCERS * answerBytes,
      // A producer with its own routing id gets its answers on its current connection.
      handover: true,
    },
    // Rule 19.
    drainLingerMs: drainMs,
    onMessage: (peer, frames) => ({
      kind: 'produce',
      peer,
      command: decodePzqAtReceive(frames),
      acksWaiting: acksWaiting(peer),
    }),
    onUndeliverable: (peer, _frames, reason, others) => ({ kind: 'ack-undeliverable', peer, reason, others }),
    onRejected: (peer, reason) => ({ kind: 'rejected', socket: 'receive', peer, reason }),
  };
}

/** For consumers: rules 12, 16, 17 and 39. */
function sendPlan(outlet: PzqOutletName, endpoints: Endpoints, serves: string): Plan {
  return {
    kind: 'dealer',
    bind: listOf(endpoints),
    serves,
    port: {
      highWaterMark: CONSUMER_MARK,
      // Acknowledgements hold no message back; a mark of 1 would cost several system calls for each.
      receiveHighWaterMark: 1000,
      peerQueueMax: 0,
      sendWaitMs: SEND_WAIT_MS,
      tellsPeers: true,
      maxMessageBytes: 64 * KIB,
      // Unsent messages are in the store.
      lingerMs: 0,
    },
    onMessage: (peer, frames) => ({ kind: 'consumer', outlet, peer, command: decodePzqAtSend(frames) }),
    onPeerCame: (peer) => ({ kind: 'consumer-came', outlet, peer }),
    onPeerGone: (peer) => ({ kind: 'consumer-gone', outlet, peer }),
    onSent: (peer) => ({ kind: 'delivered', outlet, peer }),
    onUndeliverable: () => ({ kind: 'blocked', outlet }),
    onRejected: (peer, reason) => ({ kind: 'rejected', socket: outlet, peer, reason }),
  };
}

function monitorPlan(endpoints: Endpoints): Plan {
  return {
    kind: 'router',
    bind: listOf(endpoints),
    port: { highWaterMark: 10, peerQueueMax: 10, maxMessageBytes: 64 * KIB, lingerMs: 100 },
    onMessage: (peer, frames) => ({ kind: 'monitor', peer, command: decodePzqAtMonitor(frames) }),
    onRejected: (peer, reason) => ({ kind: 'rejected', socket: 'monitor', peer, reason }),
  };
}

function listOf(endpoints: Endpoints): readonly string[] {
  return typeof endpoints === 'string' ? [endpoints] : endpoints;
}
