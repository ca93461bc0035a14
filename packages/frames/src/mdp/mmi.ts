/**
 * 8/MMI, the broker's own services, called like any other service under the reserved prefix `mmi.`: names, codes, and the bodies of requests and
 * answers.
 *
 * The specification defines only `mmi.service`; the two listings are additions of this project and marked so in docs/protocols/mdp.md.
 */
import { fromLatin1, latin1 } from '../bytes.js';
import type { MdpBody, MdpVersion } from './commands.js';

/** Fixed words of 8/MMI and of the additions. `prefix` opens every reserved name, known or not. */
export const MMI = {
  prefix: 'mmi.',
  /** Is this service registered? Argument: its name, the first body frame. */
  service: 'mmi.service',
  /** Addition: every service that the broker knows. The argument is ignored; the next frame says how many to skip. */
  services: 'mmi.services',
  /** Addition: workers of the service named by the argument, or of all if it is empty; the next frame says how many to skip. */
  workers: 'mmi.workers',
} as const;

/** More services than any broker has. */
const COUNT_DIGITS_MAX = 8;

/** `200` found, `404` not found, `501` no such `mmi.` service here. */
export type MmiCode = '200' | '404' | '501';

/** One element of the `mmi.services` listing. */
export interface MmiServiceEntry {
  readonly name: string;
  readonly version: MdpVersion;
  /** Registered workers, including busy ones. */
  readonly workers: number;
  readonly busy: number;
  /** Requests in the queue. */
  readonly waiting: number;
  /** Requests accepted since the start. Absent in answers of earlier brokers. */
  readonly requests?: number;
}

/** One element of the `mmi.workers` listing. */
export interface MmiWorkerEntry {
  /** Routing id, lower-case hex. */
  readonly id: string;
  readonly service: string;
  readonly version: MdpVersion;
  readonly busy: boolean;
  /** Milliseconds since the worker's last message to the broker. */
  readonly lastSeenMs: number;
}

/** Which entries the answer of a service lists. */
export interface MmiListings {
  'mmi.service': never;
  'mmi.services': MmiServiceEntry;
  'mmi.workers': MmiWorkerEntry;
}

/** A decoded answer. `entries` is empty if the service lists nothing or the code is not `200`. */
export interface MmiReply<Entry> {
  readonly code: MmiCode;
  readonly entries: readonly Entry[];
  /** Number of further entries, for a request that skips the known ones. Absent at the end of the listing. */
  readonly more?: number;
}

/** Body of an answer: the code, then the listing as a JSON array if there is one, then the number of further entries if there are any. */
export function encodeMmiReply(
  code: MmiCode,
  listing?: readonly MmiServiceEntry[] | readonly MmiWorkerEntry[],
  more = 0,
): Uint8Array[] {
  const body = [fromLatin1(code)];
  // Names are printable ASCII and ids are hex, so the JSON needs no UTF-8.
  if (listing !== undefined) body.push(fromLatin1(JSON.stringify(listing)));
  if (more > 0) body.push(fromLatin1(more.toString()));
  return body;
}

/** Body of a request for a listing, after the first `skip` entries. */
export function encodeMmiListing(argument: string, skip = 0): Uint8Array[] {
  const body = [fromLatin1(argument)];
  return skip > 0 ? [...body, fromLatin1(skip.toString())] : body;
}

/** A number of entries in a request or an answer; 0 if absent. */
export function decodeMmiCount(frame: Uint8Array | undefined): number {
  if (frame === undefined || frame.length > COUNT_DIGITS_MAX) return 0;
  const text = latin1(frame);
  return /^\d+$/.test(text) ? Number(text) : 0;
}

/**
 * Decodes the answer of `service`. `undefined` if the body is invalid, for example from a foreign broker without MMI but with a worker of that
 * name; never throws.
 */
export function decodeMmiReply<Name extends keyof MmiListings>(
  service: Name,
  body: MdpBody,
): MmiReply<MmiListings[Name]> | undefined {
  const code = readCode(body[0]);
  if (code === undefined) return undefined;
  if (code !== '200' || service === MMI.service) return { code, entries: [] };
  const isEntry = service === MMI.services ? isServiceEntry : isWorkerEntry;
  const entries = parseArray(body[1]);
  if (entries?.every(isEntry) !== true) return undefined;
  const more = decodeMmiCount(body[2]);
  return { code, entries: entries as unknown as MmiListings[Name][], ...(more > 0 ? { more } : {}) };
}

function readCode(frame: Uint8Array | undefined): MmiCode | undefined {
  if (frame?.length !== 3) return undefined;
  const code = latin1(frame);
  return code === '200' || code === '404' || code === '501' ? code : undefined;
}

function parseArray(frame: Uint8Array | undefined): Record<string, unknown>[] | undefined {
  if (frame === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(latin1(frame));
    return Array.isArray(value) && value.every(isObject) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function isServiceEntry(entry: Record<string, unknown>): boolean {
  return (
    typeof entry['name'] === 'string' &&
    isVersion(entry['version']) &&
    isCount(entry['workers']) &&
    isCount(entry['busy']) &&
    isCount(entry['waiting']) &&
    (entry['requests'] === undefined || isCount(entry['requests']))
  );
}

function isWorkerEntry(entry: Record<string, unknown>): boolean {
  return (
    typeof entry['id'] === 'string' &&
    typeof entry['service'] === 'string' &&
    isVersion(entry['version']) &&
    typeof entry['busy'] === 'boolean' &&
    isCount(entry['lastSeenMs'])
  );
}

function isVersion(value: unknown): boolean {
  return value === '0.1' || value === '0.2';
}

function isCount(value: unknown): boolean {
  return typeof value === 'number' && value >= 0;
}
