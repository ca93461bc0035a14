/** Majordomo broker, rule 2 with `bridge`: a 0.2 worker's PARTIALs become one REPLY of 0.1. */
import { totalBytes } from '@proj/frames';
import type { MdpBody } from '@proj/frames/mdp';
import type { Budget } from '../parts/budget.js';
import { frameCost } from '../parts/cost.js';
import type { Collected, Request } from './requests.js';

/** Limits of a message, which the joined reply must keep as well. */
interface MessageLimits {
  readonly maxMessageFrames: number;
  readonly maxMessageBytes: number;
}

/** Keeps the body of a PARTIAL until FINAL comes, within the limits of a message and of the byte budget. */
export function collect(request: Request, body: MdpBody, limits: MessageLimits, budget: Budget): void {
  const collected = (request.collected ??= { frames: [], bytes: 0, cost: 0, tooLarge: false });
  if (collected.tooLarge) return;
  const cost = frameCost(body);
  if (fits(collected, body, limits) && budget.take(cost)) {
    collected.frames.push(...body);
    collected.bytes += totalBytes(body);
    collected.cost += cost;
    request.cost += cost;
  } else {
    collected.tooLarge = true;
    collected.frames.length = 0;
  }
}

/** The one body for all parts, in order: that of FINAL when there were none, `undefined` when they exceed a message. */
export function joinCollected(
  collected: Collected | undefined,
  last: MdpBody,
  limits: MessageLimits,
): MdpBody | undefined {
  if (collected === undefined) return last;
  if (collected.tooLarge || !fits(collected, last, limits)) return undefined;
  return [...collected.frames, ...last];
}

/** Forgets the parts of a worker that was lost; the next one begins anew. */
export function discardCollected(request: Request, budget: Budget): void {
  if (request.collected === undefined) return;
  request.cost -= request.collected.cost;
  budget.give(request.collected.cost);
  request.collected = undefined;
}

function fits(collected: Collected, body: MdpBody, limits: MessageLimits): boolean {
  return (
    collected.frames.length + body.length <= limits.maxMessageFrames &&
    collected.bytes + totalBytes(body) <= limits.maxMessageBytes
  );
}
