/**
 * What a decoder returns for frames that are not a message of its protocol. Bad frames are normal traffic, so they are a
 * value, never an exception.
 *
 * `reason` comes from the closed union of the protocol at hand and is fit for a counter label; frames are not kept.
 */
export interface Malformed<Reason extends string = string> {
  readonly kind: 'malformed';
  readonly reason: Reason;
}
