/** The sentences of a refusal, rule 5 of docs/protocols/pzq.md: one line of ASCII behind the status `0`. */
import { PZQ_UNUSABLE } from '@proj/frames/pzq';
import type { PzqRefusal } from './events.js';

/** Why, for the counters and for the producer. */
export interface Refusal {
  readonly label: PzqRefusal;
  readonly sentence: string;
}

/** Refusals whose sentence is always the same. */
export const REFUSALS = {
  'no-delimiter': { label: 'no-delimiter', sentence: PZQ_UNUSABLE['no-delimiter'] },
  'no-body': { label: 'no-body', sentence: PZQ_UNUSABLE['no-body'] },
  'queue-full-messages': { label: 'queue-full-messages', sentence: 'Queue is full (messages)' },
  'queue-full-bytes': { label: 'queue-full-bytes', sentence: 'Queue is full (bytes)' },
  'too-large': { label: 'too-large', sentence: 'Message is too large' },
  'too-many-parts': { label: 'too-many-parts', sentence: 'Too many message parts' },
  'not-allowed': { label: 'not-allowed', sentence: 'Not allowed' },
  draining: { label: 'draining', sentence: 'Server is shutting down' },
} as const satisfies Partial<Record<PzqRefusal, Refusal>>;

/** The store fails with this code, such as `ENOSPC`. */
export function storeUnavailable(code: string): Refusal {
  return { label: 'store-unavailable', sentence: `Store is unavailable: ${code}` };
}

/** A header frame of this name has no valid value. */
export function invalidHeader(name: string): Refusal {
  return { label: 'invalid-header', sentence: `Invalid header ${name}` };
}
