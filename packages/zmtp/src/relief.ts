/** Whose connections are cut when memory is short: docs/adr/0026-one-budget-of-memory.md. */
import type { Connection } from './connection.js';

/** What a connection occupies that holds nothing: a socket of node:net, the machine of ZMTP, and the memory of its last bytes. */
export const CONNECTION_BYTES = 2 ** 14;
/** So long a write must have been under way for its reader to count as one that stands still. Milliseconds. */
const STILL_MS = 1000;

/**
 * Those that hold most of what is not read, weighed by how long they have read nothing of it: who is sent much and reads it comes after who
 * is sent less and does not. While memory is `tight`, only those that stand still.
 */
export function slowest<Slow extends Pick<Connection, 'unreadBytes' | 'writingSince'>>(
  links: Iterable<Slow>,
  now: number,
  level: 'tight' | 'full',
): Slow[] {
  const leastMs = level === 'full' ? 0 : STILL_MS;
  const candidates: { readonly link: Slow; readonly weight: number }[] = [];
  for (const link of links) {
    const { unreadBytes, writingSince } = link;
    if (unreadBytes === 0 || writingSince === undefined || now - writingSince < leastMs) continue;
    candidates.push({ link, weight: unreadBytes * (1 + now - writingSince) });
  }
  return candidates.sort((one, other) => other.weight - one.weight).map(({ link }) => link);
}
