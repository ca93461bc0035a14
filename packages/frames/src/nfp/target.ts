/** NFP "Target" frame: which workers of a service a call is for, as specified and as the releases write it. */

import { isNestedDeeper } from '../json.js';

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

function parseArray(text: string): string[] | undefined {
  if (isNestedDeeper(text, 1)) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) && value.every((name) => typeof name === 'string') ? value : undefined;
  } catch {
    return undefined;
  }
}
