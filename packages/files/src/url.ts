/** `nf://` urls: text from peers to a relative path, and back. Nothing here touches a disk. */

const SCHEME = 'nf://';

/** Longest url that is looked at, in characters; longer ones are of nothing. */
const URL_MAX = 4096;

const DRIVE = /^[A-Za-z]:/;

/** What an url means: a path below the folder, something that cannot exist, or something that must not be asked for. */
export type Meaning = { readonly kind: 'path'; readonly path: string } | { readonly kind: 'missing' | 'outside' };

/** True for text that begins with `nf://`. */
export function isFileUrl(url: string): boolean {
  return url.startsWith(SCHEME);
}

/**
 * The path in an url, decoded once. Outside are absolute paths, drive letters, backslashes, NUL, and `..` wherever it leads: who
 * needs it can say the path without.
 */
export function meaningOf(url: string): Meaning {
  if (!isFileUrl(url) || url.length > URL_MAX) return { kind: 'missing' };
  const path = decoded(url.slice(SCHEME.length));
  if (path === undefined) return { kind: 'missing' };
  const isOutside = /[\0\\]/.test(path) || path.startsWith('/') || DRIVE.test(path) || path.split('/').includes('..');
  return isOutside ? { kind: 'outside' } : { kind: 'path', path };
}

/** The url of a path with forward slashes. Only what decoding would change is encoded: older peers decode nothing. */
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
