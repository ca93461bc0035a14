/** Converts `nf://` urls from peers to relative paths, and back. Never accesses a disk. */

const SCHEME = 'nf://';

/** Longest url, in characters; longer ones count as missing. */
const URL_MAX = 4096;

const DRIVE = /^[A-Za-z]:/;

/** The meaning of a url: a path in the folder, something that cannot exist, or something outside. */
export type Meaning = { readonly kind: 'path'; readonly path: string } | { readonly kind: 'missing' | 'outside' };

/** True for text that begins with `nf://`. */
export function isFileUrl(url: string): boolean {
  return url.startsWith(SCHEME);
}

/** The path of a url, decoded once. Absolute paths, drive letters, backslashes, NUL, and any `..` are outside. */
export function meaningOf(url: string): Meaning {
  if (!isFileUrl(url) || url.length > URL_MAX) return { kind: 'missing' };
  const path = decoded(url.slice(SCHEME.length));
  if (path === undefined) return { kind: 'missing' };
  const isOutside = /[\0\\]/.test(path) || path.startsWith('/') || DRIVE.test(path) || path.split('/').includes('..');
  return isOutside ? { kind: 'outside' } : { kind: 'path', path };
}

/** The url of a path with forward slashes. Only `%` is encoded, because older peers do not decode. */
export function urlOf(path: string): string {
  return SCHEME + path.replaceAll('%', '%25');
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
