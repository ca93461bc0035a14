/** Computes statistics of a text from its bytes. */

/** The answer of `text-stats`. */
export interface TextStats {
  readonly bytes: number;
  /** Lines, including a last one without a line feed. */
  readonly lines: number;
  /** Runs of bytes that are not ASCII white space. */
  readonly words: number;
  /** Length of the longest line, without its line feed, in bytes. */
  readonly longestLine: number;
}

const LINE_FEED = 0x0a;

/** Measures a text. One pass, no copy. */
export function measureText(text: Uint8Array): TextStats {
  let lines = 0;
  let words = 0;
  let longestLine = 0;
  let line = 0;
  let inWord = false;
  for (const byte of text) {
    const blank = byte === 0x20 || (byte >= 0x09 && byte <= 0x0d);
    if (!blank && !inWord) words++;
    inWord = !blank;
    if (byte === LINE_FEED) {
      lines++;
      line = 0;
    } else if (++line > longestLine) {
      longestLine = line;
    }
  }
  return { bytes: text.length, lines: line > 0 ? lines + 1 : lines, words, longestLine };
}
