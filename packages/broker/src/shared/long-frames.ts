/** Which received bodies are worth returning to the transport (docs/adr/0016-long-bodies-are-given-back.md). Knows no protocol. */

/** Shorter frames are not worth an effect. */
const LONG_BYTES = 2 ** 14;

/** True for a body with a long frame. */
export function hasLong(body: readonly Uint8Array[]): boolean {
  return body.some(({ length }) => length >= LONG_BYTES);
}
