/** Subscriptions as ZMTP 3.0 has them, and as XPUB shows them: a message of one frame that begins with 0x01 or 0x00. 23/ZMTP, 29/PUBSUB. */

const SUBSCRIBE = 0x01;
const CANCEL = 0x00;

/** The only frame of the message that asks for this prefix, or takes it back. */
export function subscriptionMessage(prefix: Uint8Array, wanted: boolean): Uint8Array {
  const frame = new Uint8Array(1 + prefix.length);
  frame[0] = wanted ? SUBSCRIBE : CANCEL;
  frame.set(prefix, 1);
  return frame;
}

/** Whether a message of a subscriber is one of these; others are of no use to a PUB. */
export function isSubscription(frames: readonly Uint8Array[], first: Uint8Array | undefined): first is Uint8Array {
  return frames.length === 1 && first !== undefined && (first[0] === SUBSCRIBE || first[0] === CANCEL);
}
