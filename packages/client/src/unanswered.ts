/** What a TIMEOUT says about the endpoints: which could not be reached, and why, and which are connected but silent. No protocol. */
import type { SessionHost } from '@proj/transport';
import { explainRefusal } from '@proj/transport/curve';

/** An endpoint that was not reached, or did not let us in. */
interface UnmetEndpoint {
  readonly endpoint: string;
  /** The system's words, or why the handshake failed. */
  readonly reason: string;
}

/** For the message of a `TIMEOUT`, and for its `details`. */
export interface Unanswered {
  /** For the end of the message; begins with `; ` unless it is empty. */
  readonly words: string;
  /** Empty lists are left out. */
  readonly details: { readonly unmet?: readonly UnmetEndpoint[]; readonly connected?: readonly string[] };
}

/** What is known of these endpoints. If that is nothing, the words are `question`. */
export function unanswered(
  host: Pick<SessionHost<never, never>, 'unmet' | 'met'>,
  endpoints: readonly string[],
  question = '',
): Unanswered {
  const unmet = host.unmet(endpoints).map(({ endpoint, reason }) => ({
    endpoint,
    reason: typeof reason === 'string' ? `not connected: ${reason}` : explainRefusal(reason, 'client'),
  }));
  const connected = host.met(endpoints);
  const facts = [
    ...unmet.map(({ endpoint, reason }) => `; ${endpoint}: ${reason}`),
    ...connected.map((endpoint) => `; ${endpoint}: connected, but no answer came`),
  ];
  return {
    words: facts.length === 0 && question !== '' ? `; ${question}` : facts.join(''),
    details: { ...(unmet.length === 0 ? {} : { unmet }), ...(connected.length === 0 ? {} : { connected }) },
  };
}
