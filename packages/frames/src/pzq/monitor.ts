/** The text of the monitor socket, rule 22 of docs/protocols/pzq.md: `name: value` lines, each ended by a line feed. */

/** The text of these values, in order. Throws a `RangeError` for an empty name, a name with a colon, and a line feed. */
export function encodePzqMonitorText(values: Iterable<readonly [name: string, value: string | number]>): string {
  let text = '';
  for (const [name, value] of values) {
    if (!/^[^:\n]+$/.test(name)) throw new RangeError(`monitor: ${JSON.stringify(name)} is no name`);
    const shown = String(value);
    if (shown.includes('\n')) throw new RangeError(`monitor: the value of ${name} has a line feed`);
    text += `${name}: ${shown}\n`;
  }
  return text;
}

/** The values of a text by name, in order. Lines without a name are skipped; if a name occurs twice, the last counts. Total. */
export function decodePzqMonitorText(text: string): Map<string, string> {
  const values = new Map<string, string>();
  for (const line of text.split('\n')) {
    const colon = line.indexOf(':');
    if (colon > 0) values.set(line.slice(0, colon), line.slice(colon + 1).trim());
  }
  return values;
}
