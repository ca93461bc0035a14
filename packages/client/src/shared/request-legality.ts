/** What an event means on a request socket in each state. Section "Client" of the protocol's document. */
import type { Legality } from '@proj/transport/engine';

/**
 * The state of a socket: free; with a request; the same after a lost connection, until the next silence or reply; with a request whose caller
 * has received part of the reply; closed.
 */
export type RequestSocketState = 'free' | 'sent' | 'hurried' | 'answered' | 'closed';

/** `no reply`: a message that is not a reply to the open request, or over the limits. `unopened`: the socket could not be opened. */
export type RequestSocketEvent = 'final' | 'partial' | 'no reply' | 'lost' | 'unopened' | 'silence';

/** `resend`: on a new socket, while tries are left. `hurry`: the same at once. `discard`: nobody waits for it, so close the socket. */
type Verdict = 'accept' | 'resend' | 'hurry' | 'discard' | 'fail' | 'drop' | 'ignore';

/** With a request. */
const SENT = {
  final: ['accept', 'free'],
  partial: ['accept', 'sent', 'answered'],
  'no reply': ['drop'],
  lost: ['hurry', 'hurried', 'sent'],
  unopened: ['fail', 'closed'],
  silence: ['resend', 'sent', 'closed'],
} as const;

/** Which event means what in which state. A request whose caller has received part of the reply is not sent again. */
export const LEGALITY: Legality<RequestSocketState, RequestSocketEvent, Verdict> = {
  free: {
    final: ['discard', 'closed'],
    partial: ['discard', 'closed'],
    'no reply': ['discard', 'closed'],
    lost: ['discard', 'closed'],
    unopened: ['ignore'],
    silence: ['ignore'],
  },
  sent: SENT,
  // A broker that accepts and drops must not use up the tries in a moment.
  hurried: { ...SENT, lost: ['ignore'] },
  answered: { ...SENT, partial: ['accept'], lost: ['fail', 'closed'], silence: ['fail', 'closed'] },
  closed: {
    final: ['ignore'],
    partial: ['ignore'],
    'no reply': ['ignore'],
    lost: ['ignore'],
    unopened: ['ignore'],
    silence: ['ignore'],
  },
};

/** Transitions that the pool makes itself. */
export const MOVES = [
  ['free', 'request', 'sent'],
  ['free', 'unused for idleMs, or room for another endpoint', 'closed'],
  [['sent', 'hurried', 'answered'], 'aborted', 'closed'],
] as const;
