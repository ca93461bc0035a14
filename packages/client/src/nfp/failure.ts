/** NFP client: what went wrong, for callers. */
import { ProjError } from '@proj/transport';
import type { Unanswered } from '../unanswered.js';
import type { NfpClientSettings } from './options.js';
import type { NfpClientFailure } from './engine/events.js';

/** What error messages call a task. */
export function subjectOf(service: string, task: string): string {
  return `task ${JSON.stringify(task)} of service ${JSON.stringify(service)}`;
}

/** What is asked after a TIMEOUT where the transport does not tell who is there. */
export function isThere({ curve }: NfpClientSettings): string {
  // A server with CURVE has no word for a client without.
  return `is a broker there${curve === undefined ? ', and does it take clients without a key' : ''}?`;
}

/** Why the subject has no good outcome: in the broker's words, where there are any. `known`: what is known of a `TIMEOUT`. */
export function failure(
  settings: NfpClientSettings,
  subject: string,
  code: NfpClientFailure,
  errors: readonly string[] = [],
  cause?: unknown,
  known?: Unanswered,
): ProjError {
  const said = errors.join(', ');
  const why = said === '' ? explain(code, settings, cause) : code === 'UNEXPECTED_ANSWER' ? unexpected(said) : said;
  const text = `${subject}: ${why}${known?.words ?? ''}`;
  const isUnexpected = code === 'UNEXPECTED_ANSWER';
  const particulars = {
    ...(errors.length === 0 ? {} : { errors }),
    ...(isUnexpected ? { status: 417 } : {}),
    ...known?.details,
  };
  const details = Object.keys(particulars).length === 0 ? {} : { details: particulars };
  return new ProjError(code === 'BUSY' ? 'REJECTED' : code, text, {
    ...details,
    ...(cause === undefined ? {} : { cause }),
  });
}

function explain(code: NfpClientFailure, settings: NfpClientSettings, cause: unknown): string {
  const { endpoints, openMax, openMaxBytes } = settings;
  switch (code) {
    case 'TIMEOUT':
      return `nothing was heard in time (${endpoints.join(', ')})`;
    case 'QUEUE_FULL':
      return `${openMax} calls or ${openMaxBytes} bytes are open, or the transport has no room; await some, or raise openMax`;
    case 'PEER_LOST':
      return 'the connection ended first, and this must not be asked twice; it may have been done all the same';
    case 'UNREACHABLE':
      return `cannot open a socket: ${cause instanceof Error ? cause.message : String(cause)}`;
    case 'REJECTED':
      return 'the broker refused it and did not say why';
    case 'BUSY':
      return 'the uuid is in use by an open call of this client';
    case 'CLOSED':
      return 'the client is closed';
    case 'UNEXPECTED_ANSWER':
      return unexpected('nothing that can be read');
  }
}

function unexpected(said: string): string {
  return `417: what came is no answer to it: ${said}; is a broker of NFP there?`;
}
