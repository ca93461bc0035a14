/** Text from peers, made safe for a terminal: it cannot control the terminal, and its width is known. Pure. */
import { formatTable, printable } from '@proj/appkit';
import type { Column } from '@proj/appkit';

/** The rows as lines of aligned columns, one line each, whatever text peers put into the cells. */
export function printableTable<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): string[] {
  const safe = columns.map(({ heading, cell }) => ({
    heading,
    cell: (row: Row) => {
      const value = cell(row);
      return typeof value === 'number' ? value : printable(value);
    },
  }));
  return formatTable(safe, rows);
}

/** Columns that printable text takes. */
export function widthOf(text: string): number {
  // Almost all text is like this.
  if (/^[\x20-\x7e]*$/.test(text)) return text.length;
  let width = 0;
  for (const character of text) width += widthOfCharacter(character);
  return width;
}

/** The text cut or padded to this many columns. */
export function fit(text: string, width: number, isFigure = false): string {
  const cut = widthOf(text) > width ? cutTo(text, width) : text;
  const blanks = ' '.repeat(Math.max(0, width - widthOf(cut)));
  return isFigure ? blanks + cut : cut + blanks;
}

/** The longest prefix that fits, with a mark that something is missing. */
export function cutTo(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  let cut = '';
  let left = width - 1;
  for (const character of text) {
    left -= widthOfCharacter(character);
    if (left < 0) break;
    cut += character;
  }
  return width < 1 ? '' : `${cut}\u2026`;
}

/** Text broken into lines of at most this many columns, at spaces where possible. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && widthOf(last) + 1 + widthOf(word) <= width) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(cutTo(word, width));
  }
  return lines;
}

/** Two columns for wide East Asian characters and for emoji, none for combining marks. */
function widthOfCharacter(character: string): number {
  if (/\p{M}/u.test(character)) return 0;
  const wide =
    /[\u1100-\u115f\u2e80-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}|[\u{20000}-\u{3fffd}]/u;
  return wide.test(character) ? 2 : 1;
}
