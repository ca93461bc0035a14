/** Majordomo broker: the effects of the current step, what is counted, and the limit of rule 8. Each drop of docs/protocols/mdp.md, "Bad input", has its reason here. */
import type { MdpBody, MdpFraming } from '@proj/frames/mdp';
import { OncePer } from '@proj/heartbeat';
import type { Peer } from '@proj/transport';
import { RefusedPeers, StepOutput } from '@proj/transport/engine';
import type {
  MdpBrokerEffect,
  MdpBrokerNote,
  MdpDropReason,
  MdpFromBroker,
  MdpMessageDrop,
  MdpRefusal,
  MdpReplyLoss,
  MdpRequestLoss,
} from './events.js';
import { hasLong } from '../../shared/long-frames.js';

/** Identities remembered for rule 8; while this many are within their interval, others get no DISCONNECT. */
const DISCONNECT_MEMORY = 65_536;

/** Running totals since construction. */
export type MdpBrokerCounters = Output['counters'];

/** Collects the effects of every part of the engine. */
export class Output extends StepOutput<MdpBrokerEffect> {
  override readonly counters = {
    /** Requests accepted: dispatched or queued. `dropped` has the refused ones. */
    requests: 0,
    /** REQUESTs sent to workers, resends included. */
    dispatches: 0,
    /** Requests given to services inside the broker, repeats included. */
    runs: 0,
    /** Second and later attempts, among both. */
    resends: 0,
    /** PARTIALs forwarded to clients. */
    partials: 0,
    /** Requests that ended with their worker's FINAL, or a handler's reply. */
    replies: 0,
    /** MMI requests answered. */
    mmi: 0,
    workersReady: 0,
    workersLost: 0,
    heartbeatsSent: 0,
    disconnectsSent: 0,
    /** DISCONNECTs withheld by rule 8. */
    disconnectsWithheld: 0,
    /** Notes withheld because the same note was given within the minute. */
    notesWithheld: 0,
    /** Everything dropped, by reason. */
    dropped: {
      'no-header': 0,
      'unknown-header': 0,
      'leading-empty': 0,
      'no-leading-empty': 0,
      'no-command': 0,
      'command-length': 0,
      'unknown-command': 0,
      'wrong-direction': 0,
      'no-service': 0,
      'service-invalid': 0,
      envelope: 0,
      'no-body': 0,
      'extra-frames': 0,
      'too-many-frames': 0,
      'too-large': 0,
      'no-frames': 0,
      'wrong-version': 0,
      unexpected: 0,
      'unknown-worker': 0,
      'reserved-service': 0,
      'not-allowed': 0,
      'services-limit': 0,
      'workers-limit': 0,
      'registrations-limit': 0,
      draining: 0,
      'client-limit': 0,
      'queue-full': 0,
      displaced: 0,
      memory: 0,
      'expired-unserved': 0,
      'expired-busy': 0,
      'client-gone': 0,
      'attempts-exhausted': 0,
      'lost-after-partial': 0,
      drained: 0,
      'reply-undeliverable': 0,
      'reply-too-large': 0,
    } satisfies Record<MdpDropReason, number>,
  };
  readonly #disconnects: OncePer;
  /** For operators: peers with dropped messages. */
  readonly refused = new RefusedPeers();

  constructor(options: { readonly heartbeatIntervalMs: number }) {
    super();
    this.#disconnects = new OncePer(options.heartbeatIntervalMs, DISCONNECT_MEMORY);
  }

  send(peer: Peer, command: MdpFromBroker): void {
    this.effects.push({ kind: 'send', peer, command });
  }

  /** The engine no longer needs this body; a send already under way may. */
  release(body: MdpBody): void {
    if (hasLong(body)) this.effects.push({ kind: 'release', body });
  }

  /** Rule 8: DISCONNECT, at most once per interval and identity. */
  disconnect(peer: Peer, framing: MdpFraming): void {
    if (this.#disconnects.allow(peer.key, this.now)) this.farewell(peer, framing);
    else this.counters.disconnectsWithheld++;
  }

  /** DISCONNECT when the broker closes: sent to each worker once, whatever was sent before. */
  farewell(peer: Peer, { version, leadingEmpty }: MdpFraming): void {
    this.counters.disconnectsSent++;
    this.send(peer, { kind: 'disconnect', version, leadingEmpty });
  }

  dropMessage(reason: MdpMessageDrop, peer: Peer): void {
    this.counters.dropped[reason]++;
    this.refused.add(peer, reason);
    this.#noteOf({ kind: 'note', code: 'message-dropped', reason, peer });
  }

  /** Refuses or gives up a request of this client. */
  dropRequest(reason: MdpRefusal | MdpRequestLoss, peer: Peer, service: string): void {
    this.counters.dropped[reason]++;
    this.refused.add(peer, reason);
    this.#noteOf({ kind: 'note', code: 'request-dropped', reason, peer, service });
  }

  /** A reply, or part of one, did not reach the client, or several. */
  dropReply(reason: MdpReplyLoss, peer: Peer, service: string, replies = 1): void {
    this.counters.dropped[reason] += replies;
    this.#noteOf({ kind: 'note', code: 'reply-dropped', reason, peer, service });
  }

  #noteOf(note: MdpBrokerNote & { reason: string; peer: Peer }): void {
    this.note(`${note.reason} ${note.peer.key}`, note);
  }
}
