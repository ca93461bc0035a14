/** NFP client: how a call is written, how its answer is read, and why it failed. Section "Bodies" of docs/protocols/nfp.md. */
import { encodeNfpJson } from '@proj/frames/nfp';
import { ProjError, toBuffers, toFrames } from '@proj/transport';
import type { Unanswered } from '../unanswered.js';
import type { NfpClientFailure } from './engine/events.js';
import type { NfpClientSettings } from './options.js';

/** Most bytes of the frames beside the body: header, command, names of 255 bytes, a target. */
const BYTES_BESIDE_BODY = 66_600;

/** A call as workers read it. */
export interface TaskCall {
  readonly task: string;
  readonly kwargs: Readonly<Record<string, unknown>>;
  readonly args: readonly unknown[];
}

/** The body with this value. Throws `PROTOCOL_LOCAL` if it has no JSON or is too large. */
export function encodeBody(subject: string, value: unknown, maxMessageBytes: number): Uint8Array[] {
  const limits = { frames: 1, bytes: Math.max(0, maxMessageBytes - BYTES_BESIDE_BODY) };
  let body: Uint8Array[];
  try {
    body = encodeNfpJson(value);
  } catch (cause) {
    throw new ProjError('PROTOCOL_LOCAL', `${subject}: the arguments have no JSON; send plain data`, { cause });
  }
  return toFrames(subject, body, limits);
}

/** The body of GET: the task's name, since workers of every release read a body that has one. */
export function questionOf(task: string): Uint8Array[] {
  return encodeNfpJson({ task, kwargs: {}, args: [] });
}

/** The JSON in an answer. Throws `UNEXPECTED_ANSWER` if there is none. */
export function parseAnswer(subject: string, body: readonly Uint8Array[]): unknown {
  const [frame] = toBuffers(body);
  try {
    return JSON.parse(frame?.toString() ?? '');
  } catch (cause) {
    throw new ProjError(
      'UNEXPECTED_ANSWER',
      `${subject}: 417: the answer is no JSON: ${frame?.toString('utf8', 0, 200) ?? ''}`,
      { cause, details: { status: 417 } },
    );
  }
}

/** What error messages call a task. */
export function subjectOf(service: string, task: string): string {
  return `task ${JSON.stringify(task)} of service ${JSON.stringify(service)}`;
}

/** The question at the end of a `TIMEOUT` where the transport knows nothing of the brokers. */
export function isThere({ curve }: NfpClientSettings): string {
  // A server with CURVE does not answer a client without it.
  return `is a broker there${curve === undefined ? ', and does it take clients without a key' : ''}?`;
}

/** Why the call has no good outcome, in the broker's words if there are any. `known`: of the brokers, for a `TIMEOUT`. */
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
      return 'the connection ended first, and this must not be asked twice; it may have been done';
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
