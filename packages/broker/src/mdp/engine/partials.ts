/** Majordomo broker, rules 2 and 22: a worker's replies so far. With `bridge`, the PARTIALs of a 0.2 worker become one REPLY of 0.1. */
import { compactAll, totalBytes } from '@proj/frames';
import type { MdpBody } from '@proj/frames/mdp';
import type { Budget } from '../../shared/budget.js';
import { frameCost } from '../../shared/cost.js';

/** Limits of a message, which also apply to the joined reply. */
interface MessageLimits {
  readonly maxMessageFrames: number;
  readonly maxMessageBytes: number;
}

/** The PARTIALs of one job at one worker. */
export class PartialReplies {
  /** True once the client has received one; `frames` stays empty then. */
  forwarded = false;
  /** Bodies kept because the client can take only one REPLY. */
  readonly frames: Uint8Array[] = [];
  bytes = 0;
  /** Bytes taken from the budget for them. */
  cost = 0;
  /** True if they exceed a message; `frames` is empty then. */
  tooLarge = false;

  /** Keeps a body, within the limits of a message and the byte budget. */
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

  /** The body of everything that the client has not received yet, in order; `undefined` if it exceeds a message. */
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
