/** What a TIMEOUT says about the endpoints: which could not be reached, and why, and which are connected but silent. Knows no protocol. */
import type { SessionHost } from '@proj/transport';
import { explainRefusal } from '@proj/transport/curve';

/** An endpoint that could not be reached, or that refused us. */
interface UnmetEndpoint {
  readonly endpoint: string;
  /** The system's message, or why the handshake failed. */
  readonly reason: string;
}

/** For the message and the `details` of a `TIMEOUT`. */
export interface Unanswered {
  /** For the end of the message; begins with `; ` unless it is empty. */
  readonly words: string;
  /** Without empty lists. */
  readonly details: { readonly unmet?: readonly UnmetEndpoint[]; readonly connected?: readonly string[] };
}

/** What is known of these endpoints; if nothing, the text is `question`. */
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
    ...connected.map((endpoint) => `; ${endpoint}: connected, but it did not answer`),
  ];
  return {
    words: facts.length === 0 && question !== '' ? `; ${question}` : facts.join(''),
    details: { ...(unmet.length === 0 ? {} : { unmet }), ...(connected.length === 0 ? {} : { connected }) },
  };
}
