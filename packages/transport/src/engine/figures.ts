/** Running figures of a service, for operators: what an engine records for `stats({ detail: true })`. */
import { latin1 } from '@proj/frames';
import { encodeZ85 } from '../curve/z85.js';
import type { Peer } from '../port.js';
import { Histogram } from './histogram.js';
import type { ServiceSnapshot } from './snapshot.js';

/** Length of a span in milliseconds: short enough that its microseconds fit a 32-bit integer. */
const SPAN_MS = 2 ** 20;

/**
 * The start of a wait or run, used only through {@link setSince} and {@link elapsedMs}. Two 32-bit integers, because V8 stores a fractional
 * number as a separate object. Exact to a microsecond, for any duration.
 */
export interface Timed {
  sinceSpan: number;
  sinceUs: number;
}

/** It waits or runs from `now` on. */
export function setSince(record: Timed, now: number): void {
  record.sinceSpan = (now / SPAN_MS) | 0;
  record.sinceUs = ((now - record.sinceSpan * SPAN_MS) * 1000) | 0;
}

/** How long it has waited or run, in milliseconds. */
export function elapsedMs({ sinceSpan, sinceUs }: Timed, now: number): number {
  return Math.max(0, now - sinceSpan * SPAN_MS - sinceUs / 1000);
}

/** Running figures of one service. Recording costs a few integer operations, and no memory except for the histograms. */
export class ServiceMeter {
  /** Requests accepted. */
  requests = 0;
  resends = 0;
  readonly #outcomes: Record<string, number> = {};
  /** The last copy, until something changes. */
  #shownOutcomes: Readonly<Record<string, number>> | undefined;
  readonly #wait = new Histogram();
  readonly #work = new Histogram();

  /** A worker gets a waiting request, which runs from `now` on. */
  dispatched(request: Timed, now: number): void {
    this.#wait.record(elapsedMs(request, now));
    setSince(request, now);
  }

  /** A worker has finished its request. */
  finished(request: Timed, now: number, outcome = 'ok'): void {
    this.#work.record(elapsedMs(request, now));
    this.ended(outcome);
  }

  /** A request ended, or was rejected, for this reason. */
  ended(outcome: string): void {
    this.#outcomes[outcome] = (this.#outcomes[outcome] ?? 0) + 1;
    this.#shownOutcomes = undefined;
  }

  /** A copy of the figures. Unchanged parts are the same objects again. */
  snapshot(): Pick<ServiceSnapshot, 'requests' | 'resends' | 'outcomes' | 'waitMs' | 'workMs'> {
    return {
      requests: this.requests,
      resends: this.resends,
      outcomes: (this.#shownOutcomes ??= { ...this.#outcomes }),
      waitMs: this.#wait.snapshot(),
      workMs: this.#work.snapshot(),
    };
  }
}

/** A readable routing id: as text if it is printable ASCII, otherwise in hex. */
export function nameOf({ id }: Pick<Peer, 'id'>): string {
  const text = latin1(id);
  return /^[\x20-\x7e]+$/.test(text) ? text : hexOf({ id });
}

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

/** A routing id in hex. */
export function hexOf({ id }: Pick<Peer, 'id'>): string {
  let hex = '';
  for (const byte of id) hex += HEX[byte] ?? '';
  return hex;
}

/**
 * All rows of several lists. If an id was already used in an earlier list, the list's name is appended, because a routing id is unique per
 * socket only.
 */
export function namedApart<Row extends { readonly id: string }>(
  lists: Readonly<Record<string, readonly Row[]>>,
): Row[] {
  const rows = new Map<string, Row>();
  for (const [where, list] of Object.entries(lists))
    for (const row of list) {
      const id = rows.has(row.id) ? `${row.id} (${where})` : row.id;
      rows.set(id, { ...row, id });
    }
  return [...rows.values()];
}

/** A peer as shown to operators: its name, and its key if proven. */
export function shown(peer: Pick<Peer, 'id' | 'publicKey'>): { readonly id: string; readonly key?: string } {
  const { publicKey } = peer;
  return publicKey === undefined ? { id: nameOf(peer) } : { id: nameOf(peer), key: encodeZ85(publicKey) };
}
