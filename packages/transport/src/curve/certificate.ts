/** CZMQ certificates: a key in a text file, as CZMQ, pyzmq and NORFAB write them (ZPL, RFC 4, with a section `curve`). */
import { open, rm, stat, writeFile } from 'node:fs/promises';
import { ProjError } from '../errors.js';
import type { CurveKeys } from '../port.js';
import { publicKeyOf } from './keys.js';
import { decodeCurveKey, encodeZ85 } from './z85.js';

/** The contents of a certificate. */
export interface Certificate {
  readonly publicKey: Uint8Array;
  /** In `.key_secret` files only. */
  readonly secretKey?: Uint8Array;
  /** Problems of the file itself, such as a secret that others can read; one sentence each. */
  readonly warnings: readonly string[];
}

/** A certificate has a few hundred bytes; nothing larger is read. */
const BYTES_MAX = 65_536;
const SECRET_MODE = 0o600;
const OTHERS = 0o077;

const ABOUT_PUBLIC = `#   ZeroMQ CURVE Public Certificate
#   Exchange securely, or use a secure mechanism to verify the contents
#   of this file after exchange.
`;
const ABOUT_SECRET = `#   ZeroMQ CURVE **Secret** Certificate
#   DO NOT PROVIDE THIS FILE TO OTHER USERS nor change its permissions.
`;

/**
 * Reads `<name>.key` or `<name>.key_secret`. Rejects with `OPTIONS_INVALID` for a file that is not a certificate, cannot be read, or whose keys
 * do not match.
 */
export async function readCertificate(path: string): Promise<Certificate> {
  const keys = parseCertificate(await readSmallFile(path, BYTES_MAX), path);
  return { ...keys, warnings: keys.secretKey === undefined ? [] : await warningsAbout(path) };
}

/** As {@link readCertificate}, but rejects a file without a secret key. */
export async function readSecretCertificate(path: string): Promise<CurveKeys & Pick<Certificate, 'warnings'>> {
  const { publicKey, secretKey, warnings } = await readCertificate(path);
  if (secretKey === undefined) throw refused(path, 'has no secret-key; the file with it is usually named .key_secret');
  return { publicKey, secretKey, warnings };
}

/** The public key in a file, or given as 40 characters of Z85, as in NORFAB's inventory. */
export async function readPublicKey(fileOrText: string): Promise<Uint8Array> {
  return decodeCurveKey(fileOrText) ?? (await readCertificate(fileOrText)).publicKey;
}

/**
 * Writes `<path>.key` and `<path>.key_secret`, the latter readable only by its owner (mode 0600). Rejects with `OPTIONS_INVALID` without writing
 * anything if one of them exists, because an overwritten key is lost.
 */
export async function writeCertificate(
  path: string,
  { publicKey, secretKey }: CurveKeys,
): Promise<{ readonly publicFile: string; readonly secretFile: string }> {
  const publicFile = `${path}.key`;
  const secretFile = `${path}.key_secret`;
  const shared = `\nmetadata\ncurve\n    public-key = "${encodeZ85(publicKey)}"\n`;
  await writeNew(secretFile, `${ABOUT_SECRET}${shared}    secret-key = "${encodeZ85(secretKey)}"\n`, SECRET_MODE);
  try {
    await writeNew(publicFile, `${ABOUT_PUBLIC}${shared}`, 0o644);
  } catch (error) {
    await rm(secretFile, { force: true });
    throw error;
  }
  return { publicFile, secretFile };
}

/** The keys in the text of a certificate; `path` is for messages. Throws `OPTIONS_INVALID`. */
export function parseCertificate(text: string, path: string): Omit<Certificate, 'warnings'> {
  const named = keysIn(text, path);
  const secretKey = named.get('secret-key');
  const publicKey = named.get('public-key') ?? (secretKey === undefined ? undefined : publicKeyOf(secretKey));
  if (publicKey === undefined) throw refused(path, 'has no section curve with a public-key');
  if (secretKey === undefined) return { publicKey };
  if (!Buffer.from(publicKeyOf(secretKey)).equals(publicKey))
    throw refused(path, 'its public-key does not match its secret-key');
  return { publicKey, secretKey };
}

/** The text of a file of at most `bytesMax` bytes. Rejects with `OPTIONS_INVALID`. */
export async function readSmallFile(path: string, bytesMax: number): Promise<string> {
  try {
    const file = await open(path);
    try {
      const { size } = await file.stat();
      if (size > bytesMax) throw refused(path, `has ${size} bytes; the limit is ${bytesMax}`);
      return await file.readFile('utf8');
    } finally {
      await file.close();
    }
  } catch (cause) {
    if (cause instanceof ProjError) throw cause;
    throw refused(path, `cannot be read: ${(cause as NodeJS.ErrnoException).code ?? String(cause)}`, cause);
  }
}

/** The `name = "key"` lines of section `curve`. */
function keysIn(text: string, path: string): ReadonlyMap<string, Uint8Array> {
  const keys = new Map<string, Uint8Array>();
  let section = '';
  for (const line of text.split('\n')) {
    if (/^\s*(#|$)/.test(line)) continue;
    const [, name] = /^([\w$./-]+)\s*$/.exec(line) ?? [];
    if (name !== undefined) section = name;
    const [, indent, property, value] = /^(\s+)(public-key|secret-key)\s*=\s*(.*?)\s*$/.exec(line) ?? [];
    if (indent === undefined || property === undefined || value === undefined || section !== 'curve') continue;
    const key = decodeCurveKey(unquoted(value));
    if (key === undefined) throw refused(path, `its ${property} is not 40 characters of Z85`);
    keys.set(property, key);
  }
  return keys;
}

function unquoted(value: string): string {
  return /^"(.*)"$/.exec(value)?.[1] ?? /^'(.*)'$/.exec(value)?.[1] ?? value;
}

async function warningsAbout(path: string): Promise<string[]> {
  const { mode } = await stat(path);
  // On Windows the mode does not show who has access.
  if ((mode & OTHERS) === 0 || process.platform === 'win32') return [];
  const shown = (mode & 0o777).toString(8).padStart(4, '0');
  return [`${path}: others can read this secret key (mode ${shown}); run chmod 600`];
}

async function writeNew(path: string, text: string, mode: number): Promise<void> {
  try {
    await writeFile(path, text, { flag: 'wx', mode });
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    const reason =
      code === 'EEXIST' ? 'already exists and is not overwritten' : `cannot be written: ${code ?? String(cause)}`;
    throw refused(path, reason, cause);
  }
}

function refused(path: string, reason: string, cause?: unknown): ProjError {
  return new ProjError('OPTIONS_INVALID', `certificate ${JSON.stringify(path)}: ${reason}`, { cause });
}
