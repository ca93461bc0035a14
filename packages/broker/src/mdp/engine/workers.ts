/** Majordomo broker: what it knows of a registered worker beyond its life (rules 3 and 20). */
import type { MdpFraming } from '@proj/frames/mdp';
import type { Peer } from '@proj/transport';
import { WorkerEntry } from '../../shared/worker-table.js';
import type { PartialReplies } from './partials.js';
import type { Request } from './requests.js';
import type { Service } from './services.js';

/** A registered worker of one service. */
export class Worker extends WorkerEntry<Request> {
  readonly service: Service;
  /** How it speaks, from its READY. */
  readonly framing: MdpFraming;
  /** What it has answered of its job so far. */
  parts: PartialReplies | undefined;

  constructor(peer: Peer, service: Service, framing: MdpFraming, now: number) {
    super(peer, now);
    this.service = service;
    this.framing = framing;
  }
}
