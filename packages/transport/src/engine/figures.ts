/** Running figures of a service, for operators: what an engine records so that `stats({ detail: true })` can show them. */
import { latin1 } from '@proj/frames';
import { encodeZ85 } from '../curve/z85.js';
import type { Peer } from '../port.js';
import { Histogram } from './histogram.js';
import type { ServiceSnapshot } from './snapshot.js';

/** Milliseconds of one span: short enough that its microseconds are a whole number of 32 bits. */
const SPAN_MS = 2 ** 20;

/**
 * Something that has waited or run since a moment, of which only {@link setSince} and {@link elapsedMs} know the form: two whole numbers of 32 bits,
 * since V8 stores a number with a fraction as an object of its own. Exact to a microsecond, for any duration.
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

/** Running figures of one service. Recording costs a few integer operations, and no memory but that of its histograms. */
export class ServiceMeter {
  /** Requests accepted. */
  requests = 0;
  resends = 0;
  readonly #outcomes: Record<string, number> = {};
  /** A copy of them, until the next one. */
  #shownOutcomes: Readonly<Record<string, number>> | undefined;
  readonly #wait = new Histogram();
  readonly #work = new Histogram();

  /** A worker gets a request that has waited; from `now` on it runs. */
  dispatched(request: Timed, now: number): void {
    this.#wait.record(elapsedMs(request, now));
    setSince(request, now);
  }

  /** A worker has finished a request that it got. */
  finished(request: Timed, now: number, outcome = 'ok'): void {
    this.#work.record(elapsedMs(request, now));
    this.ended(outcome);
  }

  /** A request ended, or was refused, for this reason. */
  ended(outcome: string): void {
    this.#outcomes[outcome] = (this.#outcomes[outcome] ?? 0) + 1;
    this.#shownOutcomes = undefined;
  }

  /** A copy of them. Its parts are the same objects again while nothing happens. */
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

/** A routing id for people: as text if it is printable ASCII, in hex if not. */
export function nameOf({ id }: Pick<Peer, 'id'>): string {
  const text = latin1(id);
  return /^[\x20-\x7e]+$/.test(text) ? text : hexOf({ id });
}

/** A routing id in hex. */
export function hexOf({ id }: Pick<Peer, 'id'>): string {
  return Array.from(id, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** All rows together. The id of one that is already taken in a list before ends in the name of its list, since a routing id means something at one socket only. */
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

/** How a peer is shown: its name, and its key if it has proved to own one. */
export function shown(peer: Pick<Peer, 'id' | 'publicKey'>): { readonly id: string; readonly key?: string } {
  const { publicKey } = peer;
  return publicKey === undefined ? { id: nameOf(peer) } : { id: nameOf(peer), key: encodeZ85(publicKey) };
}
