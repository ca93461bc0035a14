/** NFP "Target" frame: which workers of a service a call is for, as specified and as the releases write it. */

/** A parsed target. Its names need not exist. */
export type NfpTarget =
  | { readonly kind: 'all' }
  | { readonly kind: 'any' }
  | {
      readonly kind: 'names';
      /** Without duplicates, in the order given. */
      readonly names: readonly string[];
      /** The whole target: if a worker has that name, only it is meant, even with commas. */
      readonly exact?: string | undefined;
    };

const ALL: NfpTarget = { kind: 'all' };
const ANY: NfpTarget = { kind: 'any' };

/**
 * Parses a target: empty or `all`, `any`, a JSON array of names (as the releases send), otherwise one name or a comma-separated list, with
 * blanks around names trimmed (as specified). `undefined` for an array that is invalid or contains anything but strings; never throws. The cost
 * is linear in the text.
 */
export function parseNfpTarget(text: string): NfpTarget | undefined {
  if (text === '' || text === 'all') return ALL;
  if (text === 'any') return ANY;
  if (text.startsWith('[')) {
    const names = parseArray(text);
    return names && { kind: 'names', names: [...new Set(names)] };
  }
  if (!text.includes(',')) return { kind: 'names', names: [text], exact: text };
  const names = text.split(',').map((name) => name.trim());
  return { kind: 'names', names: [...new Set(names.filter((name) => name !== ''))], exact: text };
}

/** A string of JSON and what follows it. */
const ITEM = /[ \t\n\r]*"((?:[ !#-[\]-\uffff]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*)"[ \t\n\r]*([,\]])/y;
const EMPTY = /^\[[ \t\n\r]*\][ \t\n\r]*$/;
const END = /[ \t\n\r]*$/y;
const ESCAPES: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };
/** The engine keeps strings of at most ten characters from `JSON.parse` in a table of the whole process. */
const KEPT_MAX = 10;

/**
 * An array of strings. Without `JSON.parse` for short ones, because the table in which V8 keeps them grows: at a million different names it stops
 * the process for 50 ms.
 */
function parseArray(text: string): string[] | undefined {
  const names: string[] = [];
  if (EMPTY.test(text)) return names;
  for (ITEM.lastIndex = 1; ;) {
    const [, inner, next] = ITEM.exec(text) ?? [];
    if (inner === undefined) return undefined;
    names.push(unquoted(inner));
    if (next === ',') continue;
    END.lastIndex = ITEM.lastIndex;
    return END.test(text) ? names : undefined;
  }
}

/** Never a part of the text, which it would keep in memory: V8 copies short parts, and `JSON.parse` copies long ones. */
function unquoted(inner: string): string {
  if (!inner.includes('\\')) return inner.length > KEPT_MAX ? (JSON.parse(`"${inner}"`) as string) : inner;
  return inner.replace(/\\(?:u(.{4})|(.))/g, (_, code?: string, one: string = '') =>
    code === undefined ? (ESCAPES[one] ?? one) : String.fromCharCode(Number.parseInt(code, 16)),
  );
}
