/** Majordomo broker: the effects of the step under way, the totals, and the limits on what is said (rule 8; notes). */
import type { MdpBody, MdpFraming } from '@proj/frames/mdp';
import { OncePer } from '@proj/heartbeat';
import type { Peer } from '@proj/transport';
import { StepOutput } from '@proj/transport/engine';
import { newCounters } from './counters.js';
import type { MdpBrokerCounters } from './counters.js';
import type {
  MdpBrokerEffect,
  MdpBrokerNote,
  MdpFromBroker,
  MdpMessageDrop,
  MdpRefusal,
  MdpReplyLoss,
  MdpRequestLoss,
} from './events.js';

/** What is shorter is not worth an effect. */
const LONG_BYTES = 2 ** 14;
/** Identities remembered for rule 8; while as many are within their interval, further ones get no DISCONNECT. */
const DISCONNECT_MEMORY = 65_536;

/** Where every part of the engine puts its effects. */
export class Output extends StepOutput<MdpBrokerEffect, MdpBrokerCounters> {
  readonly #disconnects: OncePer;

  constructor(options: { readonly heartbeatIntervalMs: number }) {
    super(newCounters());
    this.#disconnects = new OncePer(options.heartbeatIntervalMs, DISCONNECT_MEMORY);
  }

  send(peer: Peer, command: MdpFromBroker): void {
    this.effects.push({ kind: 'send', peer, command });
  }

  /** This body is needed no more, but by what was sent before. */
  release(body: MdpBody): void {
    for (const frame of body) {
      if (frame.length < LONG_BYTES) continue;
      this.effects.push({ kind: 'release', body });
      return;
    }
  }

  /** Rule 8: DISCONNECT, at most once per interval and identity. */
  disconnect(peer: Peer, framing: MdpFraming): void {
    if (this.#disconnects.allow(peer.key, this.now)) this.farewell(peer, framing);
    else this.counters.disconnectsWithheld++;
  }

  /** DISCONNECT at the broker's own end, said to each worker once whatever was said before. */
  farewell(peer: Peer, { version, leadingEmpty }: MdpFraming): void {
    this.counters.disconnectsSent++;
    this.send(peer, { kind: 'disconnect', version, leadingEmpty });
  }

  /** A message of this peer was dropped. */
  dropMessage(reason: MdpMessageDrop, peer: Peer): void {
    this.counters.dropped[reason]++;
    this.#noteOf({ kind: 'note', code: 'message-dropped', reason, peer });
  }

  /** A request of this client was refused or given up. */
  dropRequest(reason: MdpRefusal | MdpRequestLoss, peer: Peer, service: string): void {
    this.counters.dropped[reason]++;
    this.#noteOf({ kind: 'note', code: 'request-dropped', reason, peer, service });
  }

  /** A reply, or a part of one, did not get to the client. */
  dropReply(reason: MdpReplyLoss, peer: Peer, service: string): void {
    this.counters.dropped[reason]++;
    this.#noteOf({ kind: 'note', code: 'reply-dropped', reason, peer, service });
  }

  #noteOf(note: MdpBrokerNote & { reason: string; peer: Peer }): void {
    this.note(`${note.reason} ${note.peer.key}`, note);
  }
}
