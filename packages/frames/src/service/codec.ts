/** Encodes a typed service's values as body frames. Default: JSON. */

/**
 * A pair of inverse functions between values and one or more frames. Both may throw: the service turns that into a refusal. Frames given to
 * `decode` come from a peer and may contain anything; do not modify them.
 */
export interface ServiceCodec {
  encode(value: unknown): Uint8Array[];
  decode(frames: readonly Uint8Array[]): unknown;
}

/** A codec per direction, for services such as file in, figures out. Default: JSON. */
export interface ServiceCodecs {
  readonly request?: ServiceCodec | undefined;
  readonly reply?: ServiceCodec | undefined;
  readonly partial?: ServiceCodec | undefined;
}

/** The codec of each direction. */
export function resolveCodecs(codec: ServiceCodec | ServiceCodecs = {}): Record<keyof ServiceCodecs, ServiceCodec> {
  if ('encode' in codec) return { request: codec, reply: codec, partial: codec };
  const { request = jsonCodec, reply = jsonCodec, partial = jsonCodec } = codec;
  return { request, reply, partial };
}

/** One frame of any bytes, unchanged: the value is a `Uint8Array`, which is not copied. */
export const bytesCodec: ServiceCodec = {
  encode(value) {
    if (!(value instanceof Uint8Array)) throw new TypeError(`expected a Uint8Array, got ${typeof value}`);
    return [value];
  },
  decode: onlyFrame,
};

function onlyFrame(frames: readonly Uint8Array[]): Uint8Array {
  const [frame] = frames;
  if (frame === undefined || frames.length > 1) throw new TypeError(`expected one frame, got ${frames.length}`);
  return frame;
}

const toUtf8 = new TextEncoder();
const fromUtf8 = new TextDecoder('utf-8', { fatal: true });

/** The default codec: one frame of JSON in UTF-8. Rejects values that JSON cannot express, such as `undefined`. */
export const jsonCodec: ServiceCodec = {
  encode(value) {
    // The type of JSON.stringify does not say so, but it returns undefined for values it cannot express.
    const text = JSON.stringify(value) as string | undefined;
    if (text === undefined) throw new TypeError(`JSON cannot express ${typeof value}`);
    return [toUtf8.encode(text)];
  },
  decode(frames) {
    return JSON.parse(fromUtf8.decode(onlyFrame(frames))) as unknown;
  },
};
