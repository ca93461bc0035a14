/** Paranoid Pirate: a request that is open. Books only, no protocol decisions. */
import { compactAll } from '@proj/frames';
import type { PppAddresses, PppContent, PppAddressedReply } from '@proj/frames/ppp';
import { frameCost, requestCost } from '../../shared/cost.js';
import { QueueSlot } from '../../shared/removable-queue.js';
import type { Slack } from '../../shared/slack.js';
import type { PppRequestLoss } from './events.js';

/** An accepted request until it is answered or given up: waiting in the queue, or running at one worker. */
export class Request {
  /** What its worker gets and gives back. The first one names who asked, and what. */
  addresses: PppAddresses;
  content: PppContent;
  /** Bytes taken from the budget. */
  readonly cost: number;
  /** Memory taken for what it holds beyond that, while it waits. */
  slack = 0;
  /** Workers it was given to, the present one included. */
  attempts = 0;
  /** Why nobody waits for its reply any more, while it still runs. */
  abandoned: PppRequestLoss | undefined;
  /** Place in the queue. */
  readonly place = new QueueSlot<this>(this);

  constructor(addresses: PppAddresses, content: PppContent) {
    this.addresses = addresses;
    this.content = content;
    this.cost = requestCost(content) + frameCost(addresses);
  }

  /** It waits from now on, in memory of its own where there is no slack left. */
  settle(slack: Slack): void {
    const { addresses, content } = this;
    const taken = slack.take([...addresses, ...content]);
    if (taken !== undefined) this.slack = taken;
    else {
      this.addresses = compactAll(addresses);
      this.content = compactAll(content);
    }
  }

  /** It waits no more. */
  leave(slack: Slack): void {
    slack.give(this.slack);
    this.slack = 0;
  }
}

/**
 * Who asks: all that the workers' side knows of it. For a queue these are the clients at its frontend, for a pool it is
 * the process itself.
 */
export interface Requester<Asked extends Request> {
  /** The request has begun to wait: for its first worker, or for another one. */
  onWaiting(request: Asked): void;
  /** It waits no more: it runs, or is about to be given up. */
  onWaited(request: Asked): void;
  /** Its one end: the reply of the worker that had it. It may be `abandoned` by now. */
  onReply(request: Asked, reply: PppAddressedReply): void;
  /** Its one end: there will be no reply. This has been counted. */
  onLost(request: Asked, reason: PppRequestLoss): void;
}
