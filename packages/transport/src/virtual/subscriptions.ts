/** The subscriptions of one subscriber: prefixes with counts. */

const UNSUBSCRIBE = 0;
const SUBSCRIBE = 1;

/** A multiset of prefixes. */
export class Subscriptions {
  readonly #prefixes = new Map<string, { readonly bytes: Uint8Array; times: number }>();

  /** The distinct prefixes. */
  *prefixes(): Iterable<Uint8Array> {
    for (const { bytes } of this.#prefixes.values()) yield bytes;
  }

  /** True when it is new. */
  add(prefix: Uint8Array): boolean {
    const key = keyOf(prefix);
    const known = this.#prefixes.get(key);
    if (known === undefined) this.#prefixes.set(key, { bytes: Uint8Array.from(prefix), times: 1 });
    else known.times++;
    return known === undefined;
  }

  /** True if it has no more subscriptions. */
  remove(prefix: Uint8Array): boolean {
    const known = this.#prefixes.get(keyOf(prefix));
    if (known === undefined || --known.times > 0) return false;
    return this.#prefixes.delete(keyOf(prefix));
  }

  /** Whether a prefix matches the first frame. */
  fit([topic]: readonly Uint8Array[]): boolean {
    if (topic === undefined) return false;
    for (const { bytes } of this.#prefixes.values())
      if (bytes.length <= topic.length && bytes.every((byte, index) => byte === topic[index])) return true;
    return false;
  }

  /** Applies a message made by {@link subscription}; returns the prefix that is new or gone, or nothing if nothing has changed. */
  take([frame]: readonly Uint8Array[]): { readonly prefix: Uint8Array; readonly wanted: boolean } | undefined {
    const prefix = frame?.subarray(1);
    if (prefix === undefined) return undefined;
    if (frame?.[0] === SUBSCRIBE && this.add(prefix)) return { prefix, wanted: true };
    if (frame?.[0] === UNSUBSCRIBE && this.remove(prefix)) return { prefix, wanted: false };
    return undefined;
  }
}

/** The message with which a subscriber subscribes to a prefix or cancels it: ZMTP 3.0, section "Publish-subscribe". */
export function subscription(prefix: Uint8Array, wanted: boolean): Uint8Array[] {
  return [Uint8Array.of(wanted ? SUBSCRIBE : UNSUBSCRIBE, ...prefix)];
}

function keyOf(prefix: Uint8Array): string {
  return String.fromCharCode(...prefix);
}
