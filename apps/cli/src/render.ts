/** Frames of a reply as text for people and as JSON. */

/** A frame as one line: its text if it is printable UTF-8, else `0x` and hex. */
export function frameForPeople(frame: Uint8Array): string {
  const text = asText(frame);
  return text === undefined || /[\p{Cc}\p{Cs}]/u.test(text.replaceAll(/[\n\t]/g, '')) ? `0x${hex(frame)}` : text;
}

/** A frame as JSON, without loss: text, or `{ "hex": ... }` if the bytes are not UTF-8. */
export function frameForJson(frame: Uint8Array): string | { readonly hex: string } {
  return asText(frame) ?? { hex: hex(frame) };
}

function hex(frame: Uint8Array): string {
  return Buffer.from(frame.buffer, frame.byteOffset, frame.byteLength).toString('hex');
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function asText(frame: Uint8Array): string | undefined {
  try {
    return utf8.decode(frame);
  } catch {
    return undefined;
  }
}
