/** Displays the body of a dead letter: as text if it is text, otherwise as hex beside the printable characters. */

const SHOWN_BYTES = 16 * 1024;
const ROW_BYTES = 16;

/** How a body is shown. */
export interface BodyView {
  readonly kind: 'text' | 'hex';
  readonly text: string;
  /** Number of bytes not shown. */
  readonly hidden: number;
}

/** Formats at most 16 KiB of a body. */
export function viewBody(bytes: Uint8Array): BodyView {
  const shown = bytes.subarray(0, SHOWN_BYTES);
  const hidden = bytes.length - shown.length;
  const text = asText(shown, hidden > 0);
  return text === undefined ? { kind: 'hex', text: hex(shown), hidden } : { kind: 'text', text, hidden };
}

function asText(bytes: Uint8Array, isCut: boolean): string | undefined {
  try {
    // The cut may split a character; `stream` leaves out its first half.
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: isCut });
    // oxlint-disable-next-line no-control-regex -- control characters distinguish bytes from text
    return /[\x00-\x08\x0e-\x1f]/.test(text) ? undefined : text;
  } catch {
    return undefined;
  }
}

function hex(bytes: Uint8Array): string {
  const rows: string[] = [];
  for (let at = 0; at < bytes.length; at += ROW_BYTES) {
    const row = [...bytes.subarray(at, at + ROW_BYTES)];
    const digits = row.map((byte) => byte.toString(16).padStart(2, '0')).join(' ');
    const printable = row.map((byte) => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : '.')).join('');
    rows.push(`${at.toString(16).padStart(6, '0')}  ${digits.padEnd(ROW_BYTES * 3 - 1)}  ${printable}`);
  }
  return rows.join('\n');
}
