/** What is heard of the pub-sub device of EventMQ. */
import type { Heard, Subscription } from '../subscription.js';

/** A message as it was published. */
export interface EmqpMessage {
  readonly topic: Buffer;
  readonly body: Buffer;
}

/** A message of the pub-sub device, with how many were missed before it. */
export type EmqpPublication = EmqpMessage & Heard;

/** See {@link Subscription}. */
export type EmqpSubscription = Subscription<EmqpMessage>;
