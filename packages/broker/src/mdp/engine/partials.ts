/**
 * Majordomo broker, rules 2 and 22: what a worker has answered of its job when the rest is still to come. With `bridge`, a 0.2 worker's
 * PARTIALs become one REPLY of 0.1.
 */
import { compactAll, totalBytes } from '@proj/frames';
import type { MdpBody } from '@proj/frames/mdp';
import type { Budget } from '../../shared/budget.js';
import { frameCost } from '../../shared/cost.js';

/** Limits of a message, which the joined reply must keep as well. */
interface MessageLimits {
  readonly maxMessageFrames: number;
  readonly maxMessageBytes: number;
}

/** The PARTIALs of one job at one worker. */
export class PartialReplies {
  /** True once the client has had one; `frames` remains empty then. */
  forwarded = false;
  /** Bodies of those that are kept, as the client can take one REPLY only. */
  readonly frames: Uint8Array[] = [];
  bytes = 0;
  /** Bytes taken from the budget for them. */
  cost = 0;
  /** True when they exceed what a message may be; `frames` is empty then. */
  tooLarge = false;

  /** Keeps the body of one, within the limits of a message and of the byte budget. */
  collect(body: MdpBody, limits: MessageLimits, budget: Budget): void {
    if (this.tooLarge) return;
    const cost = frameCost(body);
    if (this.#fits(body, limits) && budget.take(cost)) {
      this.frames.push(...compactAll(body));
      this.bytes += totalBytes(body);
      this.cost += cost;
    } else {
      this.tooLarge = true;
      this.frames.length = 0;
    }
  }

  /** The body for what the client has not had yet, in order; `undefined` when it exceeds a message. */
  join(last: MdpBody, limits: MessageLimits): MdpBody | undefined {
    if (this.forwarded) return last;
    if (this.tooLarge || !this.#fits(last, limits)) return undefined;
    return [...this.frames, ...last];
  }

  #fits(body: MdpBody, limits: MessageLimits): boolean {
    return (
      this.frames.length + body.length <= limits.maxMessageFrames &&
      this.bytes + totalBytes(body) <= limits.maxMessageBytes
    );
  }
}
