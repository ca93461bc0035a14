/**
 * The result of a decoder for frames that are not a message of its protocol. Bad frames are normal traffic, so they are a value, never an
 * exception.
 *
 * `reason` comes from the closed union of the protocol and is suitable as a counter label; frames are not kept.
 */
export interface Malformed<Reason extends string = string> {
  readonly kind: 'malformed';
  readonly reason: Reason;
}
