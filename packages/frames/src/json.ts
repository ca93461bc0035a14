/** JSON from peers: checks before parsing. */

/**
 * True if JSON has more than `max` commas, colons and opening brackets outside its strings: the cost of parsing depends on values rather than
 * bytes, so this is checked first. Linear, at a fraction of the cost of parsing; accepts any bytes.
 */
export function hasMoreValues(json: Uint8Array, max: number): boolean {
  if (json.length <= max) return false;
  let count = 0;
  for (let at = 0; at < json.length; at++) {
    const byte = json[at];
    if (byte === 0x22) at = endOfText(json, at);
    else if ((byte === 0x2c || byte === 0x3a || byte === 0x5b || byte === 0x7b) && ++count > max) return true;
  }
  return false;
}

/**
 * True if arrays and objects in JSON are nested deeper than `max`: the parser takes far longer for thousands of levels than for as many values.
 * Linear, at a fraction of the cost of parsing; accepts any text.
 */
export function isNestedDeeper(json: string, max: number): boolean {
  if (json.length <= max) return false;
  let depth = 0;
  let isQuoted = false;
  for (let at = 0; at < json.length; at++) {
    const code = json.charCodeAt(at);
    if (code === 0x22) isQuoted = !isQuoted;
    else if (isQuoted) at += code === 0x5c ? 1 : 0;
    else if (code === 0x5b || code === 0x7b) depth++;
    else if (code === 0x5d || code === 0x7d) depth--;
    if (depth > max) return true;
  }
  return false;
}

/** The index of the quote that ends the string starting at `start`: it has an even number of backslashes before it. */
function endOfText(json: Uint8Array, start: number): number {
  for (let at = json.indexOf(0x22, start + 1); at !== -1; at = json.indexOf(0x22, at + 1)) {
    let before = at;
    while (json[before - 1] === 0x5c) before--;
    if ((at - before) % 2 === 0) return at;
  }
  return json.length;
}
